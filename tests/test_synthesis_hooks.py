"""Hooks of judging and designing: what fills a slot, what counts as a part of R, and what is refused."""

import math
from typing import Any
from uuid import UUID

import pytest
from attrs import evolve
from hook_bench import bench, raising

from myclaw_core.errors import UnavailableError
from myclaw_core.neurons.birth_report import BirthReport
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.sandbox.types import SandboxReport
from myclaw_core.synthesis.reward import RewardContext, RewardDraft, RewardPart
from myclaw_core.types.text import Text

DRAFT = RewardDraft(
    manifest=NeuronManifest(
        name="tidy",
        version="1.0.0",
        purpose="Tidy up.",
        input_schema={},
        output_schema={},
        capabilities=(),
        may_call=(),
        quotas={},
        origin="synthesized",
        trace_id=UUID(int=7),
    ),
    files={"body.py": b"pass"},
)
REPORT = BirthReport(sandbox=SandboxReport(outcome="ok", tests=[], stdout="", stderr=""), tests=())
CONTEXT = RewardContext(
    judgement=None, estimated_cpu_s=3.0, similarity=-1.0, similar_from=0.85, nearest="", covers_new=False
)
PART = RewardPart(name="det_pass_rate", value=1.0)


class Offered:
    """Whatever is asked for, with a name and a rubric."""

    name = "mine"
    rubric = "mine@1"

    def __getattr__(self, name: str) -> Any:
        return lambda: None


def filled(slot: str, asked: Any, plugin: str) -> Any:
    """Return what the dispatcher takes for a slot."""
    return getattr(asked.dispatcher, {"synthesizer": "author"}.get(slot, slot))(plugin)


def refuses(slot: str, lacking: str) -> None:
    """Exactly the plugin that is named is asked; without a usable answer one line says what to do."""
    offered, nameless, hook = Offered(), type("Nameless", (Offered,), {"name": ""})(), f"myclaw_{slot}"
    answers = {"good": lambda: offered, "odd": lambda: 3, "nameless": lambda: nameless}
    made = bench(
        **{name: {hook: answer} for name, answer in answers.items()}, failing={hook: raising(OSError("disk"))}, deaf={}
    )

    assert filled(slot, made, "good") is offered
    for plugin, expected in (
        ("odd", lacking),
        ("nameless", "without name"),
        ("deaf", "the plugin deaf offers none"),
        ("failing", "the plugin failing failed: raised OSError: disk"),
        ("absent", "the plugin absent is not installed"),
        (slot, f"is not installed: install the distribution myclaw-{slot}"),
    ):
        with pytest.raises(UnavailableError, match=expected) as caught:
            filled(slot, made, plugin)
        assert str(caught.value).endswith(f"or name another plugin in [slots] {slot}")
        assert "\n" not in str(caught.value)
    assert made.told() == [("odd", hook), ("nameless", hook), ("failing", hook)]


def test_hook_myclaw_judge() -> None:
    refuses("judge", "a judge without judge")


def test_hook_myclaw_critic() -> None:
    refuses("critic", "a critic without compare")


def test_hook_myclaw_synthesizer() -> None:
    refuses("synthesizer", "an author of prompts without spec_prompt")


@pytest.mark.parametrize(
    ("slot", "method"), [("judge", "judge"), ("critic", "compare"), ("synthesizer", "draft_prompt")]
)
def test_what_fills_a_slot_has_what_the_core_calls(slot: str, method: str) -> None:
    lacks = type("Lacks", (Offered,), {method: None})()
    made = bench(a={f"myclaw_{slot}": lambda: lacks})

    with pytest.raises(UnavailableError, match=f"without {method}"):
        filled(slot, made, "a")


def test_a_judge_says_which_version_of_its_question_it_asks() -> None:
    """A measurement holds for that only."""
    unworded = type("Unworded", (Offered,), {"rubric": ""})()
    made = bench(a={"myclaw_judge": lambda: unworded})

    with pytest.raises(UnavailableError, match="without rubric"):
        made.dispatcher.judge("a")


def test_hook_myclaw_reward() -> None:
    """Parts are collected with their feedback as messages; whatever is none loses all of its plugin."""
    wrong: list[Any] = [
        lambda: None,
        lambda: PART,
        lambda: ["text"],
        lambda: [evolve(PART, name="Det Pass")],
        lambda: [evolve(PART, value=math.nan)],
        lambda: [evolve(PART, value=1.5)],
        lambda: [evolve(PART, value=True)],
        lambda: [evolve(PART, feedback=3)],  # type: ignore[arg-type]
        raising(ValueError("no luck")),
        lambda draft: draft.files.clear(),
    ]
    told = evolve(PART, name="short", value=0.25, feedback="be {brief}")  # type: ignore[arg-type]
    made = bench(
        a={"myclaw_reward": lambda: [PART]},
        b={"myclaw_reward": lambda report, context: (told,)},
        **{f"w{place}": {"myclaw_reward": answer} for place, answer in enumerate(wrong)},
    )

    parts = made.dispatcher.reward_parts(DRAFT, REPORT, CONTEXT)

    assert parts == {"det_pass_rate": PART, "short": evolve(told, feedback=Text("be {brief}"))}
    assert made.told() == [(f"w{place}", "myclaw_reward") for place in range(len(wrong))]


def test_a_part_that_two_plugins_give_is_left_out() -> None:
    """Otherwise the order of names would decide what a draft is worth."""
    made = bench(**{name: {"myclaw_reward": lambda: [PART]} for name in ("a", "b", "c")})

    assert made.dispatcher.reward_parts(DRAFT, REPORT, CONTEXT) == {}
    assert made.told() == [("b", "myclaw_reward"), ("c", "myclaw_reward")]
    assert "both are left out" in made.faults[0].detail


def test_a_part_of_ours_stands_against_that_of_another_plugin() -> None:
    """Wherever it stands in the order of names."""
    better = evolve(PART, value=0.0)
    made = bench(a={"myclaw_reward": lambda: [PART]}, defaults={"myclaw_reward": lambda: [better]})

    assert made.dispatcher.reward_parts(DRAFT, REPORT, CONTEXT) == {"det_pass_rate": better}
    assert made.told() == [("a", "myclaw_reward")]

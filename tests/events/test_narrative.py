"""A trace as people read it: every kind of event, in their language."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args, get_type_hints
from uuid import UUID

import pytest
from attrs import evolve

from myclaw_core import codec
from myclaw_core.approval.types import Approval, ApprovalNote
from myclaw_core.events.narrative import event_lines, narrate
from myclaw_core.events.store import Head
from myclaw_core.events.types import (
    ApprovalAnswered,
    Event,
    ModelCalled,
    PluginConsent,
    StepDecided,
    StepEnded,
    SynthesisEnded,
    TurnStarted,
    UndoApplied,
)
from myclaw_core.events.words import WORDS
from myclaw_core.runtime.types import Outcome, StepState, ToolError, ToolErrorKind
from myclaw_core.synthesis.types import Stage, SynthesisOutcome
from myclaw_core.testing import FakeClock
from myclaw_core.types.effect import Verdict
from myclaw_core.types.text import Text

SAMPLES = Path(__file__).parents[1] / "samples" / "1.0"
NAMES = sorted(path.stem for path in SAMPLES.glob("event_*.json") if path.stem != "event_unknown")
HEAD = Head(seq=7, at="2026-01-05T09:00:00.000000Z", type="x", trace_id="t", body_sha256=b"", mac=b"")
REQUEST = UUID(int=7)


def sample(name: str) -> Event:
    """Return a stored event."""
    return codec.loads_event((SAMPLES / f"{name}.json").read_text(encoding="utf-8"), name)


def lines_of(event: Event | None) -> list[str]:
    """Return what is told of an event, without its number and time."""
    first, *more = event_lines(HEAD, event)
    return [first.removeprefix("     7  2026-01-05 09:00:00  x: "), *(line.removeprefix(" " * 8) for line in more)]


def test_the_samples_are_every_kind_of_event() -> None:
    """A new kind needs its words."""
    kinds = {type(sample(name)).__name__ for name in NAMES} | {"UnknownEvent"}

    assert kinds == {kind.__name__ for kind in get_args(Event)}


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_event_is_told_in_the_language_of_the_person(in_quotes: None, name: str) -> None:
    """Each line is a message, or a row with some; what a tool gave back and names of subjects stay what they are."""
    first, *more = lines_of(sample(name))

    assert first.startswith("‹")
    assert name in {"event_step_ended", "event_trust_changed"} or all("‹" in line for line in more)


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_event_is_told_in_english_without_a_gap(name: str) -> None:
    """No place of a message is left without its value, and no message is shown as an object."""
    told = "\n".join(lines_of(sample(name)))

    assert re.search(r"\{\w+(:[^}\s]*)?\}", told) is None
    assert "Text(" not in told


def test_a_trace_is_its_heading_and_its_events() -> None:
    """An erased event keeps its place."""
    assert list(narrate("abc", [(HEAD, None)])) == [
        "trace abc, times in UTC",
        "     7  2026-01-05 09:00:00  x: (erased)",
    ]


def test_a_decision_is_a_table_of_its_reasons() -> None:
    """Check, verdict and reason; the reason is a message of its own."""
    event = sample("event_step_decided")
    assert isinstance(event, StepDecided)
    assert event.step.decision is not None

    lines = lines_of(event)

    assert lines[0].endswith(f"{event.step.decision.verdict} via {event.step.decision.via}")
    assert len(lines) == 1 + len(event.step.decision.reasons) + len(event.step.decision.evidence)
    assert lines[1].split("  ")[-1] == str(event.step.decision.reasons[0].text)


def test_a_call_that_was_not_judged_says_why() -> None:
    """It has no table."""
    event = sample("event_step_decided")
    assert isinstance(event, StepDecided)

    (line,) = lines_of(evolve(event, step=evolve(event.step, decision=None)))

    assert line.endswith("not judged, its arguments are invalid")


@pytest.mark.parametrize(
    ("approval", "told"),
    [
        ({"verdict": "granted", "decided_by": "cli:me"}, f"granted by cli:me ({REQUEST})"),
        (
            {"verdict": "granted", "decided_by": "cli:me", "scope": "batch"},
            f"granted by cli:me together with another ({REQUEST})",
        ),
        ({"verdict": "expired", "decided_by": "core", "note": "restart"}, f"expired by core (restart) ({REQUEST})"),
    ],
)
def test_an_answer_tells_who_gave_it_and_why(approval: dict[str, str], told: str, clock: FakeClock) -> None:
    """The reason stands there where it was not a person's plain answer."""
    answer = Approval(request_id=REQUEST, trace_id=REQUEST, decided_at=clock.now(), **approval)  # type: ignore[arg-type]

    assert lines_of(ApprovalAnswered(trace_id=REQUEST, approval=answer)) == [told]


def test_a_failed_step_tells_the_message_of_its_error(in_quotes: None) -> None:
    """A message in a message."""
    event = sample("event_step_ended")
    assert isinstance(event, StepEnded)
    error = ToolError(kind="denied", message=Text("nested too deeply"))

    (line,) = lines_of(evolve(event, step=evolve(event.step, error=error)))

    assert line == f"‹step {event.step.index} {event.step.tool_name}: ‹denied›, ‹nested too deeply››"


def test_a_model_call_that_failed_says_so() -> None:
    """After what it cost."""
    event = sample("event_model_called")
    assert isinstance(event, ModelCalled)

    assert lines_of(evolve(event, call=evolve(event.call, error="overloaded")))[0].endswith(" EUR; failed: overloaded")


def test_what_was_undone_and_what_not_is_told(in_quotes: None) -> None:
    """Each path is a message."""
    event = sample("event_undo_applied")
    assert isinstance(event, UndoApplied)
    event = evolve(event, details=(Text("unknown"),), step_index=2, original_trace_id=REQUEST)

    assert lines_of(evolve(event, reverted=True)) == [f"‹step 2 of {REQUEST} undone›", "‹unknown›"]
    assert lines_of(evolve(event, reverted=False)) == [f"‹step 2 of {REQUEST} not undone›", "‹unknown›"]


@pytest.mark.parametrize("change", ["enabled", "disabled"])
def test_consent_is_told(change: str) -> None:
    """Both ways."""
    event = PluginConsent(plugin="weather", distribution="myclaw-weather", version="1.2", change=change)  # type: ignore[arg-type]

    assert lines_of(event) == [f"weather 1.2 of myclaw-weather {change}"]


def test_how_a_synthesis_goes_is_told() -> None:
    """What is wanted, what comes next at what cost, and how it ended."""
    told = {name: lines_of(sample(f"event_synthesis_{name}")) for name in ("requested", "advanced", "ended")}

    assert told["requested"][0] == "a neuron is wanted: summarise the bills"
    assert told["requested"][1].endswith(", at most 0.12 EUR")
    assert told["requested"][2] == "seen again and again: no tool for .ods"
    assert told["advanced"][0] == "synthesis: next is analysis, 1 retry, 0.04 EUR"
    assert told["ended"] == ["neuron csv_summary was born", "1 retry, 0.04 EUR in all", "R of the last draft: 0.83"]


@pytest.mark.parametrize(
    ("outcome", "first"),
    [("abandoned", "no neuron was made: too dear"), ("rejected_direction", "the direction was refused: too dear")],
)
def test_a_synthesis_that_made_nothing_says_why(outcome: SynthesisOutcome, first: str) -> None:
    """The reason is the one that is on record; what was never tested has no R."""
    event = sample("event_synthesis_ended")
    assert isinstance(event, SynthesisEnded)
    ended = evolve(event.result, outcome=outcome, rejection_reason="too dear", final_reward=None)

    assert lines_of(evolve(event, result=ended)) == [first, "1 retry, 0.04 EUR in all"]


def test_a_measured_judge_is_told_with_its_model_and_each_language() -> None:
    """The number holds for exactly these."""
    assert lines_of(sample("event_judge_calibrated")) == [
        "judge constitution (constitution@1) with gemma-3-4b: 0.91 on 64 items",
        "en: 0.93",
        "it: 0.89",
    ]


def test_a_long_message_is_cut_with_a_notice() -> None:
    """The whole of it is in the record."""
    event = sample("event_turn_started")
    assert isinstance(event, TurnStarted)

    one, more = (lines_of(evolve(event, turn=evolve(event.turn, text="x" * n)))[0] for n in (161, 200))

    assert one.endswith("x … (1 more character)")
    assert more.endswith("x … (40 more characters)")


def test_every_state_has_a_word_for_people() -> None:
    """What a table shows can be translated."""
    verdicts = get_args(get_type_hints(Approval)["verdict"])
    kinds = (Outcome, StepState, ToolErrorKind, Verdict, ApprovalNote, Stage)
    stored = {*verdicts, *(choice for kind in kinds for choice in get_args(kind))} - {""}

    assert stored <= {word.msgid for word in WORDS}

"""What a new neuron does is asked about at first, whatever the level would let run."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st
from neurons_in_turns import COPY, FILES, adopt, called

from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.messages import N_
from myclaw_core.policy.ports import Granted
from myclaw_core.policy.probation import always_new, on_probation
from myclaw_core.policy.report import decision_json, explain
from myclaw_core.policy.types import PolicyDecision, Situation
from myclaw_core.runtime.tool import EffectSpec, Tool
from myclaw_core.runtime.types import ToolCall, ToolResult
from myclaw_core.testing import FakeClock, RecordingChannel, says
from myclaw_core.trust.decayed_mean import DecayedMean
from myclaw_core.trust.happenings import Birth, Sample
from myclaw_core.trust.states import MemoryTrust
from myclaw_core.trust.types import TraceSignals
from myclaw_core.types.action import Caller
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustThreshold

LEVELS = st.sampled_from(["read_only", "supervised", "full"])
LEAST = st.integers(0, 8)
NAMES = ("alpha", "beta", "gamma")
NOW = FakeClock().now()
A_TO_B = {"from": "a.md", "to": "b.md"}
NEURON = Tool(
    name="neuron:alpha",
    description="A neuron.",
    schema={"type": "object"},
    effects=(EffectSpec(kind="neuron_invoke", arg="", default="alpha"),),
    run=lambda args, context: ToolResult(text=""),
    version="v1",
)


@frozen(kw_only=True)
class Practice:
    """What neurons did so far: samples of one class, by name and version of the body.

    Attributes:
        least: Samples that the threshold of every class demands; `None` where no class has one.
    """

    effect_class: str
    samples: tuple[tuple[str, str], ...] = ()
    least: int | None = 5
    problem: Text | None = None
    unchecked: Text | None = None

    def probation(self) -> Any:
        """Return what says who is new."""
        trust = MemoryTrust(DecayedMean())
        trust.problem, trust.unchecked = self.problem, self.unchecked
        for number, (name, version) in enumerate(self.samples):
            trust.add(self._sample(number, name, version))
        return partial(self._judged, trust)

    def _judged(self, trust: MemoryTrust, effect: Any, action: Any, now: Any) -> Any:
        threshold = None if self.least is None else threshold_of(effect.effect_class, self.least)
        return on_probation(effect, action, trust, threshold, now)

    def _sample(self, number: int, name: str, version: str) -> Sample:
        return Sample(
            at=NOW - timedelta(days=1) + timedelta(seconds=number),
            trace_id=str(UUID(int=number)),
            signals=TraceSignals(
                subject=(f"neuron:{name}", self.effect_class),
                tool_success=1.0,
                cost_efficiency=1.0,
                constitution_clean=1.0,
                human_approval_delta=1.0,
                undo_flag=0.0,
                asked=True,
            ),
            earned_by={"actor_version": version},
        )


def threshold_of(effect_class: str, least: int) -> TrustThreshold:
    return TrustThreshold(
        effect_class=effect_class, risk_band="low", min_score=0.6, min_samples=least, cap_autonomy="full"
    )


def written_by(*names: str, version: str = "v1") -> tuple[Caller, ...]:
    return tuple(Caller(actor=f"neuron:{name}", version=version) for name in names)


async def judged(
    world: Any,
    callers: tuple[Caller, ...] = (),
    *,
    tool: str = "fs_write",
    level: Any = "full",
    tools: Any = None,
    **parts: Any,
) -> PolicyDecision:
    """Judge what neurons do to one file of the workspace."""
    situation: Situation = evolve(world.situation, callers=callers)
    policy = evolve(world, overrides=parts | ({"tools": tools} if tools else {})).policy()
    args = {} if tools else {"path": "a.md"}
    decision: PolicyDecision = await policy.evaluate(
        ToolCall(id="1", tool=tool, args=args), world.trace(level), "cli:me", level, situation
    )
    return decision


@given(
    names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=4),
    level=LEVELS,
    least=LEAST,
    short=st.integers(1, 8),
    others=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(["v0", "v2"])), max_size=20),
    tool=st.sampled_from(["fs_write", "fs_delete"]),
)
async def test_no_level_alone_lets_a_neuron_do_what_is_new_to_it(
    shared_world: Any,
    names: list[str],
    level: Any,
    least: int,
    short: int,
    others: list[tuple[str, str]],
    tool: str,
) -> None:
    """One new one on the way is enough, wherever it stands and whatever other bodies of its name did."""
    plain = await judged(shared_world, tool=tool)
    needed = max(least, 3)
    new, known = names[0], [(name, "v1") for name in NAMES[::-1] for _ in range(needed) if name != names[0]]
    own = [(new, "v1")] * max(0, needed - short)
    practice = Practice(effect_class=plain.effect_class, samples=(*others, *known, *own), least=least)
    decision = await judged(shared_world, written_by(*names), tool=tool, level=level, probation=practice.probation())

    assert decision.verdict != "allow"
    assert decision.verdict == ("deny" if level == "read_only" else "approve_required")
    if level == "full":
        assert str(decision.reason) == f"the neuron {new} is new: {len(own)} of {needed} samples for this"
        assert decision.via == "autonomy"


@given(names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=4), least=LEAST, more=st.integers(0, 3))
async def test_with_enough_samples_of_all_the_level_lets_it_run_again(
    shared_world: Any, names: list[str], least: int, more: int
) -> None:
    plain = await judged(shared_world)
    samples = tuple((name, "v1") for name in NAMES for _ in range(max(least, 3) + more))
    practice = Practice(effect_class=plain.effect_class, samples=samples, least=least)
    decision = await judged(shared_world, written_by(*names), probation=practice.probation())

    assert (decision.verdict, decision.via) == ("allow", "autonomy_full")


@pytest.mark.parametrize(
    ("effect_class", "version", "is_new"),
    [
        ("fs_write:~/elsewhere", "v1", False),
        ("fs_delete:~/elsewhere", "v1", True),
        ("fs_write:~/elsewhere", "v0", True),
    ],
)
async def test_samples_of_the_same_kind_elsewhere_end_probation_those_of_another_kind_or_body_do_not(
    shared_world: Any, effect_class: str, version: str, is_new: bool
) -> None:
    practice = Practice(effect_class=effect_class, samples=(("alpha", version),) * 5)
    decision = await judged(shared_world, written_by("alpha"), probation=practice.probation())

    assert (decision.verdict != "allow") is is_new


@given(
    before=st.integers(0, 20),
    after=st.integers(0, 8),
    then=st.sampled_from(["v2", "v3"]),
)
async def test_a_replaced_body_begins_anew(shared_world: Any, before: int, after: int, then: str) -> None:
    """What the body before it did counts for nothing, nor does what is said of no body at all."""
    plain = await judged(shared_world)
    samples = (("alpha", "v1"),) * before + (("alpha", "v2"),) * after
    probation = Practice(effect_class=plain.effect_class, samples=samples).probation()
    decision = await judged(shared_world, written_by("alpha", version=then), probation=probation)
    unknown = await judged(shared_world, written_by("alpha", version=""), probation=probation)

    assert (decision.verdict == "allow") == (then == "v2" and after >= 5)
    assert unknown.verdict == "approve_required"
    assert "0 of 5 samples" in str(unknown.reason)


async def test_samples_that_name_no_body_are_of_nobody(world: Any) -> None:
    """Such as those of a file that was taken in."""
    plain = await judged(world)
    practice = Practice(effect_class=plain.effect_class, samples=(("alpha", ""),) * 9)
    decision = await judged(world, written_by("alpha"), probation=practice.probation())

    assert "0 of 5 samples" in str(decision.reason)


@pytest.mark.parametrize("level", ["read_only", "supervised", "full"])
async def test_reading_is_free_for_a_new_neuron(world: Any, level: Any) -> None:
    (world.workspace / "a.md").write_text("one\n")
    for tool in ("fs_read", "fs_list"):
        decision = await judged(world, written_by("alpha"), tool=tool, level=level, probation=always_new)
        assert (decision.verdict, decision.via) == ("allow", "autonomy")


async def test_what_no_neuron_does_is_no_matter_of_probation(world: Any) -> None:
    for probation in (always_new, Practice(effect_class="").probation()):
        decision = await judged(world, probation=probation)
        assert (decision.verdict, decision.via) == ("allow", "autonomy_full")


@given(samples=st.integers(0, 6))
async def test_the_call_of_a_new_neuron_is_asked_and_its_birth_counts_for_no_sample(
    shared_world: Any, samples: int
) -> None:
    """It begins with R as its first sample; the sixth call after five is the first that the level lets run."""
    trust = MemoryTrust(DecayedMean())
    subject = ("neuron:alpha", "invoke")
    born = NOW - timedelta(days=2)
    trust.add(Birth(at=born, trace_id=str(UUID(int=99)), subject=subject, reward=0.9, body="v1"))
    practice = Practice(effect_class="invoke", samples=(("alpha", "v1"),) * samples)
    for number, (name, version) in enumerate(practice.samples):
        trust.add(practice._sample(number, name, version))
    probation = partial(practice._judged, trust)
    decision = await judged(shared_world, tool=NEURON.name, tools={NEURON.name: NEURON}, probation=probation)
    again = Birth(at=NOW, trace_id=str(UUID(int=98)), subject=subject, reward=0.9, body="v1")
    trust.add(again)
    anew = await judged(shared_world, tool=NEURON.name, tools={NEURON.name: NEURON}, probation=probation)

    assert (decision.verdict == "allow") == (samples >= 5)
    assert (anew.verdict, "0 of 5 samples" in str(anew.reason)) == ("approve_required", True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"problem": N_("a row is missing")}, "the trust record does not check out: a row is missing"),
        ({"unchecked": N_("it is still being checked")}, "it is still being checked"),
        ({"least": None}, "has no threshold, so a neuron asks each time at any level"),
    ],
)
async def test_without_figures_to_rely_on_a_neuron_is_asked(world: Any, changes: Any, said: str) -> None:
    plain = await judged(world)
    practice = Practice(effect_class=plain.effect_class, samples=(("alpha", "v1"),) * 40, **changes)
    decision = await judged(world, written_by("alpha"), probation=practice.probation())

    assert (decision.verdict, said in str(decision.reason)) == ("approve_required", True)


async def test_a_check_that_fails_asks(world: Any) -> None:
    def broken(effect: Any, action: Any, now: Any) -> Any:
        raise RuntimeError("no")

    decision = await judged(world, written_by("alpha"), probation=broken)
    assert (decision.verdict, decision.via) == ("approve_required", "fault")


async def test_a_policy_that_is_told_of_no_record_takes_every_neuron_for_new(world: Any) -> None:
    decision = await judged(world, written_by("alpha"))
    assert decision.verdict == "approve_required"
    assert str(decision.reason) == "the neuron alpha is taken for new: there is no record of what it did"


async def test_a_grant_of_the_person_answers_it_as_any_other(world: Any) -> None:
    """They granted just that, to this neuron."""
    granted = await judged(
        world,
        written_by("alpha"),
        probation=always_new,
        grants=lambda action, effect, cwd: Granted(Text("you said so"), exact=True),
    )
    assert (granted.verdict, granted.via) == ("allow", "grant")


@pytest.mark.parametrize(("promoted", "verdict"), [(True, "allow"), (False, "approve_required")])
async def test_trust_that_was_earned_answers_it_as_below_that_level(world: Any, promoted: bool, verdict: str) -> None:
    """Such as trust of the kind in a place that was named: the rule of promotion holds as it stands."""
    decision = await judged(evolve(world, promoted=promoted), written_by("alpha"), probation=always_new)

    assert decision.verdict == verdict
    assert decision.evidence


async def test_the_figures_are_told_by_explain_and_as_json(world: Any) -> None:
    plain = await judged(world)
    practice = Practice(effect_class=plain.effect_class, samples=(("alpha", "v1"),) * 2)
    decision = await judged(world, written_by("alpha", "beta"), probation=practice.probation())
    said = "the neuron alpha is new: 2 of 5 samples for this"

    assert f"because {said}" in explain(decision)
    assert decision_json(decision)["reason"] == said
    assert decision.draft is not None
    assert said in [str(reason) for reason in decision.draft.policy_reasons]


async def test_a_neuron_that_is_new_asks_for_its_first_runs_at_the_level_full(
    open_agent: Any, make_desk: Any, home: Any, clock: FakeClock
) -> None:
    """In the workspace that is three times, for the call and for the write; a better body of it begins anew."""
    channel = RecordingChannel(clock)
    runs = 5
    replies = [reply for _ in range(runs + 1) for reply in (called("copy", **A_TO_B), says("Done."))]
    async with open_agent(replies) as agent:
        await agent.record_check.ready()
        await adopt(agent, "copy", COPY, FILES)
        desk = make_desk(agent, channel, level="full")
        asked = []
        for number in range(runs):
            (home.workspace / "a.md").write_text(f"{number}\n")
            trace = await desk.handle("Do it")
            asked.append(len(channel.cards))
            await desk.handle("/why")
        await adopt(agent, "copy", COPY + "# better\n", FILES)
        anew = await desk.handle("Do it")

    assert asked == [2, 4, 6, 6, 6]
    for n, told in enumerate(channel.shown[:3]):
        assert f"because the neuron copy is new: {n} of 3 samples for this" in told
    assert [step.decision.via for step in trace.steps] == ["autonomy_full", "autonomy", "autonomy_full"]
    assert [step.decision.verdict for step in anew.steps] == ["approve_required", "allow", "approve_required"]
    assert str(channel.cards[-1].request.draft.policy_reasons[0]).startswith("the neuron copy is new: 0 of ")


async def test_a_grant_for_good_ends_the_questions_of_a_new_neuron(
    open_agent: Any, make_desk: Any, home: Any, clock: FakeClock
) -> None:
    def answer(card: ApprovalCard) -> Reply:
        reach: Any = "always" if card.request.standing else "once"
        return Reply(request_id=card.request.id, granted=True, by=card.request.sender, reach=reach)

    channel = RecordingChannel(clock, answer)
    replies = [reply for _ in range(2) for reply in (called("copy", **A_TO_B), says("Done."))]
    async with open_agent(replies) as agent:
        await agent.record_check.ready()
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "a.md").write_text("one\n")
        desk = make_desk(agent, channel, level="full")
        await desk.handle("Do it")
        again = await desk.handle("Do it")

    assert [step.decision.via for step in again.steps] == ["grant", "autonomy", "grant"]
    assert len(channel.cards) == 2

"""The rules about retries, whatever happens in whatever order: it ends, and its result says what happened."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from attrs import evolve
from designs import GOAL, NAME
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core import codec
from myclaw_core.messages import N_
from myclaw_core.synthesis.gate import rest_after
from myclaw_core.synthesis.moves import MAX_RETRIES, MAX_VETOES, Move, abandoned, born, ended, onward, refused, vetoed
from myclaw_core.synthesis.rests import ABANDONED_RESTS, REFUSED_RESTS
from myclaw_core.synthesis.types import NeuronSpec, Synthesis, SynthesisRequest
from myclaw_core.types.text import Text

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
WHY = Text("it does not do")
SPEC = NeuronSpec(
    proposed_name=NAME,
    purpose="Count.",
    input_schema={"type": "object"},
    output_schema={},
    capabilities_requested=(),
    rationale="None did.",
    may_call=(),
)
MODES = st.sampled_from(["external", "internal"])
FINDINGS = st.lists(st.text(max_size=20).map(Text), max_size=3)
TARGETS = st.sampled_from(["spec", "draft"])
HAPPENINGS = st.one_of(
    st.tuples(st.just("refused"), TARGETS, FINDINGS),
    st.tuples(st.just("refused"), TARGETS, FINDINGS),
    st.tuples(st.just("vetoed"), st.none(), FINDINGS),
    st.tuples(st.just("onward"), st.none(), FINDINGS),
)


def begun(mode: Any = "external") -> Synthesis:
    request = SynthesisRequest(goal=GOAL, trace_id=UUID(int=7), mode=mode, capability_hint=[], budget_cents=50.0)
    return Synthesis(id=UUID(int=1), request=request, sender="test:me", stage="spec", at=AT, cost_eur=0.5)


def moved(synthesis: Synthesis, happening: Any, now: datetime) -> Move:
    """Return the move after something happened; a stage that went well leads to the next one."""
    what, to, found = happening
    match what:
        case "refused":
            return refused(synthesis, to, found, now)
        case "vetoed":
            return vetoed(evolve(synthesis, stage="spec"), found, now)
    following: Any = {"spec": "draft", "draft": "analysis", "analysis": "tests"}.get(synthesis.stage, "approval")
    return onward(synthesis, following, N_("on"), now, spec=SPEC)


def played(happenings: Sequence[Any], mode: Any = "external") -> list[Synthesis]:
    """Return every state until it ended or nothing more happens."""
    states = [begun(mode)]
    for number, happening in enumerate(happenings, 1):
        if states[-1].stage == "ended":
            break
        states.append(moved(states[-1], happening, AT + timedelta(minutes=number)).to)
    return states


@given(st.lists(HAPPENINGS, max_size=30), MODES)
def test_whatever_happens_it_ends_after_four_refusals_or_three_vetoes(happenings: list[Any], mode: Any) -> None:
    """Not later and not before; a retry is counted for each refusal that was followed by another attempt."""
    states = played(happenings, mode)
    done = [what for what, _, _ in happenings[: len(states) - 1]]
    last = states[-1]

    assert (last.stage == "ended") == (done.count("refused") > MAX_RETRIES or done.count("vetoed") >= MAX_VETOES)
    assert last.retries == min(done.count("refused"), MAX_RETRIES)
    assert last.vetoes == done.count("vetoed")
    assert all(each.retries <= MAX_RETRIES and each.vetoes <= MAX_VETOES for each in states)
    assert len([what for what in done if what != "onward"]) <= MAX_RETRIES + 1 + MAX_VETOES - 1
    assert [each.at for each in states] == sorted({each.at for each in states})


@given(st.lists(HAPPENINGS, max_size=30), MODES)
def test_a_state_has_a_result_where_it_ended_and_nowhere_else(happenings: list[Any], mode: Any) -> None:
    """The result says what the record says, and both can be written and read."""
    for each in played(happenings, mode):
        assert (each.result is not None) == (each.stage == "ended")
        assert codec.loads(Synthesis, codec.dumps(each), N_("synthesis")) == each
        if each.result is not None:
            result = each.result
            assert (result.request_id, result.outcome) == (each.id, "abandoned")
            assert (result.retries_used, result.cost_cents) == (each.retries, each.cost_eur * 100)
            assert result.neuron_name == (NAME if each.spec else None)
            assert result.neuron_path is None
            assert result.rejection_reason
            assert each.files == {}


@given(st.lists(HAPPENINGS, max_size=30))
def test_the_next_attempt_is_told_what_was_wrong_and_asks_nothing_that_was_asked(happenings: list[Any]) -> None:
    states = played(happenings)
    for (what, to, found), after in zip(happenings, states[1:], strict=False):
        if after.stage == "ended" or what == "onward":
            continue
        assert after.feedback == tuple(found)
        assert after.stage == ("spec" if what == "vetoed" else to)
        assert what == "vetoed" or (after.digest, after.asked_in) == ("", None)


@given(st.sampled_from(["external", "internal"]), st.sampled_from(["abandoned", "rejected_direction", "born"]))
def test_a_goal_rests_for_as_long_as_its_end_says(mode: Any, outcome: Any) -> None:
    """A direction that nobody asked for rests for a month; one that came from a turn of the person for a day."""
    synthesis = evolve(begun(mode), spec=SPEC)
    move = born(synthesis, "/n", AT) if outcome == "born" else ended(synthesis, outcome, WHY, AT)
    is_long = (mode, outcome) == ("internal", "rejected_direction")
    expected = None if outcome == "born" else REFUSED_RESTS if is_long else ABANDONED_RESTS
    assert rest_after(move) == expected
    assert move.to.result is not None
    assert move.to.result.outcome == outcome
    assert (move.to.result.rejection_reason is None) == (outcome == "born")


def test_what_still_goes_on_does_not_rest() -> None:
    assert rest_after(refused(begun(), "draft", [WHY], AT)) is None
    assert rest_after(abandoned(begun(), WHY, AT)) == ABANDONED_RESTS

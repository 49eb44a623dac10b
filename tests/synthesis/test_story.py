"""A failed turn as a few lines that a person and a model can read, and that do nothing to either."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from myclaw_core.runtime.types import ActionStep, ExecutionTrace, Message, ToolError, ToolResult
from myclaw_core.synthesis.story import MAX_STORY_CHARS, story_of
from myclaw_core.testing import FakeClock, calls, says
from myclaw_core.types.action import Caller

NOW = FakeClock().now()
STEP = ActionStep(
    index=0,
    tool_name="fs_read",
    args={"path": "~/a.md"},
    args_digest="",
    actor="fs_read",
    actor_version="1",
    model="m",
    state="done",
    kind="fs_read",
    effect_class="fs_read:~",
    effects=(),
    started_at=NOW,
    exec_result=ToolResult(text="what stands there"),
)


def trace_of(*steps: ActionStep, outcome: Any = "failed", **fields: Any) -> ExecutionTrace:
    return ExecutionTrace(
        id=UUID(int=1),
        session_id="s",
        channel="c",
        sender="x",
        autonomy="supervised",
        started_at=NOW,
        steps=list(steps),
        outcome=outcome,
        **fields,
    )


async def test_a_turn_is_told_from_the_question_to_its_end(open_agent: Any, make_desk: Any) -> None:
    """What a tool answered is not part of it."""
    script = (calls(("fs_read", {"path": "none.md"})), calls(("fs_list", {})), says("I cannot find it."))
    async with open_agent(script) as agent:
        story = story_of(await make_desk(agent).handle("Sum up\nmy notes"))

    assert story[0] == "asked: Sum up my notes"
    assert story[1].startswith('0 fs_read {"path": "none.md"}: exception: ')
    assert story[2:] == ("1 fs_list {}: done", "answered: I cannot find it.", "ended: success")


def test_a_step_of_a_neuron_names_it_and_an_open_turn_says_so() -> None:
    inner = evolve(STEP, callers=(Caller(actor="neuron:copy"),))

    assert story_of(trace_of(inner, outcome=None)) == (
        '0 neuron:copy → fs_read {"path": "~/a.md"}: done',
        "ended: open",
    )


def test_of_many_steps_those_in_the_middle_are_left_out() -> None:
    story = story_of(trace_of(*(evolve(STEP, index=number) for number in range(50))))

    assert [line.split()[0] for line in story if "fs_read" in line] == [str(n) for n in (*range(12), *range(32, 50))]
    assert story[12] == "(20 steps are left out)"


@pytest.mark.parametrize("place", ["asked", "error"])
def test_secrets_are_masked_and_nothing_acts_on_a_screen(place: str) -> None:
    """Also where they only stand in what was typed, or in what a tool complained about."""
    hostile = "key sk-ant-api03-" + "a1B2" * 20 + " \x1b[2J\u202ex"
    said = [Message(role="user", text=hostile)] if place == "asked" else []
    error = ToolError(kind="exception", message=hostile.replace("{", "(")) if place == "error" else None

    told = "\n".join(story_of(trace_of(evolve(STEP, error=error), messages=said)))

    assert "a1B2a1B2" not in told
    assert "«redacted:" in told
    assert "\\x1b[2J\\u202ex" in told


@settings(max_examples=25, deadline=None)
@given(
    text=st.text(st.characters(), max_size=30).map(lambda part: part * 300),
    kind=st.sampled_from(["denied", "exception", "timeout"]),
    count=st.integers(0, 60),
)
def test_whatever_is_in_a_trace_its_story_is_short_and_inert(text: str, kind: Any, count: int) -> None:
    error = ToolError(kind=kind, message=text.replace("{", "(").replace("}", ")"))
    step = evolve(STEP, tool_name=text, args={text: text}, error=error, callers=(Caller(actor=text),))
    said = [Message(role="user", text=text), Message(role="assistant", text=text)]

    story = story_of(trace_of(*[step] * count, messages=said))

    assert sum(map(len, story)) + len(story) <= MAX_STORY_CHARS
    assert all(line.isprintable() for line in story if line.isascii())
    assert not any(char in line for line in story for char in "\n\x1b\u202e\u2028")

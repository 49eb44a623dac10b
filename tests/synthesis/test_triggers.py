"""A turn asks for a new skill where its tools were not enough, and for no other reason."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from myclaw_sqlite.event_store import SqliteEventStore
from pytest_httpserver import HTTPServer

from myclaw_core import codec
from myclaw_core.approval.types import Approval
from myclaw_core.constitution.types import ViolationReport
from myclaw_core.errors import ToolFailure
from myclaw_core.events.log import EventLog
from myclaw_core.messages import N_
from myclaw_core.runtime.planning import tool_error
from myclaw_core.runtime.tool import Tool
from myclaw_core.runtime.types import ActionStep, EndedBy, ExecutionTrace, Outcome, ToolError, ToolErrorKind, Turn
from myclaw_core.synthesis.failed_goals import FAILED_GOAL_KIND, FailedGoal, failed_goals, note_failure
from myclaw_core.synthesis.triggers import goal_of, tools_tried, trigger_of
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says
from myclaw_core.types.action import Caller
from myclaw_core.types.effect import Effect

AT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
GOAL = "Turn the scans into one PDF"


def turn(text: str = GOAL) -> Turn:
    """Return a turn in which a person typed `text`."""
    return Turn(
        id=UUID(int=1),
        session_id="s",
        channel="cli",
        sender="cli:me",
        autonomy="supervised",
        text=text,
        received_at=AT,
        roots=(),
        cwd="/",
    )


def step(tool: str, kind: ToolErrorKind | None = None, *, retryable: bool = False, **changes: Any) -> ActionStep:
    """Return a step that worked, or failed with an error of some kind."""
    error = None if kind is None else ToolError(kind=kind, message="it failed", retryable=retryable)
    made = ActionStep(
        index=0,
        tool_name=tool,
        args={},
        args_digest="0" * 64,
        actor="core",
        actor_version="",
        model="m",
        state="done" if error is None else "failed",
        kind="fs_read",
        effect_class="pure",
        effects=(),
        started_at=AT,
        error=error,
    )
    return evolve(made, **changes)


def trace(*steps: ActionStep, outcome: Outcome = "failed", ended_by: EndedBy = "loop") -> ExecutionTrace:
    """Return a closed trace."""
    return ExecutionTrace(
        id=UUID(int=1),
        session_id="s",
        channel="cli",
        sender="cli:me",
        autonomy="supervised",
        started_at=AT,
        steps=[evolve(each, index=index) for index, each in enumerate(steps)],
        outcome=outcome,
        ended_by=ended_by,
        closed_at=AT,
    )


BROKEN = step("shell", "exception")
WORKED = step("fs_read")
NEURON = step("neuron:news", "exception")
NETWORK = step("web_fetch", "exception", retryable=True)
ONLINE = Effect(kind="shell_exec", scope="curl @ ~/ws with network", target="curl x", reversibility="irreversible")


@pytest.mark.parametrize(
    ("closed", "why"),
    [
        (trace(WORKED, BROKEN), "the turn went in circles; tried: fs_read, shell"),
        (trace(WORKED, ended_by="steps"), "the turn used up its steps; tried: fs_read"),
        (
            trace(step("pdf_join", "validation"), ended_by="invalid"),
            "its calls fitted no tool, again and again; tried: pdf_join",
        ),
        (trace(BROKEN, BROKEN, BROKEN, outcome="success", ended_by="answer"), "none of its calls worked; tried: shell"),
        (trace(NETWORK, step("web_fetch"), BROKEN), "the turn went in circles; tried: web_fetch, shell"),
        (trace(step("shell", "sandbox")), "the turn went in circles; tried: shell"),
        (
            trace(
                NEURON,
                step("fs_read", callers=(Caller(actor="neuron:news"),)),
                BROKEN,
                outcome="success",
                ended_by="answer",
            ),
            "none of its calls worked; tried: neuron:news, shell",
        ),
    ],
)
def test_a_turn_that_its_tools_did_not_get_to_the_goal_asks_for_a_skill(closed: ExecutionTrace, why: str) -> None:
    assert str(trigger_of(closed, turn())) == why


@pytest.mark.parametrize(
    "closed",
    [
        trace(WORKED, outcome="success", ended_by="answer"),
        trace(BROKEN, WORKED, outcome="success", ended_by="answer"),
        trace(BROKEN, outcome="success", ended_by="answer"),
        trace(BROKEN, BROKEN, outcome="success", ended_by="answer"),
        trace(outcome="success", ended_by="answer"),
        trace(BROKEN, outcome="success", ended_by=""),
        trace(ended_by="steps"),
        trace(BROKEN, ended_by=""),
        trace(BROKEN, ended_by="wall"),
        trace(BROKEN, outcome="abandoned", ended_by=""),
        trace(BROKEN, outcome="denied", ended_by="answer"),
        trace(BROKEN, outcome="budget", ended_by=""),
        trace(BROKEN, outcome="interrupted", ended_by=""),
        trace(step("shell", "denied")),
        trace(BROKEN, step("fs_write", "denied", retryable=True)),
        trace(NETWORK),
        trace(NETWORK, BROKEN),
        trace(BROKEN, NETWORK, WORKED, outcome="success", ended_by="answer"),
        trace(step("shell", "timeout")),
        trace(step("shell", "unavailable")),
        trace(step("shell", "exception", effects=(ONLINE,))),
        trace(NEURON, step("web_fetch", "timeout", callers=(Caller(actor="neuron:news"),))),
        evolve(trace(BROKEN), dry_run=True),
        evolve(
            trace(BROKEN),
            violations=[ViolationReport(law="law.1", rule="r", reason=N_("no"), action_digest="0" * 64, at=AT)],
        ),
        evolve(
            trace(BROKEN),
            approvals=[
                Approval(
                    request_id=UUID(int=2),
                    trace_id=UUID(int=1),
                    verdict="expired",
                    decided_by="core",
                    decided_at=AT,
                    deferred_until=AT + timedelta(days=3),
                )
            ],
        ),
    ],
)
def test_whatever_else_ended_it_asks_for_none(closed: ExecutionTrace) -> None:
    """Success, giving up, a no, the budget, what may pass by itself, and what waits for an answer."""
    assert trigger_of(closed, turn()) is None


@pytest.mark.parametrize("text", ["", "  \n", "> Turn the scans into one PDF", "```\nTurn the scans into one PDF\n```"])
def test_what_the_person_did_not_type_is_no_goal(text: str) -> None:
    assert trigger_of(trace(BROKEN), turn(text)) is None


def test_a_goal_is_one_line_without_secrets_that_cannot_act_on_a_screen() -> None:
    text = f"Read\x1b[2J\n my page with password=hunter2hunter2 {'x' * 5000}"

    goal = goal_of(turn(text))

    assert goal.startswith("Read\\x1b[2J my page with password=«redacted:")
    assert len(goal) <= 1000


def test_the_names_of_tools_are_data_of_a_model() -> None:
    tried = tools_tried(trace(*(step(f"\x1b{number}{'x' * 500}") for number in range(50))))

    assert len(tried) == 8
    assert all(name.isprintable() and len(name) <= 64 for name in tried)


STEPS = st.lists(
    st.builds(
        step,
        st.sampled_from(["shell", "web_fetch", "fs_read"]),
        st.sampled_from([None, "validation", "denied", "timeout", "exception", "sandbox", "unavailable"]),
        retryable=st.booleans(),
    ),
    max_size=6,
)


@given(STEPS, st.sampled_from(["success", "failed"]), st.sampled_from(["answer", "loop", "steps", "invalid"]))
def test_no_denial_and_no_last_try_that_may_pass_ever_asks_for_a_skill(
    steps: Sequence[ActionStep], outcome: Outcome, ended_by: EndedBy
) -> None:
    asked = trigger_of(trace(*steps, outcome=outcome, ended_by=ended_by), turn()) is not None

    last = {each.tool_name: each.error for each in steps}
    if any(each.error is not None and each.error.kind == "denied" for each in steps):
        assert not asked
    if any(error is not None and error.is_passing for error in last.values()):
        assert not asked
    if asked:
        assert steps


def told(error: BaseException) -> ToolError:
    return tool_error(Tool(name="t", description="d", schema={}, effects=()), error)


def test_a_network_that_fails_under_a_tool_that_does_not_tell_is_seen_as_such() -> None:
    try:
        try:
            raise ConnectionResetError("reset by peer")
        except OSError as cause:
            raise RuntimeError("the client gave up") from cause
    except RuntimeError as error:
        failed = told(error)

    assert failed.is_passing
    assert not told(ValueError("no such column")).is_passing
    assert not told(ToolFailure(N_("no such column"))).is_passing


@pytest.fixture
async def log(tmp_path: Path, clock: FakeClock) -> Any:
    """Return an event log in a real database."""
    made = EventLog(SqliteEventStore(tmp_path / "events.db"), bytes(32), clock)
    await made.open()
    yield made
    await made.close()


async def note(log: EventLog, number: int, goal: str, now: datetime) -> None:
    async with log.transaction() as tx:
        await note_failure(tx, evolve(trace(BROKEN), id=UUID(int=number)), goal, now)


async def test_a_failure_is_remembered_once_and_for_thirty_days(log: EventLog, clock: FakeClock) -> None:
    await note(log, 1, GOAL, clock.now())
    await note(log, 1, "Something else", clock.now())
    clock.advance(days=29, hours=23)
    (known,) = await failed_goals(log, clock.now())
    clock.advance(hours=1)

    assert (known.goal, known.sender, known.tools) == (GOAL, "cli:me", ("shell",))
    assert await failed_goals(log, clock.now()) == []

    await note(log, 2, "Another", clock.now())
    assert [key for key, _ in await log.scan(FAILED_GOAL_KIND)] == [str(UUID(int=2))]


async def test_a_clock_that_is_set_back_keeps_no_failure_for_years(log: EventLog, clock: FakeClock) -> None:
    await note(log, 1, GOAL, clock.now())

    assert await failed_goals(log, clock.now() - timedelta(days=1)) != []
    assert await failed_goals(log, clock.now() - timedelta(days=365)) == []


async def test_at_most_five_hundred_failures_are_remembered_and_what_cannot_be_read_goes_first(
    log: EventLog, clock: FakeClock
) -> None:
    async with log.transaction() as tx:
        await tx.put(FAILED_GOAL_KIND, "damaged", b'{"goal": 7')
        for number in range(499):
            at = AT + timedelta(seconds=number)
            known = FailedGoal(trace_id=UUID(int=number), goal="g", sender="s", tools=(), at=at)
            await tx.put(FAILED_GOAL_KIND, str(known.trace_id), codec.dumps(known))
    await note(log, 1000, "One", AT + timedelta(days=1))
    first = await failed_goals(log, AT + timedelta(days=1))
    await note(log, 1001, "Two", AT + timedelta(days=1))
    second = await failed_goals(log, AT + timedelta(days=1))

    assert await log.get(FAILED_GOAL_KIND, "damaged") is None
    assert (len(first), len(second)) == (500, 500)
    assert (first[0].trace_id, second[0].trace_id) == (UUID(int=0), UUID(int=1))


@given(st.text())
def test_any_words_can_be_remembered(words: str) -> None:
    goal = goal_of(turn(words))

    known = FailedGoal(trace_id=UUID(int=1), goal=goal, sender="s", tools=(), at=AT)
    assert codec.loads(FailedGoal, codec.dumps(known), "x") == known


async def noted(agent: Any) -> list[str]:
    """Return what the turns of an agent failed at."""
    return [each.goal for each in await failed_goals(agent.log, agent.clock.now())]


def read(path: str) -> tuple[str, dict[str, Any]]:
    return ("fs_read", {"path": path})


@pytest.mark.parametrize(
    ("replies", "ended_by"),
    [
        ([calls(read("none.md"))] * 3, "loop"),
        ([calls(read(f"{number}.md")) for number in range(4)], "steps"),
        ([calls(("fs_read", {"wrong": number})) for number in range(3)], "invalid"),
        ([calls(("pdf_join", {})), calls(read("none.md")), says("I cannot.")], "answer"),
        ([calls(read(name)) for name in ("a.md", "b.md", "c.md")] + [says("I cannot.")], "answer"),
    ],
)
async def test_a_turn_that_asks_for_a_skill_is_remembered_together_with_its_end(
    open_agent: Any, make_desk: Any, replies: list[dict[str, Any]], ended_by: EndedBy
) -> None:
    async with open_agent(replies, config="[limits]\nsteps = 4\n") as agent:
        closed = await make_desk(agent).handle(GOAL)
        (known,) = await failed_goals(agent.log, agent.clock.now())

    assert closed.ended_by == ended_by
    assert (known.trace_id, known.goal, known.sender) == (closed.id, GOAL, "test:me")


@pytest.mark.parametrize("answer", [False, None])
async def test_what_a_person_did_not_want_is_no_failure(
    open_agent: Any, make_desk: Any, clock: FakeClock, answer: bool | None
) -> None:
    channel = RecordingChannel(clock, lambda card: answer)
    write = calls(("fs_write", {"path": "a.md", "content": "x\n"}))
    async with open_agent([write, write, write, says("No.")]) as agent:
        await make_desk(agent, channel).handle(GOAL)

        assert await noted(agent) == []


async def test_a_model_that_fails_is_no_failure_of_the_tools(open_agent: Any, make_desk: Any) -> None:
    async with open_agent([calls(read("none.md"))]) as agent:
        closed = await make_desk(agent).handle(GOAL)

        assert (closed.outcome, closed.ended_by) == ("failed", "")
        assert await noted(agent) == []


async def test_a_failure_that_passed_becomes_no_lasting_rule(
    open_agent: Any, make_desk: Any, httpserver: HTTPServer
) -> None:
    """Row 34: the network fails once, then a server is busy; neither asks for a neuron, and later it works."""
    httpserver.expect_oneshot_request("/").respond_with_data("busy", status=503, content_type="text/plain")
    httpserver.expect_request("/").respond_with_data("fine", content_type="text/plain")
    down = True

    async def lookup(host: str, port: int) -> Sequence[str]:
        if down:
            raise OSError(101, "Network is unreachable")
        return ["127.0.0.1"]

    url = f"http://page.test:{httpserver.port}/"
    one = [calls(("web_fetch", {"url": url})), says("It could not be read.")]
    config = '[policy]\nallowed_hosts = ["page.test"]\n'
    async with open_agent(one * 3, config=config, lookup=lookup) as agent:
        desk = make_desk(agent)
        first = await desk.handle(f"Read {url}")
        down = False
        second = await desk.handle(f"Read {url}")
        third = await desk.handle(f"Read {url}")
        failed = await noted(agent)

    states = [each.steps[0].state for each in (first, second, third)]
    assert states == ["failed", "failed", "done"]
    assert failed == []

"""Tools, models and channels that do what they must not: one line, a closed trace, and a record that can be read."""

import asyncio
import sys
import threading
from types import ModuleType

import pytest
from attrs import evolve

from myclaw_core import hookimpl
from myclaw_core.clock import SystemClock
from myclaw_core.compose import load_plugins
from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.messages import N_
from myclaw_core.runtime.model import ModelError, ModelReply
from myclaw_core.runtime.tool import EffectSpec, PlannedChange, Tool
from myclaw_core.runtime.types import Message, ToolCall, ToolResult, Usage
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

TOKEN = "ghp" + "_" + "16C7e42F292c6912E7710c838347Ae178B4a"
WRITES = (EffectSpec(kind="fs_write", arg="path"),)


def odd(run, plan=None, effects=(), timeout_s: float = 60.0) -> Tool:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    return Tool(name="odd", description="", schema=schema, effects=effects, run=run, plan=plan, timeout_s=timeout_s)


def plugins_with(home, tool: Tool):
    plugins = load_plugins(home)
    module = ModuleType("odd")
    module.myclaw_tools = hookimpl(lambda: [tool])
    module.myclaw_tools.__name__ = "myclaw_tools"
    plugins.manager.register(module, "odd")
    return evolve(plugins, reports=(*plugins.reports, evolve(plugins.reports[0], name="odd", distribution="odd")))


def nested(levels: int) -> dict:
    data: dict = {}
    for _ in range(levels):
        data = {"a": data}
    return data


def raises(error: BaseException):
    def run(*_args):
        raise error

    return run


def raises_later(error: BaseException):
    async def run(*_args):
        raise error

    return run


def type_name(error: BaseException) -> str:
    return type(error).__name__


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


async def step_of(open_agent, make_desk, home, tool: Tool, args=None, channel=None):
    """Run one call of `tool` and return its step; the record must be readable at the next start."""
    home.root.mkdir(parents=True, exist_ok=True)
    async with open_agent([calls(("odd", args or {})), says("Done.")], plugins=plugins_with(home, tool)) as agent:
        trace = await make_desk(agent, channel).handle("Go")
    async with open_agent([]) as agent:
        assert (await agent.log.verify()).ok
        assert agent.notices == []
    assert trace.outcome in {"success", "denied"}
    return trace.steps[0]


@pytest.mark.parametrize("made", [raises, raises_later], ids=["plain", "async"])
@pytest.mark.parametrize(
    "error",
    [
        SystemExit(3),
        asyncio.CancelledError(),
        BaseException("x"),
        UnprintableError(),
        StopAsyncIteration(),
        GeneratorExit(),
    ],
    ids=type_name,
)
async def test_a_tool_that_raises_anything_fails_alone(open_agent, make_desk, home, made, error) -> None:
    step = await step_of(open_agent, make_desk, home, odd(made(error)))

    assert step.state == "failed"
    assert type(error).__name__ in str(step.error.message)
    assert "\n" not in str(step.error.message)


@pytest.mark.parametrize("error", [StopIteration(), KeyboardInterrupt()], ids=type_name)
async def test_a_tool_in_a_thread_neither_hangs_nor_interrupts(open_agent, make_desk, home, error) -> None:
    step = await step_of(open_agent, make_desk, home, odd(raises(error)))

    assert type(error).__name__ in str(step.error.message)


async def test_a_secret_in_a_failure_reaches_neither_the_record_nor_the_model(open_agent, make_desk, home) -> None:
    """Nor does one in a message inside the message; what is left can still be translated."""
    reason = N_("{url} is away", url=f"https://{TOKEN}@example.org")
    tool = odd(raises(ToolFailure(N_("not done: {reason}", reason=reason))))
    home.root.mkdir(parents=True)
    async with open_agent([calls(("odd", {})), says("Done.")], plugins=plugins_with(home, tool)) as agent:
        trace = await make_desk(agent).handle("Go")

    message = trace.steps[0].error.message
    assert message.msgid == "not done: {reason}"
    assert str(message) == "not done: https://«redacted:github-token»@example.org is away"
    assert str(message) in trace.messages[-2].text
    assert TOKEN not in repr(trace)
    assert not any(TOKEN.encode() in file.read_bytes() for file in home.root.rglob("*") if file.is_file())


@pytest.mark.parametrize(
    "result", [None, "text", ToolResult(text=None), ToolResult(text=b"x"), ToolResult(text="x", data=[1])]
)
async def test_what_is_no_result_is_a_failed_step(open_agent, make_desk, home, result) -> None:
    step = await step_of(open_agent, make_desk, home, odd(lambda args, context: result))

    assert "returned no ToolResult" in str(step.error.message)


@pytest.mark.parametrize(
    "result",
    [
        ToolResult(text="x", truncated="maybe", full_output_path=7, unknown_fields={"text": object()}),
        ToolResult(text="a\udc80\0", data={"\ud800": 1}),
        ToolResult(text="x", data={"a": object(), 3: {1}}),
        ToolResult(text="x", data={"a": 10**300, "b": 10**5000}),
        ToolResult(text="x", data={"a": float("nan")}),
        *(ToolResult(text="x", data=nested(levels)) for levels in (50, 90, 150, 5000)),
    ],
)
async def test_odd_fields_of_a_result_never_spoil_the_record(open_agent, make_desk, home, result) -> None:
    step = await step_of(open_agent, make_desk, home, odd(lambda args, context: result))

    assert step.state == "done"
    assert step.exec_result.full_output_path == ""


@pytest.mark.parametrize(
    "plan",
    [
        None,
        "abc",
        (5,),
        (PlannedChange(path="a.md", content="text"),),
        (PlannedChange(path="a.md", content=b"x", mode="x"),),
        (PlannedChange(path="a.md", content=b"x", mode=0o4755),),
        (PlannedChange(path="../elsewhere.md", content=b"x"),),
        (PlannedChange(path="state/events.db", content=b"x"),),
        (PlannedChange(path="a.md", content=b"x"), PlannedChange(path="b.md", content=b"x")),
    ],
)
async def test_a_plan_beyond_what_was_judged_asks_nobody_and_changes_nothing(
    open_agent, make_desk, home, clock: FakeClock, plan
) -> None:
    channel = RecordingChannel(clock)
    tool = odd(raises(RuntimeError("it ran")), plan=lambda args, context: plan, effects=WRITES)

    step = await step_of(open_agent, make_desk, home, tool, {"path": "a.md"}, channel)

    assert step.state == "failed"
    assert "it ran" not in str(step.error.message)
    assert channel.cards == []
    assert list(home.workspace.glob("*.md")) == []


async def test_a_plan_that_ends_the_program_is_a_failed_step(open_agent, make_desk, home) -> None:
    tool = odd(raises(RuntimeError()), plan=lambda args, context: sys.exit(3), effects=WRITES)

    assert "SystemExit" in str((await step_of(open_agent, make_desk, home, tool, {"path": "a.md"})).error.message)


async def test_a_tool_that_changes_its_arguments_changes_no_one_elses(open_agent, make_desk, home) -> None:
    seen = []

    def plan(args, context):
        path = args.pop("path")
        return (PlannedChange(path=path, content=b"x"),)

    def run(args, context):
        seen.append(dict(args))
        context.files.apply(context.plan[0])
        return ToolResult(text="done")

    step = await step_of(open_agent, make_desk, home, odd(run, plan=plan, effects=WRITES), {"path": "a.md"})

    assert step.state == "done"
    assert seen == [{"path": "a.md"}]


async def test_a_call_that_took_too_long_changes_nothing_afterwards(open_agent, make_desk, home) -> None:
    go_on, ended = threading.Event(), threading.Event()
    late = []

    def run(args, context):
        go_on.wait(30)
        try:
            context.files.apply(context.plan[0])
        except MyclawError as error:
            late.append(str(error))
        ended.set()
        return ToolResult(text="done")

    tool = odd(
        run, plan=lambda args, context: (PlannedChange(path="a.md", content=b"x"),), effects=WRITES, timeout_s=0.05
    )
    home.root.mkdir(parents=True)
    async with open_agent([calls(("odd", {"path": "a.md"})), says("No.")], plugins=plugins_with(home, tool)) as opened:
        agent = evolve(opened, services=evolve(opened.services, clock=SystemClock()))
        trace = await make_desk(agent).handle("Go")
        go_on.set()
        await asyncio.to_thread(ended.wait, 30)

    assert trace.steps[0].error.kind == "timeout"
    assert late == ["the call is over; nothing more is done"]
    assert not (home.workspace / "a.md").exists()


class OddModel:
    """A paid provider that answers once with whatever `make` gives and then says that it is done."""

    name = "scripted"
    free = False

    def __init__(self, make) -> None:
        self._made = [make]

    def missing(self) -> str | None:
        return None

    async def complete(self, request, on_text):
        return self._made.pop()() if self._made else reply()

    async def close(self) -> None:
        pass


def reply(message: Message | None = None, **fields) -> ModelReply:
    whole = {"stop_reason": "end_turn", "usage": Usage(input_tokens=1, output_tokens=1), "model": "claude-haiku-4-5"}
    return ModelReply(message=message or Message(role="assistant", text="Done."), **(whole | fields))


def calling(*tool_calls: tuple[object, object, object]) -> ModelReply:
    proposed = tuple(ToolCall(id=id_, tool=tool, args=args) for id_, tool, args in tool_calls)
    return reply(Message(role="assistant", text="", tool_calls=proposed), stop_reason="tool_use")


async def turn_with(open_agent, make_desk, clock: FakeClock, make):
    """Run a turn with an odd answer; the record must be readable at the next start and no money be held back."""
    channel = RecordingChannel(clock)
    async with open_agent([]) as opened:
        agent = evolve(opened, services=evolve(opened.services, provider=OddModel(make)))
        trace = await make_desk(agent, channel).handle("Hi")
        standing = await agent.services.ledger.standing()
        assert await agent.log.scan("turn") == []
    async with open_agent([]) as agent:
        assert (await agent.log.verify()).ok
    assert standing.reserved_eur == 0
    return trace, channel, standing


@pytest.mark.parametrize(
    "make",
    [
        lambda: None,
        raises(SystemExit(3)),
        raises(asyncio.CancelledError()),
        raises(UnprintableError()),
        lambda: reply(message=5),
        lambda: reply(Message(role="assistant", text=None)),
        lambda: reply(Message(role="system", text="x")),
        lambda: reply(Message(role="user", text="x")),
        lambda: reply(model=None),
        lambda: reply(stop_reason=None),
        lambda: reply(usage=5),
        *(
            (lambda count=count: reply(usage=Usage(input_tokens=count)))
            for count in (float("nan"), float("inf"), 1.5, "1", -1, 10**12, 10**400)
        ),
        lambda: calling((None, "fs_read", {})),
        lambda: calling(("1", None, {})),
        lambda: calling(("1", "fs_read", None)),
        lambda: calling(("1", "fs_read", {"path": "a"}), ("1", "fs_read", {"path": "b"})),
    ],
)
async def test_what_is_no_reply_ends_the_turn_in_one_line_at_its_worst_cost(
    open_agent, make_desk, clock: FakeClock, make
) -> None:
    trace, channel, standing = await turn_with(open_agent, make_desk, clock, make)

    assert trace.outcome == "failed"
    assert len(channel.notices) == 1
    assert standing.spent_eur > 0.001


async def test_a_secret_in_what_a_model_says_of_its_failure_is_masked_on_the_screen_too(
    open_agent, make_desk, clock: FakeClock
) -> None:
    failure = ModelError(N_("it refused: {said}", said=f"bad key {TOKEN}"), "auth")

    trace, channel, _ = await turn_with(open_agent, make_desk, clock, raises(failure))

    assert channel.notices == ["it refused: bad key «redacted:github-token»"]
    assert trace.model_calls[0].error == channel.notices[0]


@pytest.mark.parametrize(
    "extra",
    [nested(50), nested(90), nested(150), 10**300, 10**5000, float("nan"), "\ud800", {3: 4}],
    ids=["50", "90", "150", "big", "huge", "nan", "surrogate", "key"],
)
async def test_arguments_that_no_record_can_hold_are_answered_as_invalid(
    open_agent, make_desk, clock: FakeClock, extra
) -> None:
    make = lambda: calling(("1", "fs_read", {"path": "a.md", "extra": extra}))  # noqa: E731

    trace, _, _ = await turn_with(open_agent, make_desk, clock, make)

    assert trace.outcome == "success"
    assert trace.steps[0].error.kind == "validation"


async def test_one_message_cannot_pass_the_limit_of_steps(open_agent, make_desk, home, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    many = calls(*(("fs_write", {"path": f"{number}.md", "content": "x"}) for number in range(40)))
    async with open_agent([many, says("Done.")], config="[limits]\nsteps = 4\n") as agent:
        trace = await make_desk(agent, channel).handle("Write all")

    assert len(trace.steps) == 4
    assert len(list(home.workspace.glob("*.md"))) == 4
    assert channel.notices == ["stopped: 4 steps are the limit of a turn"]


async def test_a_channel_that_breaks_leaves_a_closed_trace_and_no_open_question(
    open_agent, make_desk, clock: FakeClock
) -> None:
    class Broken(RecordingChannel):
        async def ask(self, cards, submit) -> None:
            raise RuntimeError("no screen")

    async with open_agent([calls(("fs_write", {"path": "a.md", "content": "x"}))]) as agent:
        with pytest.raises(MyclawError, match="the channel test could not ask: RuntimeError: no screen"):
            await make_desk(agent, Broken(clock)).handle("Write")
        pending = await agent.services.gateway.pending()
        turns = await agent.log.scan("turn")

    assert pending == []
    assert turns == []

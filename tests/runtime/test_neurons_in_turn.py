"""A neuron inside a turn: the real sandbox, and each of its calls a step of that turn."""

from __future__ import annotations

import asyncio

import pytest
from adopted_neurons import in_agent
from neuron_runs import living_runs
from neurons_in_turns import COPY, FILES, adopt, called, inner

from myclaw_core.events.types import SynapseRefused, TraceClosed
from myclaw_core.runtime.model import ModelReply
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

A_TO_B = {"from": "a.md", "to": "b.md"}


async def test_a_neuron_reads_silently_inside_the_roots_and_asks_before_it_writes(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """The call itself and the write are asked about, the read is not; its output is what the model reads."""
    channel = RecordingChannel(clock)
    async with open_agent([called("copy", **A_TO_B), says("Done.")]) as agent:
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "a.md").write_text("one\n")
        trace = await make_desk(agent, channel).handle("Copy a.md")

    assert [(step.index, step.tool_name, step.state) for step in trace.steps] == [
        (0, "neuron:copy", "done"),
        (1, "ctx_read", "done"),
        (2, "ctx_write", "done"),
    ]
    assert (home.workspace / "b.md").read_text() == "ONE\n"
    assert trace.steps[0].exec_result.data == {"output": {"chars": 4}}
    assert [card.request.draft.action.tool_name for card in channel.cards] == ["neuron:copy", "ctx_write"]
    assert "+ONE" in channel.cards[1].diff
    assert {step.callers[0].actor for step in inner(trace)} == {"neuron:copy"}
    assert [step.actor for step in trace.steps] == ["neuron:copy"] * 3
    assert trace.outcome == "success"


async def test_what_a_neuron_reads_is_in_no_record(open_agent, make_desk, home, clock: FakeClock) -> None:
    """The step of a read keeps a digest, that of a write the beginning of what was written."""
    async with open_agent([called("copy", **A_TO_B), says("Done.")]) as agent:
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "a.md").write_text("a private line\n")
        trace = await make_desk(agent).handle("Copy a.md")

    read = inner(trace)[0]
    assert read.exec_result.data["bytes"] == 15
    assert "private" not in str(read)


async def test_what_a_neuron_wrote_is_undone_with_its_turn(open_agent, make_desk, home, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    async with open_agent([called("copy", **A_TO_B), says("Done.")]) as agent:
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "a.md").write_text("one\n")
        (home.workspace / "b.md").write_text("old\n")
        desk = make_desk(agent, channel)
        await desk.handle("Copy a.md")
        assert (home.workspace / "b.md").read_text() == "ONE\n"
        await desk.handle("/undo")

    assert (home.workspace / "b.md").read_text() == "old\n"
    assert "cannot be undone" not in channel.shown[-1]


async def test_a_denied_call_is_a_permission_error_in_the_body(open_agent, make_desk, home, clock: FakeClock) -> None:
    body = COPY.replace('    with ctx.open(args["to"]', '    try:\n     with ctx.open(args["to"]').replace(
        "        file.write(text.upper())\n",
        "        file.write(text.upper())\n    except PermissionError as error:\n        return str(error)\n",
    )
    channel = RecordingChannel(clock, lambda card: card.request.draft.action.tool_name != "ctx_write")
    async with open_agent([called("copy", **A_TO_B), says("Not done.")]) as agent:
        await adopt(agent, "copy", body, FILES)
        (home.workspace / "a.md").write_text("one\n")
        trace = await make_desk(agent, channel).handle("Copy a.md")

    assert trace.steps[0].exec_result.data["output"] == "the person said no; it was not done"
    assert not (home.workspace / "b.md").exists()


async def test_a_neuron_that_breaks_off_over_a_no_was_denied_and_has_no_strike(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    channel = RecordingChannel(clock, lambda card: card.request.draft.action.tool_name != "ctx_write")
    async with open_agent([called("copy", **A_TO_B), says("Not done.")]) as agent:
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "a.md").write_text("one\n")
        trace = await make_desk(agent, channel).handle("Copy a.md")
        strikes = (await in_agent(agent).record("copy")).strikes

    assert (trace.steps[0].error.kind, trace.outcome, strikes) == ("denied", "denied", 0)


async def test_wrong_arguments_fail_the_step_and_put_no_neuron_aside(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """A file that is missing, a folder, a file that is no text: each call has failed, and none is a strike."""
    script = [called("copy", **{"from": name, "to": "b.md"}) for name in ("none.md", "folder", "picture.png")]
    async with open_agent([*script, says("No.")]) as agent:
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "folder").mkdir()
        (home.workspace / "picture.png").write_bytes(b"\x89PNG\xff")
        trace = await make_desk(agent).handle("Copy them")
        neurons = in_agent(agent)
        strikes, runs = (await neurons.record("copy")).strikes, await neurons.journals.newest("copy", 5)

    steps = [step for step in trace.steps if not step.callers]
    assert [step.error.kind for step in steps] == ["exception"] * 3
    assert "there is no file none.md" in str(steps[0].error.message)
    assert (strikes, [run.outcome for run in runs]) == (0, ["refused"] * 3)


async def test_a_body_that_raises_fails_its_step_with_its_lines(open_agent, make_desk, clock: FakeClock) -> None:
    body = "async def run(ctx, args):\n    ctx.log('began')\n    return 1 // args['by']\n"
    async with open_agent([called("divide", by=0), says("No.")]) as agent:
        await adopt(agent, "divide", body)
        trace = await make_desk(agent).handle("Divide")
        strikes = (await in_agent(agent).record("divide")).strikes

    (step,) = trace.steps
    assert step.error.kind == "exception"
    assert "line 3 of its body raised ZeroDivisionError" in str(step.error.message)
    assert (step.exec_result.text, strikes) == ("began", 1)


async def test_several_calls_of_one_message_keep_their_places(open_agent, make_desk, home, clock: FakeClock) -> None:
    """Steps of a neuron come after those that were judged together with it."""
    replies = [calls(("neuron_copy", A_TO_B), ("fs_read", {"path": "a.md"}), ("neuron_copy", A_TO_B)), says("Done.")]
    async with open_agent(replies) as agent:
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "a.md").write_text("one\n")
        desk = make_desk(agent)
        trace = await desk.handle("Copy")
        events = await agent.log.events(trace.id)

    assert [(step.index, step.tool_name) for step in trace.steps] == [
        (0, "neuron:copy"),
        (1, "fs_read"),
        (2, "neuron:copy"),
        (3, "ctx_read"),
        (4, "ctx_write"),
        (5, "ctx_read"),
        (6, "ctx_write"),
    ]
    assert {step.state for step in trace.steps} == {"done"}
    assert events[-1][1].trace == trace


async def test_only_what_the_model_asks_for_counts_towards_the_limit_of_steps(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    body = "async def run(ctx, args):\n    return [ctx.open('a.md').read() for _ in range(8)]\n"
    async with open_agent([called("often"), says("Done.")], config="[limits]\nsteps = 3\n") as agent:
        await adopt(agent, "often", body, FILES)
        (home.workspace / "a.md").write_text("one")
        trace = await make_desk(agent).handle("Read often")

    assert (trace.outcome, len(trace.steps)) == ("success", 9)


async def test_a_call_that_is_not_declared_is_refused_and_told_to_the_log(
    open_agent, make_desk, clock: FakeClock
) -> None:
    body = "async def run(ctx, args):\n    return await ctx.call('mail_send', to='a@example.org')\n"
    async with open_agent([called("sneaky"), says("No.")]) as agent:
        await adopt(agent, "sneaky", body)
        trace = await make_desk(agent).handle("Go")
        told = [event for _, event in await agent.log.events(trace.id, SynapseRefused)]

    assert "UndeclaredSynapseError" in str(trace.steps[0].error.message)
    assert [(event.caller, event.callee, event.step_index) for event in told] == [("neuron:sneaky", "mail_send", 0)]
    assert len(trace.steps) == 1


async def test_internal_tools_are_nobody_elses(open_agent, make_desk, home, clock: FakeClock) -> None:
    """Neither a model nor a neuron can name them."""
    body = "async def run(ctx, args):\n    return await ctx.call('ctx_write', path='b.md', content='x')\n"
    replies = [calls(("ctx_write", {"path": "b.md", "content": "x"})), called("writer"), says("No.")]
    async with open_agent(replies) as agent:
        await adopt(agent, "writer", body, may_call=("ctx_write",))
        trace = await make_desk(agent).handle("Go")

    assert [step.error.kind for step in trace.steps if step.tool_name == "ctx_write"] == ["validation", "validation"]
    assert not (home.workspace / "b.md").exists()


async def test_neurons_call_each_other_at_most_five_deep(open_agent, make_desk, clock: FakeClock) -> None:
    """The sixth is refused inside and on record, so that those that call each other for ever come to an end."""
    ping = "async def run(ctx, args):\n    return 1 + await ctx.call('neuron:pong')\n"
    pong = """\
async def run(ctx, args):
    try:
        return 1 + await ctx.call('neuron:ping')
    except PermissionError:
        return 0
"""
    async with open_agent([called("ping"), says("Done.")]) as agent:
        await adopt(agent, "ping", ping, may_call=("neuron:pong",))
        await adopt(agent, "pong", pong, may_call=("neuron:ping",))
        trace = await make_desk(agent, level="full").handle("Go")
        told = [event for _, event in await agent.log.events(trace.id, SynapseRefused)]

    assert [(event.caller, event.callee, event.why) for event in told] == [("neuron:ping", "neuron:pong", "too deep")]
    assert [step.tool_name for step in trace.steps] == [f"neuron:p{vowel}ng" for vowel in "ioioi"]
    assert len(trace.steps[-1].callers) == 4
    assert trace.steps[-1].error.kind == "denied"
    assert trace.steps[0].exec_result.data["output"] == 3


async def test_waiting_for_the_person_takes_none_of_a_neurons_time(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    channel = RecordingChannel(clock)

    def slowly(card) -> bool:
        clock.advance(minutes=4)
        return True

    channel._answer = slowly
    async with open_agent([called("copy", **A_TO_B), says("Done.")], config="[limits]\nwall_s = 60\n") as agent:
        await adopt(agent, "copy", COPY, FILES, wall_s=5)
        (home.workspace / "a.md").write_text("one\n")
        trace = await make_desk(agent, channel).handle("Copy a.md")

    assert trace.outcome == "success"
    assert (home.workspace / "b.md").exists()


async def test_in_a_dry_run_a_neuron_runs_and_what_it_writes_is_only_judged(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """It shows nothing about the neuron that would count for trust."""
    async with open_agent([called("copy", **A_TO_B), says("Done.")]) as agent:
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "a.md").write_text("one\n")
        trace = await make_desk(agent, dry_run=True).handle("Copy a.md")
        known = await agent.book.snapshot()

    assert [(step.tool_name, step.state) for step in trace.steps] == [
        ("neuron:copy", "done"),
        ("ctx_read", "done"),
        ("ctx_write", "decided"),
    ]
    assert not (home.workspace / "b.md").exists()
    assert ("neuron:copy", "invoke") not in known


async def test_a_neuron_asks_a_model_without_tools_and_apart_from_the_conversation(
    open_agent, make_desk, clock: FakeClock
) -> None:
    body = "async def run(ctx, args):\n    return await ctx.llm('What is it? sk-ant-api03-' + 'a' * 80)\n"
    channel = RecordingChannel(clock)
    requests = []
    async with open_agent([called("asker"), says("A word."), says("Done.")]) as agent:
        await adopt(agent, "asker", body, ("llm",))
        provider = agent.services.provider
        complete = provider.complete

        async def noted(request, on_text) -> ModelReply:
            requests.append(request)
            return await complete(request, on_text)

        provider.complete = noted
        trace = await make_desk(agent, channel).handle("Ask")

    assert trace.steps[0].exec_result.data == {"output": "A word."}
    assert [call.purpose for call in trace.model_calls] == ["answer", "neuron", "answer"]
    assert [tool.name for tool in requests[0].tools if "neuron" in tool.name] == ["neuron_asker"]
    assert (requests[1].tools, len(requests[1].messages)) == ((), 1)
    assert "sk-ant" not in requests[1].messages[0].text
    assert requests[2].messages[1].tool_calls[0].tool == "neuron_asker"
    assert "".join(channel.texts) == "Done."
    assert [message.text for message in trace.messages if message.role == "assistant"] == ["", "Done."]


@pytest.mark.parametrize(("body", "quotas"), [(COPY + "# another\n", {}), (COPY, {"wall_s": 7})])
async def test_a_neuron_that_changed_while_it_was_asked_about_does_not_run(
    open_agent, make_desk, home, clock: FakeClock, body: str, quotas: dict[str, float]
) -> None:
    """Neither what was judged nor what has come in its place is executed."""

    class Slow(RecordingChannel):
        async def ask(self, cards, submit) -> None:
            await adopt(agent, "copy", body, FILES, **quotas)
            await super().ask(cards, submit)

    async with open_agent([called("copy", **A_TO_B), says("Not done.")]) as agent:
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "a.md").write_text("one\n")
        trace = await make_desk(agent, Slow(clock)).handle("Copy a.md")

    assert (trace.steps[0].error.kind, len(trace.steps)) == ("denied", 1)
    assert "no longer what was judged" in str(trace.steps[0].error.message)


async def test_stopping_a_turn_ends_the_sandbox_of_its_neuron(open_agent, make_desk, home, clock: FakeClock) -> None:
    asked = asyncio.Event()

    class Silent(RecordingChannel):
        async def ask(self, cards, submit) -> None:
            if cards[0].request.draft.action.tool_name == "ctx_write":
                asked.set()
                await asyncio.Event().wait()
            await super().ask(cards, submit)

    before = living_runs()
    async with open_agent([called("copy", **A_TO_B)]) as agent:
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "a.md").write_text("one\n")
        desk = make_desk(agent, Silent(clock))
        turn = asyncio.ensure_future(desk.handle("Copy a.md"))
        await asked.wait()
        assert living_runs() > before
        turn.cancel()
        await asyncio.wait({turn})
        assert living_runs() == before
        traces = [event.trace for _, event in await agent.log.since(0) if isinstance(event, TraceClosed)]

    (trace,) = traces
    assert trace.outcome == "abandoned"
    assert [step.state for step in trace.steps] == ["failed", "done", "asked"]


async def test_what_runs_is_shown_with_what_it_calls(open_agent, make_desk, home, clock: FakeClock) -> None:
    channel = RecordingChannel(clock)
    async with open_agent([called("copy", **A_TO_B), says("Done.")]) as agent:
        await adopt(agent, "copy", COPY, FILES)
        (home.workspace / "a.md").write_text("one\n")
        await make_desk(agent, channel).handle("Copy a.md")

    shown = [(status.tool, status.detail.partition(" ")[0]) for status in channel.statuses if status.phase == "tool"]
    assert shown == [("neuron:copy", ""), ("neuron:copy", "ctx_read"), ("neuron:copy", "ctx_write")]

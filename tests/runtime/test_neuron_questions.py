"""A neuron cannot wear the person out with questions: what has no yes is not asked for ever."""

from neurons_in_turns import FILES, adopt, called, inner

from myclaw_core.testing import FakeClock, RecordingChannel, says

WRITES = """\
async def run(ctx, args):
    noes = []
    for name in args["names"]:
        try:
            with ctx.open(name, "w") as file:
                file.write("x")
        except PermissionError as error:
            noes.append(str(error))
    return noes
"""
OUTER = """\
async def run(ctx, args):
    return [await ctx.call("neuron:writer", names=[name]) for name in args["names"]]
"""


async def test_after_three_questions_without_a_yes_a_neuron_puts_no_more(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    """Whether it asks for the same or for something else; its next run begins anew."""
    channel = RecordingChannel(clock, lambda card: card.request.draft.action.tool_name != "ctx_write")
    names = [f"{number}.md" for number in range(9)]
    async with open_agent([called("writer", names=names), called("writer", names=names), says("No.")]) as agent:
        await adopt(agent, "writer", WRITES, FILES)
        trace = await make_desk(agent, channel).handle("Write")

    asked = [card for card in channel.cards if card.request.draft.action.tool_name == "ctx_write"]
    said = trace.steps[0].exec_result.data["output"]
    assert (len(said), len(asked)) == (9, 6)
    assert ["no more is asked in this run" in each for each in said] == [False] * 3 + [True] * 6
    assert {step.error.kind for step in inner(trace)} == {"denied"}


async def test_neurons_that_it_calls_have_no_questions_of_their_own_to_waste(
    open_agent, make_desk, home, clock: FakeClock
) -> None:
    channel = RecordingChannel(clock, lambda card: card.request.draft.action.tool_name != "ctx_write")
    names = [f"{number}.md" for number in range(5)]
    async with open_agent([called("outer", names=names), says("No.")]) as agent:
        await adopt(agent, "writer", WRITES, FILES)
        await adopt(agent, "outer", OUTER, ["call:neuron:writer"], may_call=["neuron:writer"])
        await make_desk(agent, channel).handle("Write")

    tools = [card.request.draft.action.tool_name for card in channel.cards]
    assert tools.count("ctx_write") <= 3


async def test_a_yes_in_between_begins_the_count_anew(open_agent, make_desk, home, clock: FakeClock) -> None:
    refused = {f"{number}.md" for number in range(9) if number % 3 < 2}
    channel = RecordingChannel(clock, lambda card: not any(name in str(card.request.draft.summary) for name in refused))
    names = [f"{number}.md" for number in range(9)]
    async with open_agent([called("writer", names=names), says("Done.")]) as agent:
        await adopt(agent, "writer", WRITES, FILES)
        await make_desk(agent, channel).handle("Write")

    assert {name for name in names if (home.workspace / name).exists()} == set(names) - refused

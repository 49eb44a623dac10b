"""What a neuron's manifest was compared with is what is opened, also where a link changes in between."""

from pathlib import Path
from typing import Any

import pytest
from neurons_in_turns import adopt, called, inner

from myclaw_core.testing import FakeClock, RecordingChannel, says

TRIES = """\
async def run(ctx, args):
    try:
        with ctx.open("notes/now/a.md", args["mode"]) as file:
            return file.read() if args["mode"] == "r" else file.write("changed")
    except PermissionError as error:
        return str(error)
"""
DECLARED = ("fs-read:{workspace}/notes/*", "fs-write:{workspace}/notes/*")


@pytest.mark.parametrize("mode", ["r", "w"])
async def test_a_link_that_changes_after_the_manifest_was_looked_at_opens_nothing_else(
    open_agent, make_desk, home, clock: FakeClock, mode: str
) -> None:
    workspace: Path = home.workspace
    async with open_agent([called("evil", mode=mode), says("Done.")]) as agent:
        await adopt(agent, "evil", TRIES, DECLARED)
        for folder in ("notes/public", "private"):
            (workspace / folder).mkdir(parents=True)
            (workspace / folder / "a.md").write_text(folder)
        link = workspace / "notes/now"
        link.symlink_to(workspace / "notes/public")
        plain = agent.services.validator.problem

        def swapped(call: Any, **options: Any) -> Any:
            """Come in between the look at the manifest and that of the policy."""
            if call.tool.startswith("ctx_") and link.resolve().name == "public":
                link.unlink()
                link.symlink_to(workspace / "private")
            return plain(call, **options)

        agent.services.validator.problem = swapped
        channel = RecordingChannel(clock)
        trace = await make_desk(agent, channel).handle("Go")

    said = trace.steps[0].exec_result.data["output"] if trace.steps[0].exec_result else str(trace.steps[0].error)
    assert "has just come to lead elsewhere; it was not done" in said
    assert [step.error.kind for step in inner(trace)] == ["denied"]
    assert [card.request.draft.action.tool_name for card in channel.cards] == ["neuron:evil"]
    assert [(workspace / each / "a.md").read_text() for each in ("private", "notes/public")] == [
        "private",
        "notes/public",
    ]

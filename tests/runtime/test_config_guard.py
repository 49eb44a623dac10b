"""A tool call never leaves a configuration behind with which nothing starts any more."""

import pytest

from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

BROKEN = '[agent]\nprovidr = "x"\n'


def write(path: str, content: str) -> dict:
    return calls(("fs_write", {"path": path, "content": content}))


async def run(open_agent, make_desk, home, clock: FakeClock, *replies: dict) -> tuple:
    """Return the last step of one turn in which everything is granted, and how often the person was asked."""
    channel = RecordingChannel(clock)
    async with open_agent([*replies, says("Done.")]) as agent:
        desk = make_desk(agent, channel, roots=(str(home.root), *agent.standing_roots), cwd=str(home.root))
        before = home.config_file.read_bytes()
        trace = await desk.handle("Change the configuration")
        return trace.steps[-1], len(channel.cards), before


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (BROKEN, ":2: [agent] unknown key 'providr'; the nearest known is 'provider'"),
        ("[agent\n", ":1:7: not valid TOML"),
        ("[budget]\nsoft_eur = 9\nhard_eur = 1\n", "hard_eur must not be below soft_eur"),
    ],
)
async def test_a_text_that_would_not_load_is_refused_before_anybody_is_asked(
    open_agent, make_desk, home, clock, content: str, problem: str
) -> None:
    step, asked, before = await run(open_agent, make_desk, home, clock, write("config.toml", content))
    assert problem in str(step.error.message)
    assert "would not load any more" in str(step.error.message)
    assert (asked, home.config_file.read_bytes()) == (0, before)


async def test_a_file_moved_over_the_configuration_is_looked_at_too(open_agent, make_desk, home, clock) -> None:
    home.workspace.mkdir(parents=True)
    (home.workspace / "next.toml").write_text(BROKEN)
    move = calls(("fs_move", {"src": "workspace/next.toml", "dst": "config.toml", "overwrite": True}))
    step, _, before = await run(open_agent, make_desk, home, clock, move)
    assert "unknown key 'providr'" in str(step.error.message)
    assert home.config_file.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "states"),
    [
        ('[agent]\nlevel = "full"\n', True),
        ('[agent]\nlevel = "read_only"\n', False),
        ("[budget]\nsoft_eur = 1\n", False),
    ],
)
async def test_a_text_that_raises_the_level_is_asked_about_with_what_that_will_cost(
    open_agent, make_desk, home, clock: FakeClock, content: str, states: bool
) -> None:
    """However it is raised, its cost is stated before."""
    channel = RecordingChannel(clock, lambda card: False)
    async with open_agent([write("config.toml", content), says("No.")]) as agent:
        desk = make_desk(agent, channel, roots=(str(home.root), *agent.standing_roots), cwd=str(home.root))
        await desk.handle("Change the configuration")
    (card,) = channel.cards
    assert any(str(line).startswith("estimate: ") for line in card.record) is states


async def test_a_text_that_loads_is_asked_about_and_written(open_agent, make_desk, home, clock) -> None:
    content = "[budget]\nsoft_eur = 1\n"
    step, asked, _ = await run(open_agent, make_desk, home, clock, write("config.toml", content))
    assert (step.state, step.kind, asked) == ("done", "config_change", 1)
    assert home.config_file.read_text() == content

"""What is explained is what was decided: `policy check` before a turn, the turn itself, and `/why` after it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from myclaw_core.cli.policy import _judge
from myclaw_core.policy.report import decision_json, explain
from myclaw_core.testing import RecordingChannel, calls, says

TURNS = 17
CALLS_A_TURN = 10
SENDER = "test:me"

Proposed = tuple[str, dict[str, Any]]
NOTE: Proposed = ("fs_write", {"path": "notes/a.md", "content": "x"})
PATHS = (
    "notes/a.md",
    "notes/b.md",
    "{docs}/plan.md",
    "{docs}/.envrc",
    "{docs}/../x.md",
    "~/.ssh/id",
    "neurons/n/body.py",
)


def random_calls(dice: random.Random, docs: Path) -> list[Proposed]:
    """Return different calls of the tools that come with the agent, over places of every sort."""
    chosen: list[Proposed] = [NOTE]
    while len(chosen) < CALLS_A_TURN:
        path = dice.choice(PATHS).format(docs=docs)
        url = dice.choice(("https://example.org/", "http://127.0.0.1/", "https://example.net/?q=1"))
        proposed: Proposed = dice.choice(
            (
                ("fs_write", {"path": path, "content": "x"}),
                ("fs_read", {"path": path}),
                ("fs_delete", {"path": path}),
                ("fs_move", {"src": path, "dst": "notes/moved.md"}),
                ("web_fetch", {"url": url}),
            )
        )
        if proposed not in chosen:
            chosen.append(proposed)
    return chosen


async def nobody(host: str, port: int) -> tuple[str, ...]:
    """Know no address: no network is touched."""
    return ()


async def practised(agent: Any, make_desk: Any, clock: Any) -> None:
    """Let writing a note earn its trust."""
    for _ in range(4):
        await make_desk(agent).handle("keep a note")
        clock.advance(days=1)


@pytest.mark.parametrize("seed", range(3))
async def test_what_policy_check_says_is_what_the_turn_decides_and_what_why_tells(
    seed: int, tmp_path: Path, open_agent: Any, make_desk: Any, clock: Any
) -> None:
    """Verdict, every reason, effects and trust figures are equal to the letter."""
    dice = random.Random(seed)
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "plan.md").write_text("x")
    turns = [random_calls(dice, docs) for _ in range(TURNS)]
    replies = [calls(NOTE), says("kept")] * 4
    for proposed in turns:
        replies += [calls(*proposed), says("looked")]
    seen: set[str] = set()
    async with open_agent(replies, lookup=nobody) as agent:
        await practised(agent, make_desk, clock)
        for proposed in turns:
            level = dice.choice(("read_only", "supervised", "full"))
            text = dice.choice(("look", f"look at {docs}/plan.md", "look at https://example.org/"))
            line = {"sender": SENDER, "autonomy": level, "text": text, "cwd": str(agent.home.workspace)}
            foretold = [
                decision_json(await _judge(agent, {"tool": tool, "args": args} | line, (str(docs),), None))
                for tool, args in proposed
            ]
            channel = RecordingChannel(clock, lambda card: False)
            desk = make_desk(agent, channel, level=level, roots=(*agent.standing_roots, str(docs)), dry_run=True)
            trace = await desk.handle(text)
            decisions = [step.decision for step in trace.steps]
            assert [decision_json(decision) for decision in decisions] == foretold
            await desk.handle("/why")
            assert explain(decisions[-1]) in channel.shown[-1]
            seen |= {f"{each['verdict']} {each['via']}" for each in foretold}
    assert {"allow trust_promoted", "approve_required trust", "deny forbidden", "deny autonomy"} <= seen

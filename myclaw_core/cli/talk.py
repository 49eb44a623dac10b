"""`myclaw` and `myclaw ask`: a conversation, or one message."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from myclaw_core.errors import UsageError

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.desk import SessionDesk
    from myclaw_core.runtime.channel import Channel
    from myclaw_core.runtime.types import ExecutionTrace
    from myclaw_core.types.effect import Autonomy

__all__ = ["open_roots", "run"]


def run(args: argparse.Namespace) -> int:
    """Run the conversation or the one message."""
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.paths import Home

    roots = open_roots(args.root)
    async with Agent.open(Home.find()) as agent:
        agent.require_model()
        channel = agent.channel("terminal")
        for notice in agent.notices:
            channel.notice(notice)
        desk = _desk(agent, channel, roots, args.level)
        if args.command == "chat":
            return await channel.serve(desk)
        return await _ask(" ".join(args.text), desk, channel, as_json=args.json)


def open_roots(given: list[str]) -> tuple[str, ...]:
    """Return the real paths of the folders named with `--root`.

    Raises:
        UsageError: One is not a folder.
    """
    roots = []
    for text in given:
        path = Path(text).expanduser()
        if not path.is_dir():
            raise UsageError(f"--root {text}: there is no such folder")
        roots.append(os.path.realpath(path))
    return tuple(roots)


def _desk(agent: Agent, channel: Channel, roots: tuple[str, ...], level: Autonomy | None) -> SessionDesk:
    from myclaw_core.desk import SessionDesk

    config = agent.services.config
    return SessionDesk(
        agent,
        channel,
        sender=f"cli:{getpass.getuser()}",
        roots=(*agent.standing_roots, *roots),
        cwd=roots[0] if roots else str(agent.home.workspace),
        level=level or config.agent.level,
    )


async def _ask(text: str, desk: SessionDesk, channel: Channel, *, as_json: bool) -> int:
    turn = asyncio.ensure_future(desk.handle(text))
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, turn.cancel)
    try:
        trace = await turn
    except asyncio.CancelledError:
        print("myclaw: stopped; what was done until then is recorded ('myclaw audit show')", file=sys.stderr)
        return 130
    finally:
        loop.remove_signal_handler(signal.SIGINT)
    if as_json and trace is not None:
        print(json.dumps(_summary(trace), ensure_ascii=False))
    if trace is None or trace.outcome == "success":
        return 0
    return 1


def _summary(trace: ExecutionTrace) -> dict[str, object]:
    answer = next((message.text for message in reversed(trace.messages) if message.role == "assistant"), "")
    return {
        "trace": str(trace.id),
        "outcome": trace.outcome,
        "answer": answer,
        "cost_usd": trace.cost_usd,
        "steps": [
            {
                "tool": step.tool_name,
                "effect_class": step.effect_class,
                "state": step.state,
                "via": step.decision.via if step.decision else None,
                "error": step.error.message if step.error else None,
            }
            for step in trace.steps
        ],
    }

"""`myclaw` and `myclaw ask`: a conversation, or one message."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from myclaw_core.cli.person import sender
from myclaw_core.clock import local_zone
from myclaw_core.errors import UsageError
from myclaw_core.messages import N_, _, n_, use_language
from myclaw_core.types.effect import autonomy_le
from myclaw_core.types.text import as_text

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.cli.log import LogLines
    from myclaw_core.desk import SessionDesk
    from myclaw_core.runtime.channel import Channel
    from myclaw_core.runtime.types import ExecutionTrace
    from myclaw_core.types.effect import Autonomy
    from myclaw_core.types.text import Text

__all__ = ["exit_code", "open_roots", "run", "stoppable", "stopped"]

T = TypeVar("T")


def run(args: argparse.Namespace) -> int:
    """Run the conversation or the one message."""
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from myclaw_core.cli.log import LogLines

    text = " ".join(args.text) if args.command == "ask" else None
    if text is not None and not text.strip():
        raise UsageError(N_("the message is empty; say what to do"))
    with LogLines(hold=True) as log:
        return await _talk(args, text, open_roots(args.root), log)


async def _talk(args: argparse.Namespace, text: str | None, roots: tuple[str, ...], log: LogLines) -> int:
    """Run a conversation, or the one message `text`."""
    from myclaw_core.agent import Agent
    from myclaw_core.cli.holds import see_off
    from myclaw_core.paths import Home
    from myclaw_core.runtime.channel import Status

    async with Agent.open(Home.find()) as agent:
        agent.require_model()
        channel = _channel(agent, as_json=text is not None and args.json)
        for notice in (*agent.notices, *_on_service(agent)):
            channel.notice(notice)
        for root in _wide(roots):
            channel.notice(N_("--root {root} opens everything below it; a folder of its own is safer", root=root))
        for notice in (*await _on_level(agent, args.level), *await _on_pending(agent, channel, text)):
            channel.notice(notice)
        log.unhold(map(str, agent.notices), show=lambda line: channel.notice(as_text(line)))
        desk = _desk(agent, channel, roots, args)
        if text is not None and not text.startswith("/"):
            channel.status(Status(phase="thinking"))  # the first sign, before anything is read or checked
        code = await channel.serve(desk) if text is None else await _ask(text, desk)
        return await see_off(agent.services.outbox, agent.clock, code)


async def _on_level(agent: Agent, chosen: Autonomy | None) -> list[Text]:
    """Return what is said of the level before anything runs: the cost of one that is raised here, or what was set."""
    levels = agent.services.levels
    if chosen is None:
        return [await levels.words()] if await levels.now() != levels.configured else []
    if autonomy_le(chosen, await levels.now()):
        return []
    return [(await agent.services.ledger.estimate(chosen)).text]


async def _on_pending(agent: Agent, channel: Channel, text: str | None) -> list[Text]:
    """Return at the start of a conversation that runs without the person left something to answer."""
    from myclaw_core.runtime.pending import left_notice

    notice = await left_notice(agent.services) if text is None and channel.attended else None
    return [notice] if notice else []


def _on_service(agent: Agent) -> list[Text]:
    """Return what is wrong with the daemon: whoever writes here may wait for a messenger that reaches nobody."""
    from myclaw_core.serve.health import look

    troubles = look(agent.home, agent.clock.now()).troubles
    return [N_("myclaw serve: {what}; {todo}", what=each.what, todo=each.todo) for each in troubles]


def _channel(agent: Agent, *, as_json: bool) -> Channel:
    """Return where the turn is shown; what a program reads is English, also the answer of a slash command."""
    if not as_json:
        return agent.channel("terminal")
    from myclaw_core.cli.json_channel import JsonChannel

    use_language("en")
    return JsonChannel()


def open_roots(given: list[str]) -> tuple[str, ...]:
    """Return the real paths of the folders named with `--root`.

    Raises:
        UsageError: One is not a folder.
    """
    roots = []
    for text in given:
        path = Path(text).expanduser()
        if not path.is_dir():
            problem = N_("this is no folder") if path.exists() else N_("there is no such folder")
            raise UsageError(N_("--root {root}: {problem}", root=text, problem=problem))
        roots.append(os.path.realpath(path))
    return tuple(roots)


def _wide(roots: tuple[str, ...]) -> list[str]:
    """Return the folders that hold more than a person may have in mind."""
    return [root for root in roots if root in {"/", os.path.realpath(Path.home())}]


def _desk(agent: Agent, channel: Channel, roots: tuple[str, ...], args: argparse.Namespace) -> SessionDesk:
    from myclaw_core.desk import SessionDesk
    from myclaw_core.policy.grants import checked_class
    from myclaw_core.synthesis.after_turn import AfterFailure

    return SessionDesk(
        agent,
        channel,
        sender=sender(),
        roots=(*agent.standing_roots, *roots),
        cwd=roots[0] if roots else str(agent.home.workspace),
        level=args.level,
        yes_to=tuple(checked_class(text) for text in args.yes_to),
        dry_run=args.dry_run,
        after_turn=AfterFailure(agent, channel, here=True),
    )


async def _ask(text: str, desk: SessionDesk) -> int:
    try:
        trace = await stoppable(desk.handle(text))
    except asyncio.CancelledError:
        stopped()
        return 130
    return 0 if trace is None else exit_code(trace)


async def stoppable(work: Coroutine[Any, Any, T]) -> T:
    """Return what `work` gives; Ctrl-C cancels it.

    Raises:
        asyncio.CancelledError: It was stopped.
    """
    doing = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, doing.cancel)
    try:
        return await doing
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def stopped() -> None:
    """Say that a turn was stopped."""
    told = _("stopped; what was done until then is recorded ('myclaw audit show')")
    print(f"myclaw: {told}", file=sys.stderr)


def exit_code(trace: ExecutionTrace) -> int:
    """Return what the run ends with; that a question was left for later is said on stderr too."""
    if trace.left:
        what = n_(
            "{n} question was left for you; answer it with /pending in 'myclaw' until {until}",
            "{n} questions were left for you; answer them with /pending in 'myclaw' until {until}",
            len(trace.left),
            until=f"{min(trace.left.values()).astimezone(local_zone()):%Y-%m-%d %H:%M}",
        )
        print(f"myclaw: {what}", file=sys.stderr)
    return 0 if trace.went_well else 1

"""`myclaw outbox`: what waits to be sent, and what became of what was sent lately."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from myclaw_core.cli.looking import tell_broken
from myclaw_core.clock import SystemClock, local_zone
from myclaw_core.columns import columns
from myclaw_core.compose import configured_dispatcher, load_plugins, open_log
from myclaw_core.events.words import word
from myclaw_core.files.visible import visible
from myclaw_core.messages import _, render
from myclaw_core.outbox.records import ended_messages, open_messages
from myclaw_core.outbox.types import OutboxMessage
from myclaw_core.outbox.words import what_of
from myclaw_core.paths import Home
from myclaw_core.process import is_alive

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Print the list."""
    messages = asyncio.run(_messages(args.count))
    if args.json:
        print(json.dumps([_object(message) for message in messages], ensure_ascii=False, indent=2))
    else:
        print(_table(messages) if messages else _("Nothing was sent lately, and nothing waits."))
    return 0


async def _messages(count: int) -> Sequence[OutboxMessage]:
    """Return what waits, and so many of those that ended."""
    home, clock = Home.find(), SystemClock()
    plugins = load_plugins(home, lenient=True)
    dispatcher, config = configured_dispatcher(home, plugins, clock, lambda _fault: None, on_broken=tell_broken)
    async with open_log(home, dispatcher, config, clock) as log:
        return [*await open_messages(log), *(await ended_messages(log))[:count]]


def _table(messages: Sequence[OutboxMessage]) -> str:
    headings = (_("message"), _("state"), _("at"), _("what"), _("why"))
    return "\n".join(columns([headings, *map(_cells, messages)]))


def _cells(message: OutboxMessage) -> tuple[str, ...]:
    at = f"{(message.ended_at or message.due_at).astimezone(local_zone()):%Y-%m-%d %H:%M:%S}"
    cells = (str(message.id)[:13], word(message.state), at, render(what_of(message)), _why(message))
    return tuple(map(visible, cells))


def _why(message: OutboxMessage) -> str:
    """Return why a message was not sent, or will not be."""
    if message.reason is not None:
        return render(message.reason)
    if message.ended_at is not None or is_alive(message.owner):
        return ""
    if message.state == "held":
        return _("the program that held it is gone; it will not be sent")
    return _("the program that was sending it is gone; it may have been sent")


def _object(message: OutboxMessage) -> dict[str, Any]:
    return {
        "id": str(message.id),
        "state": message.state,
        "tool": message.tool,
        "targets": list(message.targets),
        "sender": message.sender,
        "channel": message.channel,
        "trace": str(message.trace_id),
        "held_at": _stamp(message.held_at),
        "due_at": _stamp(message.due_at),
        "ended_at": None if message.ended_at is None else _stamp(message.ended_at),
        "reason": None if message.reason is None else str(message.reason),
    }


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

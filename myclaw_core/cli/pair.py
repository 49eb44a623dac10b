"""`myclaw pair`: makes a code by which somebody is served on a messenger, lists who is, and takes them out."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from attrs import frozen

from myclaw_core.cli.person import sender
from myclaw_core.columns import columns
from myclaw_core.errors import UnavailableError, UsageError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _

if TYPE_CHECKING:
    from myclaw_core.dispatch import Dispatcher
    from myclaw_core.sessions.pairing import PairedSender, Pairing
    from myclaw_core.sessions.strangers import Strangers

__all__ = ["run"]


@frozen
class _Desk:
    """What the command works with."""

    pairing: Pairing
    dispatcher: Dispatcher


def run(args: argparse.Namespace) -> int:
    """Make a code, list, or take somebody out.

    Raises:
        UsageError: No messenger has that name, or a sender was given where none belongs, or is not paired.
        UnavailableError: The messenger lacks something, such as a token.
    """
    if (args.what == "end") != bool(args.sender):
        raise UsageError(N_("'myclaw pair end SENDER' takes somebody out; 'myclaw pair list' shows the senders"))
    return asyncio.run({"list": _list, "end": _end}.get(args.what, _offer)(args))


async def _offer(args: argparse.Namespace) -> int:
    async with _opened() as desk:
        _require_messenger(desk.dispatcher, args.what)
        code, ends_at = await desk.pairing.offer(args.what, sender())
    if args.json:
        print(json.dumps({"messenger": args.what, "code": code, "ends_at": _stamp(ends_at)}))
        return 0
    print(code)
    print(_("Send it to the bot on {messenger} within 10 minutes; it counts once.", messenger=args.what))
    return 0


async def _list(args: argparse.Namespace) -> int:
    async with _opened() as desk:
        pairs = await desk.pairing.pairs()
        strangers = await desk.pairing.strangers_of_all()
    print(json.dumps(_json(pairs, strangers), ensure_ascii=False) if args.json else "\n".join(_lines(pairs, strangers)))
    return 0


async def _end(args: argparse.Namespace) -> int:
    async with _opened() as desk:
        pair = await desk.pairing.end(args.sender)
    if args.json:
        print(json.dumps({"ended": pair.sender, "name": pair.name}, ensure_ascii=False))
    else:
        print(_("{who} is not served any more", who=_who(pair)))
    return 0


@asynccontextmanager
async def _opened() -> AsyncIterator[_Desk]:
    """Open the log alone; a program that serves meanwhile sees what is changed here at once."""
    from myclaw_core.clock import SystemClock
    from myclaw_core.compose import configured_dispatcher, load_plugins, open_log
    from myclaw_core.paths import Home
    from myclaw_core.sessions.pairing import Pairing

    home, clock = Home.find(), SystemClock()
    dispatcher, config = configured_dispatcher(home, load_plugins(home), clock, lambda _fault: None)
    async with open_log(home, dispatcher, config, clock) as log:
        yield _Desk(Pairing(log, clock), dispatcher)


def _require_messenger(dispatcher: Dispatcher, name: str) -> None:
    from myclaw_core.config.load import nearest

    messengers = dispatcher.messengers()
    if name not in messengers:
        hint = nearest(name, messengers)
        raise UsageError(N_("no plugin offers the messenger '{messenger}'; {hint}", messenger=visible(name), hint=hint))
    missing = messengers[name].missing()
    if missing is not None:
        raise UnavailableError(missing)


def _lines(pairs: Sequence[PairedSender], strangers: Sequence[tuple[str, Strangers]]) -> list[str]:
    rows = [(pair.sender, pair.name, _("since {day}", day=f"{pair.paired_at:%Y-%m-%d}")) for pair in pairs]
    lines = list(columns(rows)) or [_("Nobody is served; 'myclaw pair MESSENGER' makes a code.")]
    for messenger, counted in strangers:
        lines.append(
            _("ignored on {messenger}: {n} times; those that came last:", messenger=messenger, n=counted.total)
        )
        lines += columns(
            [
                (f"  {each.sender}", str(each.count), _what(each.what), f"{each.last_at:%Y-%m-%d %H:%M} UTC")
                for each in reversed(counted.last)
            ]
        )
    return [visible(line) for line in lines]


def _what(ignored: str) -> str:
    """Return in the person's words what was ignored; a messenger may have words of its own."""
    known = {"message": _("message"), "code": _("code"), "answer": _("answer")}
    return known.get(ignored.removeprefix("a "), ignored)


def _json(pairs: Sequence[PairedSender], strangers: Sequence[tuple[str, Strangers]]) -> dict[str, Any]:
    return {
        "paired": [
            {
                "sender": pair.sender,
                "messenger": pair.messenger,
                "name": pair.name,
                "paired_at": _stamp(pair.paired_at),
            }
            for pair in pairs
        ],
        "strangers": [
            {
                "messenger": messenger,
                "total": counted.total,
                "last": [
                    {"sender": each.sender, "count": each.count, "what": each.what, "last_at": _stamp(each.last_at)}
                    for each in reversed(counted.last)
                ],
            }
            for messenger, counted in strangers
        ],
    }


def _who(pair: PairedSender) -> str:
    return f"{pair.sender} ({pair.name})" if pair.name else pair.sender


def _stamp(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")

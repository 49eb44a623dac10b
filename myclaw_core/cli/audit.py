"""`myclaw audit list | show | tail | verify`: what happened, and whether the record of it is whole."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from myclaw_core.cli.looking import opened_log, tell_broken
from myclaw_core.errors import MyclawError, UsageError
from myclaw_core.messages import N_, _, render

if TYPE_CHECKING:
    from myclaw_core.events.export import ExportReport
    from myclaw_core.events.log import EventLog
    from myclaw_core.events.store import Head
    from myclaw_core.events.types import Event
    from myclaw_core.events.verify import VerifyReport
    from myclaw_core.trust.audit import TrustReport
    from myclaw_core.types.text import Text

__all__ = ["run"]

SHOWN = 5
"""Most differences of the exported files that are named."""

POLL_S = 0.5
"""How often `--follow` looks for new events."""


def run(args: argparse.Namespace) -> int:
    """Run one audit command."""
    command = {"audit list": _list, "audit show": _show, "audit tail": _tail, "audit verify": _verify}[args.command]
    try:
        return asyncio.run(command(args))
    except KeyboardInterrupt:
        if args.command == "audit tail" and args.follow:
            return 0
        raise


async def _list(args: argparse.Namespace) -> int:
    from myclaw_core.events.listing import trace_lines, trace_table

    async with opened_log() as (log, _clock):
        lines = await trace_lines(log, args.count)
    if args.json:
        print(json.dumps([line.json() for line in lines], ensure_ascii=False, indent=2))
    else:
        print(trace_table(lines) if lines else _("Nothing is recorded yet."))
    return 0


async def _tail(args: argparse.Namespace) -> int:
    async with opened_log() as (log, clock):
        newest = await log.last()
        seq = max(0, newest.seq - args.count) if newest else 0
        while True:
            for head in await log.heads(seq):
                _print(head, *await _read(log, head), as_json=args.json)
                seq = head.seq
            if not args.follow:
                return 0
            await clock.sleep(POLL_S)


async def _read(log: EventLog, head: Head) -> tuple[Event | None, MyclawError | None]:
    """Return an event and what is wrong with it: the end of a damaged log is what a person looks at first."""
    try:
        return await log.event(head), None
    except MyclawError as error:
        return None, error


def _print(head: Head, event: Event | None, problem: MyclawError | None = None, *, as_json: bool) -> None:
    from myclaw_core import codec
    from myclaw_core.events.narrative import event_lines

    if as_json:
        body = None if event is None else codec.unstructure(event)
        shown: dict[str, Any] = {"seq": head.seq, "at": head.at, "type": head.type, "event": body}
        print(json.dumps(shown | ({"error": str(problem)} if problem else {}), ensure_ascii=False), flush=True)
    elif problem:
        print(f"{head.seq:>6}  {render(problem)}", flush=True)
    else:
        print("\n".join(event_lines(head, event)), flush=True)


async def _show(args: argparse.Namespace) -> int:
    from myclaw_core.events.narrative import narrate

    async with opened_log() as (log, _clock):
        trace_id = await _trace_id(log, args.trace)
        if trace_id is None:
            if not args.json:
                print(_("Nothing is recorded yet."))
            return 0
        entries = await log.events(trace_id)
    if args.json:
        for head, event in entries:
            _print(head, event, as_json=True)
    else:
        print("\n".join(narrate(trace_id, entries)))
    return 0


async def _trace_id(log: EventLog, wanted: str) -> str | None:
    matches = await log.trace_ids(wanted.lower(), limit=2)
    if not matches and not wanted:
        return None
    if not matches:
        raise UsageError(N_("no trace starts with '{id}'; see 'myclaw audit list'", id=wanted))
    if wanted and len(matches) > 1:
        raise UsageError(N_("more than one trace starts with '{id}'; give more of its id", id=wanted))
    return matches[0]


async def _verify(args: argparse.Namespace) -> int:
    from myclaw_core.cli.trust_open import open_trust
    from myclaw_core.events.export import AuditExport
    from myclaw_core.events.keys import load_or_create_key

    async with open_trust(on_broken=tell_broken, on_behind=lambda _error: None) as opened:  # the check below says why
        home, log = opened.home, opened.log
        events = await log.verify()
        trust = await opened.book.verify()
        key = load_or_create_key(home.keys / "events.key")
        export = await AuditExport(log, home.audit, key, opened.clock).compare()
    print(json.dumps(_json(events, trust, export), ensure_ascii=False) if args.json else _report(events, trust, export))
    return 0 if events.ok and trust.ok and export.ok else 1


def _json(events: VerifyReport, trust: TrustReport, export: ExportReport) -> dict[str, Any]:
    return {
        "events": {
            "ok": events.ok,
            "checked": events.checked,
            "first_bad": events.first_bad_seq,
            "problem": str(events.problem or ""),
        },
        "trust": {
            "ok": trust.ok,
            "checked": trust.rows,
            "first_bad": trust.first_bad_row,
            "problem": "; ".join(map(str, trust.problems)),
        },
        "export": {
            "ok": export.ok,
            "checked": export.checked,
            "first_bad": export.first_bad_seq,
            "problem": "; ".join(map(str, export.problems[:SHOWN])),
            "problems": len(export.problems),
            "pending": export.pending,
        },
    }


def _report(events: VerifyReport, trust: TrustReport, export: ExportReport) -> str:
    parts = {
        _("events"): _state(events.checked, [events.problem] if events.problem else []),
        _("trust"): _state(trust.rows, trust.problems),
        _("export"): _state(export.checked, export.problems[:SHOWN]),
    }
    width = max(map(len, parts)) + 2
    return "\n".join(f"{part + ':':<{width}}{state}" for part, state in parts.items())


def _state(checked: int, problems: Sequence[Text]) -> str:
    count = f"{checked:>6}"
    if not problems:
        return _("{count} checked, whole", count=count)
    return _("{count} checked, NOT whole: {problem}", count=count, problem="; ".join(map(render, problems)))

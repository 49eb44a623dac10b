"""The newest traces in one line each: when, who, how it ended, what it was about."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from attrs import asdict, frozen

from myclaw_core.columns import columns
from myclaw_core.errors import MyclawError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import TraceClosed, TurnStarted
from myclaw_core.events.words import word
from myclaw_core.files.visible import visible
from myclaw_core.messages import _

__all__ = ["TraceLine", "trace_lines", "trace_table"]

_WORDS_CHARS = 60
_STEPS_COLUMN = 4


@frozen(kw_only=True)
class TraceLine:
    """One trace.

    Attributes:
        at: When it began, ISO-8601 UTC.
        outcome: How it ended; `open` while it runs, or after a crash until the next start; `damaged` where its record
            is not the one that was written; empty where that was erased.
        steps: Tool calls; `None` where that is not known.
        text: First words of the message; empty where it was erased.
        ingested: Whether it was taken in from a file.
    """

    trace: str
    at: str
    sender: str = ""
    outcome: str = ""
    steps: int | None = None
    text: str = ""
    ingested: bool = False

    def json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)


async def trace_lines(log: EventLog, count: int) -> list[TraceLine]:
    """Return the newest traces, the one that began last first.

    Raises:
        StoreError: The log cannot be read.
    """
    return [await _line(log, trace_id) for trace_id in await log.trace_ids("", count)]


def trace_table(lines: list[TraceLine]) -> str:
    """Return traces for people, in their language."""
    headings = (_("trace"), _("began (UTC)"), _("sender"), _("outcome"), _("steps"), _("message"))
    return "\n".join(columns([headings, *map(_cells, lines)], right={_STEPS_COLUMN}))


def _cells(line: TraceLine) -> tuple[str, ...]:
    steps = "" if line.steps is None else str(line.steps)
    when = line.at[:16].replace("T", " ")
    missing = _("(taken in from a file)") if line.ingested else _("(erased)")
    cells = (line.trace, when, line.sender, word(line.outcome), steps, line.text or missing)
    return tuple(map(visible, cells))


async def _line(log: EventLog, trace_id: str) -> TraceLine:
    try:
        entries = await log.events(trace_id, TurnStarted, TraceClosed)
    except MyclawError:
        return TraceLine(trace=trace_id, at="", outcome="damaged")
    at, closed = entries[0][0].at if entries else "", False
    found: dict[str, Any] = {}
    for head, event in entries:
        closed = closed or head.type == "trace_closed"
        if isinstance(event, TurnStarted):
            turn = event.turn
            found |= {"at": _text(turn.received_at), "sender": turn.sender, "text": _words(turn.text)}
        elif isinstance(event, TraceClosed):
            trace = event.trace
            found |= {"sender": trace.sender, "outcome": trace.outcome or "", "steps": len(trace.steps)}
            if event.ingested:
                asked = next((message.text for message in trace.messages if message.role == "user"), "")
                found |= {"at": _text(trace.started_at), "text": _words(asked), "ingested": True}
    return TraceLine(**{"trace": trace_id, "at": at, "outcome": "" if closed else "open"} | found)


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _words(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _WORDS_CHARS else f"{plain[: _WORDS_CHARS - 1].rstrip()}…"

"""Says what a log file holds: lines by level, the time they cover, and which messages come again and again."""

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta

LEVELS = {
    "critical": ("CRITICAL", "CRIT", "FATAL", "EMERG", "ALERT", "PANIC"),
    "error": ("ERROR", "ERR", "SEVERE"),
    "warning": ("WARNING", "WARN"),
    "info": ("INFO", "NOTICE"),
    "debug": ("DEBUG", "TRACE"),
}
WORD = "CRITICAL|CRIT|FATAL|EMERG|ALERT|PANIC|ERROR|ERR|SEVERE|WARNING|WARN|INFO|NOTICE|DEBUG|TRACE"
LEVEL = re.compile(rf"\b({WORD})\b|(?i:\blevel\W{{1,4}}({WORD})\b)|\[(?i:({WORD}))\]")
ISO = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?(Z|[+-]\d\d:?\d\d)?")
WEB = re.compile(r"\[(\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\]")
SYSLOG = re.compile(r"([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d:\d\d:\d\d)\b")
CHANGING = (
    (re.compile(r"\"[^\"]*\"|'[^']*'"), "<text>"),
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<id>"),
    (re.compile(r"\b(?:0x[0-9a-fA-F]+|(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{8,})\b"), "<hex>"),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "<n>"),
    (re.compile(r"\s+"), " "),
)
MOST_BYTES = 8_000_000
LONGEST_LINE = 2000
LONGEST_SHAPE = 200
DAY = timedelta(days=1)


async def run(ctx, args):
    """Return levels, times and the `top` most frequent shapes of messages; new are those not seen before `since`."""
    with ctx.open(args["path"], "rb") as file:
        data = file.read()
    text = last_part(data).decode("utf-8", errors="replace")
    now = ctx.now()
    since = args.get("since")
    border = None if since is None else time_in(since if ":" in since else f"{since} 00:00:00", now)
    if since is not None and border is None:
        raise ValueError(f"since is no time such as 2026-03-01 or 2026-03-01T08:00:00: {since}")
    lines = [line[:LONGEST_LINE] for line in text.splitlines() if line.strip()]
    levels, shapes, old, at, times = Counter(), {}, set(), None, []
    for line in lines:
        at = time_in(line, now) or at  # a line without a time, such as one of a traceback, belongs to the one above it
        level = level_in(line)
        levels[level] += 1
        if at is not None:
            times.append(at)
        shape = shape_of(line)
        if border is not None and (at is None or at < border):
            old.add(shape)
        else:
            found = shapes.setdefault(
                shape, {"shape": shape, "level": level, "count": 0, "example": line[:LONGEST_SHAPE]}
            )
            found["count"] += 1
    most = sorted(shapes.values(), key=lambda found: (-found["count"], found["shape"]))
    top = args.get("top", 10)
    return {
        "lines": len(lines),
        "complete": len(data) <= MOST_BYTES,
        "levels": {level: levels[level] for level in (*LEVELS, "none") if levels[level]},
        "first": min(times).isoformat() if times else None,
        "last": max(times).isoformat() if times else None,
        "frequent": most[:top],
        "new": [] if border is None else [found for found in most if found["shape"] not in old][:top],
    }


def last_part(data):
    """Return a log, the last whole lines alone where it is long."""
    return data if len(data) <= MOST_BYTES else data[-MOST_BYTES:].partition(b"\n")[2]


def time_in(line, now):
    """Return the time in a line as aware UTC, or None; without a zone it is taken as UTC, without a year as past."""
    iso, web, syslog = ISO.search(line), WEB.search(line), SYSLOG.match(line)
    try:
        if iso:
            found = datetime.fromisoformat(f"{iso[1]}T{iso[2]}{iso[3] or ''}")
            return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        if web:
            return datetime.strptime(web[1], "%d/%b/%Y:%H:%M:%S %z").astimezone(UTC)
        if syslog:
            text = f"{now.year} {syslog[1]} {syslog[2]} {syslog[3]}"
            found = datetime.strptime(text, "%Y %b %d %H:%M:%S").replace(tzinfo=UTC)
            return found if found <= now + DAY else found.replace(year=now.year - 1)
    except (ValueError, OverflowError):
        return None
    return None


def level_in(line):
    """Return the level of a line, `none` where it names none."""
    found = LEVEL.search(line)
    word = found[found.lastindex].upper() if found else ""
    return next((level for level, words in LEVELS.items() if word in words), "none")


def shape_of(line):
    """Return the message of a line with what changes from line to line taken out, its time first of all."""
    if line.startswith("{"):
        try:
            record = json.loads(line)
            line = str(record.get("message") or record.get("msg") or record.get("event") or sorted(record))
        except (ValueError, RecursionError):
            pass  # it only looks like JSON
    for pattern in (ISO, WEB, SYSLOG):
        line = pattern.sub("", line, count=1)
    for pattern, instead in CHANGING:
        line = pattern.sub(instead, line)
    return line.strip()[:LONGEST_SHAPE]

"""Reads a calendar file (.ics) and says what is on in the next days, with what repeats written out."""

import calendar
import re
from collections import defaultdict
from datetime import date, datetime, time, timedelta

LINE = re.compile(r"([A-Za-z-]+)((?:;[^:;=]+=(?:\"[^\"]*\"|[^:;]*))*):(.*)", re.DOTALL)
WHEN = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?")
DURATION = re.compile(r"\+?P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:\d{1,7}S)?)?")
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
UNDERSTOOD = frozenset({"FREQ", "INTERVAL", "COUNT", "UNTIL", "BYDAY", "WKST"})
MONTHS = {"MONTHLY": 1, "YEARLY": 12}
MOST_TIMES = 20_000
DAY = timedelta(days=1)


async def run(ctx, args):
    """Return the events of the next `days` days, from today or `start` on, in order."""
    with ctx.open(args["path"], "rb") as file:
        text = file.read().decode("utf-8-sig", errors="replace")
    offset = timedelta(hours=args.get("utc_offset_hours", 0))
    now = (ctx.now() + offset).replace(tzinfo=None)
    begin = datetime.combine(date.fromisoformat(args["start"]) if "start" in args else now.date(), time())
    end = begin + args.get("days", 7) * DAY
    events, unread = events_in(text, offset)
    moved = defaultdict(set)
    for event in events:
        if event["instead_of"]:
            moved[event["uid"]].add(event["instead_of"])
    found, odd = [], []
    for event in events:
        left_out = event["except"] if event["instead_of"] else event["except"] | moved[event["uid"]]
        if event["rule"] and not understood(event["rule"]):
            odd.append(event["summary"])
        found += [
            told(event, at)
            for at in times_of(event, end)
            if at < end and (at + event["lasts"] > begin or at >= begin) and at not in left_out
        ]
    return {
        "from": begin.date().isoformat(),
        "to": (end - DAY).date().isoformat(),
        "events": sorted(found, key=lambda each: (each["start"], each["summary"])),
        "rules_not_understood": odd,
        "unread_events": unread,
    }


def events_in(text, offset):
    """Return the events of a calendar, and how many could not be read."""
    if "BEGIN:VCALENDAR" not in text.upper():
        raise ValueError("this is no calendar file: it has no line BEGIN:VCALENDAR")
    unfolded = re.sub(r"\r?\n[ \t]", "", text)
    blocks = re.findall(r"^BEGIN:VEVENT\s*?$(.*?)^END:VEVENT", unfolded, re.DOTALL | re.MULTILINE | re.IGNORECASE)
    events = [event_of(block, offset) for block in blocks]
    kept = [event for event in events if event is not None]
    return [event for event in kept if event["status"] != "CANCELLED"], len(events) - len(kept)


def event_of(block, offset):
    """Return one event, or None where its start cannot be read."""
    values = defaultdict(list)
    for line in re.sub(r"^BEGIN:VALARM.*?^END:VALARM", "", block, flags=re.DOTALL | re.MULTILINE).splitlines():
        if match := LINE.fullmatch(line.strip()):
            values[match[1].upper()] += match[3].split(",") if match[1].upper() == "EXDATE" else [match[3]]
    first = {name: found[0] for name, found in values.items()}
    start, end = when(first.get("DTSTART", ""), offset), when(first.get("DTEND", ""), offset)
    if start is None:
        return None
    all_day = "T" not in first["DTSTART"]
    length = DURATION.fullmatch(first.get("DURATION", ""))
    weeks, days, hours, minutes = (int(part or 0) for part in length.groups()) if length else (0, int(all_day), 0, 0)
    lasts = end - start if end else timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes)
    return {
        "uid": first.get("UID", ""),
        "start": start,
        "lasts": max(lasts, timedelta(0)),
        "all_day": all_day,
        "summary": plain(first.get("SUMMARY", "(no title)")),
        "location": plain(first.get("LOCATION", "")),
        "status": first.get("STATUS", "").upper(),
        "rule": dict(part.upper().split("=", 1) for part in first.get("RRULE", "").split(";") if "=" in part),
        "except": {when(value, offset) for value in values["EXDATE"]},
        "instead_of": when(first.get("RECURRENCE-ID", ""), offset),
        "offset": offset,
    }


def when(text, offset):
    """Return a time as it is written, one in UTC moved by the offset; None where it is none."""
    match = WHEN.fullmatch(text.strip())
    if match is None:
        return None
    try:
        numbers = [int(part or 0) for part in match.group(1, 2, 3, 4, 5, 6)]
        found = datetime.combine(date(*numbers[:3]), time(*numbers[3:]))
        return found + offset if match[7] else found
    except (ValueError, OverflowError):
        return None


def understood(rule):
    """Return whether a rule can be followed to the letter."""
    days = rule.get("BYDAY", "").split(",") if "BYDAY" in rule else []
    weekly = not days or (rule.get("FREQ") == "WEEKLY" and set(days) <= set(WEEKDAYS))
    numbers = all(re.fullmatch(r"[1-9]\d{0,4}", rule.get(key, "1")) for key in ("INTERVAL", "COUNT"))
    weeks = rule.get("WKST", "MO") == "MO" or rule.get("INTERVAL", "1") == "1"
    known = set(rule) <= UNDERSTOOD and rule.get("FREQ") in {"DAILY", "WEEKLY", *MONTHS}
    return weekly and numbers and weeks and known


def times_of(event, end):
    """Yield when an event begins, each time before `end`; the first alone where its rule is not understood."""
    start, rule = event["start"], event["rule"]
    if not rule or not understood(rule):
        yield start
        return
    last = when(rule.get("UNTIL", ""), event["offset"]) or end
    last = last + DAY - timedelta(seconds=1) if "T" not in rule.get("UNTIL", "T") else last
    for _, at in zip(range(int(rule.get("COUNT", MOST_TIMES))), steps(start, rule), strict=False):
        if at > last or at >= end:
            return
        yield at


def steps(start, rule):
    """Yield the times of a rule that is understood."""
    interval, months = int(rule.get("INTERVAL", 1)), MONTHS.get(rule["FREQ"], 0)
    days = sorted(WEEKDAYS.index(day) for day in rule["BYDAY"].split(",")) if "BYDAY" in rule else [start.weekday()]
    monday = start - start.weekday() * DAY
    for number in range(0, MOST_TIMES * interval, interval):
        if months:
            year, month = divmod(start.year * 12 + start.month - 1 + number * months, 12)
            if year <= date.max.year and start.day <= calendar.monthrange(year, month + 1)[1]:
                yield start.replace(year=year, month=month + 1)
        elif rule["FREQ"] == "DAILY":
            yield start + number * DAY
        else:
            yield from (at for day in days if (at := monday + number * 7 * DAY + day * DAY) >= start)


def plain(text):
    """Return a text as it was before it was put into the file."""
    return re.sub(r"\\([nN,;\\])", lambda found: " " if found[1] in "nN" else found[1], text).strip()


def told(event, at):
    """Return one time of an event for people and programs."""
    end, text = at + event["lasts"], "%Y-%m-%d" if event["all_day"] else "%Y-%m-%d %H:%M"
    end = max(at, end - DAY) if event["all_day"] else end  # the file names the day after the last one
    return {
        "start": at.strftime(text),
        "end": end.strftime(text),
        "all_day": event["all_day"],
        "summary": event["summary"],
        "location": event["location"],
        "repeats": bool(event["rule"]),
    }

"""Describes each column of a CSV file: its type, what is missing, its range, its mean, its most frequent values."""

import csv
import io
import math
import re
from collections import Counter
from datetime import date

DELIMITERS = (",", ";", "\t", "|")
DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}.*)?|(\d{1,2})[./](\d{1,2})[./](\d{4})")
BESIDE_NUMBERS = re.compile(r"[€$£%\s\u00a0\u202f]")
DECIMAL_COMMA = re.compile(r"[+-]?[\d.]*\d,(?:\d{1,2}|\d{4,})")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")
YES_NO = frozenset({"true", "false", "yes", "no"})
MISSING = frozenset({"", "-", "na", "n/a", "nan", "null", "none"})
MOST_BYTES = 8_000_000
LINES_TRIED = 200
LONGEST_VALUE = 80


async def run(ctx, args):
    """Return the columns of the file at `path`, with the `top` most frequent values of each."""
    with ctx.open(args["path"], "rb") as file:
        data = file.read()
    if len(data) > MOST_BYTES:
        raise ValueError("the file has more than 8 MB; give a part of it")
    text = decoded(data)
    delimiter, table = parsed(text)
    if not table:
        raise ValueError("the file has no line with anything in it")
    names = unique_names(table[0])
    rows = table[1:]
    return {
        "delimiter": delimiter,
        "rows": len(rows),
        "uneven_rows": sum(len(row) != len(names) for row in rows),
        "columns": [
            {"name": name, **described([row[place] if place < len(row) else "" for row in rows], args.get("top", 5))}
            for place, name in enumerate(names)
        ],
    }


def decoded(data):
    """Return text, whatever the spreadsheet wrote it as."""
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def parsed(text):
    """Return the delimiter that gives the most lines as many cells as the first one, with the rows it gives."""
    if "\0" in text:
        raise ValueError("this is no text file")
    begin = "\n".join(text.splitlines()[:LINES_TRIED])
    tried = []
    for delimiter in DELIMITERS:
        table = rows_of(begin, delimiter)
        width = len(table[0]) if table else 0
        tried.append((width > 1, sum(len(row) == width for row in table), width, delimiter))
    delimiter = max(tried, key=lambda each: each[:3])[3]
    return delimiter, rows_of(text, delimiter)


def rows_of(text, delimiter):
    """Return the rows that hold anything."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise ValueError(f"the file cannot be read as CSV: {error}") from error
    return [row for row in rows if any(cell.strip() for cell in row)]


def unique_names(header):
    """Return one name a column; one that is empty or stands twice gets its number."""
    names = []
    for number, cell in enumerate(header, start=1):
        name = cell.strip() or f"column {number}"
        names.append(f"{name} ({number})" if name in names else name)
    return names


def described(cells, top):
    """Return what is known of one column."""
    values = [cell.strip() for cell in cells]
    there = [value for value in values if value.casefold() not in MISSING]
    found = {"type": "empty", "missing": len(values) - len(there), "distinct": len(set(there))}
    if not there:
        return found
    found["top"] = [
        {"value": value[:LONGEST_VALUE], "count": count} for value, count in Counter(there).most_common(top)
    ]
    plain = [bare(value) for value in there]
    comma = any(DECIMAL_COMMA.fullmatch(value) for value in plain)
    numbers = [number(value, comma) for value in plain]
    if None not in numbers:
        whole = all(each.is_integer() for each in numbers)
        mean = math.fsum(each / len(numbers) for each in numbers)
        return found | {
            "type": "integer" if whole else "number",
            "min": min(numbers),
            "max": max(numbers),
            "mean": round(mean, 6),
        }
    days = [day(value) for value in there]
    if "" not in days:
        return found | {"type": "date", "min": min(days), "max": max(days)}
    return found | {"type": "boolean" if {value.casefold() for value in there} <= YES_NO else "text"}


def bare(value):
    """Return a cell without a currency, a per cent sign and blanks."""
    return BESIDE_NUMBERS.sub("", value).replace("\u2212", "-")


def number(value, comma):
    """Return the number in a bare cell, or None; `comma` says that the column writes decimals with one."""
    if comma:
        value = value.replace(".", "").replace(",", ".")
    elif THOUSANDS.fullmatch(value):
        value = value.replace(",", "")
    if not NUMBER.fullmatch(value):
        return None
    found = float(value)
    return found if math.isfinite(found) else None


def day(value):
    """Return the day in a cell as YYYY-MM-DD, or nothing; 3.4.2026 and 3/4/2026 are read as the 3rd of April."""
    match = DAY.fullmatch(value)
    if match is None:
        return ""
    year, month, day_of_month = match.group(1, 2, 3) if match[1] else match.group(6, 5, 4)
    try:
        return date(int(year), int(month), int(day_of_month)).isoformat()
    except ValueError:
        return ""

"""Adds up a CSV file of transactions by month and category, and holds the sums against budgets."""

import csv
import io
import re
from collections import defaultdict
from datetime import date
from decimal import Decimal, InvalidOperation

DATE_NAMES = ("date", "day", "booking date", "transaction date", "data", "data operazione", "datum")
AMOUNT_NAMES = ("amount", "value", "sum", "importo", "betrag")
CATEGORY_NAMES = ("category", "categoria", "kategorie")
UNKNOWN = "uncategorised"
NOT_OF_NUMBERS = re.compile(r"[€$£\s\u00a0\u202f']")
DELIMITERS = (";", "\t", ",", "|")
MOST_BYTES = 8_000_000
HEADER_WITHIN = 20
MONTHS = 12
CENT = Decimal("0.01")
MOST = Decimal("1e12")


async def run(ctx, args):
    """Return what came in and went out in `month`, the last one of the file if left out."""
    with ctx.open(args["path"], "rb") as file:
        data = file.read()
    if len(data) > MOST_BYTES:
        raise ValueError("the file has more than 8 MB; give a part of it")
    moves, skipped = moves_of(decoded(data))
    sums = defaultdict(lambda: {"income": Decimal(0), "spent": Decimal(0)})
    for day, amount, _ in moves:
        sums[day[:7]]["income" if amount > 0 else "spent"] += abs(amount)
    months = [{"month": each, **{key: euros(value) for key, value in sums[each].items()}} for each in sorted(sums)]
    month = args.get("month") or max(sums)
    spent = defaultdict(Decimal)
    for day, amount, category in moves:
        if day.startswith(month) and amount < 0:
            spent[category] -= amount
    categories = compared(spent, args.get("budgets", {}))
    income, out = (sums[month][key] for key in ("income", "spent"))
    return {
        "month": month,
        "transactions": sum(day.startswith(month) for day, _, _ in moves),
        "income": euros(income),
        "spent": euros(out),
        "balance": euros(income - out),
        "categories": categories,
        "over_budget": [each["category"] for each in categories if each["left"] is not None and each["left"] < 0],
        "months": months,
        "skipped_lines": skipped,
    }


def decoded(data):
    """Return text, whatever the bank wrote it as."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def moves_of(text):
    """Return (day, amount, category) of each row, and the lines that are none."""
    places, lines = table_of(text.replace("\0", ""))
    month_first = any(is_month_first(cell(row, places[0])) for _, row in lines)
    moves, skipped = [], []
    for line, row in lines:
        day, amount = day_of(cell(row, places[0]), month_first), amount_of(cell(row, places[1]))
        if day and amount is not None:
            moves.append((day, amount, cell(row, places[2]).casefold() or UNKNOWN))
        else:
            skipped.append(line)
    if not moves:
        raise ValueError("no line has both a day and an amount that can be read")
    if all(amount >= 0 for _, amount, _ in moves):  # a list of expenses, without signs
        moves = [(day, -amount, category) for day, amount, category in moves]
    return moves, skipped


def table_of(text):
    """Return where day, amount and category stand, with the lines below the one that names them."""
    for delimiter in DELIMITERS:
        lines = lines_of(text, delimiter)
        for number, (_, row) in enumerate(lines[:HEADER_WITHIN], start=1):
            header = [name.strip().casefold() for name in row]
            places = [
                next((header.index(name) for name in names if name in header), None)
                for names in (DATE_NAMES, AMOUNT_NAMES, CATEGORY_NAMES)
            ]
            if None not in places[:2]:
                return places, lines[number:]
    begin = " ".join(text.split())[:80]
    raise ValueError(f"no line names the columns date and amount; the file begins with: {begin}")


def lines_of(text, delimiter):
    """Return the rows that hold anything, each with the line of the file it ends on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [(reader.line_num, row) for row in reader if any(value.strip() for value in row)]
    except csv.Error as error:
        raise ValueError(f"the file cannot be read as CSV: {error}") from error


def cell(row, place):
    """Return a cell, empty where the row has none there."""
    return row[place].strip() if place is not None and place < len(row) else ""


def is_month_first(text):
    """Return whether a day is written in the American way beyond doubt."""
    match = re.fullmatch(r"\d{1,2}/(\d{1,2})/\d{4}", text)
    return bool(match) and int(match[1]) > MONTHS


def day_of(text, month_first):
    """Return a day as YYYY-MM-DD, empty where it is none."""
    iso, other = re.match(r"(\d{4})-(\d{2})-(\d{2})", text), re.fullmatch(r"(\d{1,2})[./](\d{1,2})[./](\d{4})", text)
    if iso:
        parts = iso.group(1, 2, 3)
    elif other:
        parts = other.group(3, 1, 2) if month_first else other.group(3, 2, 1)
    else:
        return ""
    try:
        return date(*map(int, parts)).isoformat()
    except ValueError:
        return ""


def amount_of(text):
    """Return an amount, written as 1,234.50 or 1.234,50; None where it is none."""
    plain = NOT_OF_NUMBERS.sub("", text).replace("\u2212", "-")
    if plain.startswith("(") and plain.endswith(")"):
        plain = f"-{plain[1:-1]}"
    if re.search(r",\d{1,2}$", plain):
        plain = plain.replace(".", "").replace(",", ".")
    try:
        found = Decimal(plain.replace(",", ""))
    except InvalidOperation:
        return None
    return found if found.is_finite() and abs(found) < MOST else None


def compared(spent, budgets):
    """Return each category with its budget and what is left of it, the largest first."""
    limits = {name.strip().casefold(): Decimal(str(limit)) for name, limit in budgets.items()}
    found = []
    for category in sorted({*spent, *limits}, key=lambda name: (-spent.get(name, 0), name)):
        sum_spent, limit = spent.get(category, Decimal(0)), limits.get(category)
        left = None if limit is None else euros(limit - sum_spent)
        budget = None if limit is None else euros(limit)
        found.append({"category": category, "spent": euros(sum_spent), "budget": budget, "left": left})
    return found


def euros(amount):
    """Return an amount in whole cents."""
    return float(amount.quantize(CENT))

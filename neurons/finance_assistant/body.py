"""Reads a CSV file of transactions as a person would: files what has no category, and tells what stands out."""

import csv
import io
import re
import statistics
from collections import Counter, defaultdict, namedtuple
from datetime import date
from decimal import Decimal, InvalidOperation

COLUMNS = (
    ("date", "day", "booking date", "transaction date", "data", "data operazione", "datum"),
    ("amount", "value", "sum", "importo", "betrag"),
    ("category", "categoria", "kategorie"),
    ("description", "payee", "merchant", "text", "descrizione", "causale", "beneficiario"),
)
WORDS = {  # what a word in a description stands for
    "groceries": {"supermarket", "supermercato", "grocery", "coop", "lidl", "aldi", "conad", "esselunga", "bakery"},
    "housing": {"rent", "affitto", "mortgage", "mutuo", "condominio"},
    "utilities": {"electricity", "enel", "gas", "water", "acqua", "internet", "phone", "telecom", "vodafone"},
    "transport": {"train", "trenitalia", "bus", "taxi", "parking", "fuel", "petrol", "benzina", "autostrade"},
    "health": {"pharmacy", "farmacia", "doctor", "dentist", "medico"},
    "leisure": {"netflix", "spotify", "cinema", "restaurant", "ristorante", "pizzeria", "hotel"},
}
MOST_BYTES = 8_000_000
UNKNOWN = "uncategorised"
MONTHS = 12
OFTEN = 3
CLOSE = Decimal("0.1")
MOST = Decimal("1e12")

Move = namedtuple("Move", "day amount category payee")


async def run(ctx, args):
    """Return what came in and went out in `month`, the last one of the file if left out, and what stands out."""
    with ctx.open(args["path"], "rb") as file:
        data = file.read()
    if len(data) > MOST_BYTES:
        raise ValueError("the file has more than 8 MB; give a part of it")
    given, skipped = moves_of(data)
    moves = filed(given)
    sums = {each: summed(moves, each) for each in sorted({move.day[:7] for move in moves})}
    month = args.get("month") or max(sums)
    income, spent = sums.get(month, (Decimal(0), {}))
    categories = compared(spent, args.get("budgets", {}))
    return {
        "month": month,
        "transactions": sum(move.day.startswith(month) for move in moves),
        "income": cents(income),
        "spent": cents(sum(spent.values())),
        "balance": cents(income - sum(spent.values())),
        "categories": categories,
        "over_budget": [each["category"] for each in categories if (each["left"] or 0) < 0],
        "months": [
            {"month": each, "income": cents(came), "spent": cents(sum(went.values()))}
            for each, (came, went) in sums.items()
        ],
        "skipped_lines": skipped,
        "filed_by_guess": sum(old.category != new.category for old, new in zip(given, moves, strict=True)),
        "recurring": recurring(moves),
    }


def moves_of(data):
    """Return the transactions, and the lines that are none."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    try:
        rows = next(filter(None, (rows_of(text.replace("\0", ""), delimiter) for delimiter in ";\t,|")), None)
    except csv.Error as error:
        raise ValueError(f"the file cannot be read as CSV: {error}") from error
    if rows is None:
        raise ValueError("there must be a line that names the columns date and amount, and lines below it")
    month_first = any(int(found[1]) > MONTHS for _, row in rows if (found := re.match(r"\d\d?/(\d\d?)/", row[0])))
    read = [(line, day_of(row[0], month_first), amount_of(row[1]), row) for line, row in rows]
    moves = [
        Move(day, amount, *map(str.casefold, row[2:])) for _, day, amount, row in read if day and amount is not None
    ]
    if not moves:
        raise ValueError("no line has both a day and an amount that can be read")
    if all(move.amount >= 0 for move in moves):  # a list of expenses, without signs
        moves = [Move(move.day, -move.amount, move.category, move.payee) for move in moves]
    return moves, [line for line, day, amount, _ in read if not day or amount is None]


def rows_of(text, delimiter):
    """Return the cells of the four columns below the line that names them, each with its line."""
    places, rows = [None], []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    for row in reader:
        if None in places[:2]:
            header = [cell.strip().casefold() for cell in row]
            places = [next((header.index(name) for name in names if name in header), None) for names in COLUMNS]
        elif any(cell.strip() for cell in row):
            cells = [row[place].strip() if place is not None and place < len(row) else "" for place in places]
            rows.append((reader.line_num, cells))
    return rows


def day_of(text, month_first):
    """Return a day as YYYY-MM-DD, empty where it is none."""
    found = re.match(r"(\d{4})-(\d\d)-(\d\d)", text) or re.fullmatch(r"(\d\d?)[./](\d\d?)[./](\d{4})", text)
    if not found:
        return ""
    parts = found.groups() if "-" in found[0] else found.group(3, 1, 2) if month_first else found.group(3, 2, 1)
    try:
        return date(*map(int, parts)).isoformat()
    except ValueError:
        return ""


def amount_of(text):
    """Return an amount, written as 1,234.50 or 1.234,50; None where it is none."""
    plain = re.sub(r"[€$£\s']", "", text).replace("\u2212", "-")
    plain = f"-{plain[1:-1]}" if plain.startswith("(") and plain.endswith(")") else plain
    plain = plain.replace(".", "").replace(",", ".") if re.search(r",\d\d?$", plain) else plain.replace(",", "")
    try:
        found = Decimal(plain)
    except InvalidOperation:
        return None
    return found if found.is_finite() and abs(found) < MOST else None


def filed(moves):
    """Return the transactions with a category each: that of the same payee, else one that a word stands for."""
    seen = defaultdict(Counter)
    for move in moves:
        if move.category:
            seen[key_of(move)][move.category] += 1
    found = []
    for move in moves:
        words = set(re.findall(r"\w+", move.payee))
        known = seen[key_of(move)].most_common(1) if key_of(move) else []
        guess = known[0][0] if known else next((name for name, own in WORDS.items() if own & words), UNKNOWN)
        found.append(Move(move.day, move.amount, move.category or guess, move.payee))
    return found


def key_of(move):
    """Return the payee without numbers and what follows the second word."""
    return " ".join(re.findall(r"[^\W\d_]+", move.payee)[:2])


def summed(moves, month):
    """Return income and the spending by category; what came back in a category of expenses lowers these."""
    sums = defaultdict(Decimal)
    for move in moves:
        if move.day.startswith(month):
            sums[move.category, move.category == UNKNOWN and move.amount > 0] += move.amount
    spent = {category: -amount for (category, _), amount in sums.items() if amount < 0}
    return sum((amount for amount in sums.values() if amount > 0), Decimal(0)), spent


def compared(spent, budgets):
    """Return each category with its budget and what is left of it, the largest first."""
    limits = {name.strip().casefold(): Decimal(str(limit)) for name, limit in budgets.items()}
    found = []
    for category in sorted({*spent, *limits}, key=lambda name: (-spent.get(name, 0), name)):
        out, limit = spent.get(category, Decimal(0)), limits.get(category)
        budget, left = (None, None) if limit is None else (cents(limit), cents(limit - out))
        found.append({"category": category, "spent": cents(out), "budget": budget, "left": left})
    return found


def recurring(moves):
    """Return payees that took about the same in at least three months."""
    by_payee = defaultdict(list)
    for move in moves:
        if move.amount < 0 and key_of(move):
            by_payee[key_of(move)].append(move)
    found = []
    for payee, own in sorted(by_payee.items()):
        usual = statistics.median(-move.amount for move in own)
        if len({move.day[:7] for move in own if abs(-move.amount - usual) <= CLOSE * usual}) >= OFTEN:
            found.append({"payee": payee, "amount": cents(usual)})
    return found


def cents(amount):
    """Return an amount in whole cents."""
    return round(float(amount), 2)

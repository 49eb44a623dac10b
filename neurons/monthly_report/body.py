"""Writes the report of a month from what budget_tracker says of it and of the month before."""

JANUARY = 1
DECEMBER = 12
LARGEST = 8


async def run(ctx, args):
    """Return a report in Markdown on `month` of the transactions at `path`, the last month if left out."""
    path, budgets = args["path"], args.get("budgets", {})
    if "month" in args:
        now = await ctx.call("neuron:budget_tracker", path=path, budgets=budgets, month=args["month"])
    else:
        now = await ctx.call("neuron:budget_tracker", path=path, budgets=budgets)
    earlier = month_before(now["month"])
    before = await ctx.call("neuron:budget_tracker", path=path, month=earlier)
    changes = changed(now, before)
    return {
        "month": now["month"],
        "compared_with": earlier,
        "balance": now["balance"],
        "over_budget": now["over_budget"],
        "markdown": "\n".join([*summary(now, before, earlier), *table(now), *told(changes), *doubts(now), ""]),
    }


def month_before(month):
    """Return the month before one such as 2026-01."""
    year, number = map(int, month.split("-"))
    year, number = (year - 1, DECEMBER) if number == JANUARY else (year, number - 1)
    return f"{year:04}-{number:02}"


def changed(now, before):
    """Return categories with the difference to the month before, the largest first; none without such a month."""
    if not before["transactions"]:
        return []
    was = {each["category"]: each["spent"] for each in before["categories"]}
    spent = {each["category"]: each["spent"] for each in now["categories"]}
    differences = {name: round(spent.get(name, 0) - was.get(name, 0), 2) for name in {*was, *spent}}
    order = sorted(differences, key=lambda name: (-abs(differences[name]), name))
    return [(name, differences[name]) for name in order if differences[name]][:LARGEST]


def summary(now, before, earlier):
    """Return the heading and the sums."""
    lines = [f"# {now['month']}", ""]
    for key, title in (("income", "Income"), ("spent", "Spent"), ("balance", "Balance")):
        then = f" ({earlier}: {money(before[key])})" if before["transactions"] else ""
        lines.append(f"- {title}: {money(now[key])}{then}")
    return [*lines, ""]


def table(now):
    """Return spending by category, with budgets where there are any."""
    if not now["categories"]:
        return ["Nothing was spent.", ""]
    lines = ["| category | spent | budget | left |", "|---|---:|---:|---:|"]
    for each in now["categories"]:
        budget, left = ("" if each[key] is None else money(each[key]) for key in ("budget", "left"))
        over = " **over**" if each["category"] in now["over_budget"] else ""
        name = each["category"].replace("|", "/")
        lines.append(f"| {name}{over} | {money(each['spent'])} | {budget} | {left} |")
    return [*lines, ""]


def told(changes):
    """Return what differs most from the month before."""
    if not changes:
        return []
    return ["## Against the month before", "", *(f"- {name}: {amount:+,.2f}" for name, amount in changes), ""]


def doubts(now):
    """Return what the sums leave out."""
    lines = now["skipped_lines"]
    return [f"Lines that could not be read and are not in the sums: {', '.join(map(str, lines))}.", ""] if lines else []


def money(amount):
    """Return an amount for people."""
    return f"{amount:,.2f}"

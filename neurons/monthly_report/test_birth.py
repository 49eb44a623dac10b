"""What monthly_report must get right: the figures it was given, each in its place, and no month invented."""


def figures(month, spent, budgets=None, *, income=2000.0, skipped=()):
    """Return what budget_tracker answers for a month with this spending by category."""
    limits, total = budgets or {}, round(sum(spent.values()), 2)
    categories = [
        {
            "category": name,
            "spent": amount,
            "budget": limits.get(name),
            "left": round(limits[name] - amount, 2) if name in limits else None,
        }
        for name, amount in sorted(spent.items(), key=lambda each: -each[1])
    ]
    return {
        "month": month,
        "transactions": len(spent),
        "income": income,
        "spent": total,
        "balance": round(income - total, 2),
        "categories": categories,
        "over_budget": [each["category"] for each in categories if (each["left"] or 0) < 0],
        "months": [],
        "skipped_lines": list(skipped),
    }


async def report(run, now, before, **args):
    """Return the lines of the report made from two answers."""
    found = await run({"path": "~/money.csv", **args}, calls={"neuron:budget_tracker": [now, before]})
    return found, found["markdown"].split("\n")


async def test_positive_sums_and_the_table(run):
    now = figures("2026-03", {"rent": 1700.5, "food": 105.3}, {"food": 100, "rent": 1800})
    found, lines = await report(run, now, figures("2026-02", {"rent": 700.0}))
    assert (found["month"], found["balance"], found["over_budget"]) == ("2026-03", 194.2, ["food"])
    assert found["compared_with"] == "2026-02"
    assert lines[:10] == [
        "# 2026-03",
        "",
        "- Income: 2,000.00 (2026-02: 2,000.00)",
        "- Spent: 1,805.80 (2026-02: 700.00)",
        "- Balance: 194.20 (2026-02: 1,300.00)",
        "",
        "| category | spent | budget | left |",
        "|---|---:|---:|---:|",
        "| rent | 1,700.50 | 1,800.00 | 99.50 |",
        "| food **over** | 105.30 | 100.00 | -5.30 |",
    ]


async def test_positive_what_differs_from_the_month_before(run):
    now = figures("2026-03", {"rent": 700.0, "food": 105.3, "books": 12.0})
    _, lines = await report(run, now, figures("2026-02", {"rent": 700.0, "food": 155.4, "trips": 90.0}))
    start = lines.index("## Against the month before")
    assert lines[start + 1 : start + 6] == ["", "- trips: -90.00", "- food: -50.10", "- books: +12.00", ""]


async def test_positive_the_largest_differences_alone(run):
    now = figures("2026-03", {f"c{number}": 10.0 + number for number in range(12)})
    _, lines = await report(run, now, figures("2026-02", {"c0": 10.0}))
    told = [line for line in lines if line.startswith("- c")]
    assert (len(told), told[0], told[-1]) == (8, "- c11: +21.00", "- c4: +14.00")


async def test_edge_no_budget_and_nothing_before(run):
    found, lines = await report(run, figures("2026-03", {"a|b": 5.0}), figures("2026-02", {}, income=0.0))
    assert "- Spent: 5.00" in lines
    assert "| a/b | 5.00 |  |  |" in lines
    assert "## Against the month before" not in lines
    assert found["over_budget"] == []


async def test_positive_the_month_is_asked_for_and_the_budgets_count_in_it_alone(run):
    answers = [figures("2026-03", {"x": 1.0}), figures("2026-02", {"x": 1.0})]
    for month in ({}, {"month": "2026-03"}):
        made = []
        args = {"path": "~/money.csv", "budgets": {"x": 5}, **month}
        await run(args, calls={"neuron:budget_tracker": list(answers)}, made=made)
        assert [each["args"] for each in made] == [args, {"path": "~/money.csv", "month": "2026-02"}]


async def test_edge_a_month_without_spending(run):
    found, lines = await report(run, figures("2026-01", {}), figures("2025-12", {"rent": 700.0}), month="2026-01")
    assert found["compared_with"] == "2025-12"
    assert "Nothing was spent." in lines
    assert "- rent: -700.00" in lines
    assert "- Spent: 0.00 (2025-12: 700.00)" in lines


async def test_edge_lines_that_were_skipped_are_told(run):
    _, lines = await report(run, figures("2026-03", {"x": 1.0}, skipped=(3, 8)), figures("2026-02", {"x": 1.0}))
    assert "Lines that could not be read and are not in the sums: 3, 8." in lines
    _, lines = await report(run, figures("2026-03", {"x": 1.0}), figures("2026-02", {"x": 1.0}))
    assert lines[-3:] == ["| x | 1.00 |  |  |", "", ""]


async def test_negative_without_budget_tracker(run):
    try:
        outcome = str(await run({"path": "~/money.csv"}, calls={}))
    except OSError:
        outcome = "refused"
    assert outcome == "refused"


async def test_negative_no_second_answer_no_report(run):
    answers = [figures("2026-03", {"x": 1.0})]
    try:
        outcome = str(await run({"path": "~/money.csv"}, calls={"neuron:budget_tracker": answers}))
    except OSError:
        outcome = "refused"
    assert outcome == "refused"

"""What budget_tracker must get right: sums to the cent, budgets, the ways banks write days and amounts."""

PATH = "~/money/2026.csv"
MOVES = """date,amount,category
2026-02-10,-40.00,groceries
2026-02-27,2000.00,salary
2026-03-01,-700.00,rent
2026-03-05,-60.10,Groceries
2026-03-19,-45.20,groceries
2026-03-27,2000.00,salary
2026-03-31,-12.00,
"""


async def tracked(run, text, **more):
    """Return what is said of a file."""
    return await run({"path": PATH, **more}, files={PATH: text})


async def refusal(run, text):
    """Return why a file was refused."""
    try:
        await tracked(run, text)
    except ValueError as error:
        return str(error)
    return "nothing"


async def test_positive_the_last_month_by_category(run):
    found = await tracked(run, MOVES)
    assert (found["month"], found["transactions"]) == ("2026-03", 5)
    assert (found["income"], found["spent"], found["balance"]) == (2000.0, 817.3, 1182.7)
    sums = [(each["category"], each["spent"]) for each in found["categories"]]
    assert sums == [("rent", 700.0), ("groceries", 105.3), ("uncategorised", 12.0)]
    assert found["skipped_lines"] == []


async def test_positive_what_is_over_budget(run):
    found = await tracked(run, MOVES, budgets={"Groceries": 105.29, "rent": 700, "books": 20})
    assert found["over_budget"] == ["groceries"]
    left = {each["category"]: (each["budget"], each["left"]) for each in found["categories"]}
    assert left["groceries"] == (105.29, -0.01)
    assert left["rent"] == (700.0, 0.0)
    assert left["books"] == (20.0, 20.0)
    assert left["uncategorised"] == (None, None)


async def test_positive_another_month_and_all_side_by_side(run):
    found = await tracked(run, MOVES, month="2026-02")
    assert (found["transactions"], found["income"], found["spent"]) == (2, 2000.0, 40.0)
    assert [each["category"] for each in found["categories"]] == ["groceries"]
    assert found["months"] == [
        {"month": "2026-02", "income": 2000.0, "spent": 40.0},
        {"month": "2026-03", "income": 2000.0, "spent": 817.3},
    ]


async def test_positive_what_a_bank_exports(run):
    text = "Categoria;Data;Importo\ncasa;28/02/2026;-1.234,50\ncasa;02/03/2026;-€ 1,5\ncasa;03.03.2026;(2,00)\n"
    found = await tracked(run, text)
    assert (found["month"], found["spent"]) == ("2026-03", 3.5)
    assert found["months"][0] == {"month": "2026-02", "income": 0.0, "spent": 1234.5}
    latin = "date;amount;category\n2026-03-01;−3;caffè\n".replace("−", "-").encode("latin-1")
    assert (await tracked(run, latin))["categories"][0]["category"] == "caffè"


async def test_edge_american_days_and_thousands(run):
    found = await tracked(run, 'date,amount\n03/04/2026,"-1,200.50"\n3/12/2026,-10\n03/13/2026,-1\n')
    assert [each["month"] for each in found["months"]] == ["2026-03"]
    assert found["spent"] == 1211.5
    assert (await tracked(run, "date,amount\n03/12/2026,-1\n"))["month"] == "2026-12"


async def test_edge_amounts_without_signs_are_expenses(run):
    found = await tracked(run, "date,amount\n2026-03-01,10\n2026-03-02,5.5\n2026-03-03,0\n")
    assert (found["income"], found["spent"], found["balance"]) == (0.0, 15.5, -15.5)
    found = await tracked(run, "date,amount\n2026-03-01,10\n2026-03-02,-5.5\n")
    assert (found["income"], found["spent"]) == (10.0, 5.5)


async def test_edge_lines_that_cannot_be_read_are_named(run):
    found = await tracked(
        run, "date,amount\n2026-03-01,-1\nyesterday,-2\n\n2026-03-03,NaN\n2026-02-30,-1\n2026-03-04\n"
    )
    assert (found["spent"], found["skipped_lines"]) == (1.0, [3, 5, 6, 7])


async def test_edge_a_month_without_anything(run):
    found = await tracked(run, MOVES, month="2025-01", budgets={"rent": 700})
    assert (found["transactions"], found["spent"], found["over_budget"]) == (0, 0.0, [])
    assert found["categories"] == [{"category": "rent", "spent": 0.0, "budget": 700.0, "left": 700.0}]
    assert [each["month"] for each in found["months"]] == ["2026-02", "2026-03"]
    assert found["month"] == "2025-01"


async def test_edge_nothing_and_too_much(run):
    found = await tracked(run, "date,amount,category\n2026-03-01,-1,x\n2026-03-02,0,y\n2026-03-03,-1000000000000,z\n")
    assert [each["category"] for each in found["categories"]] == ["x"]
    assert (found["transactions"], found["skipped_lines"]) == (2, [4])


async def test_edge_cents_do_not_drift(run):
    text = "date,amount,category\n" + "2026-03-01,-0.10,x\n" * 30
    assert (await tracked(run, text, budgets={"x": 3}))["over_budget"] == []


async def test_edge_lines_above_the_header_and_commas_in_texts(run):
    text = "My bank\nAccount;IT60\n\nData;Descrizione;Importo;Categoria\n02/03/2026;a, b, c, d;-7,00;casa\n"
    found = await tracked(run, text)
    assert (found["transactions"], found["spent"], found["categories"][0]["category"]) == (1, 7.0, "casa")


async def test_negative_a_file_of_something_else(run):
    why = "no line names the columns date and amount; the file begins with: "
    assert await refusal(run, "name,age\nBo,7\n") == f"{why}name,age Bo,7"
    assert await refusal(run, "") == why
    assert await refusal(run, "date,price\n2026-03-01,1\n") == f"{why}date,price 2026-03-01,1"


async def test_negative_no_line_can_be_read(run):
    assert await refusal(run, "date,amount\n") == "no line has both a day and an amount that can be read"
    assert (
        await refusal(run, "date,amount\nx,1\n2026-03-01,y\n")
        == "no line has both a day and an amount that can be read"
    )


async def test_negative_a_file_that_is_too_large(run):
    assert await refusal(run, b"\0" * 8_000_001) == "the file has more than 8 MB; give a part of it"
    assert await refusal(run, b"\0" * 8_000_000) == "no line names the columns date and amount; the file begins with: "


async def test_negative_a_quotation_mark_that_is_never_closed(run):
    why = await refusal(run, 'date,amount\n2026-03-01,"1' + "0" * 140_000)
    assert why == "the file cannot be read as CSV: field larger than field limit (131072)"


async def test_negative_a_file_that_is_not_there(run):
    try:
        outcome = str(await run({"path": "~/none.csv"}, files={}))
    except FileNotFoundError:
        outcome = "missing"
    assert outcome == "missing"

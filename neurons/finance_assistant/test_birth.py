"""What finance_assistant must get right: sums to the cent, categories it files itself, and what stands out."""

PATH = "~/money/2026.csv"
MOVES = """date,amount,category,description
2026-01-03,-700,rent,Landlord Bianchi 01/26
2026-01-07,-30,groceries,COOP Roma 117
2026-02-03,-700,rent,Landlord Bianchi 02/26
2026-02-07,-50,groceries,COOP Roma 93
2026-02-27,2000,salary,ACME
2026-03-03,-710,,Landlord Bianchi 03/26
2026-03-05,-70.10,,Coop Roma 4
2026-03-09,-12.50,,Farmacia Centrale
2026-03-11,-9.90,,Card 4411
2026-03-20,8.10,groceries,Coop Roma refund
2026-03-27,2000,salary,ACME
"""


async def told(run, text, **more):
    """Return what is said of a file."""
    return await run({"path": PATH, **more}, files={PATH: text})


async def refusal(run, text):
    """Return why a file was refused."""
    try:
        await told(run, text)
    except ValueError as error:
        return str(error)
    return "nothing"


async def test_positive_sums_of_a_month(run):
    found = await told(run, MOVES, month="2026-02")
    assert (found["income"], found["spent"], found["balance"]) == (2000.0, 750.0, 1250.0)
    assert (found["month"], found["transactions"], found["filed_by_guess"]) == ("2026-02", 3, 4)
    assert [(each["category"], each["spent"]) for each in found["categories"]] == [("rent", 700.0), ("groceries", 50.0)]
    assert [each["month"] for each in found["months"]] == ["2026-01", "2026-02", "2026-03"]
    assert found["months"][1] == {"month": "2026-02", "income": 2000.0, "spent": 750.0}


async def test_positive_what_has_no_category_is_filed(run):
    found = await told(run, MOVES)
    sums = {each["category"]: each["spent"] for each in found["categories"]}
    assert sums == {"rent": 710.0, "groceries": 62.0, "health": 12.5, "uncategorised": 9.9}
    assert [each["category"] for each in found["categories"]][:2] == ["rent", "groceries"]
    assert (found["income"], found["spent"]) == (2000.0, 794.4)


async def test_positive_what_is_over_budget(run):
    found = await told(run, MOVES, budgets={"Groceries": 61.99, "rent": 710, "books": 20})
    assert found["over_budget"] == ["groceries"]
    left = {each["category"]: (each["budget"], each["left"]) for each in found["categories"]}
    assert left["groceries"] == (61.99, -0.01)
    assert (left["rent"], left["books"], left["health"]) == ((710.0, 0.0), (20.0, 20.0), (None, None))


async def test_positive_what_recurs(run):
    found = await told(run, MOVES)
    assert found["recurring"] == [{"payee": "landlord bianchi", "amount": 700.0}]
    assert (await told(run, MOVES.replace("-710", "-770")))["recurring"] == found["recurring"]
    assert (await told(run, MOVES.replace("-710", "-770.01")))["recurring"] == []
    free = "date,amount,description\n" + "".join(
        f"2026-0{month}-01,{amount},Trial\n" for month in (1, 2, 3) for amount in (0, 1)
    )
    assert (await told(run, f"{free}2026-03-05,-1,x\n"))["recurring"] == []


async def test_positive_what_a_bank_exports(run):
    text = "My bank\n\nData;Descrizione;Importo\n28/02/2026;Affitto, casa;-1.234,50\n02/03/2026;Bar;(2,00)\n"
    found = await told(run, text, month="2026-02")
    assert (found["spent"], found["categories"][0]["category"]) == (1234.5, "housing")
    assert (await told(run, text))["spent"] == 2.0
    latin = "date,amount,category\n2026-03-01,-3,caffè\n".encode("latin-1")
    assert (await told(run, latin))["categories"][0]["category"] == "caffè"


async def test_edge_american_days_and_thousands(run):
    found = await told(run, 'date,amount\n03/04/2026,"-1,200.50"\n3/12/2026,-10\n03/13/2026,-1\n')
    assert ([each["month"] for each in found["months"]], found["spent"]) == (["2026-03"], 1211.5)
    assert (await told(run, "date,amount\n03/12/2026,-1\n"))["month"] == "2026-12"


async def test_edge_amounts_without_signs_are_expenses(run):
    found = await told(run, "date,amount\n2026-03-01,10\n2026-03-02,5.5\n2026-03-03,0\n")
    assert (found["income"], found["spent"], found["balance"]) == (0.0, 15.5, -15.5)
    found = await told(run, "date,amount\n2026-03-01,10\n2026-03-02,-5.5\n")
    assert (found["income"], found["spent"]) == (10.0, 5.5)


async def test_edge_lines_that_cannot_be_read_are_named(run):
    found = await told(run, "date,amount\n2026-03-01,-1\nyesterday,-2\n\n2026-03-03,NaN\n2026-02-30,-1\n2026-03-04\n")
    assert (found["spent"], found["skipped_lines"]) == (1.0, [3, 5, 6, 7])


async def test_edge_nothing_and_too_much(run):
    found = await told(run, "date,amount,category\n2026-03-01,-1,x\n2026-03-02,0,y\n2026-03-03,-1000000000000,z\n")
    assert [each["category"] for each in found["categories"]] == ["x"]
    assert (found["transactions"], found["skipped_lines"]) == (2, [4])


async def test_edge_a_month_without_anything(run):
    found = await told(run, MOVES, month="2025-01", budgets={"rent": 700})
    assert (found["month"], found["transactions"], found["spent"], found["over_budget"]) == ("2025-01", 0, 0.0, [])
    assert found["categories"] == [{"category": "rent", "spent": 0.0, "budget": 700.0, "left": 700.0}]


async def test_negative_a_file_of_something_else(run):
    why = "there must be a line that names the columns date and amount, and lines below it"
    assert await refusal(run, "name,age\nBo,7\n") == why
    assert await refusal(run, "") == why
    assert await refusal(run, "date,amount\n") == why


async def test_negative_no_line_can_be_read(run):
    why = "no line has both a day and an amount that can be read"
    assert await refusal(run, "date,amount\nx,1\n2026-03-01,y\n") == why


async def test_negative_a_file_that_is_too_large(run):
    assert await refusal(run, b"\0" * 8_000_001) == "the file has more than 8 MB; give a part of it"
    assert (
        await refusal(run, b"\0" * 8_000_000)
        == "there must be a line that names the columns date and amount, and lines below it"
    )


async def test_negative_a_quotation_mark_that_is_never_closed(run):
    why = await refusal(run, 'date,amount\n2026-03-01,"1' + "0" * 140_000)
    assert why == "the file cannot be read as CSV: field larger than field limit (131072)"


async def test_negative_a_file_that_is_not_there(run):
    try:
        outcome = str(await run({"path": "~/none.csv"}, files={}))
    except FileNotFoundError:
        outcome = "missing"
    assert outcome == "missing"

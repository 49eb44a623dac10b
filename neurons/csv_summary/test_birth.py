"""What csv_summary must get right: types, gaps, delimiters of other countries, and files that are none."""

PATH = "~/data/sales.csv"


async def columns(run, text, **more):
    """Return the columns of a file by name."""
    found = await run({"path": PATH, **more}, files={PATH: text})
    return {column["name"]: column for column in found["columns"]}


async def refusal(run, text):
    """Return why a file was refused."""
    try:
        await run({"path": PATH}, files={PATH: text})
    except ValueError as error:
        return str(error)
    return "nothing"


async def test_positive_types_ranges_and_means(run):
    found = await columns(
        run, "day,city,n,price\n2026-03-01,Rome,1,2.50\n2026-03-04,Oslo,3,5.00\n2026-03-02,Rome,2,4.50\n"
    )
    assert [found[name]["type"] for name in ("day", "city", "n", "price")] == ["date", "text", "integer", "number"]
    assert (found["price"]["min"], found["price"]["max"], found["price"]["mean"]) == (2.5, 5.0, 4.0)
    assert (found["day"]["min"], found["day"]["max"]) == ("2026-03-01", "2026-03-04")
    assert (found["n"]["mean"], found["n"]["distinct"], found["city"]["distinct"]) == (2.0, 3, 2)


async def test_positive_most_frequent_values_first(run):
    found = await columns(run, "city\nRome\nOslo\nRome\nBari\nOslo\nRome\n", top=2)
    assert found["city"]["top"] == [{"value": "Rome", "count": 3}, {"value": "Oslo", "count": 2}]
    five = await columns(run, "x\na\nb\nc\nd\ne\nf\n")
    assert [each["value"] for each in five["x"]["top"]] == ["a", "b", "c", "d", "e"]


async def test_positive_the_delimiter_is_found(run):
    for delimiter in (",", ";", "\t", "|"):
        text = delimiter.join(["a", "b"]) + "\n" + delimiter.join(["1", "2"]) + "\n"
        found = await run({"path": PATH}, files={PATH: text})
        assert (found["delimiter"], found["rows"]) == (delimiter, 1)
        assert [column["name"] for column in found["columns"]] == ["a", "b"]
    assert list(await columns(run, "size, cm;n\n1;2\n3;4\n")) == ["size, cm", "n"]


async def test_positive_decimal_commas_and_thousands(run):
    found = await columns(run, "a;b;c\n1.234,50;€ 3,5;1,234\n-0,50;−4,5;10,000\n")
    assert (found["a"]["type"], found["a"]["min"], found["a"]["max"]) == ("number", -0.5, 1234.5)
    assert (found["b"]["min"], found["b"]["max"], found["b"]["mean"]) == (-4.5, 3.5, -0.5)
    assert (found["c"]["type"], found["c"]["min"], found["c"]["max"]) == ("integer", 1234, 10000)


async def test_edge_missing_cells_and_uneven_rows(run):
    found = await run({"path": PATH}, files={PATH: "a,b\n1,x\n,N/A\n3\n\n4,y,z\n2,x\n"})
    first, second = found["columns"]
    assert (found["rows"], found["uneven_rows"]) == (5, 2)
    assert (first["missing"], first["type"], first["max"]) == (1, "integer", 4)
    assert (second["missing"], second["distinct"], second["type"]) == (2, 2, "text")


async def test_edge_a_header_alone(run):
    found = await run({"path": PATH}, files={PATH: "a,b\n"})
    assert found["rows"] == 0
    assert [column["type"] for column in found["columns"]] == ["empty", "empty"]


async def test_edge_names_that_are_empty_or_stand_twice(run):
    assert list(await columns(run, "a,,a\n1,2,3\n")) == ["a", "column 2", "a (3)"]


async def test_edge_quotes_line_ends_and_other_encodings(run):
    found = await columns(run, b'\xef\xbb\xbfname,ok\r\n"Rossi, Anna\nVia Po 1",yes\r\nBo,No\r\n')
    assert found["name"]["top"][0]["value"] == "Rossi, Anna\nVia Po 1"
    assert found["ok"]["type"] == "boolean"
    assert (await columns(run, "ok\ntrue\nFalse\nyes\nno\n"))["ok"]["type"] == "boolean"
    assert list(await columns(run, "città,n\nNapoli,1\n".encode("latin-1"))) == ["città", "n"]
    assert list(await columns(run, "città\tn\nNapoli\t1\n".encode("utf-16"))) == ["città", "n"]


async def test_edge_what_only_looks_like_a_number_or_a_day(run):
    found = await columns(run, "id,day,big\n12a,31/02/2026,1e999\n7,01/03/2026,1\n")
    assert [found[name]["type"] for name in ("id", "day", "big")] == ["text", "text", "text"]
    found = await columns(run, "day\n3/4/2026\n28.2.2026\n2026-01-05T10:00\n")
    assert (found["day"]["min"], found["day"]["max"]) == ("2026-01-05", "2026-04-03")


async def test_edge_long_values_are_cut(run):
    found = await columns(run, "text\n" + "x" * 500 + "\n")
    assert found["text"]["top"] == [{"value": "x" * 80, "count": 1}]


async def test_negative_an_empty_file(run):
    assert await refusal(run, "") == "the file has no line with anything in it"
    assert await refusal(run, "\n  \n\n") == "the file has no line with anything in it"


async def test_negative_a_file_that_is_too_large(run):
    assert await refusal(run, b"\0" * 8_000_001) == "the file has more than 8 MB; give a part of it"
    assert await refusal(run, b"\0" * 8_000_000) == "this is no text file"


async def test_negative_a_quotation_mark_that_is_never_closed(run):
    why = await refusal(run, 'a,b\n1,"x' + "y" * 140_000)
    assert why == "the file cannot be read as CSV: field larger than field limit (131072)"


async def test_negative_a_file_that_is_no_text(run):
    assert await refusal(run, b"PK\x03\x04\x00\x00") == "this is no text file"


async def test_negative_a_file_that_is_not_there(run):
    try:
        outcome = str(await run({"path": "~/data/none.csv"}, files={}))
    except FileNotFoundError:
        outcome = "missing"
    assert outcome == "missing"

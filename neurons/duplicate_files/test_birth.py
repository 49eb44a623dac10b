"""What duplicate_files must get right: same content, not same size alone, and nothing left out in silence."""

FILES = {
    "~/docs/a.txt": "hello",
    "~/docs/b.txt": "world",
    "~/docs/old/a copy.txt": "hello",
    "~/docs/old/alone.txt": "hi",
    "~/docs/old/c.txt": "hello",
    "~/docs/x.bin": b"\x00\xff" * 50,
    "~/docs/y.bin": b"\x00\xff" * 50,
}


def listings(files):
    """Return what fs_list answers for ~/docs and ~/docs/old."""
    answers = []
    for folder, below in (("~/docs/", ["old"]), ("~/docs/old/", [])):
        entries = [{"name": name, "kind": "dir", "size_bytes": 4096} for name in below]
        for path, content in files.items():
            head, _, name = path.rpartition("/")
            if f"{head}/" == folder:
                entries.append({"name": name, "kind": "file", "size_bytes": len(content)})
        answers.append({"text": "listed", "data": {"entries": entries}})
    return {"fs_list": answers}


async def compared(run, files=None, unreadable=(), **args):
    """Return what is said of ~/docs."""
    found = dict(FILES if files is None else files)
    readable = {path: content for path, content in found.items() if path not in unreadable}
    return await run({"path": "~/docs", **args}, files=readable, calls=listings(found))


async def test_positive_equal_files_are_grouped(run):
    found = await compared(run)
    assert [(group["size_bytes"], group["wasted_bytes"], group["paths"]) for group in found["groups"]] == [
        (100, 100, ["~/docs/x.bin", "~/docs/y.bin"]),
        (5, 10, ["~/docs/a.txt", "~/docs/old/a copy.txt", "~/docs/old/c.txt"]),
    ]
    assert (found["wasted_bytes"], found["files"], found["files_compared"]) == (110, 7, 6)
    assert (found["complete"], found["left_out"]) == (True, [])


async def test_positive_the_digest_is_that_of_the_content(run):
    found = await compared(run)
    hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    assert found["groups"][1]["sha256"] == hello


async def test_positive_what_wastes_most_comes_first(run):
    files = {f"~/docs/{number}": "xx" for number in range(9)} | {"~/docs/a": "y" * 10, "~/docs/b": "y" * 10}
    found = await compared(run, files)
    assert [group["wasted_bytes"] for group in found["groups"]] == [16, 10]
    found = await compared(run, files, top=1)
    assert ([group["size_bytes"] for group in found["groups"]], found["groups_not_shown"]) == ([2], 1)
    assert found["wasted_bytes"] == 26


async def test_edge_the_same_size_is_not_enough(run):
    found = await compared(run, {"~/docs/a": "abc", "~/docs/b": "abd"})
    assert (found["groups"], found["files_compared"], found["wasted_bytes"]) == ([], 2, 0)


async def test_edge_empty_files_only_where_asked_for(run):
    files = {"~/docs/a": "", "~/docs/b": ""}
    assert (await compared(run, files))["groups"] == []
    assert (await compared(run, files))["files"] == 0
    assert len((await compared(run, files, min_bytes=0))["groups"]) == 1


async def test_edge_large_files_are_left_out_and_named(run):
    found = await compared(run, max_bytes=99)
    assert [each["path"] for each in found["left_out"]] == ["~/docs/x.bin", "~/docs/y.bin"]
    assert (found["complete"], [group["size_bytes"] for group in found["groups"]]) == (False, [5])
    assert len((await compared(run, max_bytes=100))["groups"]) == 2


async def test_edge_a_limit_on_folders_is_told(run):
    found = await compared(run, max_folders=1)
    assert found["left_out"] == [{"path": "~/docs/old", "reason": "there are more folders than max_folders"}]
    assert (found["complete"], found["files"]) == (False, 4)


async def test_edge_a_limit_on_reading_is_told(run):
    files = {f"~/docs/{number:03}": "xx" for number in range(501)}
    found = await compared(run, files)
    assert (found["files_compared"], found["complete"]) == (500, False)
    assert found["left_out"] == [
        {"path": "~/docs/500", "reason": "500 files were read already; give a smaller folder or a larger min_bytes"}
    ]


async def test_edge_links_are_not_followed(run):
    entries = [{"name": name, "kind": "link", "size_bytes": 3} for name in ("a", "b")]
    found = await run({"path": "~/docs"}, calls={"fs_list": [{"text": "", "data": {"entries": entries}}]})
    assert (found["files"], found["groups"], found["complete"]) == (0, [], True)


async def test_negative_a_file_that_cannot_be_read(run):
    found = await compared(run, unreadable=("~/docs/old/c.txt",))
    assert found["groups"][1]["paths"] == ["~/docs/a.txt", "~/docs/old/a copy.txt"]
    assert [each["path"] for each in found["left_out"]] == ["~/docs/old/c.txt"]
    assert found["left_out"][0]["reason"]


async def test_negative_a_listing_that_was_cut(run):
    answer = {"text": "[9 more entries are not shown; use fs_search with a glob]", "data": {"entries": []}}
    found = await run({"path": "~/docs/"}, calls={"fs_list": [answer]})
    assert found["left_out"] == [{"path": "~/docs", "reason": "it has more entries than can be listed"}]
    assert found["complete"] is False


async def test_negative_a_folder_that_is_not_there(run):
    try:
        outcome = str(await run({"path": "~/none"}, calls={}))
    except OSError:
        outcome = "refused"
    assert outcome == "refused"

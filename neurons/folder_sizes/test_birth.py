"""What folder_sizes must get right: sums over sub-folders, order, and what it could not look at."""


def listed(*entries, text=""):
    """Return what fs_list answers; an entry is a name with its size, a name with a slash is a folder."""
    found = [
        {"name": name.rstrip("/"), "kind": "dir" if name.endswith("/") else "file", "size_bytes": size}
        for name, size in entries
    ]
    return {"text": text or "\n".join(name for name, _ in entries), "data": {"entries": found}}


async def sized(run, answers, **args):
    """Return what is said of a folder whose listings are these, breadth first."""
    return await run({"path": "~/photos", **args}, calls={"fs_list": answers})


def tree():
    """Return the listings of ~/photos, of 2024 and 2025 in it, and of raw in the first."""
    return [
        listed(("2024/", 4096), ("2025/", 4096), ("index.txt", 10)),
        listed(("a.jpg", 3000), ("raw/", 4096)),
        listed(("b.jpg", 1500), ("c.jpg", 500)),
        listed(("d.raw", 7000)),
    ]


async def test_positive_folders_hold_what_lies_below_them(run):
    found = await sized(run, tree())
    assert (found["size_bytes"], found["size"], found["folders"], found["files"]) == (12010, "12.0 kB", 3, 5)
    assert [(each["path"], each["size_bytes"]) for each in found["largest_folders"]] == [
        ("~/photos/2024", 10000),
        ("~/photos/2024/raw", 7000),
        ("~/photos/2025", 2000),
    ]
    assert (found["complete"], found["folders_left_out"], found["unread"]) == (True, 0, [])


async def test_positive_the_largest_files_first(run):
    found = await sized(run, tree(), top=2)
    assert found["largest_files"] == [
        {"path": "~/photos/2024/raw/d.raw", "size_bytes": 7000, "size": "7.0 kB"},
        {"path": "~/photos/2024/a.jpg", "size_bytes": 3000, "size": "3.0 kB"},
    ]
    assert len(found["largest_folders"]) == 2


async def test_edge_an_empty_folder(run):
    found = await sized(run, [listed()])
    assert (found["size_bytes"], found["size"], found["files"], found["folders"]) == (0, "0 bytes", 0, 0)
    assert found["complete"] is True
    assert found["largest_folders"] == []


async def test_edge_sizes_in_words(run):
    found = await sized(run, [listed(("a", 999), ("b", 1000), ("c", 2_500_000), ("d", 10**16))], top=4)
    assert [each["size"] for each in found["largest_files"]] == ["10000.0 TB", "2.5 MB", "1.0 kB", "999 bytes"]


async def test_edge_a_limit_cuts_and_says_so(run):
    found = await sized(run, tree(), max_folders=2)
    assert (found["complete"], found["folders_left_out"], found["folders"]) == (False, 2, 1)
    assert found["size_bytes"] == 3010
    assert (await sized(run, tree(), max_folders=4))["complete"] is True


async def test_edge_links_are_not_counted(run):
    entries = [{"name": "a", "kind": "link", "size_bytes": 9}, {"name": "b", "kind": "special", "size_bytes": 9}]
    found = await sized(run, [{"text": "a (link)", "data": {"entries": entries}}])
    assert (found["size_bytes"], found["files"], found["folders"]) == (0, 0, 0)
    assert found["complete"] is True


async def test_edge_the_root_of_the_disk(run):
    answers = [listed(("srv/", 0)), listed(("x", 7))]
    found = await run({"path": "/"}, calls={"fs_list": answers})
    assert (found["path"], found["size_bytes"], found["largest_folders"][0]["path"]) == ("/", 7, "/srv")
    found = await run({"path": "~/photos/"}, calls={"fs_list": [listed(("x", 7))]})
    assert (found["path"], found["largest_files"][0]["path"]) == ("~/photos", "~/photos/x")


async def test_negative_a_folder_below_that_cannot_be_listed(run):
    found = await sized(run, tree()[:3])
    assert found["complete"] is False
    assert [each["path"] for each in found["unread"]] == ["~/photos/2024/raw"]
    assert found["unread"][0]["reason"]
    assert found["size_bytes"] == 5010


async def test_negative_a_listing_that_was_cut(run):
    found = await sized(run, [listed(("a", 1), text="a\n[7 more entries are not shown; use fs_search with a glob]")])
    assert found["complete"] is False
    assert found["unread"] == [{"path": "~/photos", "reason": "it has more entries than can be listed"}]


async def test_negative_a_folder_that_is_not_there(run):
    try:
        outcome = str(await run({"path": "~/none"}, calls={}))
    except OSError:
        outcome = "refused"
    assert outcome == "refused"

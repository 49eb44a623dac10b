"""What note_index must get right: what stands in the index, and above all that nothing of yours is lost."""

BEGIN = "<!-- note_index: from here on this is written anew each time -->"
END = "<!-- note_index: to here -->"


def given(files):
    """Return what fs_list answers for ~/notes with these files."""
    entries = [{"name": path.rpartition("/")[2], "kind": "file", "size_bytes": 1} for path in files]
    entries.append({"name": "old.md", "kind": "dir", "size_bytes": 4096})
    return {"fs_list": {"text": "listed", "data": {"entries": entries}}}


async def indexed(run, files, **hidden):
    """Run it on ~/notes; a hidden file is listed but cannot be read. `files` holds what was written afterwards."""
    listed = {**files, **{f"~/notes/{name}.md": "" for name in hidden}}
    return await run({"path": "~/notes"}, files=files, calls=given(listed))


async def test_positive_notes_by_tag_with_their_titles(run):
    files = {
        "~/notes/b.md": "# Zebra #\ntext #animals",
        "~/notes/a.md": "#Animals #home/garden\n\n# apple tree\n",
        "~/notes/plain note.md": "nothing",
        "~/notes/c.txt": "# no note #x",
    }
    found = await indexed(run, files)
    assert (found["notes"], found["tags"], found["open_tasks"]) == (3, ["animals", "home/garden"], 0)
    assert files["~/notes/index.md"] == "\n".join(
        [
            "# Index",
            "",
            BEGIN,
            "",
            "## animals",
            "",
            "- [apple tree](a.md)",
            "- [Zebra](b.md)",
            "",
            "## home/garden",
            "",
            "- [apple tree](a.md)",
            "",
            "## without a tag",
            "",
            "- [plain note](plain%20note.md)",
            "",
            END,
            "",
        ]
    )


async def test_positive_tasks_that_are_open(run):
    files = {"~/notes/a.md": "# A\n- [ ] one\n  * [ ]  two \n- [x] done\n", "~/notes/b.md": "+ [ ] three"}
    found = await indexed(run, files)
    assert found["open_tasks"] == 3
    tasks = files["~/notes/index.md"].partition("## open tasks\n\n")[2].partition("\n\n")[0]
    assert tasks == "- [ ] one ([A](a.md))\n- [ ] two ([A](a.md))\n- [ ] three ([b](b.md))"


async def test_positive_what_you_wrote_around_it_stays(run):
    files = {"~/notes/a.md": "# A", "~/notes/index.md": f"# Mine\n{BEGIN}\nold\n{END} below\n"}
    found = await indexed(run, files)
    assert (found["changed"], found["index"]) == (True, "~/notes/index.md")
    after = f"# Mine\n{BEGIN}\n\n## without a tag\n\n- [A](a.md)\n\n{END} below\n"
    assert files["~/notes/index.md"] == after


async def test_positive_an_index_of_yours_is_kept_above(run):
    files = {"~/notes/a.md": "# A", "~/notes/index.md": "# My own list\n- x\n"}
    await indexed(run, files)
    assert files["~/notes/index.md"].startswith(f"# My own list\n- x\n\n{BEGIN}\n")
    assert files["~/notes/index.md"].endswith(f"{END}\n")


async def test_edge_a_second_run_changes_nothing(run):
    files = {"~/notes/a.md": "# A #t\n- [ ] x"}
    assert (await indexed(run, files))["changed"] is True
    again = dict(files)
    assert (await indexed(run, again))["changed"] is False
    assert again == files


async def test_edge_a_folder_without_notes(run):
    files = {}
    found = await indexed(run, files)
    assert (found["notes"], found["tags"]) == (0, [])
    assert "There are no notes." in files["~/notes/index.md"]


async def test_edge_code_is_not_looked_at(run):
    files = {
        "~/notes/a.md": "```sh\n# not a title #nor\n- [ ] no\n```\n`#x` a#b http://h/#frag &#39; #7 # Real\n# Real"
    }
    found = await indexed(run, files)
    assert (found["tags"], found["open_tasks"]) == ([], 0)
    assert "- [Real](a.md)" in files["~/notes/index.md"]


async def test_edge_titles_with_brackets_and_line_ends(run):
    files = {"~/notes/a.md": "# [x] y\r\n\r\n- [ ] z\r\n"}
    await indexed(run, files)
    assert "- [(x) y](a.md)\n" in files["~/notes/index.md"]
    assert "- [ ] z ([(x) y](a.md))\n" in files["~/notes/index.md"]


async def test_negative_a_note_that_cannot_be_read_is_named(run):
    files = {"~/notes/a.md": "# A", "~/notes/b.md": b"\xff\xfe"}
    found = await indexed(run, files, gone=True)
    assert (found["notes"], found["unread"]) == (1, ["b.md", "gone.md"])


async def test_negative_a_mark_that_was_lost(run):
    before = f"# Mine\n{BEGIN}\nold\nmy words\n"
    files = {"~/notes/a.md": "# A", "~/notes/index.md": before}
    try:
        outcome = str(await indexed(run, files))
    except ValueError as error:
        outcome = str(error)
    assert outcome == f"index.md has lost its line {END}; put it back below what shall be written anew"
    assert files["~/notes/index.md"] == before


async def test_negative_an_index_that_is_no_text_is_left_alone(run):
    files = {"~/notes/a.md": "# A", "~/notes/index.md": b"\xff\xfe\x00"}
    try:
        outcome = str(await indexed(run, files))
    except ValueError as error:
        outcome = str(error)
    assert outcome == "index.md is no text in UTF-8; it was left alone"
    assert files["~/notes/index.md"] == b"\xff\xfe\x00"


async def test_negative_a_folder_that_is_not_there(run):
    try:
        outcome = str(await run({"path": "~/none"}, calls={}))
    except OSError:
        outcome = "refused"
    assert outcome == "refused"

"""One message at a real terminal, with the real SDK and a local server as the model."""

from __future__ import annotations

import json
import re

import pexpect
import pytest

from .conftest import PROGRAM, finish, shown


def writes(content: str) -> dict:
    return {"tool_calls": [{"tool": "fs_write", "args": {"path": "list.md", "content": content}}]}


READS = {"text": "I look first.", "tool_calls": [{"tool": "fs_read", "args": {"path": "list.md"}}]}


def test_yes_changes_the_real_file_and_everything_is_on_record(console, model) -> None:
    """Reads, asks, writes; then the trace, the chain and the trust earned are looked at."""
    file = console.files / "list.md"
    file.write_text("- milk\n")
    server = model([READS, writes("- milk\n- bread\n"), {"text": "**Bread** is on the list."}])

    child = console.spawn("ask", "--root", console.files, "Add bread to list.md")
    child.expect_exact("yes / no / details >")
    assert file.read_text() == "- milk\n"
    child.send("yes\r")
    assert finish(child) == 0

    assert file.read_text() == "- milk\n- bread\n"
    output = shown(child)
    assert "+- bread" in output
    assert "Bread is on the list." in output
    assert f"done: fs_write {file} (undo: myclaw undo)" in output
    assert "- milk" in str(server.requests[1]["body"]["messages"])
    assert_trace(console)
    assert_trust(console)


def test_what_ask_did_is_taken_back_from_the_shell(console, script) -> None:
    """The last turn by default, another one by its id, nothing twice, nothing that was changed since."""
    file = console.files / "list.md"
    file.write_text("- milk\n")
    script(writes("- bread\n"), {"text": "Done."})
    child = console.spawn("ask", "--root", console.files, "Add bread to the list")
    child.expect_exact("yes / no / details >")
    child.send("yes\r")
    assert finish(child) == 0
    assert "(undo: myclaw undo)" in shown(child)
    file.write_text("- mine\n")
    refused = console.run("undo")
    assert (refused.code, file.read_text()) == (1, "- mine\n")
    assert "not undone: fs_write" in refused.out
    undone = console.run("undo", "--force")
    assert (undone.code, undone.err, file.read_text()) == (0, "", "- milk\n")
    first, second = undone.out.splitlines()
    assert first.startswith("taking back 'Add bread to the list' (trace ")
    assert second.startswith(f"undone: fs_write {file} (")
    again = console.run("undo")
    assert (again.code, again.out) == (2, "")
    assert "nothing left to take back" in again.err
    assert "myclaw undo TRACE" in again.err


def test_json_tells_a_program_what_was_taken_back(console, script) -> None:
    """Also what was not, and why."""
    file = console.files / "list.md"
    script(writes("- bread\n"), {"text": "Done."})
    granted = ("--yes-to", f"fs_write:{console.files}/*")
    trace = console.json("ask", "--json", "--root", console.files, *granted, "Add bread")["trace"]
    file.write_text("- mine\n")
    refused = console.run("undo", trace[:13], "--json")
    assert (refused.code, refused.err) == (1, "")
    (step,) = json.loads(refused.out)["steps"]
    assert (step["tool"], step["targets"], step["undone"]) == ("fs_write", [str(file)], False)
    assert "changed since; it is left as it is" in step["details"][0]
    undone = console.json("undo", trace, "--force", "--json")
    assert (undone["trace"], undone["undone"], [step["undone"] for step in undone["steps"]]) == (trace, True, [True])
    assert not file.exists()


def assert_trace(console) -> None:
    lines = console.run("audit", "show").out.splitlines()
    trace_id = re.fullmatch(r"trace ([0-9a-f-]{36}), times in UTC", lines[0])[1]
    story = "\n".join(lines)
    assert "cli:" in lines[1]
    assert "Add bread to list.md" in lines[1]
    assert f"step_decided: step 0 fs_read fs_read:{console.files}/*: allow via autonomy" in story
    assert re.search(r"^ +autonomy +allow +reading is allowed here$", story, re.MULTILINE)
    assert f"step_decided: step 1 fs_write fs_write:{console.files}/*: approve_required via trust" in story
    assert re.search(r"^ +trust +approve_required +it was never done before$", story, re.MULTILINE)
    assert "approval_answered: granted by cli:" in story
    assert re.search(r"step_intended: step 1: about to run, undo record [0-9a-f-]{36}", story)
    assert "trace_closed: success, steps 2" in story
    assert console.run("audit", "show", trace_id[:13]).out.splitlines() == lines
    verified = console.run("audit", "verify")
    assert verified.code == 0
    assert verified.out.splitlines() == [
        "events:     13 checked, whole",
        "trust:       3 checked, whole",
        "export:     13 checked, whole",
    ]


def assert_trust(console) -> None:
    effect_class = f"fs_write:{console.files}/*"
    table = console.run("trust", "list").out.splitlines()
    assert table[0] == "score  samples  last used   actor and class"
    assert [row.split()[1] for row in table if row.endswith(effect_class)] == ["1"]
    listed = {(row["actor"], row["effect_class"]): row for row in console.json("trust", "list", "--json")}
    one = console.json("trust", "show", "--json", "fs_write", effect_class)
    assert [entry["asked"] for entry in one["history"]] == [True]
    assert one["n_samples"] == listed["fs_write", effect_class]["n_samples"] == 1
    report = console.run("trust", "show", "fs_write", effect_class).out
    assert report.startswith(f"fs_write {effect_class}\nscore 0.71")
    assert "1 sample on 1 day" in report
    assert "last asked today" in report
    assert re.search(r"^ +was not undone +1\.000$", report, re.MULTILINE)
    assert not [row for row in table if "runtime" in row]
    assert any(" runtime " in row for row in console.run("trust", "list", "--all").out.splitlines())
    several = console.run("trust", "show", "fs_write")
    assert (several.code, len(several.said)) == (2, 1)
    assert "2 subjects fit" in several.err


@pytest.mark.parametrize("first", [[], [READS]], ids=["at once", "after reading"])
def test_no_leaves_the_file_and_ends_with_1(console, script, first: list[dict]) -> None:
    """What was asked for was not done, whatever was read before."""
    file = console.files / "list.md"
    file.write_text("- milk\n")
    script(*first, writes("- bread\n"), {"text": "Not done."})
    child = console.spawn("ask", "--root", console.files, "Add bread")
    child.expect_exact("yes / no / details >")
    child.send("no\r")
    assert finish(child) == 1
    assert file.read_text() == "- milk\n"
    assert "not done: fs_write" in shown(child)
    assert "trace_closed: denied" in console.run("audit", "show").out


def test_ctrl_c_at_the_question_is_no(console, script) -> None:
    script(writes("- bread\n"), {"text": "Never said."})
    child = console.spawn("ask", "--root", console.files, "Add bread")
    child.expect_exact("yes / no / details >")
    child.sendintr()
    assert finish(child) == 130
    assert list(console.files.iterdir()) == []
    story = console.run("audit", "show").out
    assert "approval_answered: expired by core" in story
    assert "trace_closed: abandoned" in story


def test_ctrl_c_stops_the_turn_and_gives_the_terminal_back(console, model) -> None:
    model([{"text": "Let me think", "hang": True}])
    child = pexpect.spawn(
        "/bin/sh",
        ["-c", f"trap : INT; {PROGRAM} ask Hi; echo code $?; stty -a"],
        env=console.environ,
        encoding="utf-8",
        timeout=60,
    )
    child.expect_exact("Let me think")
    child.sendintr()
    child.expect_exact("myclaw: stopped")
    child.expect(r"code (\d+)")
    assert child.match[1] == "130"
    child.expect(pexpect.EOF)
    modes = child.before.split()
    assert {"icanon", "echo", "isig"} <= set(modes)
    child.close()
    story = console.run("audit", "show").out
    assert "failed: cancelled" in story
    assert "trace_closed: abandoned" in story

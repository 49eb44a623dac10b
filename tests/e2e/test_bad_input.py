"""Broken settings and files: one clear line, and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CONFIGS: dict[str, tuple[str, str]] = {
    "broken TOML": ("[agent\nlevel = 1\n", ":1:7: not valid TOML"),
    "unknown key": ('[agent]\n\nprovidr = "x"\n', ":3: [agent] unknown key 'providr'; the nearest known is 'provider'"),
    "unknown section": ("[agnet]\n", ":1: unknown section 'agnet'; the nearest known is 'agent'"),
    "wrong value": ('[agent]\nlevel = "high"\n', ":2: [agent] level must be one of read_only, supervised, full"),
    "out of range": ("[approval]\nreading_pause_s = -1\n", ":2: [approval] reading_pause_s must be at least 0"),
}


@pytest.mark.parametrize(("text", "wanted"), CONFIGS.values(), ids=CONFIGS.keys())
def test_a_wrong_setting_is_named_with_its_line(console, text: str, wanted: str) -> None:
    console.configure(text)
    ended = console.run("ask", "Hi")
    assert (ended.code, ended.out, len(ended.said)) == (2, "", 1)
    assert f"config.toml{wanted}" in ended.err


def test_all_wrong_settings_are_named_at_once(console) -> None:
    console.configure('[agent]\nlevel = "high"\n[limits]\nsteps = "x"\n')
    ended = console.run("ask", "Hi")
    assert (ended.code, ended.out) == (2, "")
    assert [line.partition("config.toml")[2][:12] for line in ended.said] == [":2: [agent] ", ":4: [limits]"]


LOOKING = (
    ["trust", "list"],
    ["audit", "list"],
    ["audit", "show"],
    ["audit", "tail"],
    ["audit", "verify"],
    ["plugins", "list"],
)


@pytest.mark.parametrize("command", LOOKING, ids=" ".join)
def test_a_wrong_setting_locks_nobody_out_of_looking(console, command: list[str]) -> None:
    """The defaults are used, and one line says so."""
    console.configure('[agent]\nlevel = "high"\n[plugins]\ndisabled = 1\n')
    ended = console.run(*command)
    assert ended.code == 0
    (line,) = ended.said
    assert "does not load, the defaults are used here" in line
    assert "config.toml:2: [agent] level must be" in line
    assert line.endswith("(and 1 more)")


def test_a_wrong_setting_locks_nobody_out_of_undoing(console, script) -> None:
    """Not even where an agent's own work is what must be taken back."""
    file = console.files / "a.md"
    script({"tool_calls": [{"tool": "fs_write", "args": {"path": "a.md", "content": "x"}}]}, {"text": "Done."})
    assert console.run("ask", "--level", "full", "--root", console.files, "Write").code == 0
    assert file.exists()
    console.configure("[agent\n")
    ended = console.run("undo")
    assert (ended.code, len(ended.said), file.exists()) == (0, 1, False)
    assert "the defaults are used here" in ended.err


def test_settings_that_do_not_fit_together_are_named_with_the_rest(console) -> None:
    console.configure('[agent]\nlevel = "high"\n[budget]\nsoft_eur = 9\nhard_eur = 1\n')
    ended = console.run("ask", "Hi")
    assert ended.code == 2
    assert [line.partition("config.toml")[2][:13] for line in ended.said] == [":2: [agent] l", ":5: [budget] "]


@pytest.mark.parametrize("what", ["folder", "binary", "dangling link", "looping link"])
def test_a_configuration_that_is_no_text_file_is_one_line(console, what: str) -> None:
    file = console.home / "config.toml"
    file.unlink()
    if what == "folder":
        file.mkdir()
    elif what == "binary":
        file.write_bytes(b"\xff\xfe\x00\x01")
    else:
        file.symlink_to(file if what == "looping link" else console.home / "gone")
    for command, code in ((["ask", "Hi"], 2), (["plugins", "list"], 0)):
        ended = console.run(*command)
        assert (ended.code, len(ended.said)) == (code, 1)
        assert f"{file}: " in ended.err


def test_a_script_that_is_not_there_is_one_line(console) -> None:
    console.configure('[agent]\nprovider = "scripted"\n[scripted]\nfile = "/nowhere.json"\n')
    ended = console.run("ask", "Hi")
    assert (ended.code, ended.out, len(ended.said)) == (3, "", 1)
    assert "check file in [scripted]" in ended.err


def test_what_is_no_text_file_fails_its_step_and_the_turn_goes_on(console, script) -> None:
    """A binary file, a folder, a missing file, a folder to write to, a file as a folder, an unknown tool."""
    (console.files / "binary").write_bytes(bytes(range(256)))
    (console.files / "folder").mkdir()
    cases = {
        "binary is not text but binary": ("fs_read", {"path": "binary"}),
        "folder is a folder, not a file; use fs_list": ("fs_read", {"path": "folder"}),
        "there is no file none": ("fs_read", {"path": "none"}),
        "is a folder": ("fs_write", {"path": "folder", "content": "x"}),
        "binary": ("fs_write", {"path": "binary/below", "content": "x"}),
        "there is no tool 'fs_nope'": ("fs_nope", {}),
    }
    calls = [{"tool": tool, "args": args} for tool, args in cases.values()]
    script({"tool_calls": calls}, {"text": "None of it worked."})
    ended = console.run("ask", "--json", "--root", console.files, "Try")
    summary = json.loads(ended.out)
    assert summary["answer"] == "None of it worked."
    assert "you are asked whether a neuron may be designed" in ended.err
    assert [step["state"] for step in summary["steps"]] == ["failed"] * len(cases)
    for wanted, step in zip(cases, summary["steps"], strict=True):
        assert wanted in step["error"]
        assert "\n" not in step["error"]
    assert sorted(path.name for path in console.files.iterdir()) == ["binary", "folder"]


def test_a_huge_output_is_cut_for_the_model_and_kept_whole(console, script) -> None:
    text = "0123456789abcde\n".replace("\n", " ") * 490_000
    (console.files / "huge.txt").write_text(text)
    script({"tool_calls": [{"tool": "fs_read", "args": {"path": "huge.txt"}}]}, {"text": "Long."})
    ended = console.run("ask", "--root", console.files, "Read it")
    assert (ended.code, ended.out) == (0, "Long.\n")
    (kept,) = (path for path in (console.home / "workspace/state/outputs").rglob("*") if path.is_file())
    assert kept.read_text() == text
    assert kept.stat().st_mode & 0o077 == 0
    assert len(console.run("audit", "show").out) < 10_000


@pytest.mark.parametrize("wanted", ["zz", "0000"])
def test_a_trace_that_is_not_there_is_usage(console, wanted: str) -> None:
    ended = console.run("audit", "show", wanted)
    assert (ended.code, ended.out, len(ended.said)) == (2, "", 1)
    assert repr(wanted) in ended.err


def test_a_subject_that_is_not_there_is_usage(console) -> None:
    ended = console.run("trust", "show", "nobody")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "myclaw: no subject 'nobody' has any history; see 'myclaw trust list'\n"


def test_control_characters_of_a_model_do_not_reach_the_terminal(console, script) -> None:
    """Neither through the answer of a pipe nor through the record."""
    script({"tool_calls": [{"tool": "fs_read", "args": {"path": "a\x1b[2Jb"}}]}, {"text": "clear\x1b[2J"})
    ended = console.run("ask", "--root", console.files, "Hi \x1b[2J")
    shown = console.run("audit", "show").out
    assert "\x1b" not in ended.err + shown
    assert r"Hi \x1b[2J" in shown


def test_nothing_is_read_from_the_folder_it_is_started_in(console) -> None:
    """A file of the working folder is no setting."""
    (console.person / "config.toml").write_text("[broken\n")
    assert console.run("trust", "list").code == 0
    assert Path(console.home / "config.toml").exists()


@pytest.mark.parametrize(
    "words", [["trust", "list", "\x1b[2J"], ["--\x1b[2J"], ["\x1b[2J"], ["undo", "\x1b[2J"]], ids=repr
)
def test_what_was_typed_is_told_with_nothing_that_a_terminal_acts_on(console, words: list[str]) -> None:
    """The escape character is written out."""
    ended = console.run(*words)
    assert "\x1b" not in ended.out + ended.err
    assert "\\x1b[2J" in ended.out + ended.err

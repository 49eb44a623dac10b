"""`myclaw neurons check`: one line a finding, one answer a line."""

from __future__ import annotations

import base64
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from myclaw_core.cli import main

BODY = b"async def run(ctx, args):\n    return {'n': len(args['text'].split())}\n"
TESTS = b"".join(
    b"async def test_%d(run):\n    assert await run({'text': 'a'}) == {'n': 1}\n\n\n" % number for number in range(3)
)
MANIFEST = b"""\
schema_version: "1.0"
name: word_count
version: 1.0.0
purpose: Count words.
input_schema: {type: object}
output_schema: {type: object}
capabilities: []
"""


@pytest.fixture
def neuron(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a good neuron, beside a home without a configuration."""
    monkeypatch.setenv("MYCLAW_HOME", str(tmp_path / "home"))
    folder = tmp_path / "word_count"
    folder.mkdir()
    for name, data in (("body.py", BODY), ("test_birth.py", TESTS), ("manifest.yaml", MANIFEST)):
        (folder / name).write_bytes(data)
    return folder


def feed(monkeypatch: pytest.MonkeyPatch, *lines: object) -> None:
    """Put lines on stdin."""
    raw = b"".join((each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n" for each in lines)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


def asked(body: bytes, **more: Any) -> dict[str, Any]:
    return {"name": "x", "body_base64": base64.b64encode(body).decode(), **more}


def test_a_good_neuron_has_no_findings(neuron: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 0, line ends of another kind are no finding."""
    (neuron / "body.py").write_bytes(BODY.replace(b"\n", b"  \r\n"))

    assert main(["neurons", "check", str(neuron)]) == 0
    assert capsys.readouterr().out == "word_count: nothing found\n"


def test_each_finding_is_one_line_and_the_exit_code_is_1(neuron: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The core's and the plugins', each with file, line and rule."""
    (neuron / "body.py").write_bytes(b"import os\n\n\n" + BODY.replace(b":\n", b":\n    y = eval('1')\n    z = 1\n", 1))

    assert main(["neurons", "check", str(neuron)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "body.py:1: [import] the module os may not be imported" in lines
    assert any(line.startswith("body.py:6: [lint:F841]") for line in lines)


def test_one_mistake_is_one_finding(neuron: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the core refuses, other programs need not refuse again."""
    (neuron / "body.py").write_bytes(b"import os\n\n\n" + BODY.replace(b"args['text']", b"nowhere"))

    assert main(["neurons", "check", str(neuron)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("]")[0] for line in lines] == ["body.py:1: [import", "body.py:5: [name"]


@pytest.mark.usefixtures("neuron")
def test_a_name_is_looked_for_among_the_adopted_and_the_shipped_neurons(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `neurons test` does."""
    monkeypatch.chdir(tmp_path / "word_count")
    (tmp_path / "home/workspace/neurons").mkdir(parents=True)
    (tmp_path / "word_count").rename(tmp_path / "home/workspace/neurons/word_count")

    for name in ("word_count", "csv_summary"):
        assert main(["neurons", "check", name]) == 0
        assert capsys.readouterr().out == f"{name}: nothing found\n"
    assert main(["neurons", "check", "nowhere"]) == 2
    assert "nowhere is neither a folder nor a neuron" in capsys.readouterr().err


def test_a_finding_on_a_whole_file_has_no_line_and_open_is_told_what_to_use(
    neuron: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line 0 is nowhere in the file."""
    (neuron / "body.py").write_bytes(b"def run(ctx, args):\n    return open('a')\n")
    (neuron / "test_birth.py").write_bytes(b"X = 1\n")

    assert main(["neurons", "check", str(neuron)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "body.py:2: [name] open may not be used; ctx.open opens a file" in lines
    assert any(line.startswith("test_birth.py: [tests] there must be at least 3 tests") for line in lines)


def test_findings_for_programs_are_one_document(neuron: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its keys are those of the findings."""
    (neuron / "test_birth.py").unlink()

    assert main(["neurons", "check", str(neuron), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document == {
        "name": "word_count",
        "ok": False,
        "findings": [
            {"file": "test_birth.py", "line": 0, "rule": "missing", "message": "the file test_birth.py is missing"}
        ],
    }


def test_a_wrong_manifest_names_its_line(neuron: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The name must be the folder's; programs get the line as a number."""
    (neuron / "manifest.yaml").write_bytes(MANIFEST.replace(b"word_count", b"other_name"))

    assert main(["neurons", "check", str(neuron)]) == 1
    assert capsys.readouterr().out.startswith("manifest.yaml:2: [manifest] the name other_name differs")
    assert main(["neurons", "check", str(neuron), "--json"]) == 1
    assert [found["line"] for found in json.loads(capsys.readouterr().out)["findings"]] == [2]


def test_a_link_in_place_of_a_file_is_not_followed(neuron: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor a folder that is none."""
    (neuron / "body.py").unlink()
    (neuron / "body.py").symlink_to("/etc/hostname")

    assert main(["neurons", "check", str(neuron)]) == 2
    assert main(["neurons", "check", str(neuron / "none")]) == 2
    assert main(["neurons", "check"]) == 2
    assert "is no ordinary file" in capsys.readouterr().err


def test_each_line_gets_one_answer(
    neuron: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A good body, a bad one, one that declares too much."""
    feed(monkeypatch, asked(BODY), asked(b"import os\n" + BODY), asked(BODY, capabilities=["llm"], may_call=[]))

    assert main(["neurons", "check", "--jsonl"]) == 1
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(answer["name"], answer["ok"]) for answer in answers] == [("x", True), ("x", False), ("x", False)]
    assert answers[0] == {"name": "x", "ok": True, "findings": []}
    assert answers[1]["findings"][0] == {"line": 1, "rule": "import", "message": "the module os may not be imported"}
    assert [found["rule"] for found in answers[2]["findings"]] == ["unused"]


def test_a_line_that_is_none_is_answered_too(
    neuron: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what is wrong; the lines after it are answered as ever."""
    bad = [b"x", [], {"name": 1}, {"name": "a", "body_base64": "@"}, asked(BODY, may_call="x"), asked(BODY, other=1)]
    feed(monkeypatch, *bad, asked(BODY))

    assert main(["neurons", "check", "--jsonl"]) == 1
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["ok"] for answer in answers] == [False] * len(bad) + [True]
    assert all(answer["error"] and answer["line"] == number for number, answer in enumerate(answers[:-1], start=1))


def test_what_may_break_a_parser_is_not_handed_to_other_tools(
    neuron: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They were not made for it."""
    feed(monkeypatch, asked(BODY + b"X = (" + b"-\n" * 20_000 + b"1)\n"))

    assert main(["neurons", "check", "--jsonl"]) == 1
    (answer,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {found["rule"] for found in answer["findings"]} == {"depth"}


def test_a_program_must_stand_in_the_configuration(
    neuron: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`[neurons] programs` holds for a folder and for lines alike."""
    home = Path(os.environ["MYCLAW_HOME"])
    home.mkdir()
    declared = MANIFEST.replace(b"capabilities: []", b'capabilities: ["shell:git"]')
    (neuron / "manifest.yaml").write_bytes(declared)
    line = asked(BODY, capabilities=["shell:git"])

    def rules(programs: str) -> tuple[bool, bool]:
        (home / "config.toml").write_text(f"[neurons]\nprograms = {programs}\n")
        feed(monkeypatch, line)
        capsys.readouterr()
        main(["neurons", "check", "--json", str(neuron)])
        folder = json.loads(capsys.readouterr().out)
        main(["neurons", "check", "--jsonl"])
        body = json.loads(capsys.readouterr().out)
        refused = [any(each["rule"] == "capability" for each in found["findings"]) for found in (folder, body)]
        return refused[0], refused[1]

    assert rules("[]") == (True, True)
    assert rules('["git"]') == (False, False)

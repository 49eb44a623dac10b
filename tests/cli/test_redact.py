"""`myclaw redact`: every secret masked, everything else as it was, whatever comes in."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
LIST_MODULES = """
import sys
from myclaw_core.cli import main
main(["redact", *sys.argv[1:]])
sys.stderr.write("\\n".join(sys.modules))
"""


def test_a_text_is_masked_as_a_whole_and_twice_is_once(run) -> None:
    key = "-----BEGIN PRIVATE KEY-----\n" + "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQ" * 2 for _ in range(5))
    text = f"token {TOKEN}\r\n{key}\n-----END PRIVATE KEY-----\nè tutto"
    once = run("redact", stdin=text.encode())
    assert (once.code, once.err) == (0, "")
    assert TOKEN not in once.out
    assert "MIIE" not in once.out
    assert once.out.endswith("\nè tutto")
    assert run("redact", stdin=once.out.encode()).out == once.out


def test_bytes_that_are_no_text_go_through_unchanged(run) -> None:
    garbage = random.Random(7).randbytes(20_000)
    ended = run("redact", stdin=garbage + f"\npassword={'hunter' * 3}9\n".encode())
    assert ended.code == 0
    out = ended.out.encode("utf-8", "surrogateescape")
    assert out.startswith(garbage)
    assert b"hunter" not in out


def test_a_json_line_keeps_its_other_keys(run) -> None:
    line = {"id": 7, "text": f"use {TOKEN} è", "more": [1.5, None, {"x": True}]}
    ended = run("redact", "--jsonl", stdin=json.dumps(line).encode() + b"\n\n" + json.dumps({"text": ""}).encode())
    first, second = map(json.loads, ended.out.splitlines())
    assert ended.code == 0
    assert (first | {"text": ""}) == (line | {"text": ""})
    assert list(first) == ["id", "text", "more"]
    assert TOKEN not in first["text"]
    assert "è" in ended.out
    assert second == {"text": ""}


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"nope", "not JSON"),
        (b"[1]", "not a JSON object with a text"),
        (b'{"text": 3}', "not a JSON object with a text"),
        (b'{"txt": "x"}', "not a JSON object with a text"),
        (b"\xff\xfe", "not UTF-8 text at byte 0"),
        (b'{"text": "x", "n": NaN}', "NaN is no number"),
        (b'{"text": "x", "n": ' + b"9" * 5000 + b"}", "too many digits"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"text": "' + b"x" * 4_000_001 + b'"}', "longer than"),
    ],
)
def test_a_bad_line_gives_one_error_with_its_number_and_the_next_goes_on(run, line: bytes, error: str) -> None:
    ended = run("redact", "--jsonl", stdin=b'{"text": "a"}\n' + line + b'\n{"text": "b"}\n')
    first, bad, last = map(json.loads, ended.out.splitlines())
    assert (ended.code, ended.err) == (1, "")
    assert (first, last) == ({"text": "a"}, {"text": "b"})
    assert bad["line"] == 2
    assert error in bad["error"]


def test_half_a_character_stays_an_escape(run) -> None:
    ended = run("redact", "--jsonl", stdin=b'{"text": "x \\ud800 y"}\n')
    assert json.loads(ended.out) == {"text": "x \ud800 y"}


def test_ten_thousand_lines_go_through_one_process(run) -> None:
    lines = b"".join(
        json.dumps({"n": n, "text": f"n {n}: password=hunter{n}x"}).encode() + b"\n" for n in range(10_000)
    )
    ended = run("redact", "--jsonl", stdin=lines)
    found = [json.loads(line) for line in ended.out.splitlines()]
    assert [line["n"] for line in found] == list(range(10_000))
    assert "hunter" not in ended.out


@pytest.mark.parametrize("args", [[], ["--jsonl"]])
def test_no_home_is_opened_and_little_is_imported(tmp_path, args: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIST_MODULES, *args],
        input='{"text": "x"}\n',
        capture_output=True,
        text=True,
        check=True,
        env={"MYCLAW_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)},
    )
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert not loaded & {"asyncio", "cattrs", "pluggy", "stevedore", "logging", "tomlkit", "sqlite3", "myclaw_sqlite"}
    assert list(tmp_path.iterdir()) == []

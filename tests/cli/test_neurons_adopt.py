"""`myclaw neurons adopt` and `rotate-key` on the command line, with the real sandbox."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from drafted_neurons import version_of

Run = Callable[..., Any]


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    """A neuron that a person wrote; the plugin that needs other programs for the analysis is off."""
    home.mkdir()
    configured(home)
    return written(tmp_path / "mine" / "word_count", "1.0.0")


def configured(home: Path, more: str = "") -> None:
    (home / "config.toml").write_text(f'[plugins]\ndisabled = ["lint"]\n{more}')


def written(folder: Path, version: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in version_of(version).items():
        (folder / name).write_bytes(data)
    return folder


def drafts(home: Path) -> list[Path]:
    return list((home / "workspace/state/drafts").glob("*"))


def test_a_neuron_goes_through_its_stages_and_its_question_waits(run: Run, home: Path, folder: Path) -> None:
    """A line a stage; nobody is there, so nothing is adopted yet."""
    ended = run("neurons", "adopt", folder)
    check, tests, score, end = ended.out.splitlines()

    assert (ended.code, ended.err) == (0, "")
    assert check == "check: nothing found"
    assert tests.startswith("tests: 3 of 3 passed, ")
    assert re.fullmatch(r"score: 0\.\d\d of 1; the card says what it is made of", score)
    assert end.startswith("not adopted yet: the question waits until 20")
    assert len(drafts(home)) == 1
    assert list((home / "workspace/neurons").iterdir()) == []


def test_a_program_reads_one_object_and_asks_nobody(run: Run, folder: Path) -> None:
    """The same again leaves the question once."""
    first, second = (json.loads(run("neurons", "adopt", folder, "--json").out) for _ in range(2))

    assert first["state"] == second["state"] == "left"
    assert first["until"] == second["until"]
    assert (first["name"], first["version"], first["findings"]) == ("word_count", "1.0.0", [])
    assert first["tests"] == {
        "ok": True,
        "passed": 3,
        "of": 3,
        "problems": [],
        "failed": {},
        "survivors": [],
        "weakness": None,
    }
    assert 0.525 <= first["reward"] <= 0.675
    assert first["parts"]["judge_score"] == {"value": 0.5, "weight": 0.25}
    assert any("no kind of thing that the neurons here cannot do" in sentence for sentence in first["feedback"])
    assert (first["judged"], first["replaces"]) == (False, "")


def test_code_that_is_refused_ends_it_before_anything_runs(run: Run, home: Path, folder: Path) -> None:
    """One line for each finding."""
    (folder / "body.py").write_bytes(b"import socket\n\ndef run(ctx, args):\n    return {'n': 1}\n")
    ended = run("neurons", "adopt", folder)

    assert ended.code == 1
    assert ended.out.splitlines()[0].startswith("body.py:1: [import]")
    assert ended.out.splitlines()[-1] == "not adopted: mend what was found, then adopt it again"
    assert drafts(home) == []
    assert json.loads(run("neurons", "adopt", folder, "--json").out)["state"] == "refused"


def test_a_red_test_ends_it_before_anybody_is_asked(run: Run, home: Path, folder: Path) -> None:
    """The test is named with the reason."""
    tests = (folder / "test_birth.py").read_bytes()
    (folder / "test_birth.py").write_bytes(tests.replace(b'{"n": 2}', b'{"n": 3}'))
    ended = run("neurons", "adopt", folder)

    assert ended.code == 1
    assert "tests: 2 of 3 passed" in ended.out
    assert "\n  test_positive: " in ended.out
    assert ended.out.splitlines()[-1] == "not adopted: its tests are not all green"
    assert drafts(home) == []


def test_where_nothing_is_left_for_later_and_nobody_is_there_nothing_happens(
    run: Run, home: Path, folder: Path
) -> None:
    """With `[approval] defer_days = 0`."""
    configured(home, "[approval]\ndefer_days = 0\n")
    ended = run("neurons", "adopt", folder)

    assert ended.code == 1
    assert "not adopted: this needs the person's approval and nobody is there to answer" in ended.out


def test_what_there_is_not_is_said_in_one_line(run: Run, folder: Path, tmp_path: Path) -> None:
    """A folder that is missing, one that is no neuron, and one with another name."""
    (tmp_path / "empty").mkdir()
    written(tmp_path / "other", "1.0.0")
    for given, problem in {
        "no_such_neuron": "there is no folder no_such_neuron; shipped neurons are budget_tracker",
        str(tmp_path / "empty"): "the file body.py is missing in",
        str(folder / "body.py"): "is no folder",
    }.items():
        ended = run("neurons", "adopt", given)
        assert (ended.code, ended.out) == (2, "")
        assert problem in ended.err
        assert ended.err.count("\n") == 1
    assert "the name word_count differs from the folder's, other" in run("neurons", "adopt", tmp_path / "other").out


def test_what_was_never_adopted_is_in_the_way(run: Run, home: Path, folder: Path) -> None:
    """Before anything is tested."""
    other = written(home / "workspace/neurons/word_count", "0.1.0")
    ended = run("neurons", "adopt", folder)

    assert (ended.code, ended.out) == (2, "check: nothing found\n")
    assert "holds a version that was never adopted" in ended.err
    assert (other / "body.py").read_bytes() == version_of("0.1.0")["body.py"]


def test_the_key_is_not_exchanged_where_nobody_can_be_asked(run: Run, home: Path, folder: Path) -> None:
    """The line says where to do it."""
    ended = run("neurons", "rotate-key")

    assert ended.code != 0
    assert "nobody can be asked here; run 'myclaw neurons rotate-key' in a terminal" in ended.err
    assert not (home / "workspace/state/keys/neuron.key").exists()

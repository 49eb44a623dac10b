"""`myclaw neurons verify`: one line a folder, and nothing of it runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from signed_neurons import neuron_files, write_neuron

from myclaw_core.cli import main
from myclaw_core.neurons.signing import digest_of, neuron_key
from myclaw_core.paths import Home

DIGEST = digest_of(neuron_files())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Return a home with one signed neuron."""
    monkeypatch.setenv("MYCLAW_HOME", str(tmp_path / "home"))
    home = Home.find()
    home.create()
    write_neuron(home.neurons / "word_count", key=neuron_key(home.keys))
    return home


def test_a_verified_neuron_is_told_with_its_version(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 0."""
    assert main(["neurons", "verify"]) == 0
    assert capsys.readouterr().out == f"word_count: verified, version 1.0.0, digest {DIGEST[:12]}\n"


def test_one_that_is_not_verified_is_told_with_the_reason(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """The others are told as ever; the exit code is 1 unless only another one was asked for."""
    (home.neurons / "a\x1b[2Jb").mkdir()
    folder = write_neuron(home.neurons / "line_count")

    assert main(["neurons", "verify"]) == 1
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.startswith("a\\x1b[2Jb: NOT VERIFIED, will not run: the name of the folder must have this form: 3 to ")
    assert second.startswith(f"{folder.name}: NOT VERIFIED, will not run: the signature does not match")
    assert third.startswith("word_count: verified")
    assert main(["neurons", "verify", "word_count"]) == 0
    assert main(["neurons", "verify", "line_count"]) == 1


def test_a_list_for_programs_is_one_document(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """Each neuron has the same keys."""
    (home.neurons / "b\udcff").mkdir()

    assert main(["neurons", "verify", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is False
    assert document["neurons"] == [
        {"name": "b\\udcff", "ok": False, "version": "", "digest": "", "reason": document["neurons"][0]["reason"]},
        {"name": "word_count", "ok": True, "version": "1.0.0", "digest": DIGEST, "reason": ""},
    ]


def test_a_name_that_is_not_there_is_refused_in_one_line(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """A way out of the folder is no name either."""
    for name in ("other", "../neurons/word_count", "."):
        assert main(["neurons", "verify", name]) == 2
        assert f"there is no neuron {name};" in capsys.readouterr().err


def test_a_key_that_others_can_read_puts_every_neuron_aside(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """The line says what to run."""
    (home.keys / "neuron.key").chmod(0o644)

    assert main(["neurons", "verify"]) == 1
    assert "run `chmod 600" in capsys.readouterr().out


def test_a_home_that_was_never_used_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """To look makes no key and no folder."""
    monkeypatch.setenv("MYCLAW_HOME", str(tmp_path / "fresh"))

    assert main(["neurons", "verify"]) == 0
    assert capsys.readouterr().out == "There is no neuron yet.\n"
    assert not (tmp_path / "fresh").exists()


def test_nothing_of_a_neuron_runs(home: Home, tmp_path: Path) -> None:
    """Not its body, not its tests, not what is compiled of them."""
    canary = f"open({str(tmp_path / 'canary')!r}, 'w')\n".encode()
    files = {**neuron_files(), "body.py": canary, "test_birth.py": canary}
    write_neuron(home.neurons / "word_count", files, neuron_key(home.keys))

    assert main(["neurons", "verify"]) == 0
    assert not (tmp_path / "canary").exists()

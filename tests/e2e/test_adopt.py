"""A neuron is adopted at a real terminal, and its key is exchanged there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from drafted_neurons import version_of

from .conftest import finish, shown


@pytest.fixture
def folder(console: Any) -> Path:
    """A neuron that the person wrote."""
    console.configure('[approval]\nreading_pause_s = 0\n[plugins]\ndisabled = ["lint"]\n')
    folder: Path = console.person / "word_count"
    folder.mkdir()
    for name, data in version_of("1.0.0").items():
        (folder / name).write_bytes(data)
    return folder


def answered(console: Any, answer: str, *args: str | Path) -> tuple[int, str]:
    """Run a command at a terminal, answer its one question, and return its exit code and what was shown."""
    child = console.spawn(*args)
    child.expect_exact("yes / no / details >")
    child.send(answer)
    return finish(child), shown(child)


def test_a_neuron_is_adopted_with_one_command_and_one_yes(console: Any, folder: Path) -> None:
    """Ctrl-C before leaves the question waiting; afterwards the same command says that it is in, the key can change."""
    code, told = answered(console, "\x03", "neurons", "adopt", folder)
    assert (code, "the question waits until" in told) == (0, True)

    code, told = answered(console, "yes\r", "neurons", "adopt", folder)
    assert (code, "adopted: word_count 1.0.0" in told) == (0, True)
    assert "purpose: Count words." in told
    again = console.run("neurons", "adopt", folder)
    assert (again.code, again.out.splitlines()[-1]) == (0, "word_count 1.0.0 is adopted already, these very files")

    key = console.home / "workspace/state/keys/neuron.key"
    before = key.read_bytes()
    assert answered(console, "no\r", "neurons", "rotate-key")[0] == 1
    assert key.read_bytes() == before
    code, told = answered(console, "yes\r", "neurons", "rotate-key")
    assert (code, "signed again: word_count" in told) == (0, True)
    assert key.read_bytes() != before
    assert console.json("neurons", "verify", "--json")["ok"]

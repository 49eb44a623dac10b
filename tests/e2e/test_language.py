"""The installed program on a machine that speaks another language."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pseudo import quoted

WITH_CATALOGUE = """
import sys
from pathlib import Path
from myclaw_core.cli import main
from myclaw_core.messages import add_catalogues
add_catalogues("myclaw_core", Path(sys.argv.pop(1)))
sys.exit(main())
"""
ITALIAN = {"LANGUAGE": "it", "LC_ALL": "it_IT.UTF-8", "LANG": "it_IT.UTF-8"}


@pytest.fixture
def catalogues(tmp_path: Path) -> Path:
    """A folder whose Italian catalogue says everything in English and in quotes."""
    with quoted(tmp_path / "catalogues"):
        return tmp_path / "catalogues"


@pytest.mark.parametrize(
    "environ", [ITALIAN, {"LANGUAGE": "it"}, {"LC_ALL": "it_IT.UTF-8"}, {"LC_MESSAGES": "it_IT.UTF-8"}, {"LANG": "it"}]
)
def test_a_translation_is_used_as_soon_as_it_exists(console, catalogues: Path, environ: dict[str, str]) -> None:
    """Whichever of the variables names the language, on a machine that may lack its locale."""
    said = translated(console, catalogues, environ, "audit", "list")
    assert (said.returncode, said.stdout) == (0, "‹Nothing is recorded yet.›\n")
    said = translated(console, catalogues, environ, "trust", "show", "nobody")
    assert said.stderr.startswith("myclaw: ‹no subject 'nobody' has any history; ")
    said = translated(console, catalogues, environ, "--help")
    assert said.stdout.startswith("‹usage: ›myclaw ")


def test_a_conversation_is_translated_and_its_json_is_not(console, script, catalogues: Path) -> None:
    write = {"tool_calls": [{"tool": "fs_write", "args": {"path": "a.md", "content": "x"}}]}
    script(write, {"text": "Not done."})
    said = translated(console, catalogues, ITALIAN, "ask", "--json", "--root", str(console.files), "Write")
    (step,) = json.loads(said.stdout)["steps"]
    assert "nobody is there to answer" in step["error"]
    assert "‹" not in said.stdout + said.stderr
    said = translated(console, catalogues, ITALIAN, "audit", "show")
    assert "‹" in said.stdout
    said = translated(console, catalogues, ITALIAN, "audit", "show", "--json")
    assert said.stdout
    assert "‹" not in said.stdout


def translated(console, catalogues: Path, environ: dict[str, str], *args: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", WITH_CATALOGUE, str(catalogues), *args],
        capture_output=True,
        env={name: value for name, value in console.environ.items() if name != "LANG"} | environ,
        cwd=console.person,
        encoding="utf-8",
        check=False,
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done


def test_a_language_without_translations_is_answered_in_english(console) -> None:
    environ = {"LANGUAGE": "eo:tlh", "LC_ALL": "eo_XX.UTF-8"}
    assert console.run("audit", "list", **environ).out == "Nothing is recorded yet.\n"
    assert "myclaw trust: error: say what to do: list, show" in console.run("trust", **environ).said[-1]
    assert "usage: myclaw" in console.run("--help", **environ).out


@pytest.mark.parametrize("value", ["", ":", "it_IT.UTF-8@euro", "../../etc", "C", "\udcff", "it" * 5000])
def test_whatever_the_variable_holds_nothing_breaks(console, value: str) -> None:
    ended = console.run("config", "path", LANGUAGE=value)
    assert (ended.code, ended.out) == (0, f"{os.fspath(console.home)}/config.toml\n")

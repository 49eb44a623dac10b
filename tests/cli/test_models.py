"""`myclaw models`: what is asked for what, one more on this machine, and a call that shows whether it answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from needed import lacks_package
from tiny_gguf import write_tiny_model

from myclaw_core.config.source import read_source

CONFIG = """
[agent]
provider = "scripted"
model = "play"
# small work
local = ["scripted:small"]
[scripted]
file = "{script}"
"""


@pytest.fixture
def config(home: Path) -> Path:
    """A configuration whose models play a script."""
    home.mkdir()
    script = home / "script.json"
    usage = {"input_tokens": 12, "output_tokens": 2}
    script.write_text(json.dumps([{"text": "Yes.", "usage": usage}, {"text": "No.", "usage": usage}]))
    (home / "config.toml").write_text(CONFIG.format(script=script))
    return home / "config.toml"


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    """A file that looks like a model from outside."""
    path = tmp_path / "small.gguf"
    path.write_bytes(b"GGUF")
    return path


def local(config: Path) -> Any:
    """Return what the file says of models on this machine."""
    return read_source(config).values["agent"]["local"]


def test_each_model_is_listed_with_its_tier_and_whether_it_can_be_asked(run, config: Path) -> None:
    """Providers of which none is set come last."""
    ended = run("models", "list", "--json")
    lines = json.loads(ended.out)

    assert ended.code == 0
    assert lines[:2] == [
        {"tier": "frontier", "provider": "scripted", "model": "play", "state": "ready", "problem": ""},
        {"tier": "local-fast", "provider": "scripted", "model": "small", "state": "ready", "problem": ""},
    ]
    assert [(line["tier"], line["provider"], line["model"]) for line in lines[2:]] == [
        ("", "anthropic", ""),
        ("", "llama", ""),
        ("", "openai", ""),
    ]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("opnai:x", "no plugin offers the provider 'opnai'; the nearest known is 'openai'"),
        ("llama:/no/model.gguf", "the model file /no/model.gguf cannot be read"),
        ("anthropic:claude-99", "no price is known for the model claude-99"),
    ],
)
def test_a_model_that_cannot_be_asked_is_listed_with_the_reason(
    run, config: Path, monkeypatch: pytest.MonkeyPatch, name: str, says: str
) -> None:
    """The code says that there is a problem."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    monkeypatch.setattr("myclaw_llama.provider._LIBRARY", "json")  # as if it was installed
    config.write_text(config.read_text().replace("scripted:small", name))
    ended = run("models", "list")

    assert ended.code == 1
    assert says in ended.out


def test_a_model_is_added_behind_those_that_are_set_and_what_a_person_wrote_stays(
    run, config: Path, gguf: Path
) -> None:
    """Twice changes nothing more; the way back is told."""
    added = run("models", "add", f"llama:{gguf}")
    again = run("models", "add", f"llama:{gguf}")

    assert (added.code, again.code) == (0, 0)
    assert local(config) == ["scripted:small", f"llama:{gguf}"]
    assert "# small work" in config.read_text()
    assert "agent.local is set in" in added.out
    assert """to go back: myclaw config set agent.local '["scripted:small"]'""" in added.out
    assert "nothing was changed" in again.out


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("small.gguf", 2, "write PROVIDER:MODEL, such as llama:~/models/small.gguf"),
        ("llama:", 2, "write PROVIDER:MODEL"),
        ("lama:x", 2, "no plugin offers the provider 'lama'; the nearest known is 'llama'"),
        ("anthropic:claude-haiku-4-5", 2, "models of anthropic cost; only what costs nothing is added"),
        ("llama:/no/model.gguf", 3, "model.gguf cannot be read: No such file or directory"),
        ("llama:small.gguf", 3, "write the whole path of the model small.gguf, from / or ~ on"),
    ],
)
def test_what_cannot_be_added_changes_nothing(run, config: Path, name: str, code: int, says: str) -> None:
    """One line says why."""
    before = config.read_text()
    ended = run("models", "add", name)

    assert (ended.code, ended.out) == (code, "")
    assert says in ended.err
    assert ended.err.count("\n") == 1
    assert config.read_text() == before


def test_a_test_makes_one_call_that_is_recorded_and_costs_nothing(run, config: Path) -> None:
    """Its tier is that of small work."""
    ended = run("models", "test", "--json")
    tested = json.loads(ended.out)
    books = json.loads(run("budget", "--json").out)
    (trace,) = json.loads(run("audit", "list", "--json").out)

    assert ended.code == 0
    assert {key: tested[key] for key in ("model", "answered", "text", "input_tokens", "output_tokens", "cost_eur")} == {
        "model": "scripted:small",
        "answered": True,
        "text": "Yes.",
        "input_tokens": 12,
        "output_tokens": 2,
        "cost_eur": 0.0,
    }
    assert "local-fast" in json.dumps(books)
    assert trace["outcome"] == "success"


def test_a_model_that_is_named_is_tested_for_people(run, config: Path) -> None:
    """Time and tokens in one line."""
    ended = run("models", "test", "scripted:other")

    assert ended.code == 0
    assert "scripted:other answered in " in ended.out
    assert "tokens in 12, cached 0, out 2; 0.000000 EUR" in ended.out


def test_a_model_that_does_not_answer_is_told_with_the_reason(run, config: Path) -> None:
    """The others are tested all the same."""
    text = config.read_text().replace('["scripted:small"]', '["llama:/no/model.gguf", "scripted:small"]')
    config.write_text(text)
    ended = run("models", "test")
    first, second = ended.out.splitlines()

    assert ended.code == 1
    assert first.startswith("llama:/no/model.gguf: ")
    assert second.startswith("scripted:small answered in ")


@pytest.mark.parametrize(
    ("config_line", "args", "code", "says"),
    [
        ("local = []", (), 3, "no model on this machine is set; add one with 'myclaw models add'"),
        ("local = []", ("nobody:x",), 2, "no plugin offers the provider 'nobody'; see 'myclaw models list'"),
    ],
)
def test_without_a_model_to_test_one_line_says_what_to_do(
    run, config: Path, config_line: str, args: tuple[str, ...], code: int, says: str
) -> None:
    """Nothing is called."""
    config.write_text(config.read_text().replace('local = ["scripted:small"]', config_line))
    ended = run("models", "test", *args)

    assert (ended.code, ended.out) == (code, "")
    assert says in ended.err


@pytest.mark.skipif(lacks_package("llama_cpp", "gguf"), reason="needs llama-cpp-python")
def test_a_real_model_is_added_and_answers(run, config: Path, tmp_path: Path) -> None:
    """From a file to an answer by two commands."""
    model = write_tiny_model(tmp_path / "tiny.gguf")
    config.write_text(config.read_text().replace('"scripted:small"', ""))
    added = run("models", "add", f"llama:{model}")
    tested = json.loads(run("models", "test", "--json").out)

    assert added.code == 0
    assert (tested["answered"], tested["output_tokens"], tested["cost_eur"]) == (True, 16, 0.0)

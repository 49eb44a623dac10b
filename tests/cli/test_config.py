"""`myclaw config`: what was set is shown, the rest of the file stays, and what a start would refuse is not written."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from myclaw_core.config import load_config
from myclaw_core.config.edit import value_at, with_value, without_value, write_text
from myclaw_core.config.effective import effective_settings, settings_text
from myclaw_core.config.sections import CORE_SECTIONS, schema_of
from myclaw_core.config.source import Source, read_source
from myclaw_core.config.values import dotted, read_value, read_where, setting_at
from myclaw_core.errors import ConfigError, UsageError

FILE = """# my settings
[agent]
level = "full"   # I am brave

  [policy]   # where it may go
roots = [
    "/home/me/notes",  # daily
    "/home/me/work",
]

[budget]
# little
soft_eur = 1
prices.small = { in = 1, cached = 0.1, out = 4 }
"""


@pytest.fixture
def file(home: Path) -> Path:
    """Return the configuration file, with comments of a person."""
    home.mkdir()
    (home / "config.toml").write_text(FILE, encoding="utf-8")
    return home / "config.toml"


def shown(run, *args: str) -> Any:
    ended = run("config", "show", "--json", *args)
    assert (ended.code, ended.err) == (0, "")
    return json.loads(ended.out)


def test_show_says_what_is_in_force_and_where_it_comes_from(run, file: Path) -> None:
    settings_shown = shown(run)
    assert settings_shown["agent"]["level"] == {"value": "full", "from": f"{file}:3"}
    assert settings_shown["agent"]["provider"] == {"value": "anthropic", "from": "default"}
    assert settings_shown["budget"]["prices"]["small"]["out"] == {"value": 4.0, "from": f"{file}:14"}
    assert settings_shown["scripted"]["file"] == {"value": "", "from": "default"}
    text = run("config", "show", "policy").out
    assert text.startswith(f'[policy]\nroots = ["/home/me/notes", "/home/me/work"]  # {file}:6\n')
    assert "[agent]" not in text


def test_show_never_shows_a_secret(run, home: Path) -> None:
    home.mkdir()
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    (home / "config.toml").write_text(f'[agent]\nmodel = "{token}"\n')
    for args in ([], ["--json"]):
        ended = run("config", "show", *args)
        assert token not in ended.out
        assert "«redacted:" in ended.out


def test_an_unknown_section_is_named_with_the_nearest(run) -> None:
    ended = run("config", "show", "polcy")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "myclaw: unknown section 'polcy'; the nearest known is 'policy'\n"


def test_path_says_where_the_file_lies(run, home: Path) -> None:
    assert run("config", "path").out == f"{home / 'config.toml'}\n"
    assert json.loads(run("config", "path", "--json").out) == {"file": f"{home / 'config.toml'}", "exists": False}


def test_set_changes_one_value_and_nothing_else(run, file: Path) -> None:
    assert run("config", "set", "agent.level", "supervised").code == 0
    assert file.read_text() == FILE.replace('"full"', '"supervised"')
    assert file.stat().st_mode & 0o777 == 0o600
    assert run("config", "set", "policy.roots", "/home/me/notes", "/srv/x").code == 0
    assert '"/home/me/notes",  # daily' in file.read_text()
    assert shown(run, "policy")["policy"]["roots"]["value"] == ["/home/me/notes", "/srv/x"]
    assert run("config", "set", "limits.steps", "7").code == 0
    assert file.read_text().endswith("\n\n[limits]\nsteps = 7\n")


def test_unset_brings_the_default_back(run, file: Path) -> None:
    assert run("config", "set", "--unset", "agent.level").code == 0
    assert file.read_text() == FILE.replace('level = "full"   # I am brave\n', "")
    assert shown(run)["agent"]["level"]["from"] == "default"
    again = run("config", "set", "--unset", "agent.level")
    assert (again.code, again.out) == (0, "agent.level is not set; nothing was changed\n")


def test_unset_leaves_no_empty_section_behind(run, file: Path) -> None:
    """One with a word of the person's own in it stays."""
    before = file.read_text()
    run("config", "set", "approval.expires_s", "60")
    assert "[approval]" in file.read_text()
    run("config", "set", "--unset", "approval.expires_s")
    assert file.read_text() == before
    file.write_text(before + "\n[approval]\n# mine\nexpires_s = 60\n")
    run("config", "set", "--unset", "approval.expires_s")
    assert file.read_text() == before + "\n[approval]\n# mine\n"


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("agent.provider", "anthropi", "no plugin offers the provider 'anthropi'; the nearest known is 'anthropic'"),
        ("slots.sandbox", "none", "no sandbox: the plugin none is not installed"),
        ("agent.model", "nobody-knows", ""),
    ],
)
def test_what_no_plugin_offers_is_set_with_a_warning(run, file: Path, key: str, value: str, told: str) -> None:
    """It may be installed next."""
    ended = run("config", "set", key, value)
    assert ended.code == 0
    assert told in ended.err
    assert bool(ended.err) == bool(told)
    assert value in file.read_text()


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["agent.modle", "x"], "unknown key 'modle' in [agent]; the nearest known is 'model'"),
        (
            ["agnt.model", "x"],
            "unknown section 'agnt'; the nearest known is 'agent'; a plugin that is off has no settings",
        ),
        (["agent", "x"], "agent is no setting; write SECTION.KEY"),
        (["agent.model.x", "x"], "agent.model.x is no setting; write SECTION.KEY"),
        (["agent.level", "fulll"], "[agent] level must be one of read_only, supervised, full"),
        (["limits.steps", "many"], "steps must be a whole number"),
        (["limits.steps", "1.5"], "steps must be a whole number"),
        (["limits.steps", "0"], "[limits] steps must be at least 1"),
        (["budget.soft_eur", "nan"], "soft_eur must be a finite number"),
        (["agent.model", "a", "b"], "model takes one value, not 2; put quotes around one with spaces"),
        (["policy.roots", "notes"], "roots must be a list of"),
        (["agent.model"], "give a value, or --unset to take the setting out of the file"),
        (["agent.model", "x", "--unset"], "give a value, or --unset to take the setting out of the file"),
        (["agent model", "x"], "'agent model' names no setting"),
        (["a.b = 1\nc", "x"], "names no setting"),
        (["", "x"], "'' names no setting"),
        (['budget.prices."m"', "{in = 1}"], "missing: cached, out"),
        (['budget.prices."m"', "3"], "write {in = 3, cached = 0.3, out = 15}"),
        (['budget.prices."m".inn', "3"], "unknown key 'inn' in [budget.prices.m]; the nearest known is 'in'"),
        (["budget.hard_eur", "0.5"], "hard_eur must not be below soft_eur"),
        (["trust.undo_rate", "0.5"], "the weights in [trust] must sum to 1"),
        (["agent.model", "«redacted:credential»"], "a mask is never written to a file"),
        (["agent.model", "\udcff"], "the value is not UTF-8 text"),
        (["policy.roots", "/home/\udcff"], "the value is not UTF-8 text"),
    ],
)
def test_what_a_start_would_refuse_is_not_written(run, file: Path, args: list[str], told: str) -> None:
    ended = run("config", "set", *args)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert file.read_text() == FILE


def test_a_file_that_is_not_valid_elsewhere_is_told_with_its_own_path(run, file: Path) -> None:
    file.write_text(FILE + "[agent2]\nx = 1\n")
    ended = run("config", "set", "limits.steps", "7")
    assert ended.code == 2
    assert f"{file}:" in ended.err
    assert "unknown section 'agent2'" in ended.err
    assert run("config", "set", "--unset", "agent2").code == 0
    assert run("config", "set", "limits.steps", "7").code == 0


def test_a_setting_of_a_plugin_is_checked_by_its_schema(run, home: Path) -> None:
    assert run("config", "set", "anthropic.timeout_s", "30").code == 0
    assert "max_retries must be at most 10" in run("config", "set", "anthropic.max_retries", "99").err
    assert tomllib.loads((home / "config.toml").read_text()) == {"anthropic": {"timeout_s": 30}}


def test_a_weight_of_a_plugins_signal_is_shown_and_set_like_any_other(run, home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("[trust]\ntool_success = 0.25\n[trust.extra]\nkept_short = 0.05\n")
    shown = json.loads(run("config", "show", "--json").out)
    assert shown["trust"]["extra"]["kept_short"] == {"value": 0.05, "from": f"{home / 'config.toml'}:4"}
    assert "must sum to 1, not 0.99" in run("config", "set", "trust.extra.kept_short", "0.04").err
    assert "must be at most 1" in run("config", "set", "trust.extra.kept_short", "2").err
    assert run("config", "set", "trust.extra.kept_short", "0.05").code == 0


def test_a_weight_of_a_plugins_part_of_the_reward_is_shown_and_set_with_its_sign(run, home: Path) -> None:
    assert run("config", "set", "reward.extra.short_body", "-0.1").code == 0
    shown = json.loads(run("config", "show", "--json").out)
    assert shown["reward"]["extra"]["short_body"] == {"value": -0.1, "from": f"{home / 'config.toml'}:2"}
    assert "must be at least -1" in run("config", "set", "reward.extra.short_body", "-2").err
    assert "gate belongs in [reward] itself" in run("config", "set", "reward.extra.gate", "0.9").err


def test_prices_of_a_model_are_set_together_or_one_by_one(run, home: Path) -> None:
    assert run("config", "set", 'budget.prices."gpt-4.1"', "{in = 2, cached = 0.5, out = 8}").code == 0
    assert run("config", "set", 'budget.prices."gpt-4.1".out', "9").code == 0
    prices = load_config(home / "config.toml", ()).budget.prices
    assert (prices["gpt-4.1"].input, prices["gpt-4.1"].output) == (2, 9)


def test_a_link_to_the_file_stays_a_link_and_its_line_ends_stay(run, home: Path, tmp_path: Path) -> None:
    home.mkdir()
    real = tmp_path / "dotfiles.toml"
    real.write_bytes(b"# mine\r\n[agent]\r\nlevel = 'full'\r\n")
    (home / "config.toml").symlink_to(real)
    assert run("config", "set", "agent.model", "m").code == 0
    assert (home / "config.toml").is_symlink()
    assert real.read_bytes() == b"# mine\r\n[agent]\r\nlevel = 'full'\r\nmodel = \"m\"\r\n"


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("agent.level", ["supervised"]),
        ("agent.model", ["it's a $model, -not one"]),
        ("agent.language", ["it"]),
        ("limits.steps", ["7"]),
        ("budget.soft_eur", ["0.5"]),
        ("policy.roots", ["/srv/a b"]),
        ("policy.roots", ["/srv/x", "/srv/y"]),
        ("policy.roots", ["[]"]),
        ("budget.prices.small", ["{in = 3, cached = 0.3, out = 15}"]),
        ("budget.prices.other", ["{in = 3, cached = 0.3, out = 15}"]),
        ("budget.prices.small.in", ["2"]),
    ],
)
def test_set_says_how_to_go_back_and_that_goes_back(run, file: Path, key: str, values: list[str]) -> None:
    """Twice, and the settings are as they were."""
    before = shown(run)
    there = run("config", "set", key, *values).out.splitlines()
    assert shown(run) != before
    changed = tomllib.loads(file.read_text())
    back = run(*way_back(there[-1])).out.splitlines()
    assert shown(run) == before
    run(*way_back(back[-1]))
    assert tomllib.loads(file.read_text()) == changed


def way_back(line: str) -> list[str]:
    """Return the arguments that a line names, in whichever language it is since the language was set."""
    said, _myclaw, command = line.partition(": myclaw ")
    assert said in {"to go back", "per tornare indietro"}
    return shlex.split(command)


def test_set_says_that_a_secret_is_gone(run, home: Path) -> None:
    home.mkdir()
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    (home / "config.toml").write_text(f'[agent]\nmodel = "{token}"\n')
    told = run("config", "set", "agent.model", "m").out.splitlines()[-1]
    assert told == "the value before held a secret; it is kept nowhere else"


def test_the_change_is_recorded_with_its_secrets_masked(run, home: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    run("config", "set", "agent.level", "full")
    run("config", "set", "agent.model", token)
    run("config", "set", "--unset", "agent.level")
    first, second, third = (json.loads(line) for line in run("audit", "tail", "--json").out.splitlines())
    assert first["type"] == "config_changed"
    assert (first["event"]["key"], first["event"]["before"], first["event"]["after"]) == ("agent.level", "", '"full"')
    assert token not in json.dumps(second)
    assert (third["event"]["before"], third["event"]["after"]) == ('"full"', "")
    assert first["event"]["config_digest"] != third["event"]["config_digest"]


def test_a_change_that_cannot_be_recorded_is_made_all_the_same(run, home: Path, monkeypatch) -> None:
    monkeypatch.setenv("MYCLAW_PLUGINS", "")
    ended = run("config", "set", "agent.level", "full")
    assert ended.code == 0
    estimate, told = ended.err.splitlines()
    assert estimate.startswith("estimate: none, the ledger cannot be read: ")
    assert told.startswith("myclaw: not recorded in the event log: ")
    assert value_at(read_source(home / "config.toml"), ("agent", "level")) == "full"


@pytest.mark.parametrize("text", ['a.b."c d"', "a.b", 'budget.prices."gpt-4.1".in', '"a\\"b".c'])
def test_a_place_is_written_as_it_is_read(text: str) -> None:
    assert read_where(dotted(read_where(text))) == read_where(text)


# Rules that hold for any value and any file.

KEYS = [(section, key) for section, cls in CORE_SECTIONS.items() for key in schema_of(section, cls).keys]
PLAIN = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=20)
COMMENTS = st.lists(st.sampled_from(["# note", "", "   # indented", "#[agent]", "# level = 1"]), max_size=3)
LITERALS = ["1", "2.5", "true", '"x"', "'y'", '["a", "b"]', "[\n  1, # one\n  2,\n]", '"""\nlong\n"""', "{ a = 1 }"]


def typed(key: Any) -> st.SearchStrategy[list[str]]:
    """Return what a person may type for a key."""
    if key.choices:
        return st.sampled_from([[choice] for choice in key.choices])
    match key.kind:
        case "int":
            return st.integers(256, int(key.maximum or 10**9)).map(lambda number: [str(number)])
        case "float":
            low, high = key.minimum or 0, key.maximum or 10.0**9
            return st.floats(low, high).map(lambda number: [repr(number)])
        case "list[path]":
            return st.lists(PLAIN.map(lambda name: f"/{name}"), max_size=3)
        case "list[host]":
            return st.lists(st.sampled_from(["example.org", "10.0.0.1", "::1"]), max_size=3)
        case "list[model]":
            return st.lists(st.just("openai:small"), max_size=3)
        case "list[str]":
            return st.lists(PLAIN, min_size=2, max_size=3)
        case _:
            return PLAIN.map(lambda text: [text])


@st.composite
def files(draw: st.DrawFn) -> str:
    """Return a file of tables in any order, some of them ours, with comments anywhere."""
    tables = draw(st.lists(st.sampled_from([*CORE_SECTIONS, "other", "other.sub"]), unique=True, max_size=4))
    lines: list[str] = []
    for table in tables:
        lines += [*draw(COMMENTS), f"[{table}]"]
        for name in draw(st.lists(st.sampled_from(["a", "b", "level", "steps", "roots"]), unique=True, max_size=3)):
            lines += [*draw(COMMENTS), f"{name} = {draw(st.sampled_from(LITERALS))}  # kept"]
    return "\n".join([*lines, *draw(COMMENTS)]) + draw(st.sampled_from(["", "\n"]))


def comments_of(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip().startswith("#")]


@settings(max_examples=150, deadline=None)
@given(data=st.data(), text=files(), place=st.sampled_from(KEYS))
def test_setting_a_value_changes_that_value_and_keeps_every_comment(data: Any, text: str, place: Any) -> None:
    section, key = place
    source = Source(path=Path("config.toml"), text=text, values=tomllib.loads(text))
    assume(isinstance(source.values.get(section, {}), dict))
    value = read_value(key, data.draw(typed(key)))
    edited = with_value(source, (section, key.name), value)
    found = tomllib.loads(edited)
    assert found == {**source.values, section: {**source.values.get(section, {}), key.name: value}}
    assert comments_of(edited) == comments_of(text)
    again = Source(path=source.path, text=edited, values=found)
    assert with_value(again, (section, key.name), value) == edited
    removed = tomllib.loads(without_value(again, (section, key.name)))
    rest = {name: item for name, item in source.values.get(section, {}).items() if name != key.name}
    assert removed.get(section, {}) == rest


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), place=st.sampled_from(KEYS))
def test_what_was_set_is_shown(data: Any, place: Any, tmp_path: Path) -> None:
    section, key = place
    assume(section != "trust" and key.name not in {"hard_eur", "failover"})
    path = tmp_path / "config.toml"
    write_text(path, FILE)
    try:
        value = read_value(key, data.draw(typed(key)))
    except UsageError:
        assume(False)
    write_text(path, with_value(read_source(path), (section, key.name), value))
    try:
        config = load_config(path, ())
    except ConfigError:
        assume(False)
    (found,) = [each for each in effective_settings(config, (), path) if each.where == (section, key.name)]
    assume("«redacted:" not in str(found.value))
    assert found.value == value
    assert found.source.startswith(f"{path}:")
    assert tomllib.loads(settings_text([found]))


def test_every_setting_of_the_core_is_found_by_its_place() -> None:
    for section, key in KEYS:
        assert setting_at(read_where(f"{section}.{key.name}"), lambda: ()) == key


def test_json_tells_a_program_what_set_did(run, file: Path) -> None:
    """A secret is masked, also the one that was there."""
    common = {"key": "agent.level", "file": str(file)}
    done = json.loads(run("config", "set", "agent.level", "read_only", "--json").out)
    assert done == common | {"changed": True, "before": "full", "after": "read_only"}
    again = json.loads(run("config", "set", "agent.level", "read_only", "--json").out)
    assert again == common | {"changed": False, "before": "read_only", "after": "read_only"}
    unset = json.loads(run("config", "set", "agent.level", "--unset", "--json").out)
    assert unset == common | {"changed": True, "before": "read_only", "after": None}
    token = "ghp_" + "a1B2" * 9
    masked = json.loads(run("config", "set", "agent.model", token, "--json").out)["after"]
    assert token not in masked

"""The configuration: defaults, typed values, and every problem told at once with its line."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.config import Config, ConfigKey, ConfigSchema, Price, disabled_plugins, load_config
from myclaw_core.errors import ConfigError

DEMO = ConfigSchema(
    section="demo",
    keys=(
        ConfigKey(name="folder", kind="str", default="~", help="A folder."),
        ConfigKey(name="ratio", kind="float", default=0.5, help="A ratio.", minimum=0, maximum=1),
        ConfigKey(name="deep", kind="bool", default=False, help="Whether deep."),
        ConfigKey(name="names", kind="list[str]", default=(), help="Names."),
    ),
)


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "config.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def problems(path: Path, *schemas: ConfigSchema, idle: tuple[str, ...] = ()) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_config(path, schemas, idle)
    return str(caught.value).replace(f"{path}:", "").splitlines()


def test_a_missing_file_gives_every_default(tmp_path: Path) -> None:
    config = load_config(tmp_path / "none" / "config.toml", [DEMO])

    assert config.agent.provider == "anthropic"
    assert config.agent.model == "claude-sonnet-5-5"
    assert config.agent.level == "supervised"
    assert (config.budget.soft_eur, config.budget.hard_eur) == (2.0, 5.0)
    assert config.limits.steps == 25
    assert config.slots.events == "sqlite"
    assert config.sections == {"demo": {"folder": "~", "ratio": 0.5, "deep": False, "names": ()}}
    assert sum(config.trust.weights.values()) == pytest.approx(1)


def test_values_of_the_file_win_and_get_their_types(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        [agent]
        level = "read_only"
        [policy]
        roots = ["~/notes", "/srv"]
        [budget]
        soft_eur = 1
        [budget.prices."claude-opus-5-5"]
        in = 4
        cached = 0.2
        out = 20.0
        [trust]
        estimator = "ema"
        tool_success = 0.25
        [trust.extra]
        kept_short = 0.05
        [reward]
        gate = 0.7
        [reward.extra]
        short_body = -0.1
        [demo]
        names = ["a"]
        """,
    )

    config = load_config(path, [DEMO])

    assert config.agent.level == "read_only"
    assert config.policy.roots == ("~/notes", "/srv")
    assert isinstance(config.budget.soft_eur, float)
    assert config.budget.prices == {"claude-opus-5-5": Price(input=4.0, cached=0.2, output=20.0)}
    assert config.trust.estimator == "ema"
    assert (config.trust.weights["tool_success"], config.trust.weights["kept_short"]) == (0.25, 0.05)
    assert sum(config.trust.weights.values()) == pytest.approx(1)
    assert (config.reward.gate, config.reward.weights) == (0.7, {**Config().reward.weights, "short_body": -0.1})
    assert config.sections["demo"]["names"] == ("a",)


def test_all_problems_are_told_at_once_each_with_its_line(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """# a comment
[agent]
provder = "x"
level = "ful"

[policy]
roots = [
  "a",
  3,
]
per_day_per_class = 0
[limits]
steps = true
wall_s = nan
[filez]
""",
    )

    assert problems(path, DEMO) == [
        "3: [agent] unknown key 'provder'; the nearest known is 'provider'",
        "4: [agent] level must be one of read_only, supervised, full",
        "7: [policy] roots must be a list of paths, each absolute or beginning with ~/",
        "11: [policy] per_day_per_class must be at least 1",
        "13: [limits] steps must be a whole number",
        "14: [limits] wall_s must be a finite number",
        (
            "15: unknown section 'filez'; "
            "known: agent, approval, budget, demo, limits, neurons, outbox, plugins, policy, reward, slots, synthesis, "
            "trust"
        ),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[budgt]\n", "1: unknown section 'budgt'; the nearest known is 'budget'"),
        ("level = 1\n", "1: unknown key outside of a section 'level'; known: agent, approval, budget"),
        ("agent = 3\n", "1: must be a table, written as [agent]"),
        ("[[agent]]\n", "1: must be a table, written as [agent]"),
        ("agent.'le vel' = 1\n", "1: [agent] unknown key 'le vel'; the nearest known is 'level'"),
        ("[agent]\nmax_output_tokens = 1e9\n", "2: [agent] max_output_tokens must be a whole number"),
        ("[limits]\nundo_cap_bytes = 99999999999999999999\n", "2: [limits] undo_cap_bytes is too large"),
        ("[approval]\n\nreading_pause_s = -1\n", "3: [approval] reading_pause_s must be at least 0"),
        ("[budget]\nsoft_eur = 9\nhard_eur = 5\n", "3: [budget] hard_eur must not be below soft_eur (9)"),
        ("[trust]\ntool_success = 0.4\n", "1: the weights in [trust] must sum to 1, not 1.1"),
        ("[trust]\ntool_success = 1.5\n", "2: [trust] tool_success must be at most 1"),
        ("[trust.extra]\nkept_short = 0.05\n", "1: the weights in [trust] must sum to 1, not 1.05"),
        ("[trust.extra]\n'kept short' = 2\n", "2: [trust.extra] kept short must be at most 1"),
        ("[trust.extra]\nkept_short = true\n", "2: [trust.extra] kept_short must be a number"),
        ("[trust.extra]\nundo_rate = 0.1\n", "2: [trust.extra] undo_rate belongs in [trust] itself"),
        ("[reward.extra]\nshort_body = -2\n", "2: [reward.extra] short_body must be at least -1"),
        ("[reward.extra]\ngate = 0.1\n", "2: [reward.extra] gate belongs in [reward] itself"),
        ("[reward]\ngate = 0.4\n", "2: [reward] gate must be at least 0.5"),
        ("[reward]\njudge = 0.1\n", "2: [reward] unknown key 'judge'; the nearest known is 'judge_score'"),
        ("[trust]\nextra = 3\n", "2: [trust] must be a table, written as [trust.extra]"),
        ("[trust]\nestimator = 3\n", "2: [trust] estimator must be text in quotes"),
        ("[budget.prices.m]\nin = 1\n", "1: [budget.prices] missing: cached, out"),
        ('[budget.prices."m"]\nin=1\ncached=1\nout=inf\n', "4: [budget.prices.m] out must be a finite number"),
        ("[budget]\nprices = 3\n", "2: [budget] must be a table, written as [budget.prices]"),
        ('[agent]\nlanguage = """\n\n"""\nx = 1\n', "5: [agent] unknown key 'x'; known: language"),
        ("[demo]\nratio = 2\n", "2: [demo] ratio must be at most 1"),
        *(
            (f"[policy]\n{key} = [{value}]\n", f"2: [policy] {key} must be a list of paths, each absolute")
            for key in ("roots", "forbidden_paths")
            for value in ('""', '"notes"', '"./notes"', '"~somebody/x"', r'"/a\u0000b"')
        ),
        *(
            (f"[policy]\n{key} = [{value}]\n", f"2: [policy] {key} must be a list of bare host names")
            for key in ("forbidden_hosts", "allowed_hosts")
            for value in (
                '""',
                '"https://a.example"',
                '"a.example/x"',
                '"*.a.example"',
                '".a.example"',
                '"bücher.example"',
                '"[::1]"',
            )
        ),
        ("[demo]\r\n\r\ndeep = 1\r\n", "3: [demo] deep must be true or false"),
    ],
)
def test_a_problem_names_line_key_and_what_is_allowed(tmp_path: Path, text: str, problem: str) -> None:
    assert problems(write(tmp_path, text), DEMO)[0].startswith(problem.split("; known", maxsplit=1)[0])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[agent\n", ":1:7: not valid TOML"),
        (b"a = 1\na = 2\nb = 3\n", ":2:6: not valid TOML"),
        (b"a = [1,\n", ":2:1: not valid TOML"),
        (b"\x00\xff\xfe", ": not UTF-8 text at byte 1"),
        (b"x = " + b"[" * 5000, ": a number is too long or a value is nested too deep"),
        (b"x = " + b"9" * 5000, ": a number is too long or a value is nested too deep"),
        (b"#" * (1 << 20) + b"#", ": larger than 1 MiB"),
    ],
)
def test_a_file_that_is_not_toml_gives_one_line(tmp_path: Path, content: bytes, expected: str) -> None:
    path = write(tmp_path, content)

    with pytest.raises(ConfigError) as caught:
        load_config(path, [])

    assert str(caught.value).startswith(f"{path}{expected}")
    assert "\n" not in str(caught.value)


def test_a_folder_or_a_pipe_in_the_place_of_the_file_gives_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ConfigError, match="this is not a file"):
            load_config(path, [])


def test_a_byte_order_mark_is_no_problem(tmp_path: Path) -> None:
    path = write(tmp_path, '\ufeff[agent]\nprovider = "scripted"\n')

    assert load_config(path, []).agent.provider == "scripted"


def test_a_section_of_an_idle_plugin_is_left_alone_and_of_no_plugin_is_unknown(tmp_path: Path) -> None:
    path = write(tmp_path, "[telegram]\nanything = 1\n")

    assert load_config(path, [], idle=["telegram"]) == Config()
    assert problems(path) == [
        (
            "1: unknown section 'telegram'; "
            "known: agent, approval, budget, limits, neurons, outbox, plugins, policy, reward, slots, synthesis, trust"
        )
    ]


def test_a_value_is_never_repeated_in_a_message(tmp_path: Path) -> None:
    path = write(tmp_path, '[agent]\nlevel = "sk-secret"\napi_key = "sk-secret"\n[limits]\nsteps = "sk-secret"\n')

    assert "sk-secret" not in "".join(problems(path))


def test_the_disabled_plugins_can_be_read_before_anything_else(tmp_path: Path) -> None:
    path = write(tmp_path, '[plugins]\ndisabled = ["terminal"]\n[of_a_plugin]\nx = 1\n')

    assert disabled_plugins(path) == {"terminal"}
    assert disabled_plugins(tmp_path / "none") == frozenset()


def test_a_broken_list_of_disabled_plugins_loads_none_of_them(tmp_path: Path) -> None:
    """Guessing here would run code that the user wanted off."""
    with pytest.raises(ConfigError, match="disabled must be a list of texts"):
        disabled_plugins(write(tmp_path, '[plugins]\ndisabled = "terminal"\n'))


def test_the_digest_follows_values_and_not_layout(tmp_path: Path) -> None:
    empty = load_config(tmp_path / "none", [DEMO])
    spelled = load_config(write(tmp_path, '# x\n[demo]\nratio = 0.5\n[agent]\nprovider = "anthropic"\n'), [DEMO])
    changed = load_config(write(tmp_path, "[demo]\nratio = 0.6\n"), [DEMO])

    assert empty.digest == spelled.digest
    assert len({empty.digest, changed.digest, Config().digest}) == 3


@given(st.text(max_size=200))
def test_any_text_gives_a_configuration_or_one_clear_error(text: str) -> None:
    """No input ends in a traceback."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "config.toml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            assert isinstance(load_config(path, [DEMO]), Config)
        except ConfigError as error:
            assert str(error).startswith(str(path))  # noqa: PT017


_values = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(st.characters(exclude_categories=["C"]), max_size=5)),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)


@given(
    section=st.sampled_from(["agent", "demo", "limits", "x"]),
    key=st.sampled_from(["steps", "ratio", "y"]),
    value=_values,
)
def test_any_value_gives_a_configuration_or_an_error_with_its_line(section: str, key: str, value: Any) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "config.toml"
        path.write_text(f"\n[{section}]\n{key} = {_toml(value)}\n", encoding="utf-8")
        try:
            load_config(path, [DEMO])
        except ConfigError as error:
            assert str(error).startswith((f"{path}:2: ", f"{path}:3: "))  # noqa: PT017


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def test_hosts_are_given_in_the_form_that_is_compared(tmp_path: Path) -> None:
    text = '[policy]\nallowed_hosts = ["NAS.example.", "localhost:3000", "::1", "192.168.1.7"]\n'
    assert len(load_config(write(tmp_path, text), []).policy.allowed_hosts) == 4

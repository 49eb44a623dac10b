"""Plugins are found without being run, and one that fails leaves the others alive."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core import hookimpl
from myclaw_core.plugins import FIRST_PARTY, PluginReport, PluginSet, check_plugins, find_plugins, load, load_plugins
from myclaw_core.plugins.find import _one_edit_apart

Install = Callable[..., Path]

MANIFEST = 'name = "{name}"\nsummary = "A test."\nhooks = ["myclaw_config"]\n'
GOOD = "name = 'files'\nsummary = 'A test.'\nhooks = []\n"


def state_of(name: str, plugins: PluginSet) -> PluginReport:
    return next(report for report in plugins.reports if report.name == name)


def others_live(plugins: PluginSet, *but: str) -> bool:
    return all(
        report.state == "on" for report in plugins.reports if report.name in FIRST_PARTY and report.name not in but
    )


@pytest.fixture
def calm(install: Install) -> None:
    """Replace the real plugins by plain ones, so that these tests depend on none of them."""
    for name, distribution in FIRST_PARTY.items():
        if name != "files":
            install(name, distribution)


@pytest.mark.usefixtures("calm")
def test_a_plugin_is_loaded_with_distribution_version_and_hooks(install: Install) -> None:
    install("files", "myclaw-files", "@hookimpl\ndef myclaw_config(): return None")

    plugins = load_plugins(environ={})

    assert others_live(plugins)
    assert state_of("files", plugins) == PluginReport(
        name="files", distribution="myclaw-files", version="1.2", state="on", hooks=("myclaw_config",)
    )
    assert [(one.name, one.version) for one in plugins.active] == [(name, "1.2") for name in sorted(FIRST_PARTY)]


@pytest.mark.usefixtures("calm")
@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("raise ValueError('two\\nlines \\x1b[31m')", "raised ValueError: two lines ?[31m"),
        ("import no_such_module", "raised ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(3)", "raised SystemExit: 3"),
        ("raise KeyboardInterrupt", "raised KeyboardInterrupt"),
        ("raise AssertionError", "raised AssertionError"),
        ("def broken(", "raised SyntaxError"),
        ("while True: pass", "did not return within 0.2 s"),
        ("while True:\n    try:\n        while True: pass\n    except Exception: pass", "did not return within 0.2 s"),
        ("class Odd(Exception):\n    def __str__(self): raise SystemExit\nraise Odd", "raised Odd"),
    ],
)
def test_a_plugin_that_fails_at_import_is_named_and_the_others_live(
    install: Install, monkeypatch: pytest.MonkeyPatch, body: str, error: str
) -> None:
    monkeypatch.setattr(load, "IMPORT_LIMIT_S", 0.2)
    install("files", "myclaw-files", body)

    plugins = load_plugins(environ={})

    report = state_of("files", plugins)
    assert report.state == "failed"
    assert str(report.error).startswith(error)
    assert "\n" not in str(report.error)
    assert "myclaw-files" in str(report.hint)
    assert others_live(plugins, "files")
    assert "files" in plugins.idle


@pytest.mark.usefixtures("calm")
@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("@hookimpl(wrapper=True)\ndef myclaw_config():\n    yield", "myclaw_config is a wrapper"),
        ("@hookimpl(hookwrapper=True)\ndef myclaw_config():\n    yield", "myclaw_config is a wrapper"),
        ("@hookimpl\ndef myclaw_confg(): ...", "there is no hook myclaw_confg; the nearest is myclaw_config"),
        ("@hookimpl\ndef myclaw_tools(): ...", "myclaw_tools is not declared in its plugin.toml"),
        ("@hookimpl\ndef myclaw_config(x): ...", "its hooks do not fit: PluginValidationError"),
        ("@hookimpl(specname='myclaw_tools')\ndef quiet(): ...", "myclaw_tools is not declared in its plugin.toml"),
    ],
)
def test_a_plugin_whose_hooks_do_not_fit_is_refused_whole(install: Install, body: str, error: str) -> None:
    manifest = MANIFEST.replace('["myclaw_config"]', '["myclaw_config", "myclaw_confg", "myclaw_event"]')
    install("files", "myclaw-files", f"{body}\n@hookimpl\ndef myclaw_event(event): ...", manifest=manifest)

    plugins = load_plugins(environ={})

    assert state_of("files", plugins).state == "failed"
    assert str(state_of("files", plugins).error).startswith(error)
    assert not plugins.manager.has_plugin("files")
    assert others_live(plugins, "files")


@pytest.mark.usefixtures("calm")
@pytest.mark.parametrize(
    ("manifest", "error"),
    [
        (None, "its package fake_myclaw_files has no plugin.toml"),
        ("name = ", "its plugin.toml cannot be read"),
        ("summary = 'x'", "its plugin.toml lacks name, hooks"),
        (GOOD.replace("files", "other"), "its plugin.toml does not name it 'files'"),
        (GOOD.replace("[]", "3"), "its plugin.toml must hold hooks as a list of texts"),
        (GOOD + 'tools = ["\\u001b[2J"]', "its plugin.toml must hold tools as a list of texts"),
        (GOOD.replace("'A test.'", "3"), "its plugin.toml must have a summary of one line"),
        (GOOD.replace("A test.", ""), "its plugin.toml must have a summary of one line"),
        (GOOD + "hoks = []", "its plugin.toml has an unknown key 'hoks'"),
    ],
)
def test_a_plugin_with_a_bad_manifest_fails_without_being_imported(
    install: Install, manifest: str | None, error: str
) -> None:
    install("files", "myclaw-files", manifest=manifest)

    plugins = load_plugins(environ={})

    assert state_of("files", plugins).state == "failed"
    assert str(state_of("files", plugins).error).startswith(error)
    assert state_of("files", plugins).hint
    assert "fake_myclaw_files.plugin" not in sys.modules


@pytest.mark.usefixtures("calm")
@pytest.mark.parametrize("value", ["", "no_such_package.plugin", ".plugin", "not an entry point", "sys"])
def test_what_is_left_of_a_deleted_plugin_fails_and_the_start_goes_on(install: Install, value: str) -> None:
    install("files", "myclaw-files", leave="metadata", value=value)

    plugins = load_plugins(environ={})

    assert state_of("files", plugins).state == "failed"
    assert state_of("files", plugins).hint
    assert others_live(plugins, "files")


@pytest.mark.usefixtures("calm")
def test_a_plugin_of_somebody_else_is_listed_as_new_and_not_imported(install: Install) -> None:
    install("files", "myclaw-files")
    install("weather", "myclaw-weather", "raise SystemExit")

    plugins = load_plugins(environ={})

    report = state_of("weather", plugins)
    assert (report.state, report.version, report.hooks) == ("new", "1.2", ("myclaw_config",))
    assert "not yet enabled" in str(report.hint)
    assert "fake_myclaw_weather" not in sys.modules
    assert "weather" not in {one.name for one in plugins.active}
    assert "weather" in plugins.idle


def test_naming_a_strange_plugin_in_the_environment_does_not_enable_it(install: Install) -> None:
    install("weather", "myclaw-weather")

    assert state_of("weather", load_plugins(environ={"MYCLAW_PLUGINS": "weather"})).state == "new"


def test_a_name_almost_like_a_known_one_gets_a_warning(install: Install) -> None:
    install("fi1es", "helpful-files")

    assert "almost 'files'" in str(state_of("fi1es", load_plugins(environ={"MYCLAW_PLUGINS": "fi1es"})).hint)


@pytest.mark.usefixtures("calm")
def test_two_distributions_with_one_name_are_both_refused_and_named(install: Install) -> None:
    """Also where a third one stands between them."""
    install("files", "myclaw-files")
    install("files", "aaa-files", "raise SystemExit")

    plugins = load_plugins(environ={})

    reports = [report for report in plugins.reports if report.name == "files"]
    assert [report.state for report in reports] == ["failed", "failed"]
    assert all("aaa-files, myclaw-files" in str(report.error) for report in reports)
    assert {str(report.hint) for report in reports} == {"uninstall aaa-files"}
    assert not {"fake_myclaw_files.plugin", "fake_aaa_files.plugin"} & set(sys.modules)
    assert others_live(plugins, "files")


def test_a_strange_distribution_cannot_claim_a_first_party_name(install: Install) -> None:
    install("files", "aaa-files")
    stranger = [plugin for plugin in find_plugins() if plugin.distribution == "aaa-files"]

    enabled, reports = check_plugins(stranger)

    assert enabled == []
    assert reports[0].state == "failed"
    assert str(reports[0].error) == "aaa-files claims a name that belongs to myclaw-files"


@pytest.mark.usefixtures("calm")
def test_a_disabled_plugin_is_off_and_not_imported(install: Install) -> None:
    install("files", "myclaw-files", "raise SystemExit")

    plugins = load_plugins({"files"}, environ={})

    assert state_of("files", plugins).state == "off"
    assert "disabled" in str(state_of("files", plugins).hint)


@pytest.mark.usefixtures("calm")
@pytest.mark.parametrize(
    ("names", "on"), [("", []), (" , ", []), ("sqlite", ["sqlite"]), ("terminal, sqlite", ["sqlite", "terminal"])]
)
def test_the_environment_names_the_only_plugins_to_load(install: Install, names: str, on: list[str]) -> None:
    install("files", "myclaw-files")

    plugins = load_plugins(environ={"MYCLAW_PLUGINS": names})

    assert [one.name for one in plugins.active] == on
    assert {report.state for report in plugins.reports if report.name not in on} == {"off"}


def test_a_name_in_the_configuration_that_nobody_offers_is_reported_with_the_nearest() -> None:
    """A typing error there would leave the plugin on without a word."""
    _, reports = check_plugins([], disabled={"terminl"})

    report = next(one for one in reports if one.name == "terminl")
    assert report.state == "missing"
    assert "'terminal'" in str(report.hint)


def test_first_party_plugins_that_are_not_installed_are_reported_missing() -> None:
    _, reports = check_plugins([])

    assert [(one.name, one.distribution, one.state) for one in reports] == [
        (name, distribution, "missing") for name, distribution in FIRST_PARTY.items()
    ]
    assert all(str(one.hint) == f"install the distribution {one.distribution}" for one in reports)


def test_broken_metadata_of_any_distribution_does_not_stop_the_search(tmp_path: Path, install: Install) -> None:
    install("weather", "myclaw-weather")
    for number, text in enumerate((b"[myclaw.plugins]\nnonsense\n", b"\xff\xfe")):
        info = tmp_path / "site" / f"broken{number}-1.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_bytes(text)

    assert "weather" in {plugin.name for plugin in find_plugins()}


@pytest.mark.usefixtures("calm")
def test_ctrl_c_of_the_person_during_an_import_passes_through(install: Install) -> None:
    install("files", "myclaw-files", "import signal\nsignal.raise_signal(signal.SIGINT)")

    with pytest.raises(KeyboardInterrupt):
        load_plugins(environ={})


@pytest.mark.usefixtures("calm")
def test_timer_and_handlers_of_the_program_are_as_before(install: Install) -> None:
    install("files", "myclaw-files")
    fired: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _frame: fired.append(number))
    interrupt = signal.getsignal(signal.SIGINT)
    signal.setitimer(signal.ITIMER_REAL, 3600)
    try:
        load_plugins(environ={})

        assert 3500 < signal.getitimer(signal.ITIMER_REAL)[0] <= 3600
        assert signal.getsignal(signal.SIGINT) is interrupt
        signal.raise_signal(signal.SIGALRM)
        assert fired == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_set_of_plain_modules_needs_no_discovery() -> None:
    module = ModuleType("plain")
    module.myclaw_config = hookimpl(lambda: None)  # type: ignore[attr-defined]

    plugins = PluginSet.of({"plain": module}, version="9")

    assert plugins.reports == (
        PluginReport(name="plain", distribution="", version="9", state="on", hooks=("myclaw_config",)),
    )
    assert [(one.name, one.version) for one in plugins.active] == [("plain", "9")]


def test_listing_and_loading_nothing_imports_no_plugin_and_no_event_loop() -> None:
    """In a fresh process, since this one has imported everything."""
    code = (
        "import sys; from myclaw_core.plugins import load_plugins; "
        "print(len(load_plugins(environ={'MYCLAW_PLUGINS': ''}).reports)); "
        "print(sorted({m.partition('.')[0] for m in sys.modules if m.startswith('myclaw_') or m == 'asyncio'}))"
    )

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout == f"{len(FIRST_PARTY)}\n['myclaw_core']\n"


@given(st.text("abc", min_size=1, max_size=6), st.data())
def test_one_edit_is_always_seen(name: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(name) - 1))
    swapped = name[:at] + name[at : at + 2][::-1] + name[at + 2 :]

    for other in (name[:at] + name[at + 1 :], name[:at] + "x" + name[at:], name[:at] + "x" + name[at + 1 :], swapped):
        assert _one_edit_apart(name, other)
        assert _one_edit_apart(other, name)


@pytest.mark.parametrize("other", ["sqlite", "filesystem", "fxlxs", "fi", "sefil", ""])
def test_two_edits_are_not_one(other: str) -> None:
    assert not _one_edit_apart("files", other)

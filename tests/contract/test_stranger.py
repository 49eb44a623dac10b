"""A plugin of somebody else, installed from its wheel into a clean environment: from distrust to removal."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pexpect
import pytest

from myclaw_core.clock import SystemClock

ROOT = Path(__file__).parents[2]
CORE = (
    "myclaw",
    "myclaw-bwrap",
    "myclaw-defaults",
    "myclaw-files",
    "myclaw-scripted",
    "myclaw-sqlite",
    "myclaw-terminal",
)
RAISE_IN_GATE = '\n\n@hookimpl\ndef myclaw_check() -> None:\n    raise ValueError("no luck")\n'
RAISE_AT_IMPORT = '\nraise ValueError("no luck")\n'


def command(*args: str | Path) -> str:
    """Run a tool of the installer and return its output."""
    done = subprocess.run([str(arg) for arg in args], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Environment:
    """A clean environment with the core and a few of its plugins, and a person's home."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "venv" / "bin" / "python"
        self.wheels = folder / "wheels"
        self.home = folder / "home"

    def create(self) -> None:
        """Build the wheels and install those of the core."""
        for name in CORE:
            command("uv", "build", "--quiet", "--wheel", "--package", name, "--out-dir", self.wheels)
        command("uv", "venv", "--quiet", "--python", sys.executable, self.folder / "venv")
        known = [each for each in distributions() if not each.name.startswith("myclaw")]
        constraints = self.folder / "constraints.txt"
        constraints.write_text("".join(f"{each.name}=={each.version}\n" for each in known))
        self.pip("install", "--constraint", constraints, *sorted(self.wheels.glob("*.whl")))

    def pip(self, verb: str, *args: str | Path) -> None:
        """Change what is installed; files are copies, so that a test that changes one spoils no cache."""
        link = ("--link-mode", "copy") if verb == "install" else ()
        command("uv", "pip", verb, "--quiet", "--python", self.python, *link, *args)

    def build(self, project: Path) -> Path:
        """Return the wheel of a project; it is built as its author would."""
        out = self.folder / "built" / str(len(list(self.folder.glob("built/*"))))
        command("uv", "build", "--quiet", "--wheel", "--out-dir", out, project)
        return next(out.glob("*.whl"))

    def variant(self, version: str, add: str) -> Path:
        """Return the wheel of a later version of the plugin, with something added to its hook module."""
        project = self.folder / f"variant-{version}"
        shutil.copytree(ROOT / "contrib" / "quiet_hours", project)
        text = (project / "pyproject.toml").read_text()
        (project / "pyproject.toml").write_text(text.replace('version = "0.1.0"', f'version = "{version}"'))
        with (project / "src/myclaw_quiet_hours/plugin.py").open("a") as file:
            file.write(add)
        return self.build(project)

    def myclaw(self, *args: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run the program in a pipe; it never shows a traceback."""
        done = subprocess.run(
            [self.python.with_name("myclaw"), *args],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=self.environ | environ,
            cwd=self.folder,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr
        return done

    @property
    def environ(self) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "MYCLAW_HOME": str(self.home), "TZ": "UTC"}

    @property
    def shell(self) -> dict[str, str]:
        """Return what a shell is given in which this environment is active; the installer keeps its own settings."""
        active = {"PATH": f"{self.python.parent}:{os.environ['PATH']}", "VIRTUAL_ENV": str(self.folder / "venv")}
        return os.environ | active | {"MYCLAW_HOME": str(self.home)}

    def report(self, name: str = "quiet_hours") -> dict[str, Any] | None:
        """Return what `plugins list` says about one plugin."""
        reports = json.loads(self.myclaw("plugins", "list", "--json").stdout)
        return next((each for each in reports if each["name"] == name), None)

    def new_home(self) -> None:
        """Begin anew with a home in which it is a quiet hour and the model writes one file."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()
        files = self.folder / "files"
        files.mkdir(exist_ok=True)
        (files / "a.md").unlink(missing_ok=True)
        hour = SystemClock().now().hour
        call = {"tool": "fs_write", "args": {"path": str(files / "a.md"), "content": "x"}}
        (self.home / "script.json").write_text(json.dumps([{"tool_calls": [call]}, {"text": "So it is."}]))
        (self.home / "config.toml").write_text(
            f'[agent]\nprovider = "scripted"\nlevel = "full"\n[scripted]\nfile = "{self.home}/script.json"\n'
            f"[quiet_hours]\nfrom_hour = {(hour - 2) % 24}\nuntil_hour = {(hour + 3) % 24}\n"
        )

    def enable(self) -> str:
        """Agree to the plugin and return the last line of what was said."""
        done = self.myclaw("plugins", "enable", "quiet_hours", "--yes")
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()[-1]

    def turn(self) -> tuple[dict[str, Any], list[dict[str, Any]], str]:
        """Let the model write its file by itself; return the answer, the events of the trace and what stderr said."""
        done = self.myclaw("ask", "--json", "--root", "files", "Write it")
        lines = self.myclaw("audit", "show", "--json").stdout.splitlines()
        return json.loads(done.stdout), [json.loads(line) for line in lines], done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Environment, Path]:
    """Build and install everything once; the wheel of the plugin is not installed yet."""
    environment = Environment(tmp_path_factory.mktemp("stranger"))
    environment.create()
    return environment, environment.build(ROOT / "contrib" / "quiet_hours")


@pytest.fixture
def stranger(installed: tuple[Environment, Path]) -> Iterator[Environment]:
    """The environment with the plugin just installed, and a new home."""
    environment, wheel = installed
    environment.new_home()
    environment.pip("install", "--reinstall", "--no-deps", wheel)
    yield environment
    environment.pip("uninstall", "myclaw-quiet-hours")


def plugins_of(events: list[dict[str, Any]]) -> list[str]:
    started = next(each["event"] for each in events if each["type"] == "turn_started")
    return [plugin["name"] for plugin in started["plugins"]]


def package(environment: Environment) -> Path:
    return next(environment.folder.glob("venv/lib/*/site-packages/myclaw_quiet_hours"))


def test_the_commands_of_the_guide_for_authors_do_what_it_says(installed: tuple[Environment, Path]) -> None:
    """As it is written, in a copy of the checkout; only the question is answered beforehand."""
    environment, _ = installed
    environment.new_home()
    call = {"tool": "hello", "args": {"name": "Rosa"}}
    (environment.home / "script.json").write_text(json.dumps([{"tool_calls": [call]}, {"text": "Done."}]))
    config = environment.home / "config.toml"
    config.write_text(config.read_text().partition("[quiet_hours]")[0])
    checkout = environment.folder / "checkout"
    shutil.copytree(ROOT / "contrib", checkout / "contrib")
    guide = (ROOT / "docs" / "how-to" / "write-a-plugin.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", guide, flags=re.MULTILINE | re.DOTALL)
    said = []
    for block in blocks:
        done = subprocess.run(
            ["/bin/sh", "-ec", block.replace("enable hello", "enable hello --yes")],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            cwd=checkout,
            env=environment.shell,
            check=False,
        )
        assert done.returncode in ({0, 1} if "plugins list" in block else {0}), (block, done.stderr)
        said.append(done.stdout)

    _, listed, enabled, used, _ = said
    assert re.search(r"^hello +myclaw-hello +0\.1\.0 +new ", listed, flags=re.MULTILINE)
    assert enabled.endswith("hello is on\n")
    assert "Done." in used
    assert "hello 0.1.0" in used
    assert "Hello, Rosa." in used
    assert environment.report("hello") is None


def test_what_was_just_installed_is_listed_with_what_it_declares_and_not_imported(stranger: Environment) -> None:
    listed = stranger.myclaw("plugins", "list", PYTHONPROFILEIMPORTTIME="1")
    answer, events, _ = stranger.turn()

    report = stranger.report()
    assert report is not None
    assert (report["state"], report["distribution"], report["version"]) == ("new", "myclaw-quiet-hours", "0.1.0")
    assert report["hooks"] == ["myclaw_check", "myclaw_config"]
    assert "'myclaw plugins enable quiet_hours'" in report["hint"]
    assert "myclaw_files" in listed.stderr
    assert "myclaw_quiet_hours" not in listed.stderr
    assert answer["outcome"] == "success"
    assert "quiet_hours" not in plugins_of(events)


def test_enabling_shows_everything_first_and_a_no_leaves_it_new(stranger: Environment) -> None:
    child = pexpect.spawn(
        str(stranger.python.with_name("myclaw")),
        ["plugins", "enable", "quiet_hours"],
        env=stranger.environ | {"PYTHONDONTWRITEBYTECODE": "1"},  # type: ignore[arg-type]
        encoding="utf-8",
        timeout=60,
        dimensions=(50, 200),
    )
    child.expect_exact("Enable it? [y/N] ")
    shown = child.before or ""
    child.sendline("")
    child.expect(pexpect.EOF)
    child.close()

    for word in ("0.1.0", "myclaw-quiet-hours", "Between two hours", "myclaw_check", "[quiet_hours]", "SHA-256"):
        assert word in shown
    assert child.exitstatus == 1
    assert not (package(stranger) / "__pycache__").exists()
    report = stranger.report()
    assert report is not None
    assert report["state"] == "new"


def test_where_nobody_can_be_asked_enabling_needs_a_word(stranger: Environment) -> None:
    done = stranger.myclaw("plugins", "enable", "quiet_hours")

    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "--yes" in done.stderr


def test_once_enabled_it_acts_in_the_next_trace_and_stands_in_it(stranger: Environment) -> None:
    assert stranger.enable() == "quiet_hours is on"
    answer, events, said = stranger.turn()

    assert "1 question was left for you" in said
    assert (answer["outcome"], answer["steps"][0]["via"]) == ("denied", "finding")
    assert not (stranger.folder / "files" / "a.md").exists()
    assert "quiet_hours" in plugins_of(events)
    assert "quiet hours from" in json.dumps(events)


def test_disabling_takes_the_consent_back(stranger: Environment) -> None:
    stranger.enable()
    disabled = stranger.myclaw("plugins", "disable", "quiet_hours")
    answer, _, _ = stranger.turn()

    assert (disabled.returncode, disabled.stderr) == (0, "")
    assert answer["outcome"] == "success"


def test_a_file_that_changed_makes_it_new_again_and_is_named(stranger: Environment) -> None:
    stranger.enable()
    with (package(stranger) / "gate.py").open("a") as file:
        file.write("\nprint('changed')\n")
    answer, events, said = stranger.turn()
    again = stranger.myclaw("plugins", "enable", "quiet_hours", "--yes")

    report = stranger.report()
    assert report is not None
    assert report["state"] == "new"
    assert report["error"] == (
        "changed since you agreed: myclaw_quiet_hours/gate.py is not the file that was installed"
    )
    assert answer["outcome"] == "success"
    assert "quiet_hours" not in plugins_of(events)
    assert "quiet_hours" in said
    assert again.returncode == 3
    assert "install myclaw-quiet-hours again" in again.stderr


def test_an_editable_install_is_bound_to_its_sources(stranger: Environment) -> None:
    project = stranger.folder / "editable"
    shutil.copytree(ROOT / "contrib" / "quiet_hours", project)
    stranger.pip("install", "--no-deps", "--editable", project)

    first = stranger.enable()
    (project / "src" / "myclaw_quiet_hours" / "more.py").write_text("x = 1\n")
    report = stranger.report()

    assert (first, stranger.enable()) == ("quiet_hours is on", "quiet_hours is on")
    assert report is not None
    assert (report["state"], report["error"]) == ("new", "changed since you agreed: its files have changed")


def test_another_version_asks_again_and_one_that_raises_is_named_while_the_turn_goes_on(stranger: Environment) -> None:
    stranger.enable()
    stranger.pip("install", "--no-deps", stranger.variant("0.1.1", RAISE_IN_GATE))
    before = stranger.report()
    stranger.enable()
    answer, events, _ = stranger.turn()

    assert before is not None
    assert (before["state"], before["error"]) == ("new", "changed since you agreed: version 0.1.0 became 0.1.1")
    assert answer["answer"] == "So it is."
    faults = [each["event"] for each in events if each["type"] == "plugin_fault"]
    assert faults
    assert {(fault["plugin"], fault["hook"]) for fault in faults} == {("quiet_hours", "myclaw_check")}
    assert "raised ValueError: no luck" in faults[0]["detail"]


def test_one_that_raises_when_it_is_imported_fails_alone(stranger: Environment) -> None:
    stranger.pip("install", "--no-deps", stranger.variant("0.1.2", RAISE_AT_IMPORT))
    enabled = stranger.myclaw("plugins", "enable", "quiet_hours", "--yes")
    answer, _, said = stranger.turn()

    report = stranger.report()
    assert enabled.returncode == 1
    assert "raised ValueError: no luck" in enabled.stdout
    assert report is not None
    assert (report["state"], report["error"]) == ("failed", "raised ValueError: no luck")
    assert "quiet_hours" in said
    assert answer["outcome"] == "success"


def test_once_uninstalled_it_is_gone_and_the_start_is_fine(stranger: Environment) -> None:
    stranger.enable()
    stranger.pip("uninstall", "myclaw-quiet-hours")
    config = stranger.home / "config.toml"
    config.write_text(config.read_text().partition("[quiet_hours]")[0])
    answer, events, said = stranger.turn()

    assert stranger.report() is None
    assert said == ""
    assert answer["outcome"] == "success"
    assert "quiet_hours" not in plugins_of(events)


def test_metadata_that_is_left_over_does_not_stop_the_start(stranger: Environment) -> None:
    stranger.enable()
    shutil.rmtree(package(stranger))
    answer, _, said = stranger.turn()

    report = stranger.report()
    assert report is not None
    assert (report["state"], report["error"]) == ("failed", "its package myclaw_quiet_hours is not there")
    assert "uninstall" in report["hint"]
    assert "quiet_hours" in said
    assert answer["outcome"] == "success"


def test_a_part_of_the_reward_counts_once_its_plugin_is_enabled_and_it_has_a_weight(
    installed: tuple[Environment, Path],
) -> None:
    """The shipped neuron is adopted from the wheels, in the sandbox; before, nobody asks the plugin."""
    environment, _ = installed
    environment.new_home()
    config = environment.home / "config.toml"
    config.write_text("[reward.extra]\nshort_body = 0.05\n")
    environment.pip("install", "--no-deps", environment.build(ROOT / "contrib" / "short_bodies"))
    try:
        before = environment.myclaw("neurons", "adopt", "folder_sizes", "--json")
        enabled = environment.myclaw("plugins", "enable", "short_bodies", "--yes")
        after = environment.myclaw("neurons", "adopt", "folder_sizes", "--json")
    finally:
        environment.pip("uninstall", "myclaw-short-bodies")

    assert enabled.stdout.endswith("short_bodies is on\n")
    found = [json.loads(done.stdout) for done in (before, after)]
    assert [each["parts"]["short_body"] for each in found] == [{"value": value, "weight": 0.05} for value in (0.0, 1.0)]
    assert found[0]["feedback"][-1] == "no plugin gives the part short_body, so it counts at its worst"
    assert found[1]["reward"] > found[0]["reward"]

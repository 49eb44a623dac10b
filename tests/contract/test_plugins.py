"""The plugins of this repository: each declares itself, loads alone, and is missed politely."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from myclaw_core.clock import SystemClock
from myclaw_core.config import load_config
from myclaw_core.dispatch import Dispatcher
from myclaw_core.events.types import PluginFault
from myclaw_core.host import Host
from myclaw_core.paths import Home
from myclaw_core.plugins import FIRST_PARTY, PluginSet, load_plugins

ROOT = Path(__file__).parents[2]
NAMES = sorted(FIRST_PARTY)


def toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def alone(name: str) -> PluginSet:
    return load_plugins(environ={"MYCLAW_PLUGINS": name})


def dispatcher(plugins: PluginSet, home: Home, on_fault: Callable[[PluginFault], None]) -> Dispatcher:
    """Return a dispatcher whose hosts hold the defaults of each plugin."""

    def host(plugin: str) -> Host:
        config = load_config(home.config_file, made.config()).sections.get(plugin, {})
        return Host(plugin=plugin, config=config, home=home, clock=SystemClock(), emit=pytest.fail)

    made = Dispatcher(plugins, SystemClock(), on_fault, host_for=host)
    return made


def test_folders_the_extra_all_and_the_first_party_table_name_the_same_plugins() -> None:
    """A plugin that is missing from the extra would not be installed by the one command."""
    folders = {path.parent.name for path in (ROOT / "plugins").glob("*/pyproject.toml")}
    extra = toml(ROOT / "pyproject.toml")["project"]["optional-dependencies"]["all"]

    assert folders == set(FIRST_PARTY)
    assert sorted(extra) == sorted(FIRST_PARTY.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_plugin_has_one_name_everywhere(name: str) -> None:
    project = toml(ROOT / "plugins" / name / "pyproject.toml")["project"]
    manifest = toml(ROOT / "plugins" / name / "src" / f"myclaw_{name}" / "plugin.toml")

    assert project["name"] == FIRST_PARTY[name] == f"myclaw-{name}"
    assert project["entry-points"]["myclaw.plugins"] == {name: f"myclaw_{name}.plugin"}
    assert manifest["name"] == name
    assert manifest["summary"]


@pytest.mark.parametrize("name", NAMES)
def test_a_plugin_loads_alone_with_exactly_the_hooks_it_declares(name: str) -> None:
    plugins = alone(name)

    report = next(one for one in plugins.reports if one.name == name)
    manifest = toml(ROOT / "plugins" / name / "src" / f"myclaw_{name}" / "plugin.toml")
    assert (report.state, report.error) == ("on", None)
    assert report.version == version(FIRST_PARTY[name])
    assert report.hooks == tuple(sorted(manifest["hooks"])) != ()
    assert [one.name for one in plugins.active] == [name]


@pytest.mark.parametrize("name", NAMES)
def test_a_plugin_needs_nothing_but_the_core_and_its_dependencies(name: str, tmp_path: Path) -> None:
    """In a fresh process from which everything else that is installed here is hidden, other plugins too."""
    command = [sys.executable, Path(__file__).with_name("load_alone.py"), name, tmp_path]

    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.mark.parametrize("name", NAMES)
async def test_a_plugin_offers_what_it_declares_without_a_fault(name: str, tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    home.create()
    manifest = toml(ROOT / "plugins" / name / "src" / f"myclaw_{name}" / "plugin.toml")
    faults: list[PluginFault] = []
    made = dispatcher(alone(name), home, faults.append)

    assert [schema.section for schema in made.config()] == manifest["config"]
    assert sorted(made.tools()) == sorted(manifest["tools"])
    assert sorted(made.commands()) == sorted(manifest["commands"])
    await made.startup()
    made.models()
    made.channels()
    await made.shutdown()
    assert faults == []


@pytest.mark.parametrize("name", NAMES)
def test_the_hook_module_of_a_plugin_holds_short_functions_only(name: str) -> None:
    """The work lies in modules that know nothing of hooks, and is imported when a hook is called."""
    tree = ast.parse((ROOT / "plugins" / name / "src" / f"myclaw_{name}" / "plugin.py").read_text(encoding="utf-8"))

    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    imports = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert all(len(function.body) <= 11 for function in functions)
    assert not any(isinstance(node, ast.ClassDef) for node in tree.body)
    assert imports <= {"__future__", "collections.abc", "typing", "myclaw_core"}


def test_loading_every_plugin_imports_no_body_of_a_plugin() -> None:
    """In a fresh process; `--help` and the list of plugins stay fast."""
    code = (
        "import sys; from myclaw_core.plugins import load_plugins; load_plugins(environ={}); "
        "print(sorted(m for m in sys.modules if m.startswith('myclaw_') and m.partition('.')[0] != 'myclaw_core')); "
        "print(sorted({'asyncio', 'anthropic', 'rich', 'prompt_toolkit', 'aiosqlite', 'sqlite3'} & set(sys.modules)))"
    )

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    packages = [f"myclaw_{name}{part}" for name in NAMES for part in ("", ".plugin")]
    assert run.stdout == f"{packages}\n[]\n"


async def test_the_core_starts_without_any_plugin(tmp_path: Path) -> None:
    plugins = alone("")
    home = Home.at(tmp_path)
    made = dispatcher(plugins, home, pytest.fail)

    await made.startup()

    assert plugins.active == ()
    assert {report.state for report in plugins.reports} == {"off"}
    assert load_config(home.config_file, made.config(), plugins.idle).sections == {}

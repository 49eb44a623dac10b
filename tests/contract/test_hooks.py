"""Hooks, their modes, their documentation and their tests say the same; settings likewise."""

import ast
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from myclaw_core import hookspecs
from myclaw_core.clock import SystemClock
from myclaw_core.config import ConfigSchema
from myclaw_core.config.sections import CORE_SECTIONS, EXTRA_WEIGHTS, PRICE_SCHEMA, schema_of
from myclaw_core.dispatch import Dispatcher
from myclaw_core.hookspecs import HOOK_MODES
from myclaw_core.plugins import FIRST_PARTY, load_plugins

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
HOOKS = sorted(HOOK_MODES)


def sections(page: str) -> dict[str, str]:
    """Return the text below each second-level heading that names something in code."""
    parts = re.split(r"^## `(.+)`$", (REFERENCE / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(parts[1::2]) == len(set(parts[1::2]))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def signature(hook: str) -> str:
    function = getattr(hookspecs, hook)
    start = "async def" if inspect.iscoroutinefunction(function) else "def"
    found = inspect.signature(function)
    arguments = ", ".join(f"{each.name}: {each.annotation}" for each in found.parameters.values())
    return f"{start} {hook}({arguments}) -> {found.return_annotation}".replace("'", '"')


def python_files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in (ROOT / folder).rglob("*.py") if ".venv" not in path.parts)


def test_every_hook_has_a_mode_and_every_mode_a_hook() -> None:
    specified = {name for name in vars(hookspecs) if name.startswith("myclaw_")}

    assert specified == set(HOOK_MODES)


def test_every_hook_is_documented_and_nothing_else() -> None:
    assert set(sections("hooks.md")) == set(HOOK_MODES)


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_is_documented_with_its_signature_mode_and_parts(hook: str) -> None:
    text = sections("hooks.md")[hook]

    assert f"```python\n{signature(hook)}\n```" in text
    assert f"- **Mode:** {HOOK_MODES[hook]}\n" in text
    for part in ("When", "Mode", "Arguments", "Result", "On error"):
        assert text.count(f"- **{part}:**") == 1
    for argument in inspect.signature(getattr(hookspecs, hook)).parameters:
        assert f"`{argument}`" in text


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_states_its_mode_and_what_an_error_does_where_it_is_specified(hook: str) -> None:
    text = getattr(hookspecs, hook).__doc__

    assert f"Mode: {HOOK_MODES[hook]}" in text
    assert re.search(r"[Aa]n error|An error", text)


def test_every_hook_has_a_test_named_after_it() -> None:
    tests = {
        node.name
        for path in python_files("tests", "plugins", "contrib")
        if path.name.startswith("test_")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }

    assert [hook for hook in HOOKS if f"test_hook_{hook}" not in tests] == []


def test_hooks_are_called_in_one_module_only() -> None:
    """Anything else would lose containment, the time limit and awaiting."""
    callers = {
        path.relative_to(ROOT).as_posix()
        for path in python_files("myclaw_core", "plugins", "contrib")
        if "tests" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and (node.attr == "get_hookimpls" or _is_relay(node.value))
    }

    assert callers <= {"myclaw_core/dispatch.py", "myclaw_core/plugins/load.py"}


def _is_relay(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "hook"


def plugin_schemas() -> tuple[ConfigSchema, ...]:
    plugins = load_plugins(environ={"MYCLAW_PLUGINS": ",".join(FIRST_PARTY)})
    return Dispatcher(plugins, SystemClock(), pytest.fail, host_for=pytest.fail).config()


def rows(schema: ConfigSchema) -> list[str]:
    return [
        f"| `{key.name}` | {key.kind} | {_default(key.default)} | {key.help} |"
        for key in sorted(schema.keys, key=lambda key: key.name)
    ]


def _default(value: object) -> str:
    if value is None:
        return "–"
    return f"`{json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)}`"


def test_every_setting_is_documented_with_type_default_and_meaning_and_nothing_else() -> None:
    """A failing row can be copied from here into the page."""
    schemas = [*(schema_of(name, cls) for name, cls in CORE_SECTIONS.items()), *plugin_schemas()]
    schemas.append(ConfigSchema(section='budget.prices."MODEL"', keys=tuple(PRICE_SCHEMA.values())))
    schemas += (ConfigSchema(section=f"{section}.extra", keys=(key,)) for section, key in EXTRA_WEIGHTS.items())
    documented = {
        heading.strip("[]"): sorted(re.findall(r"^\| `.*\|$", text, flags=re.MULTILINE))
        for heading, text in sections("settings.md").items()
    }

    assert documented == {schema.section: rows(schema) for schema in schemas}

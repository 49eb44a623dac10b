"""The tables of what is allowed are what the page says, and hold nothing that leads outside."""

from __future__ import annotations

import ast
import inspect
import re
import types
from importlib import import_module
from pathlib import Path

import pytest

from myclaw_core import neurons
from myclaw_core.neurons.analysis.allowed import ATTRIBUTES, BUILTINS, NEVER_ATTRIBUTES, NODES
from myclaw_core.neurons.analysis.modules import MODULES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "neurons-check.md"


def test_the_page_lists_what_may_be_imported() -> None:
    """Module by module."""
    rows = re.findall(r"^\| `([\w.]+)` \| ((?:`\w+`(?:, )?)+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert {module: frozenset(re.findall(r"`(\w+)`", names)) for module, names in rows} == dict(MODULES)


@pytest.mark.parametrize("module", sorted(set(MODULES) - {"myclaw.runtime"}))
def test_what_may_be_imported_exists_and_is_no_module(module: str) -> None:
    """A name that is a module would bring all of it."""
    for name in MODULES[module]:
        assert not inspect.ismodule(getattr(import_module(module), name))
        assert not name.startswith("_")


def test_what_is_never_allowed_is_not_allowed_elsewhere() -> None:
    """The tables do not contradict each other."""
    assert not ATTRIBUTES & NEVER_ATTRIBUTES
    assert not any(name.startswith("_") for name in ATTRIBUTES | BUILTINS)
    assert not BUILTINS & {
        "eval",
        "exec",
        "compile",
        "open",
        "input",
        "getattr",
        "setattr",
        "vars",
        "globals",
        "locals",
    }


def test_no_way_to_a_frame_or_to_code_is_left_out() -> None:
    """Whatever this Python knows of generators, coroutines, frames, tracebacks and code."""
    kinds = ("GeneratorType", "CoroutineType", "AsyncGeneratorType", "FrameType", "TracebackType", "CodeType")
    names = {name for kind in kinds for name in dir(getattr(types, kind))}
    leading = {name for name in names if re.match(r"(gi|cr|ag|f|tb|co)_", name)} | {"send", "throw", "asend", "athrow"}

    assert leading <= NEVER_ATTRIBUTES


def test_syntax_that_is_new_to_python_is_refused_until_somebody_lists_it() -> None:
    """Only what is listed passes."""
    left_out = {"Global", "AsyncFor", "AsyncWith", "TryStar", "Interactive", "Expression", "FunctionType"}
    known = {node for node in vars(ast).values() if inspect.isclass(node) and issubclass(node, ast.AST)}

    assert left_out <= {node.__name__ for node in known - NODES}


def test_the_map_of_the_package_names_every_module() -> None:
    """Whoever is new here starts with it; the parts of one concept stand behind their first word."""
    package = Path(neurons.__file__).parent
    named = re.findall(r"`(\w+)`", neurons.__doc__ or "")
    parts = [path.stem for path in package.glob("[a-z]*") if path.name != "__pycache__"]

    assert [part for part in parts if part not in named and part.partition("_")[0] not in named] == []
    assert [name for name in named if name not in parts] == []

"""Shared types have one definition, one import place and one table in the docs (seed 002 §7)."""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import attrs
import pytest

import myclaw_core.types as shared

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference" / "types.md"

SPECIFIED = json.loads((Path(__file__).parent / "specified_types.json").read_text(encoding="utf-8"))
"""The table of the specification: owner, frozen, and the fields it or a seed names."""

FURTHER = {"Tool", "ToolResult", "UndoRecord", "Turn", "Session", "ModelCall", "Finding", "Message", "Event"}


def sources() -> Iterator[Path]:
    """Return every source file of the core and of the plugins."""
    yield from (ROOT / "myclaw_core").rglob("*.py")
    yield from ROOT.glob("plugins/*/src/**/*.py")


def definitions() -> dict[str, list[str]]:
    """Return the modules that define each top-level name: by a class, or by an assignment."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sources():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            for name in [node.name] if isinstance(node, ast.ClassDef) else names:
                found[name].append(module_of(path))
    return found


def module_of(path: Path) -> str:
    """Return the dotted name of a source file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[3:] if parts[0] == "plugins" else parts).removesuffix(".__init__")


def is_frozen(cls: type) -> bool:
    """Return whether an attrs class refuses assignments."""
    return bool(attrs.inspect(cls).is_frozen)


def owner_of(name: str) -> str:
    """Return the module that a shared type is imported from."""
    return next(f"myclaw_core.{owner}" for owner, names in shared._OWNERS.items() if name in names)


def expected_rows() -> list[str]:
    """Return the rows that the table of `docs/reference/types.md` must have."""
    rows = []
    for name in shared.__all__:
        shared_type = getattr(shared, name)
        rows.append(f"| `{name}` | `{owner_of(name)}` | {frozen_cell(shared_type)} | {contents_of(shared_type)} |")
    return rows


def frozen_cell(shared_type: Any) -> str:
    if not attrs.has(shared_type):
        return "–"
    return "yes" if is_frozen(shared_type) else "no"


def contents_of(shared_type: Any) -> str:
    """Return the fields of a class (`?` where it may be missing), the values of a literal, the members of a union."""
    if attrs.has(shared_type):
        fields = [field for field in attrs.fields(shared_type) if field.name != "unknown_fields"]
        names = [f"`{field.name}{'' if field.default is attrs.NOTHING else '?'}`" for field in fields]
        return ", ".join(names)
    if get_origin(shared_type) is Literal:
        return ", ".join(f'"{value}"' for value in get_args(shared_type))
    if isinstance(shared_type, type) and issubclass(shared_type, Enum):
        return ", ".join(f'`{member.name}` "{member.value}"' for member in shared_type)
    if get_origin(shared_type) is tuple:
        return f"pair of {', '.join(member.__name__ for member in get_args(shared_type))}"
    return "one of " + ", ".join(f"`{member.__name__}`" for member in get_args(shared_type))


def test_every_shared_type_is_defined_exactly_once_by_its_owner() -> None:
    defined = definitions()

    assert {name: defined[name] for name in shared.__all__} == {name: [owner_of(name)] for name in shared.__all__}


def test_the_types_of_the_specification_are_all_importable_from_one_place() -> None:
    assert set(SPECIFIED) | FURTHER <= set(shared.__all__)
    for name in shared.__all__:
        assert getattr(import_module(owner_of(name)), name) is getattr(shared, name)


def test_every_stored_class_of_an_owner_is_re_exported() -> None:
    owners = [module_of(path) for path in (ROOT / "myclaw_core").glob("*/types.py")]
    stored = {
        name
        for owner in owners
        for name in import_module(owner).__all__
        for found in [getattr(import_module(owner), name)]
        if isinstance(found, type) and attrs.has(found) and "unknown_fields" in attrs.fields_dict(found)
    }

    assert stored <= set(shared.__all__)


def test_the_three_lists_of_the_import_place_agree() -> None:
    tree = ast.parse(Path(str(shared.__file__)).read_text(encoding="utf-8"))
    imported = {
        alias.name
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert imported == set(shared.__all__) == {name for names in shared._OWNERS.values() for name in names}
    assert shared.__all__ == sorted(shared.__all__)


@pytest.mark.parametrize("name", SPECIFIED)
def test_a_type_has_the_owner_the_form_and_the_fields_that_are_specified(name: str) -> None:
    specified = SPECIFIED[name]

    assert owner_of(name).split(".")[1] == specified["owner"]
    if specified["frozen"] is not None:
        cls = getattr(shared, name)
        assert is_frozen(cls) == specified["frozen"]
        assert set(specified["fields"]) <= set(attrs.fields_dict(cls))


def test_the_table_in_the_docs_is_the_code() -> None:
    """When this fails, put the expected rows into the file."""
    rows = [line for line in REFERENCE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]

    assert rows == expected_rows(), "expected:\n" + "\n".join(expected_rows())


def test_a_trace_is_named_by_a_uuid_everywhere() -> None:
    for name in shared.__all__:
        cls = getattr(shared, name)
        if attrs.has(cls):
            for field in attrs.fields(cls):
                if field.name.endswith("trace_id"):
                    assert str(field.type).replace(" | None", "") in {"UUID", "<class 'uuid.UUID'>", "uuid.UUID"}

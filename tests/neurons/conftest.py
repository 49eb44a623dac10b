"""The bodies that the analysis is tried on: `attacks.txt` must be refused, `honest.txt` must pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import frozen

CORPUS = Path(__file__).parent / "corpus"


@frozen
class Body:
    """One body with what its manifest declares."""

    name: str
    source: str
    capabilities: tuple[str, ...]
    may_call: tuple[str, ...]


def read_corpus(file: str) -> list[Body]:
    """Return the bodies of a file; statements alone are the inside of `run`."""
    text = (CORPUS / file).read_text(encoding="utf-8")
    return [_body(part) for part in text.split("=== ")[1:]]


def _body(part: str) -> Body:
    name, _, rest = part.partition("\n")
    declared: dict[str, tuple[str, ...]] = {"capabilities": (), "may_call": ()}
    lines = rest.rstrip("\n").split("\n")
    while (key := lines[0].partition(":")[0]) in declared:
        declared[key] = tuple(lines.pop(0).partition(":")[2].split())
    return Body(name, _whole("\n".join(lines)), **declared)


def _whole(source: str) -> str:
    if "def run(" in source or "def main(" in source or source.startswith("run ="):
        return source + "\n"
    lines = source.split("\n")
    imports = [line for line in lines if line.startswith(("import ", "from "))]
    inside = [f"    {line}" for line in lines if line not in imports]
    return "\n".join([*imports, "async def run(ctx, args):", *inside, ""])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that takes `attack` or `honest` each body of the file."""
    for argument, file in (("attack", "attacks.txt"), ("honest", "honest.txt")):
        if argument in metafunc.fixturenames:
            bodies = read_corpus(file)
            metafunc.parametrize(argument, bodies, ids=[body.name for body in bodies])

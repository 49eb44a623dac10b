"""The bodies that the analysis is tried on: those of `attacks*.txt` must be refused, of `honest*.txt` must pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import frozen

CORPUS = Path(__file__).parent / "corpus"


@frozen
class Body:
    """One body with what its manifest declares, and the rule that refuses it."""

    name: str
    source: str
    capabilities: tuple[str, ...]
    may_call: tuple[str, ...]
    rule: tuple[str, ...]


def read_corpus(kind: str) -> list[Body]:
    """Return the bodies of the files of a kind; statements alone are the inside of `run`."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(CORPUS.glob(f"{kind}*.txt"))]
    return [_body(part) for text in texts for part in text.split("=== ")[1:]]


@pytest.fixture
def corpus() -> Callable[[str], list[Body]]:
    """Return what reads the bodies of a kind."""
    return read_corpus


def _body(part: str) -> Body:
    name, _, rest = part.partition("\n")
    declared: dict[str, tuple[str, ...]] = {"capabilities": (), "may_call": (), "rule": ()}
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
    for argument, kind in (("attack", "attacks"), ("honest", "honest")):
        if argument in metafunc.fixturenames:
            bodies = read_corpus(kind)
            metafunc.parametrize(argument, bodies, ids=[body.name for body in bodies])

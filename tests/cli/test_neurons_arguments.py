"""What `myclaw neurons run` says of arguments that do not fit."""

from __future__ import annotations

from typing import Any

import pytest

from myclaw_core.cli.neurons_arguments import problem_with
from myclaw_core.runtime.tool import Tool

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "top": {"type": "integer"}},
    "required": ["path"],
}
TOOL = Tool(
    name="neuron:csv_summary",
    description="d",
    schema=SCHEMA,
    effects=(),
    run=lambda _args, _context: None,  # type: ignore[arg-type, return-value]
)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "csv_summary needs path; it takes path, [top]"),
        ({"top": 1, "x": 2}, "csv_summary needs path; it takes path, [top]"),
        ({"path": "a", "tpo": 1}, "csv_summary does not know tpo; it takes path, [top]"),
        ({"path": "a", "top": "x"}, 'csv_summary cannot take this: top: "x" is not of type "integer"'),
    ],
)
def test_it_is_told_in_words_for_whoever_typed_them(given: dict[str, Any], told: str) -> None:
    assert str(problem_with(TOOL, given)) == told


def test_what_fits_is_no_problem() -> None:
    assert problem_with(TOOL, {"path": "a", "top": 3}) is None

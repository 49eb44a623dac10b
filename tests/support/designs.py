"""What a model answers when it designs a neuron: good answers, and changes that make them bad in one way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["BODY", "GOAL", "MANIFEST", "NAME", "TESTS", "draft", "replies", "spec"]

GOAL = "count the words of a text"
NAME = "word_counter"
_INPUT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_OUTPUT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}

BODY = '''\
"""Counts words."""

from __future__ import annotations

from myclaw.runtime import NeuronContext


async def run(ctx: NeuronContext, args: dict[str, str]) -> dict[str, int]:
    """Return how many words a text has."""
    return {"count": len(args["text"].split())}
'''
TESTS = '''\
"""Birth tests."""


async def test_positive(run):
    assert await run({"text": "one two three"}) == {"count": 3}


async def test_edge(run):
    assert await run({"text": ""}) == {"count": 0}


async def test_negative(run):
    assert (await run({"text": "one"}))["count"] == 1
'''
MANIFEST = """\
schema_version: "1.0"
name: word_counter
version: 1.0.0
purpose: Count the words of a text.
input_schema:
  type: object
  properties:
    text: {type: string}
  required: [text]
output_schema:
  type: object
  properties:
    count: {type: integer}
  required: [count]
capabilities: []
"""


def spec(**changes: Any) -> dict[str, Any]:
    """Return a reply of a scripted model that is a spec."""
    document = {
        "proposed_name": NAME,
        "purpose": "Count the words of a text.",
        "input_schema": json.dumps(_INPUT),
        "output_schema": json.dumps(_OUTPUT),
        "capabilities_requested": [],
        "rationale": "No tool counts words.",
        "may_call": [],
        "estimated_cpu_s": None,
    }
    return {"text": json.dumps(document | changes)}


def draft(files: Mapping[str, str] | None = None, **changes: str) -> dict[str, Any]:
    """Return a reply that holds the three files.

    Args:
        files: Those that are other ones, by name.
        changes: `body`, `tests` or `manifest` in place of the good one.
    """
    whole = {
        "body.py": changes.get("body", BODY),
        "test_birth.py": changes.get("tests", TESTS),
        "manifest.yaml": changes.get("manifest", MANIFEST),
    }
    parts = [f"=== FILE {name} ===\n{text}" for name, text in (whole | dict(files or {})).items()]
    return {"text": "".join([*parts, "=== END ===\n"])}


def replies(*drafts: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a spec and the drafts that follow it; one good draft where none is given."""
    return [spec(), *(drafts or (draft(),))]

"""What a neuron says about itself (neurons.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from attrs import field, frozen

from myclaw_core.types.text import Text

__all__ = ["CodeFinding", "NeuronManifest"]


@frozen(kw_only=True)
class CodeFinding:
    """One reason why the code of a neuron is refused.

    Attributes:
        file: The file, such as `body.py`.
        line: Its line, counted from 1; 0 for the file as a whole.
        rule: Names the kind of finding for programs, such as `import`.
        message: What is wrong and what to do, one line.
    """

    file: str
    line: int
    rule: str
    message: Text


@frozen(kw_only=True)
class NeuronManifest:
    """The manifest of a neuron directory.

    Attributes:
        name: `[a-z][a-z0-9_]{2,40}`, the directory's name.
        version: Semantic version of the neuron.
        purpose: What it is for, 1 to 4 sentences.
        input_schema: JSON Schema of its arguments.
        output_schema: JSON Schema of its output.
        capabilities: What it may do at most, in the closed vocabulary (`fs-read:<pattern>`, `clock` …).
        may_call: Tools and neurons it may call.
        quotas: Named upper limits; their names carry the unit.
        origin: Where it comes from, for example `synthesis` or `adopted`.
        trace_id: The trace it was made from, if one was.
    """

    name: str
    version: str
    purpose: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    capabilities: tuple[str, ...]
    may_call: tuple[str, ...]
    quotas: Mapping[str, float]
    origin: str
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)

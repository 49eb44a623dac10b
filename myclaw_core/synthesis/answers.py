"""Reads what a model answered in stages 2 and 3: a spec as JSON, three files with a line before each.

Both forms can be written, too, so that a model is shown its last attempt and examples as it has to give them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from myclaw_core.errors import MyclawError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.neurons.folder import MAX_FILE_BYTES
from myclaw_core.neurons.manifest import ManifestError, read_manifest
from myclaw_core.neurons.normal import NEURON_FILES, normalized
from myclaw_core.neurons.requests import ForeignFrameError, strict_json
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.synthesis.types import NeuronSpec

__all__ = [
    "DRAFT_FORMAT",
    "MAX_ESTIMATE_S",
    "MAX_SPEC_CHARS",
    "SPEC_FORMAT",
    "SPEC_SCHEMA",
    "AnswerError",
    "read_files",
    "read_spec",
    "write_files",
    "write_spec",
]

MAX_SPEC_CHARS = 16_000
MAX_ESTIMATE_S = 120.0
"""CPU seconds; the tests of a neuron have no more time. With a larger estimate any cost would look small."""
_MOST_RATIONALE = 2_000
_MOST_CAPABILITIES = 64
_MOST_CAPABILITY_CHARS = 600
_MOST_ANSWER_CHARS = 4 * MAX_FILE_BYTES
_SHOWN_CHARS = 80

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
SPEC_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "proposed_name": _TEXT,
        "purpose": _TEXT,
        "input_schema": {**_TEXT, "description": "a JSON Schema, written as JSON text"},
        "output_schema": {**_TEXT, "description": "a JSON Schema, written as JSON text"},
        "capabilities_requested": _TEXTS,
        "rationale": _TEXT,
        "may_call": _TEXTS,
        "estimated_cpu_s": {"anyOf": [{"type": "number"}, {"type": "null"}]},
    },
    "required": [
        *("proposed_name", "purpose", "input_schema", "output_schema"),
        *("capabilities_requested", "rationale", "may_call", "estimated_cpu_s"),
    ],
    "additionalProperties": False,
}
"""What an answer is held to where a provider can. No object in it is open, so the two schemas are texts."""

SPEC_FORMAT = """\
Answer with one JSON object and nothing else. It has exactly these keys:
- "proposed_name": text; 3 to 41 lower-case letters, digits and _, with a letter first
- "purpose": text of 1 to 4 sentences, at most 600 characters
- "input_schema": a JSON Schema with "type": "object" at its top, written as JSON text; no $ref
- "output_schema": a JSON Schema, written as JSON text; no $ref
- "capabilities_requested": list of texts
- "rationale": text, at most 2000 characters
- "may_call": list of texts
- "estimated_cpu_s": number of CPU seconds that its tests will take, more than 0 and at most 120, or null
"""

DRAFT_FORMAT = """\
Answer with the three files, whole, in this form. Each line that begins with === stands alone and exactly as here:
=== FILE body.py ===
(the whole of body.py)
=== FILE test_birth.py ===
(the whole of test_birth.py)
=== FILE manifest.yaml ===
(the whole of manifest.yaml)
=== END ===
Leave nothing out, write no other file, and put nothing after the last line.
"""

_FENCE = "```"
_MARK = re.compile(r"=== (?:FILE (?P<file>\S{1,200})|END) ===")


class AnswerError(MyclawError):
    """Raised for an answer that is not what was asked for; its text says what the next one must do otherwise."""


def read_spec(text: str) -> NeuronSpec:
    """Return the spec in an answer: a JSON object alone, or in the one fenced block of the answer.

    All that a manifest will be checked for is checked, but for its capabilities: whether these are known and may be had
    at all is for stage 2 to say, since asking for what is forbidden costs no attempt.

    Raises:
        AnswerError: It is none.
    """
    fields = _spec_fields(_json(text))
    manifest = _as_manifest(fields)
    return NeuronSpec(
        proposed_name=manifest.name,
        purpose=manifest.purpose,
        input_schema=manifest.input_schema,
        output_schema=manifest.output_schema,
        capabilities_requested=_capabilities(fields["capabilities_requested"]),
        rationale=_rationale(fields["rationale"]),
        may_call=manifest.may_call,
        estimated_cpu_s=_estimate(fields["estimated_cpu_s"]),
    )


def write_spec(spec: NeuronSpec) -> str:
    """Return a spec in the form in which it is asked for."""
    document = {
        "proposed_name": spec.proposed_name,
        "purpose": spec.purpose,
        "input_schema": json.dumps(spec.input_schema, ensure_ascii=False),
        "output_schema": json.dumps(spec.output_schema, ensure_ascii=False),
        "capabilities_requested": spec.capabilities_requested,
        "rationale": spec.rationale,
        "may_call": spec.may_call,
        "estimated_cpu_s": spec.estimated_cpu_s,
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def read_files(text: str) -> dict[str, bytes]:
    """Return the three files in an answer, in their normal form: no blank lines around them, one line end at the end.

    What stands before the first mark and after the last is not read. A fence around a file is taken off.

    Raises:
        AnswerError: A file is missing, stands there twice, is empty, too big or no text, or there are others.
    """
    if len(text) > _MOST_ANSWER_CHARS:
        raise AnswerError(N_("the answer has more than {n} characters; write less", n=_MOST_ANSWER_CHARS))
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    files: dict[str, bytes] = {}
    for name, content in _parts(lines):
        if name not in NEURON_FILES:
            raise AnswerError(N_("there is a file {file}; write only {files}", file=_shown(name), files=_NAMES))
        if name in files:
            raise AnswerError(N_("the file {file} stands there twice; write it once", file=name))
        files[name] = _content(name, content)
    if missing := [name for name in NEURON_FILES if name not in files]:
        raise AnswerError(N_("there is no line '=== FILE {file} ===' with that file below it", file=missing[0]))
    return files


def write_files(files: Mapping[str, str]) -> str:
    """Return files in the form in which they are asked for."""
    parts = (f"=== FILE {name} ===\n" + content.strip("\n") + "\n" for name, content in files.items())
    return "".join((*parts, "=== END ===\n"))


_NAMES = ", ".join(NEURON_FILES)


def _json(text: str) -> Any:
    if len(text) > MAX_SPEC_CHARS:
        raise AnswerError(N_("the spec has more than {n} characters; write less", n=MAX_SPEC_CHARS))
    try:
        return strict_json(_unfenced(text).encode())
    except (ForeignFrameError, UnicodeEncodeError) as error:
        problem = _shown(str(error).removeprefix("a frame is ").removeprefix("no JSON: "))
        raise AnswerError(N_("the answer is not JSON that can be read: {problem}", problem=problem)) from None


def _unfenced(text: str) -> str:
    """Return what stands in the one fenced block of an answer, or all of it where it begins as JSON or has none."""
    if text.lstrip().startswith("{"):
        return text
    lines = text.split("\n")
    fences = [place for place, line in enumerate(lines) if line.lstrip().startswith(_FENCE)]
    return "\n".join(lines[fences[0] + 1 : fences[1]]) if len(fences) == 2 else text  # noqa: PLR2004


def _spec_fields(document: Any) -> Mapping[str, Any]:
    """Return the keys of a spec, all of them."""
    known = SPEC_SCHEMA["required"]
    if not isinstance(document, dict):
        raise AnswerError(N_("the answer is not one JSON object"))
    if unknown := sorted(set(document) - set(known)):
        raise AnswerError(
            N_("there is a key {key}; the keys are {known}", key=_shown(unknown[0]), known=", ".join(known))
        )
    if missing := [key for key in known if key not in document]:
        raise AnswerError(N_("the key {key} is missing", key=missing[0]))
    return document


def _as_manifest(fields: Mapping[str, Any]) -> NeuronManifest:
    """Return the manifest that a spec leads to, without its capabilities: what none can be made of is no spec."""
    document = {
        "schema_version": "1.0",
        "name": fields["proposed_name"],
        "version": "1.0.0",
        "purpose": fields["purpose"],
        "input_schema": _schema("input_schema", fields["input_schema"]),
        "output_schema": _schema("output_schema", fields["output_schema"]),
        "capabilities": [],
        "may_call": fields["may_call"],
    }
    try:
        return read_manifest(json.dumps(document, ensure_ascii=False).encode())  # JSON is YAML
    except ManifestError as error:
        raise AnswerError(error.problem) from error


def _schema(key: str, value: Any) -> Any:
    """Return a schema that was given as an object or as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return strict_json(value.encode())
    except ForeignFrameError:
        raise AnswerError(N_("{key} must be a JSON Schema, written as JSON text", key=key)) from None


def _capabilities(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise AnswerError(N_("{key} must be a list of texts", key="capabilities_requested"))
    if len(value) > _MOST_CAPABILITIES or any(len(each) > _MOST_CAPABILITY_CHARS for each in value):
        raise AnswerError(N_("the list {key} is too long; ask for less", key="capabilities_requested"))
    return tuple(dict.fromkeys(value))


def _rationale(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _MOST_RATIONALE:
        raise AnswerError(N_("{key} must be a text of at most {n} characters", key="rationale", n=_MOST_RATIONALE))
    return value.strip()


def _estimate(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_ESTIMATE_S:
        raise AnswerError(
            N_("{key} must be a number above 0, at most {n:.0f}, or null", key="estimated_cpu_s", n=MAX_ESTIMATE_S)
        )
    return float(value)


def _parts(lines: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each file with its lines; the last mark must be the end."""
    found = ((place, _MARK.fullmatch(line.rstrip())) for place, line in enumerate(lines))
    marks = [(place, match["file"]) for place, match in found if match]
    ends = [place for place, name in marks if name is None]
    if not ends:
        raise AnswerError(
            N_("there is no line '=== END ===' after the last file; write less if there is no room for it")
        )
    if ends != [marks[-1][0]]:
        raise AnswerError(N_("a line '=== END ===' stands before the last file; write each file once, then the end"))
    for (place, name), (after, _) in pairwise(marks):
        yield str(name), lines[place + 1 : after]


def _content(name: str, lines: Sequence[str]) -> bytes:
    content = "\n".join(_inside(lines)).strip("\n")
    if not content.strip():
        raise AnswerError(N_("the file {file} is empty; write all of it", file=name))
    try:
        data = normalized(f"{content}\n".encode())
    except UnicodeEncodeError:
        raise AnswerError(N_("the file {file} holds half a character; write whole ones", file=name)) from None
    if b"\0" in data:
        raise AnswerError(N_("the file {file} holds a NUL character; leave it out", file=name))
    if len(data) > MAX_FILE_BYTES:
        raise AnswerError(N_("{name} has more than {n} bytes", name=name, n=MAX_FILE_BYTES))
    return data


def _inside(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of a file without those of a fence around it, and what stands outside of that."""
    kept = [line.rstrip(" \t") for line in lines]
    fences = [place for place, line in enumerate(kept) if line.startswith(_FENCE)]
    first = next((place for place, line in enumerate(kept) if line), 0)
    if first in fences[:-1]:
        return kept[first + 1 : fences[-1]]
    while kept and (not kept[-1] or kept[-1].startswith(_FENCE)):  # the fence may begin before the mark
        kept.pop()
    return kept


def _shown(text: str) -> str:
    return visible(" ".join(text.split()))[:_SHOWN_CHARS]

"""`myclaw redact`: stdin to stdout with every secret masked; no home is opened and no plugin loaded."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, BinaryIO

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_

__all__ = ["run"]

_FORM = '{"text": "…"}'


def run(args: argparse.Namespace) -> int:
    """Mask stdin; 1 where a JSON line could not be read."""
    return _lines(sys.stdin.buffer, sys.stdout.buffer) if args.jsonl else _whole(sys.stdin.buffer, sys.stdout.buffer)


def _whole(source: BinaryIO, target: BinaryIO) -> int:
    """Mask a text as a whole, so that a secret of several lines is seen; bytes that are no text stay as they are."""
    from myclaw_core.redact import redact_text

    text = source.read().decode("utf-8", "surrogateescape")
    target.write(redact_text(text).encode("utf-8", "surrogateescape"))
    return 0


def _lines(source: BinaryIO, target: BinaryIO) -> int:
    """Mask the text of each JSON line; a line that is none gives an error object with its number."""
    from myclaw_core.cli.jsonl import numbered_lines

    bad = False
    for number, raw in numbered_lines(source):
        try:
            answer = _masked(raw)
        except UsageError as error:
            bad = True
            answer = {"line": number, "error": str(error)}
        # Half a character is written as an escape, which JSON knows too.
        target.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
        target.flush()
    return 1 if bad else 0


def _masked(raw: bytes) -> dict[str, Any]:
    from myclaw_core.cli.jsonl import parse_line
    from myclaw_core.redact import redact_text

    value = parse_line(raw)
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise UsageError(N_("not a JSON object with a text; a line is {form}, with other keys as you like", form=_FORM))
    return value | {"text": redact_text(value["text"])}

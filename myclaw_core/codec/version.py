"""The version a stored document carries: any minor of our major is read, a newer major is refused."""

from __future__ import annotations

import re
from typing import Any

from myclaw_core.codec.problems import kind_of
from myclaw_core.errors import CodecError, NewerVersionError

__all__ = ["SCHEMA_VERSION", "UNKNOWN_FIELDS", "open_document", "seal_document"]

SCHEMA_VERSION = "1.0"
UNKNOWN_FIELDS = "unknown_fields"
"""The attribute that keeps what a later minor added."""

_FIELD = "schema_version"
_MAJOR = int(SCHEMA_VERSION.partition(".")[0])
_SHAPE = re.compile(r"(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})")


def open_document(value: Any, where: str, *, keep_version: bool = True) -> dict[str, Any]:
    """Return the fields of a stored document.

    Args:
        keep_version: Leave the version among them where it is another minor than ours: it then becomes an unknown
            field, so that the document is written back as it came.

    Raises:
        CodecError: It is not an object, or its version is missing, malformed or of an earlier major.
        NewerVersionError: Its version is of a later major.
    """
    if not isinstance(value, dict):
        raise CodecError(where, [("$", f"expected an object, got {kind_of(value)}")])
    _check(value, where)
    kept = keep_version and value[_FIELD] != SCHEMA_VERSION
    return {key: item for key, item in value.items() if key != _FIELD or kept}


def seal_document(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields as a document with its version first."""
    return {_FIELD: SCHEMA_VERSION, **fields}


def _check(document: dict[str, Any], where: str) -> None:
    place = f"$.{_FIELD}"
    if _FIELD not in document:
        raise CodecError(where, [(place, f'required field missing (expected "{SCHEMA_VERSION}")')])
    version = document[_FIELD]
    match = _SHAPE.fullmatch(version) if isinstance(version, str) else None
    if match is None:
        raise CodecError(where, [(place, f'expected a version such as "{SCHEMA_VERSION}"')])
    major = int(match[1])
    if major > _MAJOR:
        problem = f"schema version {version} is newer than this program reads ({_MAJOR}.x); update myclaw"
        raise NewerVersionError(where, [(place, problem)])
    if major < _MAJOR:
        raise CodecError(where, [(place, f"schema version {version} is older than this program reads ({_MAJOR}.x)")])

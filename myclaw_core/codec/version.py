"""The version a stored document carries: any minor of our major is read, a newer major is refused."""

from __future__ import annotations

import re
from typing import Any

from myclaw_core.codec.problems import kind_of
from myclaw_core.errors import CodecError, NewerVersionError
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["SCHEMA_VERSION", "UNKNOWN_FIELDS", "open_document", "seal_document"]

SCHEMA_VERSION = "1.0"
UNKNOWN_FIELDS = "unknown_fields"
"""The attribute that keeps what a later minor added."""

_FIELD = "schema_version"
_MAJOR = int(SCHEMA_VERSION.partition(".")[0])
_SHAPE = re.compile(r"(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})")


def open_document(value: Any, where: Text | str, *, keep_version: bool = True) -> dict[str, Any]:
    """Return the fields of a stored document.

    Args:
        keep_version: Leave the version among them where it is another minor than ours: it then becomes an unknown
            field, so that the document is written back as it came.

    Raises:
        CodecError: It is not an object, or its version is missing, malformed or of an earlier major.
        NewerVersionError: Its version is of a later major.
    """
    if not isinstance(value, dict):
        raise CodecError(where, [("$", N_("expected an object, got {kind}", kind=kind_of(value)))])
    _check(value, where)
    kept = keep_version and value[_FIELD] != SCHEMA_VERSION
    return {key: item for key, item in value.items() if key != _FIELD or kept}


def seal_document(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields as a document with its version first."""
    return {_FIELD: SCHEMA_VERSION, **fields}


def _check(document: dict[str, Any], where: Text | str) -> None:
    place = f"$.{_FIELD}"
    if _FIELD not in document:
        missing = N_('required field missing (expected "{version}")', version=SCHEMA_VERSION)
        raise CodecError(where, [(place, missing)])
    version = document[_FIELD]
    match = _SHAPE.fullmatch(version) if isinstance(version, str) else None
    if match is None:
        malformed = N_('expected a version such as "{version}"', version=SCHEMA_VERSION)
        raise CodecError(where, [(place, malformed)])
    major = int(match[1])
    if major > _MAJOR:
        newer = N_(
            "schema version {version} is newer than this program reads ({ours}.x); update myclaw",
            version=version,
            ours=_MAJOR,
        )
        raise NewerVersionError(where, [(place, newer)])
    if major < _MAJOR:
        older = N_("schema version {version} is older than this program reads ({ours}.x)", version=version, ours=_MAJOR)
        raise CodecError(where, [(place, older)])

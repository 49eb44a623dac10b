"""Reads `manifest.yaml` strictly: a small, plain part of YAML, so that it means what a person reads in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_
from myclaw_core.neurons.capabilities import CALLABLE, parse_capability
from myclaw_core.neurons.quotas import QUOTAS, range_of
from myclaw_core.neurons.schemas import has_references, validator
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.runtime.shelf import RESERVED_TOOLS
from myclaw_core.schemas import fault_of
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from yaml import MappingNode, Node, SafeLoader

__all__ = ["MANIFEST_FILE", "MAX_MANIFEST_BYTES", "NAME_TOLD", "NEURON_NAME", "ManifestError", "read_manifest"]

MANIFEST_FILE = "manifest.yaml"
MAX_MANIFEST_BYTES = 64 * 1024
NEURON_NAME = re.compile(r"[a-z][a-z0-9_]{2,40}")

_SEMVER = re.compile(r"(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})(?:-[0-9A-Za-z.-]{1,40})?", re.ASCII)
_ORIGIN = re.compile(r"[a-z][a-z0-9_-]{0,40}")
NAME_TOLD = N_("3 to 41 lower-case letters, digits and _, with a letter first")
_VERSION_TOLD = N_("three numbers such as 1.0.0, with -beta or the like after them if you want")
_ORIGIN_TOLD = N_("a word of lower-case letters, digits, _ and -")
_MAX_DEPTH = 24
_MAX_NODES = 5_000
_MAX_PURPOSE = 1_000
_MAX_LIST = 64

_REQUIRED = ("schema_version", "name", "version", "purpose", "input_schema", "output_schema", "capabilities")
_OPTIONAL = ("may_call", "quotas", "origin", "trace_id")
_NOT_YES = frozenset({"yes", "no", "on", "off", "y", "n", "true", "false", "null", "~"})
_PLAIN = {"true": True, "false": False, "null": None}
_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?(?:[eE][+-]?[0-9]{1,2})?")


class ManifestError(UsageError):
    """Raised for what is no manifest; its text names file and line.

    Attributes:
        line: The line, counted from 1.
        problem: What is wrong there, without file and line.
    """

    def __init__(self, line: int, problem: Text) -> None:
        self.line = line
        self.problem = problem
        super().__init__(N_("{file}:{line}: {problem}", file=MANIFEST_FILE, line=line, problem=problem))


def read_manifest(data: bytes, directory_name: str | None = None) -> NeuronManifest:
    """Return the manifest in the bytes of `manifest.yaml`.

    Args:
        directory_name: The name it must have; any where `None`.

    Raises:
        ManifestError: It is not a manifest.
    """
    lines, document = _document(data)
    if unknown := sorted(set(document) - {*_REQUIRED, *_OPTIONAL}):
        known = ", ".join((*_REQUIRED, *_OPTIONAL))
        raise ManifestError(lines[unknown[0]], N_("unknown key {key}; known are {known}", key=unknown[0], known=known))
    if missing := [key for key in _REQUIRED if key not in document]:
        raise ManifestError(1, N_("the key {key} is missing", key=missing[0]))
    reader = _Reader(document, lines)
    if document["schema_version"] != "1.0":
        raise ManifestError(lines["schema_version"], N_('schema_version must be "1.0", in quotes'))
    name = reader.text("name", NEURON_NAME, NAME_TOLD)
    if f"neuron_{name}" in RESERVED_TOOLS:
        text = N_("the name {name} is taken: neuron_{name} is a tool of myclaw itself; choose another", name=name)
        raise ManifestError(lines["name"], text)
    if directory_name is not None and name != directory_name:
        text = N_("the name {name} differs from the folder's, {folder}", name=name, folder=directory_name)
        raise ManifestError(lines["name"], text)
    return NeuronManifest(
        name=name,
        version=reader.text("version", _SEMVER, _VERSION_TOLD),
        purpose=reader.purpose(),
        input_schema=reader.input_schema(),
        output_schema=reader.schema("output_schema"),
        capabilities=reader.capabilities(),
        may_call=reader.names("may_call"),
        quotas=reader.quotas(),
        origin=reader.text("origin", _ORIGIN, _ORIGIN_TOLD, default="adopted"),
        trace_id=reader.trace_id(),
    )


class _Reader:
    """Reads one key after the other, each with its line."""

    def __init__(self, document: Mapping[str, Any], lines: Mapping[str, int]) -> None:
        self._document = document
        self._lines = lines

    def text(self, key: str, form: re.Pattern[str], told: Text, default: str | None = None) -> str:
        value = self._document.get(key, default)
        if not isinstance(value, str) or not form.fullmatch(value):
            raise self._wrong(key, N_("{key} must have this form: {form}", key=key, form=told))
        return value

    def purpose(self) -> str:
        value = self._document["purpose"]
        if not isinstance(value, str) or not value.strip() or len(value) > _MAX_PURPOSE:
            raise self._wrong("purpose", N_("purpose must be a text of at most {n} characters", n=_MAX_PURPOSE))
        return value.strip()

    def input_schema(self) -> Mapping[str, Any]:
        schema = self.schema("input_schema")
        if schema.get("type") != "object":
            raise self._wrong("input_schema", N_("input_schema must have type: object at its top"))
        return schema

    def schema(self, key: str) -> Mapping[str, Any]:
        value = self._document[key]
        if not isinstance(value, dict):
            raise self._wrong(key, N_("{key} must be a JSON Schema", key=key))
        if has_references(value):
            raise self._wrong(key, N_("{key} refers to another place with $ref; write it out", key=key))
        try:
            validator(value)
        except ValueError as error:
            text = N_("{key} is no valid JSON Schema: {problem}", key=key, problem=fault_of(error))
            raise self._wrong(key, text) from None
        return value

    def capabilities(self) -> tuple[str, ...]:
        found = self._texts("capabilities")
        for text in found:
            try:
                parse_capability(text)
            except UsageError as error:
                raise self._wrong("capabilities", error.text) from None
        return found

    def names(self, key: str) -> tuple[str, ...]:
        found = self._texts(key)
        for name in found:
            if not CALLABLE.fullmatch(name):
                raise self._wrong(key, N_("{name} is no name of a tool or a neuron", name=name[:80]))
        return found

    def quotas(self) -> Mapping[str, float]:
        value = self._document.get("quotas", {})
        if not isinstance(value, dict):
            raise self._wrong("quotas", N_("quotas must be names with numbers"))
        for name, limit in value.items():
            if name not in QUOTAS:
                known = ", ".join(QUOTAS)
                raise self._wrong("quotas", N_("unknown quota {name}; known are {known}", name=name[:80], known=known))
            least, most = range_of(name)
            if isinstance(limit, bool) or not isinstance(limit, type(least) | int) or not least <= limit <= most:
                raise self._wrong("quotas", _bad_quota(name, least, most))
        return value

    def trace_id(self) -> UUID | None:
        value = self._document.get("trace_id")
        try:
            return None if value is None else UUID(value)
        except (ValueError, AttributeError, TypeError):
            raise self._wrong("trace_id", N_("trace_id must be a UUID")) from None

    def _texts(self, key: str) -> tuple[str, ...]:
        value = self._document.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value) or len(value) > _MAX_LIST:
            raise self._wrong(key, N_("{key} must be a list of at most {n} texts", key=key, n=_MAX_LIST))
        if len(set(value)) < len(value):
            raise self._wrong(key, N_("{key} names something twice", key=key))
        return tuple(value)

    def _wrong(self, key: str, text: Text) -> ManifestError:
        return ManifestError(self._lines.get(key, 1), text)


def _bad_quota(name: str, least: float, most: float) -> Text:
    if isinstance(least, int):
        return N_("the quota {name} must be a whole number from {least} to {most}", name=name, least=least, most=most)
    return N_(
        "the quota {name} must be a number from {least} to {most}", name=name, least=f"{least:g}", most=f"{most:g}"
    )


def _document(data: bytes) -> tuple[Mapping[str, int], Mapping[str, Any]]:
    """Return the line and the value of each key at the top."""
    if len(data) > MAX_MANIFEST_BYTES:
        raise ManifestError(1, N_("the file has more than {n} bytes", n=MAX_MANIFEST_BYTES))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ManifestError(data.count(b"\n", 0, error.start) + 1, N_("this is not UTF-8 text")) from None
    import yaml

    root: Node | None = _composed(text)
    if not isinstance(root, yaml.MappingNode):
        raise ManifestError(1, N_("a manifest is a list of keys with values"))
    document = _mapping(root)
    return {str(key.value): _line(key) for key, _ in root.value}, document


def _composed(text: str) -> Node | None:
    """Return the tree of the file, in which nothing refers to anything else."""
    import yaml

    try:
        return yaml.compose(text, Loader=_plain_loader())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ManifestError(mark.line + 1 if mark else 1, N_("not YAML: {why}", why=error.problem or "")) from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise ManifestError(1, N_("not YAML that can be read")) from None


@cache
def _plain_loader() -> type[SafeLoader]:
    """Return what composes a tree and refuses what is not plain before it goes on."""
    import yaml

    class PlainLoader(yaml.SafeLoader):
        depth = count = 0

        def compose_node(self, parent: Node | None, index: int) -> Node | None:
            event = self.peek_event()  # type: ignore[no-untyped-call]
            line = event.start_mark.line + 1 if event.start_mark else 1
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise ManifestError(line, N_("anchors and aliases may not be used"))
            if tag := getattr(event, "tag", None):
                raise ManifestError(line, N_("tags such as {tag} may not be used", tag=str(tag)[:80]))
            self.depth += 1
            self.count += 1
            if self.depth > _MAX_DEPTH or self.count > _MAX_NODES:
                raise ManifestError(line, N_("the manifest is too deep or too long"))
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    return PlainLoader


def _value(node: Node) -> Any:
    import yaml

    if isinstance(node, yaml.MappingNode):
        return _mapping(node)
    if isinstance(node, yaml.SequenceNode):
        return [_value(each) for each in node.value]
    return _scalar(str(node.value), _line(node), is_plain=getattr(node, "style", None) is None)


def _mapping(node: MappingNode) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in node.value:
        name = _key(key)
        if name in found:
            raise ManifestError(_line(key), N_("the key {key} stands twice", key=name[:80]))
        found[name] = _value(value)
    return found


def _line(node: Node) -> int:
    return node.start_mark.line + 1 if node.start_mark else 1


def _key(node: Node) -> str:
    import yaml

    if not isinstance(node, yaml.ScalarNode):
        raise ManifestError(_line(node), N_("a key must be text"))
    if node.style is None and (node.value.lower() in _NOT_YES or node.value == "<<"):
        raise ManifestError(_line(node), N_("the key {key} must stand in quotes", key=node.value))
    return str(node.value)


def _scalar(text: str, line: int, *, is_plain: bool) -> str | int | float | bool | None:
    """Return a value; a plain word that YAML could take for something else must be put in quotes."""
    if not is_plain:
        return text
    if text in _PLAIN:
        return _PLAIN[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if text == "" or text.lower() in _NOT_YES or re.match(r"[-+.]?[0-9].*[xob_:]|[-+.]*(?:inf|nan)$", text.lower()):
        raise ManifestError(line, N_("the value {value} could mean something else; put it in quotes", value=text[:80]))
    return text

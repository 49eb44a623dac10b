"""The one cattrs converter; built once, at first use."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin
from uuid import UUID

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_unstructure_fn, override

from myclaw_core.codec import scalars
from myclaw_core.codec.problems import MISSING, TOO_DEEP, Problem, Problems, check_json, is_too_deep, kind_of, step
from myclaw_core.codec.version import UNKNOWN_FIELDS
from myclaw_core.errors import CodecError
from myclaw_core.messages import N_
from myclaw_core.types.text import Text, joined

__all__ = ["from_json", "to_json"]

T = TypeVar("T")
Hook = Callable[[Any, Any], Any]
_SCALARS: Mapping[type, Hook] = {
    str: scalars.to_str_or_enum,
    bool: scalars.to_bool,
    int: scalars.to_int,
    float: scalars.to_float,
    type(None): scalars.to_none,
    UUID: scalars.to_uuid,
    datetime: scalars.to_datetime,
    bytes: scalars.to_bytes,
}


def to_json(obj: Any) -> Any:
    """Return `obj` as a JSON value.

    Raises:
        CodecError: It holds a time without a zone, or itself.
    """
    try:
        return _converter().unstructure(obj)
    except Problems as found:
        raise CodecError(type(obj).__name__, found.at("$")) from None
    except RecursionError:
        raise CodecError(type(obj).__name__, [("$", TOO_DEEP)]) from None


def from_json(cls: type[T], value: Any, where: Text | str) -> T:
    """Return the `cls` that a JSON value describes.

    Raises:
        CodecError: The value does not have the form of `cls`; all problems at once.
    """
    try:
        return _converter().structure(value, cls)
    except Problems as found:
        raise CodecError(where, found.at("$")) from None
    except RecursionError:
        raise CodecError(where, [("$", TOO_DEEP)]) from None


@cache
def _converter() -> Converter:
    made = Converter(unstruct_collection_overrides={tuple: list})
    for cls, hook in _SCALARS.items():
        made.register_structure_hook(cls, hook)
    made.register_structure_hook_func(lambda cls: cls is Any, lambda value, _: check_json(value))
    for predicate, factory in (
        (_is_literal, _literal_hook),
        (_is_union, _union_hook),
        (_is_list, _list_hook),
        (_is_tuple, _tuple_hook),
        (_is_mapping, _mapping_hook),
        (attrs.has, _class_hook),
    ):
        made.register_structure_hook_factory(predicate, factory)
    made.register_unstructure_hook(datetime, scalars.from_datetime)
    made.register_unstructure_hook(UUID, str)
    made.register_unstructure_hook(bytes, scalars.from_bytes)
    made.register_unstructure_hook_func(lambda cls: cls is Any, _plain)
    made.register_unstructure_hook_factory(attrs.has, _class_writer)
    return made


def _is_literal(cls: Any) -> bool:
    return get_origin(cls) is Literal


def _is_union(cls: Any) -> bool:
    return get_origin(cls) in (Union, types.UnionType)


def _is_list(cls: Any) -> bool:
    return get_origin(cls) is list


def _is_tuple(cls: Any) -> bool:
    return get_origin(cls) is tuple


def _is_mapping(cls: Any) -> bool:
    return get_origin(cls) in (Mapping, dict)


def _literal_hook(cls: Any, _: Converter) -> Hook:
    choices = get_args(cls)
    return lambda value, _: scalars.one_of(value, choices)


def _union_hook(cls: Any, made: Converter) -> Hook:
    """Structure `X | None`, or a union of single values and at most one class by the type the value has.

    Only such a class can hold itself (a message in a message), so its depth is bounded here.
    """
    members = get_args(cls)
    some = tuple(member for member in members if member is not type(None))
    if len(some) == 1:
        hook = made.get_structure_hook(some[0])
        return lambda value, _: None if value is None else hook(value, some[0])
    classes = [member for member in members if attrs.has(member)]
    if len(classes) > 1 or not set(members) <= {str, bool, int, float, type(None), *classes}:
        raise TypeError(f"the codec does not know how to tell the members of {cls} apart")

    def structure(value: Any, _: Any) -> Any:
        if classes and isinstance(value, dict):
            if is_too_deep(value):
                raise Problems(("", TOO_DEEP))
            return made.structure(value, classes[0])
        if type(value) not in members:
            kinds = joined(map(_kind, members), ", ")
            raise Problems(("", N_("expected one of {kinds}, got {kind}", kinds=kinds, kind=kind_of(value))))
        return _SCALARS[type(value)](value, type(value))

    return structure


def _kind(cls: Any) -> Text:
    return kind_of({} if attrs.has(cls) else cls())


def _list_hook(cls: Any, made: Converter) -> Hook:
    (item,) = get_args(cls)
    hook = made.get_structure_hook(item)
    return lambda value, _: _items(value, hook, item)


def _tuple_hook(cls: Any, made: Converter) -> Hook:
    members = get_args(cls)
    if len(members) == 2 and members[1] is Ellipsis:  # noqa: PLR2004 - `tuple[X, ...]`
        hook = made.get_structure_hook(members[0])
        return lambda value, _: tuple(_items(value, hook, members[0]))
    hooks = [made.get_structure_hook(member) for member in members]

    def structure(value: Any, _: Any) -> tuple[Any, ...]:
        if type(value) in (list, tuple) and len(value) != len(members):
            raise Problems(("", N_("expected {n} entries, got {found}", n=len(members), found=len(value))))
        pairs = iter(zip(hooks, members, strict=True))
        return tuple(_items(value, lambda item, _: _call(next(pairs), item), None))

    return structure


def _call(pair: tuple[Hook, Any], item: Any) -> Any:
    hook, cls = pair
    return hook(item, cls)


def _items(value: Any, hook: Hook, cls: Any) -> list[Any]:
    if type(value) not in (list, tuple):
        raise Problems(("", N_("expected a list, got {kind}", kind=kind_of(value))))
    found: list[Problem] = []
    made = []
    for index, item in enumerate(value):
        try:
            made.append(hook(item, cls))
        except Problems as problems:
            found += problems.at(f"[{index}]")
    if found:
        raise Problems(*found)
    return made


def _mapping_hook(cls: Any, made: Converter) -> Hook:
    _, item_cls = get_args(cls)
    if item_cls is Any:
        return lambda value, _: dict(check_json(_object(value)))
    hook = made.get_structure_hook(item_cls)

    def structure(value: Any, _: Any) -> dict[str, Any]:
        found: list[Problem] = []
        result = {}
        for key, item in _object(value).items():
            try:
                result[scalars.to_str(key)] = hook(item, item_cls)
            except Problems as problems:
                found += problems.at(step(key))
        if found:
            raise Problems(*found)
        return result

    return structure


def _object(value: Any) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise Problems(("", N_("expected an object, got {kind}", kind=kind_of(value))))
    return value


def _class_hook(cls: Any, made: Converter) -> Hook:
    """Structure an attrs class by its fields; unknown ones are kept where it has `unknown_fields`, else refused.

    A message may also be given as plain words.
    """
    fields = [
        (field.name, made.get_structure_hook(field.type), field.type, field.default is attrs.NOTHING)
        for field in attrs.fields(attrs.resolve_types(cls))
        if field.name != UNKNOWN_FIELDS
    ]
    known = {name for name, *_ in fields}
    keeps = attrs.fields_dict(cls).get(UNKNOWN_FIELDS) is not None

    def structure(value: Any, _: Any) -> Any:
        if cls is Text and isinstance(value, str):
            return Text(scalars.to_str(value))
        _object(value)
        found: list[Problem] = []
        given: dict[str, Any] = {}
        for name, hook, field_cls, required in fields:
            if name in value:
                try:
                    given[name] = hook(value[name], field_cls)
                except Problems as problems:
                    found += problems.at(step(name))
            elif required:
                found.append((step(name), MISSING))
        if len(value) > len(known) or not value.keys() <= known:
            unknown = {key: item for key, item in value.items() if key not in known}
            found += _unknown_problems(unknown, keeps)
            given[UNKNOWN_FIELDS] = unknown
        if found:
            raise Problems(*found)
        return cls(**given)

    return structure


def _unknown_problems(unknown: dict[Any, Any], keeps: bool) -> list[Problem]:
    if not keeps:
        return [(step(key), N_("unknown field")) for key in unknown]
    try:
        check_json(unknown)
    except Problems as problems:
        return list(problems.found)
    return []


def _class_writer(cls: Any, made: Converter) -> Callable[[Any], dict[str, Any]]:
    """Write the fields in their order, then the unknown ones that were kept."""
    if UNKNOWN_FIELDS not in attrs.fields_dict(cls):
        return make_dict_unstructure_fn(cls, made)
    write = make_dict_unstructure_fn(cls, made, unknown_fields=override(omit=True))

    def unstructure(obj: Any) -> dict[str, Any]:
        value = write(obj)
        for key, item in obj.unknown_fields.items():
            value.setdefault(key, _plain(item))
        return value

    return unstructure


def _plain(value: Any) -> Any:
    """Copy a JSON value, so that the document shares nothing with the object."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value

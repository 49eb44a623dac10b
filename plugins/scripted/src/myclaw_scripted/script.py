"""The form of a script: replies that are played in order, read strictly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

from attrs import field, frozen

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_
from myclaw_core.runtime.model import ModelError
from myclaw_core.runtime.types import StopReason, Usage
from myclaw_core.types.canonical import canonical_json
from myclaw_core.types.text import Text, as_text, joined

__all__ = ["ScriptedCall", "ScriptedReply", "load_script"]

_REPLY_KEYS = ("text", "tool_calls", "stop_reason", "usage", "expect")
_CALL_KEYS = ("tool", "args")
_USAGE_KEYS = ("input_tokens", "cached_tokens", "output_tokens")


@frozen(kw_only=True)
class ScriptedCall:
    """One tool call of a reply."""

    tool: str
    args: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class ScriptedReply:
    """What the model answers once.

    Attributes:
        stop_reason: `tool_use` where there are calls, else `end_turn`, unless given.
        expect: Must occur in the last message of the request; empty accepts any.
    """

    text: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    stop_reason: StopReason | None = None
    usage: Usage = field(factory=Usage)
    expect: str = ""


def load_script(path: str) -> tuple[ScriptedReply, ...]:
    """Read a script: a JSON list of replies.

    Raises:
        ModelError: The file cannot be read or is not a script; says at which line or entry, and what.
    """
    try:
        replies = _list(json.loads(Path(path).read_text(encoding="utf-8")), N_("the file"))
        return tuple(_reply(reply, N_("entry {n}", n=number)) for number, reply in enumerate(replies, 1))
    except OSError as error:
        problem = N_("cannot be read: {reason}; check file in [scripted]", reason=str(error.strerror))
    except UnicodeDecodeError as error:
        problem = N_("byte {n} is not UTF-8 text", n=error.start)
    except json.JSONDecodeError as error:
        problem = N_("line {n} is not JSON: {reason}", n=error.lineno, reason=error.msg)
    except RecursionError:
        problem = N_("the file is nested too deeply")
    except UsageError as error:
        problem = error.text
    except ValueError as error:
        problem = as_text(str(error))
    raise ModelError(N_("script {path}: {problem}", path=path, problem=problem), "malformed")


def _reply(value: object, where: Text) -> ScriptedReply:
    reply = _object(value, where, _REPLY_KEYS)
    calls = _list(reply.get("tool_calls", []), _in(where, "tool_calls"))
    return ScriptedReply(
        text=_text(reply.get("text", ""), _in(where, "text")),
        tool_calls=tuple(
            _call(call, N_("{entry}, call {n}", entry=where, n=number)) for number, call in enumerate(calls, 1)
        ),
        stop_reason=_stop_reason(reply.get("stop_reason"), where),
        usage=_usage(reply.get("usage", {}), _in(where, "usage")),
        expect=_text(reply.get("expect", ""), _in(where, "expect")),
    )


def _call(value: object, where: Text) -> ScriptedCall:
    call = _object(value, where, _CALL_KEYS)
    tool = _text(call.get("tool", ""), _in(where, "tool"))
    if not tool:
        raise UsageError(N_("{where}: names no tool", where=where))
    in_args = _in(where, "args")
    args = _object(call.get("args", {}), in_args)
    try:
        canonical_json(args)
    except ValueError as error:
        raise UsageError(N_("{where}: {problem}", where=in_args, problem=str(error))) from error
    return ScriptedCall(tool=tool, args=args)


def _stop_reason(value: object, where: Text) -> StopReason | None:
    if value is not None and value not in get_args(StopReason):
        known = ", ".join(get_args(StopReason))
        raise UsageError(
            N_("{where}: unknown stop_reason {value}; known are {known}", where=where, value=repr(value), known=known)
        )
    return cast("StopReason | None", value)


def _usage(value: object, where: Text) -> Usage:
    counts = _object(value, where, _USAGE_KEYS)
    for key, count in counts.items():
        if type(count) is not int or count < 0:
            raise UsageError(N_("{where}: {key} must be a whole number of at least 0", where=where, key=key))
    return Usage(**counts)


def _object(value: object, where: Text, keys: Sequence[str] | None = None) -> dict[str, Any]:
    """Return `value` as an object with no keys but `keys`; with any where that is `None`."""
    if not isinstance(value, dict):
        raise UsageError(N_("{where}: must be an object", where=where))
    unknown = sorted(set(value) - set(keys)) if keys is not None else []
    if unknown:
        known = ", ".join(keys or ())
        raise UsageError(
            N_("{where}: unknown key {key}; known are {known}", where=where, key=repr(unknown[0]), known=known)
        )
    return value


def _list(value: object, where: Text) -> list[object]:
    if not isinstance(value, list):
        raise UsageError(N_("{where}: must be a list", where=where))
    return value


def _text(value: object, where: Text) -> str:
    if not isinstance(value, str):
        raise UsageError(N_("{where}: must be a text", where=where))
    return value


def _in(where: Text, key: str) -> Text:
    return joined((where, key), ", ")

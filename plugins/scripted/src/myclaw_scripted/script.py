"""The form of a script: replies that are played in order, read strictly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

from attrs import field, frozen

from myclaw_core.runtime.model import ModelError
from myclaw_core.runtime.types import StopReason, Usage
from myclaw_core.types.canonical import canonical_json

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
        replies = _list(json.loads(Path(path).read_text(encoding="utf-8")), "the file")
        return tuple(_reply(reply, f"entry {number}") for number, reply in enumerate(replies, 1))
    except OSError as error:
        problem = f"cannot be read: {error.strerror}; check file in [scripted]"
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} is not UTF-8 text"
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno} is not JSON: {error.msg}"
    except RecursionError:
        problem = "the file is nested too deeply"
    except ValueError as error:
        problem = str(error)
    raise ModelError(f"script {path}: {problem}", "malformed")


def _reply(value: object, where: str) -> ScriptedReply:
    reply = _object(value, where, _REPLY_KEYS)
    calls = _list(reply.get("tool_calls", []), f"{where}, tool_calls")
    return ScriptedReply(
        text=_text(reply.get("text", ""), f"{where}, text"),
        tool_calls=tuple(_call(call, f"{where}, call {number}") for number, call in enumerate(calls, 1)),
        stop_reason=_stop_reason(reply.get("stop_reason"), where),
        usage=_usage(reply.get("usage", {}), f"{where}, usage"),
        expect=_text(reply.get("expect", ""), f"{where}, expect"),
    )


def _call(value: object, where: str) -> ScriptedCall:
    call = _object(value, where, _CALL_KEYS)
    tool = _text(call.get("tool", ""), f"{where}, tool")
    if not tool:
        raise ValueError(f"{where}: names no tool")
    args = _object(call.get("args", {}), f"{where}, args")
    try:
        canonical_json(args)
    except ValueError as error:
        raise ValueError(f"{where}, args: {error}") from error
    return ScriptedCall(tool=tool, args=args)


def _stop_reason(value: object, where: str) -> StopReason | None:
    if value is not None and value not in get_args(StopReason):
        raise ValueError(f"{where}: unknown stop_reason {value!r}; known are {', '.join(get_args(StopReason))}")
    return cast("StopReason | None", value)


def _usage(value: object, where: str) -> Usage:
    counts = _object(value, where, _USAGE_KEYS)
    for key, count in counts.items():
        if type(count) is not int or count < 0:
            raise ValueError(f"{where}: {key} must be a whole number of at least 0")
    return Usage(**counts)


def _object(value: object, where: str, keys: Sequence[str] | None = None) -> dict[str, Any]:
    """Return `value` as an object with no keys but `keys`; with any where that is `None`."""
    if not isinstance(value, dict):
        raise ValueError(f"{where}: must be an object")  # noqa: TRY004
    unknown = sorted(set(value) - set(keys)) if keys is not None else []
    if unknown:
        raise ValueError(f"{where}: unknown key {unknown[0]!r}; known are {', '.join(keys or ())}")
    return value


def _list(value: object, where: str) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"{where}: must be a list")  # noqa: TRY004
    return value


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{where}: must be a text")  # noqa: TRY004
    return value

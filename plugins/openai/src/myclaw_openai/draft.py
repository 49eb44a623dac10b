"""An answer as it grows: the pieces that a server sends, put together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import define, field

from myclaw_core.runtime.model import ModelReply
from myclaw_core.runtime.types import Message, StopReason, ToolCall, Usage
from myclaw_core.runtime.wire import call_arguments

__all__ = ["Draft"]

_ENDED_WELL = (None, "stop", "tool_calls", "function_call")
_CUT_SHORT: Mapping[str | None, StopReason] = {"length": "max_tokens", "content_filter": "refusal"}
_USABLE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every service takes back as the identifier of a call, whoever gave it."""


@define
class _CallDraft:
    id: str = ""
    name: str = ""
    arguments: str = ""


@define
class Draft:
    """An answer under way.

    Attributes:
        finish: Why the server says it ended; `None` as long as it says nothing.
    """

    finish: str | None = None
    _text: str = ""
    _has_choice: bool = False
    _is_refusal: bool = False
    _calls: list[_CallDraft] = field(factory=list)
    _open: dict[Any, _CallDraft] = field(factory=dict)
    _usage: Usage | None = None
    _model: str = ""

    def add(self, chunk: Mapping[str, Any]) -> str:
        """Add one chunk and return the text in it.

        Raises:
            AttributeError, LookupError, TypeError, ValueError: It does not have the form of a chunk.
        """
        self._model = self._model or str(chunk.get("model") or "")
        if counted := chunk.get("usage"):
            self._usage = _usage(counted)
        if not chunk.get("choices"):
            return ""
        choice = chunk["choices"][0]
        self._has_choice = True
        self.finish = _text(choice, "finish_reason") or self.finish
        return self._add_delta(choice.get("delta") or {})

    def reply(self, model: str, new_id: Callable[[], str]) -> ModelReply:
        """Return the whole answer.

        Args:
            model: The model that was asked for, in case the server names none.
            new_id: Makes an identifier for a call whose own cannot be used.

        Raises:
            ValueError: Something in it cannot be read.
        """
        if not self._has_choice:
            raise ValueError("it has no choices")
        calls = tuple(self._tool_calls(new_id))
        return ModelReply(
            message=Message(role="assistant", text=self._text, tool_calls=calls),
            stop_reason=self._stop_reason(has_calls=bool(calls)),
            usage=self._usage,
            model=self._model or model,
        )

    def _add_delta(self, delta: Mapping[str, Any]) -> str:
        piece = _text(delta, "content")
        if refusal := _text(delta, "refusal"):
            self._is_refusal = True
            piece += refusal
        for call in delta.get("tool_calls") or ():
            self._add_call(call)
        if function := delta.get("function_call"):  # the older form, one call at most
            self._add_call({"index": 0, "function": function})
        self._text += piece
        return piece

    def _add_call(self, delta: Mapping[str, Any]) -> None:
        function = delta.get("function") or {}
        name, call_id = _text(function, "name"), _text(delta, "id")
        call = self._call_at(delta.get("index"), call_id, name)
        call.id = call.id or call_id
        call.name = call.name or name
        call.arguments += _text(function, "arguments")

    def _call_at(self, index: object, call_id: str, name: str) -> _CallDraft:
        """Return the call that a piece belongs to.

        Some servers number all calls of an answer 0, or none of them: another identifier begins another call, and so
        does a name without a number.
        """
        call = self._open.get(index)
        is_other = call is not None and bool(call_id and call.id and call_id != call.id)
        if call is None or is_other or (index is None and name):
            call = self._open[index] = _CallDraft()
            self._calls.append(call)
        return call

    def _tool_calls(self, new_id: Callable[[], str]) -> Iterator[ToolCall]:
        used: set[str] = set()
        for call in self._calls:
            if self.finish in _CUT_SHORT and call is self._calls[-1] and not _is_whole(call):
                return  # the limit fell in the middle of the last call: the stop reason says so
            if not call.name:
                raise ValueError("a call names no tool")
            call_id = call.id if _USABLE_ID.fullmatch(call.id) and call.id not in used else new_id()
            used.add(call_id)
            yield ToolCall(id=call_id, tool=call.name, args=_arguments(call))

    def _stop_reason(self, *, has_calls: bool) -> StopReason:
        """Return why it ended; servers say `stop` where calls follow, and the other way round, so the calls decide."""
        if self.finish in _CUT_SHORT:
            return _CUT_SHORT[self.finish]
        if self.finish not in _ENDED_WELL:
            raise ValueError(f"unknown finish reason {self.finish!r}")
        if self._is_refusal:
            return "refusal"
        return "tool_use" if has_calls else "end_turn"


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name) or ""
    if not isinstance(value, str):
        raise TypeError(f"{name} is a {type(value).__name__} and no text")
    return value


def _is_whole(call: _CallDraft) -> bool:
    try:
        return bool(call.name and call.arguments and call_arguments(call.arguments) is not None)
    except ValueError:
        return False


def _arguments(call: _CallDraft) -> dict[str, Any]:
    try:
        return call_arguments(call.arguments) if call.arguments.strip() else {}
    except ValueError as error:
        raise ValueError(f"the arguments of {call.name!r} are not a JSON object: {error}") from error


def _usage(counted: Any) -> Usage | None:
    """Return the tokens, or `None` for counts that cannot be: no prompt is empty, and no cache holds more than it."""
    if not isinstance(counted, dict):
        return None
    details = counted.get("prompt_tokens_details")
    cached = (details.get("cached_tokens") if isinstance(details, dict) else None) or 0
    read, written = counted.get("prompt_tokens"), counted.get("completion_tokens")
    if type(read) is not int or type(written) is not int or type(cached) is not int:
        return None
    if read <= 0 or written < 0 or not 0 <= cached <= read:
        return None
    return Usage(input_tokens=read - cached, cached_tokens=cached, output_tokens=written)

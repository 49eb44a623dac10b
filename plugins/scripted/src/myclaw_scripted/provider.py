"""A provider that plays recorded replies: for tests, evaluation and the demo, without a network or a cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Self

from myclaw_core.messages import N_
from myclaw_core.runtime.model import ModelError, ModelReply, ModelRequest
from myclaw_core.runtime.types import Message, ToolCall
from myclaw_core.types.text import Text
from myclaw_scripted.script import ScriptedReply, load_script

__all__ = ["ScriptedProvider"]

_PIECES = 3
_MOST_SHOWN_CHARS = 80


class ScriptedProvider:
    """Plays one reply a call, in order; the calls in them are numbered `call-1`, `call-2` … over the whole script.

    Args:
        replies: What to play.
        path: The script's file, for error lines.
    """

    name = "scripted"
    free = True

    def __init__(self, replies: Sequence[ScriptedReply], *, path: str = "in memory") -> None:
        self._replies: Sequence[ScriptedReply] | None = replies
        self._path = path
        self._played = 0
        self._calls = 0

    @classmethod
    def from_file(cls, path: str) -> Self:
        """Return a provider that reads its script at first use; `missing` says why it cannot."""
        provider = cls((), path=path)
        provider._replies = None
        return provider

    def missing(self) -> Text | None:
        """Return one line on the script's file, or `None` when it can be played."""
        if self._replies is None and not self._path:
            return N_(
                "no script for the model provider 'scripted': set file in [scripted], or another provider in [agent]"
            )
        try:
            self._script()
        except ModelError as error:
            return error.text
        return None

    async def complete(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """Play the next reply and stream its text to `on_text` in a few pieces.

        Raises:
            ModelError: The script is over, cannot be read, or expected another message.
        """
        if line := self.missing():
            raise ModelError(line, "malformed")
        reply = self._next(request)
        for piece in _pieces(reply.text):
            on_text(piece)
        return ModelReply(
            message=Message(role="assistant", text=reply.text, tool_calls=tuple(self._numbered(reply))),
            stop_reason=reply.stop_reason or ("tool_use" if reply.tool_calls else "end_turn"),
            usage=reply.usage,
            model=request.model,
        )

    async def close(self) -> None:
        """Do nothing: nothing is held open."""

    def _script(self) -> Sequence[ScriptedReply]:
        if self._replies is None:
            self._replies = load_script(self._path)
        return self._replies

    def _next(self, request: ModelRequest) -> ScriptedReply:
        script = self._script()
        if self._played >= len(script):
            line = N_(
                "the script {path} has no reply left after {n}; add one, or ask less", path=self._path, n=len(script)
            )
            raise ModelError(line, "malformed")
        reply = script[self._played]
        last = request.messages[-1].text if request.messages else ""
        if reply.expect not in last:
            line = N_(
                "the script {path}, entry {n}, expects {wanted} in the last message: {found}",
                path=self._path,
                n=self._played + 1,
                wanted=repr(reply.expect),
                found=repr(_short(last)),
            )
            raise ModelError(line, "malformed")
        self._played += 1
        return reply

    def _numbered(self, reply: ScriptedReply) -> Iterator[ToolCall]:
        for call in reply.tool_calls:
            self._calls += 1
            yield ToolCall(id=f"call-{self._calls}", tool=call.tool, args=call.args)


def _pieces(text: str) -> list[str]:
    size = max(1, -(-len(text) // _PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]


def _short(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN_CHARS else text[: _MOST_SHOWN_CHARS - 1] + "…"

"""What a running neuron can reach: its `ctx`, as the host answers it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Protocol

from myclaw_core.errors import MyclawError
from myclaw_core.types.text import Text

__all__ = ["CtxError", "CtxErrorKind", "World"]

CtxErrorKind = Literal["denied", "undeclared", "missing", "failed", "quota"]


class CtxError(MyclawError):
    """Raised by a `World` when a call of a neuron is not done; the body sees it as an exception.

    Attributes:
        kind: `denied` becomes a `PermissionError`; `undeclared` an `UndeclaredSynapseError`, which is one too;
            `missing` a `FileNotFoundError`; `failed` an `OSError`; `quota` a `RuntimeError`.
    """

    def __init__(self, text: Text, kind: CtxErrorKind) -> None:
        self.kind: CtxErrorKind = kind
        super().__init__(text)


class World(Protocol):
    """Answers the calls of one run; each raises `CtxError` where it is not done.

    Cancelling the run cancels the call that is being answered.
    """

    def real_path(self, path: str) -> str:
        """Return the absolute path that capability patterns are compared with, links resolved where there are any."""
        ...

    async def read(self, path: str) -> bytes:
        """Return what a file holds."""
        ...

    async def write(self, path: str, content: bytes) -> None:
        """Let a file hold `content` from now on."""
        ...

    async def call(self, name: str, args: dict[str, Any]) -> Any:
        """Call a tool or a neuron; JSON values both ways.

        A neuron's output comes as it is, a tool's result as `{"text": …, "data": {…}}`.
        """
        ...

    async def fetch(self, url: str) -> str:
        """Return the text at a URL."""
        ...

    async def llm(self, prompt: str) -> str:
        """Return a model's answer."""
        ...

    def now(self) -> datetime:
        """Return the time, aware UTC."""
        ...

    def random(self) -> float:
        """Return a number in [0, 1)."""
        ...

    def log(self, text: str) -> None:
        """Take in a line for whoever looks at the run."""
        ...

    async def undeclared(self, name: str) -> None:
        """Note that the body called what its manifest does not name; nothing was called."""
        ...

"""What a model provider is: the contract that provider plugins fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from attrs import frozen

from myclaw_core.errors import MyclawError
from myclaw_core.runtime.types import Message, StopReason, Usage
from myclaw_core.types.text import Text

__all__ = ["ModelError", "ModelProvider", "ModelReply", "ModelRequest", "ToolSpec"]


@frozen(kw_only=True)
class ToolSpec:
    """A tool as a model sees it."""

    name: str
    description: str
    schema: Mapping[str, Any]


@frozen(kw_only=True)
class ModelRequest:
    """One call to a model, in the fixed order that provider caches need: system, tools, messages.

    Attributes:
        system: Role, laws and rules of this run.
        messages: History first, the new message and this turn's tool results last.
        max_output_tokens: Most tokens the answer may have.
        answer_schema: JSON schema of the whole answer, or `None` for free text. A provider that cannot hold a model to
            it leaves it out, so whoever asks checks the answer; bounds of numbers bind none, lists of words do.
    """

    model: str
    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    max_output_tokens: int
    answer_schema: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class ModelReply:
    """A model's whole answer.

    Attributes:
        message: Role `assistant`, its text and the calls it proposes.
        usage: The tokens as the provider counted them; `None` where it counted none, then the worst case is booked.
        model: The model that answered, as the provider names it.
    """

    message: Message
    stop_reason: StopReason
    usage: Usage | None
    model: str


class ModelError(MyclawError):
    """Raised when a model call failed for good (after the provider's own retries).

    Attributes:
        kind: `auth`, `rate`, `request` (refused before it began), `unreachable` (never arrived), `overloaded`,
            `timeout`, `connection` (broke off) or `malformed`.
    """

    exit_code = 3

    def __init__(
        self,
        message: Text | str,
        kind: Literal["auth", "rate", "request", "unreachable", "overloaded", "timeout", "connection", "malformed"],
    ) -> None:
        self.kind = kind
        super().__init__(message)

    @property
    def may_have_spent(self) -> bool:
        """Return whether the provider may charge for the call all the same."""
        return self.kind not in {"auth", "rate", "request", "unreachable"}


class ModelProvider(Protocol):
    """A way to reach models."""

    name: str
    free: bool
    """Whether calls cost nothing (a local or scripted model); otherwise the price table must know the model."""

    def missing(self) -> Text | None:
        """Return one line on what to set or install, or `None` when calls can be made."""
        ...

    async def complete(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """Call the model and stream its text to `on_text` as it comes.

        Raises:
            ModelError: The call failed for good; cancellation passes through untouched.
        """
        ...

    async def close(self) -> None:
        """Free connections; may be called twice."""
        ...

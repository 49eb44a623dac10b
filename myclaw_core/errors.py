"""Errors a person can act on: one line that says what, where and what to do."""

from __future__ import annotations

from collections.abc import Iterable

from myclaw_core.messages import N_
from myclaw_core.types.text import Text, as_text, joined

__all__ = [
    "CallStoppedError",
    "CodecError",
    "ConfigError",
    "EffectChangedError",
    "MyclawError",
    "NewerVersionError",
    "StoreError",
    "ToolFailure",
    "TrustCorruptionError",
    "UnavailableError",
    "UsageError",
]


class MyclawError(Exception):
    """Raised when something a person can mend went wrong; its text is one line for them.

    Attributes:
        exit_code: What the command line ends with (1 found problems, 2 usage, 3 unavailable).
        text: The line as a message, to be rendered in the person's language; `str` gives it in English.
    """

    exit_code = 1

    def __init__(self, message: Text | str = "") -> None:
        self.text = as_text(message)
        super().__init__(message)

    def __str__(self) -> str:
        """Return the line in English."""
        return str(self.text)


class UsageError(MyclawError):
    """Raised when a command or a document was given wrong."""

    exit_code = 2


class ConfigError(UsageError):
    """Raised when the configuration holds something that is not known or not valid.

    Attributes:
        problems: Every problem found; the text has each on a line of its own.
    """

    def __init__(self, *problems: Text | str) -> None:
        self.problems = tuple(map(as_text, problems))
        super().__init__(joined(problems, "\n"))


class CodecError(UsageError):
    """Raised when a document does not have the form its type demands.

    Attributes:
        problems: Every problem found, each `(path, message)` with a path such as `$.steps[0].ok`.
    """

    def __init__(self, where: Text | str, problems: Iterable[tuple[str, Text | str]]) -> None:
        self.problems = [(path, as_text(message)) for path, message in problems]
        told = (N_("{problem} at {path}", problem=message, path=path) for path, message in self.problems)
        super().__init__(N_("{where}: {problems}", where=where, problems=joined(told)))


class NewerVersionError(CodecError):
    """Raised when a document was written by a later major version; it is left as it is."""


class UnavailableError(MyclawError):
    """Raised when a part that the command needs is missing; the text says what to set or install."""

    exit_code = 3


class StoreError(MyclawError):
    """Raised when a store could not be read or written."""


class TrustCorruptionError(StoreError):
    """Raised when a stored trust blob fails its checksum or holds a value out of range (seed 000)."""


class EffectChangedError(MyclawError):
    """Raised when what an executor opened is not what the policy judged."""


class CallStoppedError(BaseException):
    """Raised inside a function that nobody waits for any more; a tool does not catch it, so that it ends at once."""


class ToolFailure(MyclawError):  # noqa: N818 - an answer to the model, not a fault
    """Raised by a tool that could not do what it was asked; the text goes to the model and the person.

    Attributes:
        retryable: Whether the same call may succeed later without a change.
        output: What came out before it failed, for the model to read besides the message.
    """

    def __init__(self, message: Text | str, *, retryable: bool = False, output: str = "") -> None:
        self.retryable = retryable
        self.output = output
        super().__init__(message)

"""Tries of a model call over HTTP: which failures may pass by themselves, and how long to wait before the next try."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from myclaw_core.clock import Clock
from myclaw_core.runtime.model import ModelError

__all__ = ["MAX_WAIT_S", "NotBegunError", "asked_wait_s", "begin", "is_passing"]

T = TypeVar("T")

MAX_WAIT_S = 60.0
"""A service that asks for a longer pause gets none: the person is told instead of left waiting."""

_FIRST_WAIT_S = 0.5
_LONGEST_BACK_OFF_S = 8.0
_PASSING = frozenset({408, 409, 429})
_SERVER_ERROR = 500


class NotBegunError(Exception):
    """Raised by one try of a call whose answer did not begin.

    Attributes:
        error: What the person is told where no further try is made.
        is_passing: Whether another try may help.
        asked_wait_s: Seconds the service asks to wait; `None` where it asks for nothing.
    """

    def __init__(self, error: ModelError, *, is_passing: bool, asked_wait_s: float | None = None) -> None:
        self.error = error
        self.is_passing = is_passing
        self.asked_wait_s = asked_wait_s
        super().__init__(str(error))


async def begin(attempt: Callable[[], Awaitable[T]], *, clock: Clock, max_retries: int) -> T:
    """Return what `attempt` returns, repeated as long as that may help.

    Between two tries lies the pause that the service asks for, else 0.5 s doubled with each try, at most 8 s.

    Args:
        attempt: One try; it raises `NotBegunError` where the answer did not begin, and all else passes through.
        clock: Does the waiting.
        max_retries: How often a try is repeated.

    Raises:
        ModelError: The last try failed.
    """
    tries = 0
    while True:
        try:
            return await attempt()
        except NotBegunError as failed:
            wait_s = _wait_s(failed, tries)
            if wait_s is None or tries >= max_retries:
                raise failed.error from failed
        await clock.sleep(wait_s)
        tries += 1


def is_passing(status: int, headers: Mapping[str, str]) -> bool:
    """Return whether a refusal may pass by itself; where the service says so it is right."""
    told = headers.get("x-should-retry")
    return told == "true" if told in {"true", "false"} else status in _PASSING or status >= _SERVER_ERROR


def asked_wait_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds in `retry-after`, or `None`; a date there is not read."""
    try:
        wait_s = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return wait_s if wait_s >= 0 else None


def _wait_s(failed: NotBegunError, tries: int) -> float | None:
    if not failed.is_passing:
        return None
    if failed.asked_wait_s is not None:
        return failed.asked_wait_s if failed.asked_wait_s <= MAX_WAIT_S else None
    return min(_FIRST_WAIT_S * 2.0 ** min(tries, 10), _LONGEST_BACK_OFF_S)

"""Notices a turn that goes in circles: the same failing call three times, or the same sequence twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["LoopDetector"]

FAILING_REPEATS = 3


class _Seen(NamedTuple):
    call: str
    result: str
    failed: bool


class LoopDetector:
    """Remembers the calls of one turn with digests of their results."""

    def __init__(self) -> None:
        self._seen: list[_Seen] = []

    def observe(self, call_digest: str, result_digest: str, *, failed: bool) -> Text | None:
        """Add one call and return what repeats, or `None`.

        Args:
            call_digest: Digest of tool and arguments.
            result_digest: Digest of what came back.
            failed: Whether it failed.
        """
        self._seen.append(_Seen(call_digest, result_digest, failed))
        if failed and self._failures_in_a_row() >= FAILING_REPEATS:
            return N_("the same call failed {n} times", n=FAILING_REPEATS)
        if length := _repeated_tail(self._seen):
            return N_("the same {n} calls gave the same results twice", n=length)
        return None

    def _failures_in_a_row(self) -> int:
        last = self._seen[-1]
        count = 0
        for seen in reversed(self._seen):
            if not seen.failed or seen.call != last.call:
                break
            count += 1
        return count


def _repeated_tail(seen: Sequence[_Seen]) -> int:
    """Return the length (two or more) of a sequence that stands twice in a row at the end, else 0."""
    for length in range(2, len(seen) // 2 + 1):
        if seen[-length:] == seen[-2 * length : -length] and len(set(seen[-length:])) > 1:
            return length
    return 0

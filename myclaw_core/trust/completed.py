"""Which subjects run by themselves from now on, told before they do it for the first time."""

from __future__ import annotations

from datetime import datetime

from myclaw_core.messages import N_
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.conditions import best_of, outlook
from myclaw_core.trust.thresholds import Thresholds
from myclaw_core.types.text import Text

__all__ = ["completed"]


async def completed(book: TrustBook, thresholds: Thresholds, *, since: datetime, now: datetime) -> list[Text]:
    """Return one line, with its back-test, for each subject that was asked about since and now meets all conditions.

    Args:
        since: When this was told last.
        now: The moment.

    Raises:
        StoreError: The record cannot be read.
    """
    await book.checked()  # until then nothing meets all conditions, and it is told once only
    lines = []
    for subject in book.subjects():
        state = book.state(subject)
        if state is None or state.unasked or state.last_asked is None or state.last_asked <= since:
            continue
        found = outlook(subject, book, thresholds, now)
        if found is not None and found.promotion.promoted:
            test = await book.backtest(subject, found.threshold, best_of(subject))
            told = N_("{subject} runs by itself from now on: {backtest}", subject=" ".join(subject), backtest=test.text)
            lines.append(told)
    return lines

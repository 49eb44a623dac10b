"""Faded scores of what is not used any more, kept beside the record for whoever reads the store without this program.

Nothing here reads them: a score is faded anew whenever it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.stamp import stamp
from myclaw_core.trust.store import TrustBackend
from myclaw_core.trust.subject import RUNTIME_ACTOR, subject_hash
from myclaw_core.types.canonical import canonical_json
from myclaw_core.types.trust import TrustSubject

__all__ = ["UNUSED_DAYS", "keep_faded", "unused"]

UNUSED_DAYS = 30
_KEY = "faded"


async def keep_faded(book: TrustBook, backend: TrustBackend, now: datetime) -> None:
    """Write the scores at `now` of all that was not used for `UNUSED_DAYS`, in place of the earlier ones.

    Raises:
        StoreError: The store cannot be written; the earlier ones stay.
    """
    scores = {
        subject_hash(subject): view.score
        for subject in unused(book, until=now)
        if (view := book.view(subject, now)) is not None
    }
    async with backend.transaction() as tx:
        await tx.put_meta(_KEY, canonical_json({"last_decay_at": stamp(now), "scores": scores}))


def unused(book: TrustBook, *, until: datetime, since: datetime | None = None) -> Iterator[TrustSubject]:
    """Yield the subjects that have not been used for `UNUSED_DAYS` at `until`.

    Args:
        since: Only those for which that came true since then.
    """
    days = timedelta(days=UNUSED_DAYS)
    for subject in book.subjects():
        state = book.state(subject)
        if subject[0] == RUNTIME_ACTOR or state is None or state.last_updated is None:
            continue
        if (since is None or since - days <= state.last_updated) and state.last_updated < until - days:
            yield subject

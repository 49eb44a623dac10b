"""What all rows of the trust store say in sum, so that a read that misses some of them is noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attrs import define, field

from myclaw_core.trust.happenings import Rollback
from myclaw_core.trust.rows import read_row
from myclaw_core.trust.store import TrustRow
from myclaw_core.trust.subject import parent_of, subject_hash
from myclaw_core.types.trust import TrustSubject

__all__ = ["Census"]


@define
class Census:
    """Counts rows by the hash of their subject.

    Attributes:
        subjects: Every subject that has a row, by its hash.
        rows: Rows of each.
        rollbacks: Rollbacks among them.
        applied_seq: How far the event log had been applied when the newest rollback was ordered.
    """

    subjects: dict[str, TrustSubject] = field(factory=dict)
    rows: Counter[str] = field(factory=Counter)
    rollbacks: Counter[str] = field(factory=Counter)
    applied_seq: int = 0

    def take(self, row: TrustRow) -> None:
        """Count one row.

        Raises:
            TrustCorruptionError: It is malformed.
        """
        if row.subject_hash not in self.subjects:
            self.subjects[row.subject_hash] = read_row(row).subject
        self.rows[row.subject_hash] += 1
        if row.kind == Rollback.kind:
            rollback = read_row(row)
            self.rollbacks[row.subject_hash] += 1
            if isinstance(rollback, Rollback):
                self.applied_seq = max(self.applied_seq, rollback.applied_seq)

    def attempt(self, subject: TrustSubject) -> int:
        """Return how often rows of `subject` were rolled back."""
        return self.rollbacks[subject_hash(subject)]

    def everyone(self) -> set[TrustSubject]:
        """Return every subject and parent that the rows speak of."""
        subjects = self.subjects.values()
        return {*subjects, *(parent for subject in subjects if (parent := parent_of(subject)) is not None)}

    def misses(self, hashes: Sequence[str], found: int) -> bool:
        """Return whether the subjects of these hashes have another number of rows than were `found`."""
        return found != sum(self.rows[one] for one in hashes)

"""What all rows of the trust store say in sum, so that a read that misses some of them is noticed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import define, field

from myclaw_core.trust.happenings import Rollback
from myclaw_core.trust.rows import KINDS, read_row
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
        macs: Their macs, added up without carry: of other rows they give another sum.
        rollbacks: Rollbacks among them.
        applied_seq: How far the event log had been applied when the newest rollback was ordered.
    """

    subjects: dict[str, TrustSubject] = field(factory=dict)
    rows: Counter[str] = field(factory=Counter)
    macs: dict[str, int] = field(factory=lambda: defaultdict(int))
    rollbacks: Counter[str] = field(factory=Counter)
    applied_seq: int = 0

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Census:
        """Return the census that `content` wrote."""
        census = cls(applied_seq=int(content["applied_seq"]))
        for actor, effect_class, rows, macs, rollbacks in content["subjects"]:
            subject = (str(actor), str(effect_class))
            one = subject_hash(subject)
            census.subjects[one] = subject
            census.rows[one], census.macs[one], census.rollbacks[one] = int(rows), int(macs, 16), int(rollbacks)
        return census

    def content(self) -> dict[str, Any]:
        """Return what was counted as JSON values."""
        return {
            "applied_seq": self.applied_seq,
            "subjects": [
                [*subject, self.rows[one], f"{self.macs[one]:x}", self.rollbacks[one]]
                for one, subject in self.subjects.items()
            ],
        }

    def take(self, row: TrustRow) -> None:
        """Count one row.

        Raises:
            TrustCorruptionError: It is malformed, or of a kind that only a later version knows.
        """
        if row.subject_hash not in self.subjects or row.kind not in KINDS:
            self.subjects[row.subject_hash] = read_row(row).subject
        self.rows[row.subject_hash] += 1
        self.macs[row.subject_hash] ^= _number(row)
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

    def holds(self, hashes: Iterable[str], found: Sequence[TrustRow]) -> bool:
        """Return whether `found` are all rows of the subjects of these hashes, and no others."""
        rows, macs = 0, 0
        for one in hashes:
            rows += self.rows[one]
            macs ^= self.macs.get(one, 0)
        for row in found:
            macs ^= _number(row)
        return rows == len(found) and macs == 0


def _number(row: TrustRow) -> int:
    return int.from_bytes(row.mac, "big")

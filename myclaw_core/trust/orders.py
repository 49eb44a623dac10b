"""What a person orders about trust: recorded in the event log, then followed like everything else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from myclaw_core.clock import Clock
from myclaw_core.errors import UsageError
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import TrustChange, TrustChanged
from myclaw_core.messages import N_
from myclaw_core.trust.book import TrustBook
from myclaw_core.trust.follower import TrustFollower
from myclaw_core.trust.subject import invocation_of, subjects_fitting
from myclaw_core.types.trust import TrustSubject

__all__ = ["TrustOrders", "birth_order"]

Subjects = tuple[TrustSubject, ...]


def birth_order(order_id: UUID, neuron: str, reward: float, *, body: str, sender: str) -> TrustChanged:
    """Return the order that lets a neuron begin with a score, for whoever records it together with something else.

    Raises:
        ValueError: `reward` is not in [0, 1].
    """
    if not 0.0 <= reward <= 1.0:
        raise ValueError(f"a reward of {reward} is not in [0, 1]")
    subjects = (invocation_of(neuron),)
    return TrustChanged(trace_id=order_id, sender=sender, change="birth", subjects=subjects, reward=reward, body=body)


class TrustOrders:
    """Orders about subjects, by `ACTOR [CLASS]` or `CLASS`, each possibly cut short.

    Whatever becomes of the trust store, an order is not lost: it lies in the event log.

    Args:
        log: The event log.
        book: What is ordered about.
        follower: Lets the book follow the log.
        clock: Gives identifiers.
    """

    def __init__(self, log: EventLog, book: TrustBook, follower: TrustFollower, clock: Clock) -> None:
        self._log = log
        self._book = book
        self._follower = follower
        self._clock = clock

    def meant(self, which: str) -> Subjects:
        """Return the subjects that `which` names.

        Raises:
            UsageError: It names none that has a history.
        """
        found = subjects_fitting(which, self._book.subjects())
        if not found:
            raise UsageError(N_("no subject '{subject}' has any history; see 'myclaw trust list'", subject=which))
        return tuple(found)

    def taken_away(self, which: str) -> Subjects:
        """Return the subjects of `which` whose trust was taken away, or that are asked about whatever they earn.

        Raises:
            UsageError: `which` names none that has a history.
        """
        states = ((subject, self._book.state(subject)) for subject in self.meant(which))
        return tuple(subject for subject, state in states if state is not None and (state.revoked or state.held))

    async def revoke(self, which: str, *, sender: str) -> Subjects:
        """Reset score, samples and known destinations; return whose.

        They ask again until restored, or until they have earned as many new samples as their threshold demands.

        Raises:
            UsageError: Nothing of that name has a history.
            StoreError: The order cannot be recorded or followed.
        """
        return await self._order("revoke", self.meant(which), sender)

    async def restore(self, which: str, *, sender: str) -> Subjects:
        """Take back every `revoke` and `keep_asking`; return of whom. What was earned before counts again.

        Raises:
            UsageError: Nothing of that name has a history.
            StoreError: The order cannot be recorded or followed.
        """
        return await self._order("restore", self.meant(which), sender)

    async def keep_asking(self, subjects: Iterable[TrustSubject], *, sender: str) -> Subjects:
        """Ask about these subjects, whatever they have earned and will earn, until they are restored.

        Raises:
            StoreError: The order cannot be recorded or followed.
        """
        return await self._order("hold", tuple(subjects), sender)

    async def rollback(self, which: str, to: datetime, *, sender: str) -> Subjects:
        """Bring subjects back to how they stood before `to`; return which.

        Raises:
            UsageError: Nothing of that name has a history, or `to` has no time zone or lies in the future.
            StoreError: The order cannot be recorded or followed.
        """
        if to.tzinfo is None:
            raise UsageError(N_("the moment {moment} needs its time zone, such as Z", moment=to.isoformat()))
        if to > self._clock.now():
            raise UsageError(N_("the moment {moment} lies in the future", moment=to.isoformat()))
        return await self._order("rollback", self.meant(which), sender, to=to)

    async def birth(self, neuron: str, reward: float, *, body: str, sender: str) -> Subjects:
        """Let a neuron begin with the score R of its synthesis, also again with another body.

        Args:
            neuron: Its name.
            reward: R, in [0, 1].
            body: Hash of its body, as its steps will give it.

        Raises:
            ValueError: R is not in [0, 1].
            StoreError: The birth cannot be recorded or followed.
        """
        return await self._recorded(birth_order(self._clock.new_id(), neuron, reward, body=body, sender=sender))

    async def _order(
        self,
        change: TrustChange,
        subjects: Sequence[TrustSubject],
        sender: str,
        *,
        to: datetime | None = None,
    ) -> Subjects:
        event = TrustChanged(
            trace_id=self._clock.new_id(), sender=sender, change=change, subjects=tuple(subjects), to=to
        )
        return await self._recorded(event)

    async def _recorded(self, event: TrustChanged) -> Subjects:
        async with self._log.transaction() as tx:
            await tx.append(event)
        await self._follower.catch_up()
        return event.subjects

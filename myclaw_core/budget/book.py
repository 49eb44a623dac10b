"""The ledger's records: what each day spent and on what, and the worst cases set aside for what is under way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from attrs import evolve, field, frozen

from myclaw_core import codec
from myclaw_core.budget.account import Account
from myclaw_core.events.log import LogTransaction
from myclaw_core.messages import N_
from myclaw_core.runtime.types import Usage

__all__ = ["DayBook", "Entry", "Hold", "Records", "add_hold", "holds", "load_day", "save_day", "spend", "take_hold"]

_KIND = "budget"


class Records(Protocol):
    """What records are read from: a transaction, or the log for what is committed."""

    async def get(self, kind: str, key: str) -> bytes | None:
        """Return one record."""
        ...

    async def scan(self, kind: str, prefix: str = "") -> Sequence[tuple[str, bytes]]:
        """Return the records of `kind` whose key starts with `prefix`, by key."""
        ...


@frozen(kw_only=True)
class Entry:
    """What was booked on one account of a day.

    Attributes:
        calls: How many calls or actions, failed ones included.
        input_tokens: Fresh tokens in, as far as they were counted; `cached_tokens` and `output_tokens` likewise.
        spent: Millionths of a euro.
    """

    account: Account
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    spent: int = 0
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    def plus(self, usage: Usage, amount: int) -> Entry:
        """Return the entry with one more call."""
        return evolve(
            self,
            calls=self.calls + 1,
            input_tokens=self.input_tokens + usage.input_tokens,
            cached_tokens=self.cached_tokens + usage.cached_tokens,
            output_tokens=self.output_tokens + usage.output_tokens,
            spent=self.spent + amount,
        )


@frozen(kw_only=True)
class DayBook:
    """What was spent on one local date. Each date has one book for ever: a clock set back opens the old one again.

    Attributes:
        day: The date, ISO-8601.
        spent: Millionths of a euro.
        told: Caps whose notice was given.
        entries: The same by account; less than `spent` where an earlier version booked without.
    """

    day: str
    spent: int = 0
    told: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    def plus(self, account: Account, usage: Usage, amount: int) -> DayBook:
        """Return the book with one more call or action."""
        at = next((at for at, entry in enumerate(self.entries) if entry.account == account), len(self.entries))
        entry = self.entries[at] if at < len(self.entries) else Entry(account=account)
        entries = (*self.entries[:at], entry.plus(usage, amount), *self.entries[at + 1 :])
        return evolve(self, spent=self.spent + amount, entries=entries)


@frozen(kw_only=True)
class Hold:
    """A worst case set aside.

    Attributes:
        call_id: The model call, or what an action that spends was given as its id here.
        day: The date it will be booked on.
        amount: Millionths of a euro.
        owner: The process that makes the call or runs the action.
        account: Where it will be booked.
    """

    call_id: UUID
    day: str
    amount: int
    owner: str
    account: Account = field(factory=Account)
    unknown_fields: Mapping[str, Any] = field(factory=dict)


async def load_day(records: Records, day: str) -> DayBook:
    """Return the book of one date."""
    key = f"day:{day}"
    record = await records.get(_KIND, key)
    return DayBook(day=day) if record is None else codec.loads(DayBook, record, N_("budget record {key}", key=key))


async def save_day(tx: LogTransaction, book: DayBook) -> None:
    """Write the book of one date."""
    await tx.put(_KIND, f"day:{book.day}", codec.dumps(book))


async def spend(tx: LogTransaction, day: str, account: Account, usage: Usage, amount: int) -> DayBook:
    """Add one call or action to a date and return its book.

    Args:
        amount: Millionths of a euro.
    """
    book = (await load_day(tx, day)).plus(account, usage, amount)
    await save_day(tx, book)
    return book


async def holds(records: Records) -> list[Hold]:
    """Return every worst case that is set aside."""
    return [
        codec.loads(Hold, record, N_("budget record {key}", key=key))
        for key, record in await records.scan(_KIND, "hold:")
    ]


async def add_hold(tx: LogTransaction, hold: Hold) -> None:
    """Set a worst case aside."""
    await tx.put(_KIND, f"hold:{hold.call_id}", codec.dumps(hold))


async def take_hold(tx: LogTransaction, call_id: UUID) -> Hold | None:
    """Release what was set aside and return it; `None` where there is nothing."""
    key = f"hold:{call_id}"
    record = await tx.get(_KIND, key)
    if record is None:
        return None
    await tx.delete(_KIND, key)
    return codec.loads(Hold, record, N_("budget record {key}", key=key))

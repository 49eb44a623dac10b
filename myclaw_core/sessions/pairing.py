"""Who is served on a messenger: people are paired by a code that was made on this machine, and taken out again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import field, frozen

from myclaw_core import codec
from myclaw_core.approval.served import TAKEN_OUT_KIND
from myclaw_core.clock import Clock
from myclaw_core.errors import CodecError, UsageError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.events.types import PairingChanged
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.runtime.storable import storable_text
from myclaw_core.sessions.codes import PairCode, new_code, read_code, typed_code
from myclaw_core.sessions.strangers import Strangers, count_stranger, read_strangers

__all__ = ["PairedSender", "Pairing"]

_PAIR_KIND = "pair"
_CODE_KIND = "pair_code"
_STRANGERS_KIND = "strangers"
_NAME_CHARS = 80


@frozen(kw_only=True)
class PairedSender:
    """Somebody who is served.

    Attributes:
        sender: As the service identifies them.
        name: What they called themselves when they were paired; only shown.
    """

    sender: str
    messenger: str
    name: str
    paired_at: datetime
    unknown_fields: Mapping[str, Any] = field(factory=dict)


class Pairing:
    """The people who are served, in the core database: another process sees a change at once.

    Args:
        log: The event log.
        clock: Time and unguessable tokens.
    """

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    async def offer(self, messenger: str, by: str) -> tuple[str, datetime]:
        """Make a code, in place of one that is open, and return it with the moment at which it ends.

        Args:
            by: Who asks for it, at this machine.

        Raises:
            StoreError: It could not be recorded; no code is open then but the one of before.
        """
        code, kept = new_code(self._clock)
        async with self._log.transaction() as tx:
            await tx.put(_CODE_KIND, messenger, codec.dumps(kept))
            await tx.append(PairingChanged(messenger=messenger, change="offered", sender=by))
        return code, kept.ends_at

    async def try_code(self, messenger: str, sender: str, code: str, name: str) -> bool:
        """Try a code that somebody sent and return whether they are paired now; of two at once one is.

        Args:
            sender: As the service identifies them, `<messenger>:…`.
            name: What they call themselves; only shown.

        Raises:
            StoreError: The answer could not be recorded; nobody was paired.
        """
        if not _belongs(messenger, sender):
            return False
        typed = typed_code(code)
        name = _shown(name)
        async with self._log.transaction() as tx:
            if await _pair(tx, sender) is not None:
                return True
            kept = read_code(await tx.get(_CODE_KIND, messenger), self._clock.now())
            if kept.matches(typed) and kept.admits(sender):
                await tx.delete(_CODE_KIND, messenger)
                pair = PairedSender(sender=sender, messenger=messenger, name=name, paired_at=self._clock.now())
                await tx.put(_PAIR_KIND, sender, codec.dumps(pair))
                await tx.delete(TAKEN_OUT_KIND, sender)
                await tx.append(PairingChanged(messenger=messenger, change="paired", sender=sender, name=name))
                return True
            await self._count(tx, messenger, sender, "code")
            if typed:
                await _book_try(tx, messenger, kept.tried_by(sender), sender, name)
        return False

    async def is_paired(self, messenger: str, sender: str) -> bool:
        """Return whether `sender` is served on `messenger` now; a record that cannot be read serves nobody."""
        raw = await self._log.get(_PAIR_KIND, sender) if _belongs(messenger, sender) else None
        return (pair := _read(raw)) is not None and (pair.messenger, pair.sender) == (messenger, sender)

    async def pairs(self, messenger: str = "") -> Sequence[PairedSender]:
        """Return who is served, on one messenger or on all of them, by sender."""
        found = [_read(raw) for _, raw in await self._log.scan(_PAIR_KIND, f"{messenger}:" if messenger else "")]
        return [pair for pair in found if pair is not None]

    async def end(self, sender: str) -> PairedSender:
        """Serve somebody no more and return who it was; what runs for them does nothing any more.

        Raises:
            UsageError: They are not paired.
            StoreError: It could not be recorded; they are still served.
        """
        async with self._log.transaction() as tx:
            raw = await tx.get(_PAIR_KIND, sender)
            if raw is None:
                raise UsageError(
                    N_("{sender} is not paired; 'myclaw pair list' shows who is", sender=visible(sender[:_NAME_CHARS]))
                )
            messenger = sender.partition(":")[0]
            pair = _read(raw) or PairedSender(sender=sender, messenger=messenger, name="", paired_at=self._clock.now())
            await tx.delete(_PAIR_KIND, sender)
            await tx.put(TAKEN_OUT_KIND, sender, b"")
            await tx.append(PairingChanged(messenger=messenger, change="ended", sender=sender, name=pair.name))
        return pair

    async def turned_away(self, messenger: str, sender: str, what: str) -> None:
        """Count something of somebody that was ignored.

        Raises:
            StoreError: It could not be counted.
        """
        async with self._log.transaction() as tx:
            await self._count(tx, messenger, sender, what)

    async def strangers(self, messenger: str) -> Strangers:
        """Return what was ignored on a messenger so far."""
        return read_strangers(await self._log.get(_STRANGERS_KIND, messenger))

    async def strangers_of_all(self) -> Sequence[tuple[str, Strangers]]:
        """Return what was ignored so far, by messenger."""
        return [(name, read_strangers(raw)) for name, raw in await self._log.scan(_STRANGERS_KIND)]

    async def _count(self, tx: LogTransaction, messenger: str, sender: str, what: str) -> None:
        known = read_strangers(await tx.get(_STRANGERS_KIND, messenger))
        counted = count_stranger(known, _shown(sender), _shown(what), self._clock.now())
        await tx.put(_STRANGERS_KIND, messenger, codec.dumps(counted))


async def _book_try(tx: LogTransaction, messenger: str, kept: PairCode, sender: str, name: str) -> None:
    """Keep what is left of a code, or forget it once it was tried too often."""
    if not kept.is_open:
        return
    if kept.tries_left:
        await tx.put(_CODE_KIND, messenger, codec.dumps(kept))
        return
    await tx.delete(_CODE_KIND, messenger)
    await tx.append(PairingChanged(messenger=messenger, change="void", sender=_shown(sender), name=name))


async def _pair(tx: LogTransaction, sender: str) -> PairedSender | None:
    return _read(await tx.get(_PAIR_KIND, sender))


def _read(raw: bytes | None) -> PairedSender | None:
    """Return who a record speaks of; nobody where there is none, or it cannot be read."""
    try:
        return None if raw is None else codec.loads(PairedSender, raw, N_("a paired sender"))
    except CodecError:
        return None


def _belongs(messenger: str, sender: str) -> bool:
    """Return whether a sender is one of this messenger's own: none can pass for somebody of another channel."""
    return sender.startswith(f"{messenger}:") and len(sender) <= _NAME_CHARS and sender.isprintable()


def _shown(text: str) -> str:
    """Return what somebody calls themselves as a short text that can be shown anywhere."""
    return visible(storable_text(text[:_NAME_CHARS]))[:_NAME_CHARS]

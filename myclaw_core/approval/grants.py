"""The yes that holds for later questions: similar actions for a while, or exactly one call for good.

The policy asks a copy in memory, which follows the events of this process; what counts are the shared records, read and
changed in the transaction of the intent, so that a grant that was ended or used up elsewhere covers nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import timedelta
from uuid import UUID

from attrs import evolve

from myclaw_core import codec
from myclaw_core.approval.steady import SteadyTime
from myclaw_core.approval.types import ApprovalRequest, Grant, GrantEnding, Reach
from myclaw_core.clock import Clock, local_zone
from myclaw_core.errors import CodecError, MyclawError
from myclaw_core.events.log import LogTransaction
from myclaw_core.events.types import Event, GrantEnded, GrantGiven, StepIntended
from myclaw_core.messages import N_
from myclaw_core.policy.ports import Granted
from myclaw_core.policy.shell import is_opaque
from myclaw_core.process import this_boot
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.canonical import digest_of
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text

__all__ = ["GRANT_KIND", "GrantBook", "GrantEndedError", "covers", "is_similar", "new_grant", "read_grant", "told"]

GRANT_KIND = "grant"
"""Kind of the records that keep the grants."""

_SPANS: dict[Reach, timedelta] = {"10_min": timedelta(minutes=10), "30_min": timedelta(minutes=30)}
_TIMES = 3

_log = logging.getLogger("myclaw.approval")


class GrantEndedError(MyclawError):
    """Raised when a grant that an action rests on covers nothing any more."""


class GrantBook:
    """The grants of all senders.

    Args:
        clock: Time; a clock that is set back extends no grant.
    """

    def __init__(self, clock: Clock) -> None:
        self._time = SteadyTime(clock)
        self._grants: dict[UUID, Grant] = {}

    @property
    def time(self) -> SteadyTime:
        """Return the time that decides when a grant is over."""
        return self._time

    def load(self, records: Iterable[tuple[str, bytes]]) -> None:
        """Take over the stored records in place of what is in memory; one that cannot be read grants nothing."""
        grants = filter(None, (read_grant(key, value) for key, value in records))
        self._grants = {grant.id: grant for grant in grants}

    def on_event(self, event: Event) -> None:
        """Follow what was committed in this process."""
        if isinstance(event, GrantGiven):
            self._grants[event.grant.id] = event.grant
        elif isinstance(event, GrantEnded):
            self._grants.pop(event.grant_id, None)
        elif isinstance(event, StepIntended):
            for grant_id in event.grant_ids:
                if grant_id in self._grants:
                    self._grants[grant_id] = _once_used(self._grants[grant_id])

    def __call__(self, action: PlannedAction, effect: Effect, cwd: str) -> Granted | None:
        """Return which grant answers the question about an effect (`policy.ports.Grants`); memory only."""
        found = (grant for grant in self.active() if covers(grant, action, effect, cwd))
        best = min(found, key=_preference, default=None)
        return None if best is None else Granted(_reason(best), best.id, exact=bool(best.call_digest))

    def active(self) -> list[Grant]:
        """Return the grants that still cover something, by number."""
        return sorted((grant for grant in self._grants.values() if self._lives(grant)), key=lambda grant: grant.number)

    async def give(self, tx: LogTransaction, grant: Grant, trace_id: UUID) -> None:
        """Store a grant under the next free number, with its event; those that are over go."""
        await self.prune(tx)
        taken = [known.number for known in await self._stored(tx)]
        grant = evolve(grant, number=max(taken, default=0) + 1, trace_id=trace_id)
        await tx.put(GRANT_KIND, str(grant.id), codec.dumps(grant, redact=True))
        await tx.append(GrantGiven(trace_id=trace_id, grant=grant))
        if grant.left == 0:
            await self._end(tx, grant, "used up")

    async def use(self, tx: LogTransaction, grant_ids: Sequence[UUID]) -> None:
        """Count one action that rests on `grant_ids`, in the transaction of its intent.

        Raises:
            GrantEndedError: One of them was ended, used up or is over; `tx` must be given up.
        """
        for grant_id in grant_ids:
            raw = await tx.get(GRANT_KIND, str(grant_id))
            grant = None if raw is None else read_grant(str(grant_id), raw)
            if grant is None or not self._lives(grant):
                self._grants.pop(grant_id, None)
                raise GrantEndedError(N_("the grant that covered it has ended; it was not done, ask again"))
            used = _once_used(grant)
            if used.left == 0:
                await self._end(tx, used, "used up")
            else:
                await tx.put(GRANT_KIND, str(grant_id), codec.dumps(used))

    async def end(self, tx: LogTransaction, number: int | None = None) -> list[Grant]:
        """End the grant with a number, or all of them, and return what was ended.

        One that cannot be read is removed together with all.
        """
        ended = []
        for grant in await self._stored(tx):
            if number in (None, grant.number):
                await self._end(tx, grant, "paused" if number is None else "revoked")
                ended.append(grant)
        if number is None:
            for key, _raw in await tx.scan(GRANT_KIND):
                await tx.delete(GRANT_KIND, key)
        return ended

    async def prune(self, tx: LogTransaction) -> None:
        """Remove the grants that are over."""
        for grant in await self._stored(tx):
            if not self._lives(grant):
                await self._end(tx, grant, "over")

    def _lives(self, grant: Grant) -> bool:
        over = grant.until is not None and self._time.now() >= grant.until
        if grant.until_s is not None and grant.boot == this_boot():
            over = over or self._time.is_past(grant.until_s)
        return not over and grant.left != 0

    async def _stored(self, tx: LogTransaction) -> list[Grant]:
        return list(filter(None, (read_grant(key, raw) for key, raw in await tx.scan(GRANT_KIND))))

    async def _end(self, tx: LogTransaction, grant: Grant, ending: GrantEnding) -> None:
        await tx.delete(GRANT_KIND, str(grant.id))
        await tx.append(GrantEnded(trace_id=grant.trace_id, grant_id=grant.id, number=grant.number, ending=ending))


def new_grant(grant_id: UUID, request: ApprovalRequest, reach: Reach, cwd: str, time: SteadyTime) -> Grant | None:
    """Return the grant that an answer gives beyond the request itself; `None` for one that gives none.

    Args:
        cwd: Absolute folder against which the call reads relative paths.
    """
    if reach not in ("always", "3_times", *_SPANS):
        return None
    action, now, span = request.draft.action, time.now(), _SPANS.get(reach)
    return Grant(
        id=grant_id,
        number=0,
        sender=request.sender,
        actor=action.actor,
        effect_classes=tuple(dict.fromkeys(effect.effect_class for effect in action.effects)),
        call_digest=_call_digest(action, cwd) if reach == "always" else "",
        summary=request.draft.summary,
        given_at=now,
        until=now + span if span else None,
        until_s=time.in_s(span.total_seconds()) if span else None,
        boot=this_boot(),
        left=_TIMES - 1 if reach == "3_times" else None,
        request_id=request.id,
        callers=_chain(action),
        bodies=_bodies(action),
    )


def is_similar(effects: Sequence[Effect]) -> bool:
    """Return whether similar actions may be granted together with one of these effects: each can be told and undone."""
    return bool(effects) and not any(each.reversibility == "irreversible" or is_opaque(each) for each in effects)


def covers(grant: Grant, action: PlannedAction, effect: Effect, cwd: str) -> bool:
    """Return whether a grant speaks for one effect of an action; whether it still lives is not looked at."""
    who = (action.sender, action.actor, _chain(action), _bodies(action))
    if (grant.sender, grant.actor, grant.callers, grant.bodies) != who:
        return False
    if effect.effect_class not in grant.effect_classes:
        return False
    if grant.call_digest:
        return grant.call_digest == _call_digest(action, cwd)
    return is_similar((effect,))


def told(grant: Grant) -> Text:
    """Return a grant as one line for people."""
    actor = " → ".join(grant.callers or (grant.actor,))
    if grant.call_digest:
        return N_("exactly this, from now on: {what} ({actor})", what=grant.summary, actor=actor)
    what = ", ".join(grant.effect_classes)
    if grant.until is not None:
        until = f"{grant.until.astimezone(local_zone()):%H:%M}"
        return N_("{actor} doing {what} until {until}", actor=actor, what=what, until=until)
    return N_("{actor} doing {what}, still to come: {n}", actor=actor, what=what, n=grant.left or 0)


def _chain(action: PlannedAction) -> tuple[str, ...]:
    """Return the neurons that act; none for the call of one, which is judged like that of any other tool."""
    return () if action.actor == action.tool_name else tuple(caller.actor for caller in action.callers)


def _bodies(action: PlannedAction) -> tuple[str, ...]:
    """Return the versions of the neurons that act."""
    return tuple(caller.version for caller in action.acting if caller.actor.startswith("neuron:"))


def _call_digest(action: PlannedAction, cwd: str) -> str:
    """Return the digest of exactly this call: tool, bytes of the arguments, folder, and what it would do."""
    effects = [[each.kind, each.scope, each.target, each.reversibility] for each in action.effects]
    return digest_of([action.tool_name, action.args_digest, cwd, effects])


def _preference(grant: Grant) -> tuple[bool, bool, int]:
    """Return the order of use: the narrowest first, those that are counted down last."""
    return not grant.call_digest, grant.left is not None, grant.number


def _reason(grant: Grant) -> Text:
    return N_("you granted it beforehand ({number}): {grant}", number=grant.number, grant=told(grant))


def _once_used(grant: Grant) -> Grant:
    return evolve(grant, used=grant.used + 1, left=None if grant.left is None else grant.left - 1)


def read_grant(key: str, value: bytes) -> Grant | None:
    """Return a stored grant; one that cannot be read grants nothing and is `None`."""
    try:
        return codec.loads(Grant, value, N_("grant {key}", key=key))
    except CodecError as error:
        _log.warning("%s; it grants nothing", error)
        return None

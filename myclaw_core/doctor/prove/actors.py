"""What one actor did moves nobody else's trust: histories with and without everybody else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Literal, get_args
from uuid import UUID

from attrs import evolve, frozen

from myclaw_core.approval.types import Approval
from myclaw_core.constitution.types import Law, ViolationReport
from myclaw_core.doctor.prove.bench import Bench
from myclaw_core.doctor.prove.case import CALM_DAY, Case
from myclaw_core.doctor.prove.draw import chance
from myclaw_core.doctor.prove.property import Seen
from myclaw_core.messages import N_
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, ToolError, ToolResult
from myclaw_core.trust.happenings import Happening, Order, Sample, Undo
from myclaw_core.trust.promotion import Promotion, judge
from myclaw_core.trust.signals import extract, subjects_of
from myclaw_core.trust.states import MemoryTrust
from myclaw_core.types.action import Caller, PlannedAction
from myclaw_core.types.effect import Effect, EffectKind
from myclaw_core.types.text import Text

__all__ = ["Actors", "Bout", "Deed", "History"]

_KINDS: tuple[EffectKind, ...] = ("fs_write", "fs_delete", "shell_exec", "network_out", "memory_write", "neuron_invoke")
_SCOPES = ("~/notes/*", "~/photos/*", "*", "")
_STRANGE_ACTORS = ("neuron:sorter", "neuron:sorter2", "fs_write:~/notes/*", "a b", "*")
_NEURONS = ("neuron:sorter", "neuron:sorter2")
_LAWS: tuple[Law, ...] = get_args(Law)


@frozen(kw_only=True)
class Deed:
    """One step of one actor.

    Attributes:
        answer: What the person answered about it; empty where nobody was asked.
        undone: Whether it was taken back soon afterwards.
        order: What the person then ordered about it.
        callers: The neurons through whose calls it came.
    """

    actor: str
    kind: EffectKind = "fs_write"
    scope: str = "~/notes/*"
    answer: Literal["", "granted", "denied"] = ""
    success: bool = True
    undone: bool = False
    order: Literal["", "revoke", "hold", "restore"] = ""
    callers: tuple[str, ...] = ()

    @property
    def acting(self) -> frozenset[str]:
        """Return whose trust it is about."""
        return frozenset(actor for actor, _class in subjects_of(_step(self, 0, CALM_DAY)))

    @property
    def effect(self) -> Effect:
        """Return what it does."""
        scope = "" if self.kind == "neuron_invoke" else self.scope
        return Effect(kind=self.kind, scope=scope, target="the target", reversibility="reversible")


@frozen(kw_only=True)
class Bout:
    """One closed trace.

    Attributes:
        after_s: Seconds since the one before.
        law: What was broken in it, by whomever: like its cost, that counts for all of its steps.
    """

    deeds: tuple[Deed, ...] = ()
    after_s: int = 3600
    law: Literal["", "law.0", "law.1", "law.2", "law.3", "law.4"] = ""
    cost_usd: float = 0.0


@frozen(kw_only=True)
class History:
    """What several actors did, and whose trust is looked at."""

    about: str
    episodes: tuple[Bout, ...] = ()
    read_after_s: int = 0


@frozen
class Actors:
    """The trust of an actor, as read from the real replay, is the same when everybody else's deeds are left out."""

    bench: Bench

    name = "actors"
    claim = N_("what one actor did moves nobody else's trust")
    form = History

    def draw(self, random: Random) -> History:
        """Return what a few actors did, in the same traces and in others."""
        actors = random.sample([*self.bench.door.tools, *_STRANGE_ACTORS], 3)
        kinds = random.sample(_KINDS, 2)
        episodes = tuple(_episode(random, actors, kinds) for _ in range(random.randrange(1, 12)))
        read_after_s = random.choice((0, 86_400, 40 * 86_400))
        episodes = tuple(_through_neurons(random, episode) for episode in episodes)
        return History(about=actors[0], episodes=episodes, read_after_s=read_after_s)

    async def look(self, case: History) -> Seen:
        """Read the trust of one actor from its own history, and from that of all."""
        alone = self._trust(case, only=case.about)
        among = self._trust(case)
        now = CALM_DAY + timedelta(seconds=sum(each.after_s for each in case.episodes) + case.read_after_s)
        deeds = [deed for each in case.episodes for deed in each.deeds]
        own = {deed.effect.effect_class: deed.effect for deed in deeds if case.about in deed.acting}
        for effect in own.values():
            first, second = (self._read(case.about, effect, trust, now) for trust in (alone, among))
            if first != second:
                return Seen(_told(case.about, effect, first, second))
        return Seen(telling=bool(own) and any(case.about not in deed.acting for deed in deeds))

    def _trust(self, history: History, only: str = "") -> MemoryTrust:
        trust = MemoryTrust(self.bench.estimator)
        at = CALM_DAY
        for number, episode in enumerate(history.episodes, start=1):
            at += timedelta(seconds=episode.after_s)
            deeds = [deed for deed in episode.deeds if not only or only in deed.acting]
            if deeds:
                trust.add(*self._happenings(episode, deeds, number, at))
        return trust

    def _happenings(self, episode: Bout, deeds: Sequence[Deed], number: int, at: datetime) -> Iterator[Happening]:
        trace = _trace(episode, deeds, number, at)
        for signals in extract(trace, self.bench.signals):
            yield Sample(at=at, trace_id=str(trace.id), signals=signals)
        for deed, step in zip(deeds, trace.steps, strict=True):
            for subject in subjects_of(step):
                if deed.undone:
                    yield Undo(
                        at=at, trace_id=f"undo-{number}", subject=subject, undone_trace_id=str(trace.id), in_time=True
                    )
                if deed.order:
                    yield Order(kind=deed.order, at=at, trace_id=f"order-{number}", subject=subject)

    def _read(self, actor: str, effect: Effect, trust: MemoryTrust, now: datetime) -> Promotion:
        """Return what the rule reads of an actor and an effect, and decides."""
        trace = self.bench.trace(Case(tool=actor))
        action = PlannedAction.from_tool_call(
            tool_name=actor,
            args={},
            args_preview={},
            effects=(effect,),
            sender=trace.sender,
            trace_id=trace.id,
            session_id=trace.session_id,
            autonomy="supervised",
            planned_at=now,
        )
        threshold = self.bench.door.thresholds.for_effect(effect.effect_class, effect.reversibility)
        return judge(effect, action, trust, threshold, now)


def _episode(random: Random, actors: Sequence[str], kinds: Sequence[EffectKind]) -> Bout:
    deeds = tuple(
        Deed(
            actor=random.choice(actors),
            kind=random.choice(kinds),
            scope=random.choice(_SCOPES),
            answer=random.choice(("", "granted", "granted", "denied")),
            success=chance(random, 0.8),
            undone=chance(random, 0.1),
            order=random.choice(("revoke", "hold", "restore")) if chance(random, 0.05) else "",
        )
        for _ in range(random.randrange(1, 4))
    )
    return Bout(
        deeds=deeds,
        after_s=random.choice((1, 60, 86_400, random.randrange(10**6))),
        law=random.choice(_LAWS) if chance(random, 0.1) else "",
        cost_usd=random.choice((0.0, 0.0, 0.01)),
    )


def _through_neurons(random: Random, episode: Bout) -> Bout:
    """Return an episode of which some deeds come through neurons, one or two."""
    deeds = (
        evolve(deed, callers=tuple(random.sample(_NEURONS, random.randrange(1, 3)))) if chance(random, 0.2) else deed
        for deed in episode.deeds
    )
    return evolve(episode, deeds=tuple(deeds))


def _trace(episode: Bout, deeds: Sequence[Deed], number: int, at: datetime) -> ExecutionTrace:
    trace = ExecutionTrace(
        id=UUID(int=number),
        session_id="prove",
        channel="cli",
        sender="cli:prove",
        autonomy="supervised",
        started_at=at,
        closed_at=at,
        outcome="success",
        cost_usd=episode.cost_usd,
    )
    for index, deed in enumerate(deeds):
        step = _step(deed, index, at)
        trace.steps.append(step)
        if step.approval_id is not None and deed.answer:
            trace.approvals.append(
                Approval(
                    request_id=step.approval_id,
                    trace_id=trace.id,
                    verdict=deed.answer,
                    decided_by="cli:prove",
                    decided_at=at,
                )
            )
    if episode.law:
        reason = N_("it broke a law")
        report = ViolationReport(law=episode.law, rule="drawn", reason=reason, action_digest="unknown", at=at)
        trace.violations.append(report)
    return trace


def _step(deed: Deed, index: int, at: datetime) -> ActionStep:
    denied = deed.answer == "denied"
    error = None
    if denied or not deed.success:
        error = ToolError(kind="denied" if denied else "exception", message=N_("it did not run"))
    return ActionStep(
        index=index,
        tool_name=deed.actor,
        args={},
        args_digest="",
        actor=deed.callers[-1] if deed.callers and deed.kind != "neuron_invoke" else deed.actor,
        actor_version="1",
        model="prove",
        state="failed" if error else "done",
        kind=deed.kind,
        effect_class=deed.effect.effect_class,
        effects=(deed.effect,),
        started_at=at,
        approval_id=UUID(int=index + 1) if deed.answer else None,
        exec_result=None if error else ToolResult(text=""),
        error=error,
        callers=tuple(Caller(actor=name, version="1") for name in deed.callers),
    )


def _told(actor: str, effect: Effect, alone: Promotion, among: Promotion) -> Text:
    return N_(
        "trust in {actor} doing {effect} is {alone:.4f} ({why}) by itself, {among:.4f} ({other}) beside others",
        actor=actor,
        effect=effect.effect_class,
        alone=alone.evidence.score,
        why=alone.reason,
        among=among.evidence.score,
        other=among.reason,
    )

"""The installation as it is tried: its door, again without each plugin of others, over stores made up for one case."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from attrs import evolve, field, frozen

from myclaw_core.clock import Clock
from myclaw_core.compose import configured_dispatcher
from myclaw_core.config import Config
from myclaw_core.dispatch import Dispatcher
from myclaw_core.doctor.patient import Patient, admitted
from myclaw_core.doctor.prove.case import Case, Figures
from myclaw_core.doctor.prove.probes import PROBES
from myclaw_core.door import Door, standing_roots
from myclaw_core.errors import ConfigError
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.plugins import FIRST_PARTY
from myclaw_core.policy.never import NEVER_KIND, NeverList
from myclaw_core.policy.ports import BudgetView, Grants, PromotionCheck, Recordable, no_grants
from myclaw_core.policy.rates import RateBook
from myclaw_core.policy.types import Finding, PolicyDecision, Situation
from myclaw_core.runtime.types import ExecutionTrace, ToolCall
from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.estimators import chosen_estimator
from myclaw_core.trust.promotion import Promotion, TrustRecord, judge
from myclaw_core.trust.signals import CollectSignals
from myclaw_core.trust.state import Component, SubjectState, SubjectView
from myclaw_core.trust.types import EarnedBy
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject, TrustThreshold

__all__ = ["LOOSEST", "Bench", "SetClock", "Setup", "no_gates", "record_of"]

LOOSEST = TrustThreshold(effect_class="*", risk_band="low", min_score=0.0, min_samples=0, cap_autonomy="full")
"""The loosest threshold that can be said; the core clamps it."""

_SENDER = "cli:prove"


class SetClock:
    """A clock whose time of day is that of the case; waits and limits are those of the real one.

    Args:
        clock: The real one.

    Attributes:
        at: What `now` returns.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.at = clock.now()
        self.monotonic = clock.monotonic
        self.sleep = clock.sleep
        self.timeout = clock.timeout
        self.new_id = clock.new_id
        self.token = clock.token

    def now(self) -> datetime:
        """Return the time of the case."""
        return self.at


@frozen(kw_only=True)
class Setup:
    """Everything that one case is judged with."""

    door: Door
    situation: Situation
    promotion: PromotionCheck
    budget: BudgetView
    rates: RateBook
    never: NeverList
    recordable: Recordable = lambda: None
    grants: Grants = no_grants


@frozen(kw_only=True)
class Bench:
    """One installation, opened to be tried.

    Attributes:
        door: What judges, with tools that nobody installed besides.
        without: The same with one plugin of others switched off, by the plugin's name.
        clock: The time of the case.
        roots: Real paths of the folders that are open in every run.
        never: The never-lists of the person.
        signals: Asks the plugins what a step says.
        estimator: Turns samples into scores.
    """

    door: Door
    without: Mapping[str, Door]
    clock: SetClock
    config: Config
    roots: tuple[str, ...]
    never: NeverList
    signals: CollectSignals
    estimator: Estimator

    @staticmethod
    @asynccontextmanager
    async def open(home: Home, clock: Clock) -> AsyncIterator[Bench]:
        """Open an installation without changing it.

        Raises:
            ConfigError: Its configuration does not load, so nothing would run with it.
            StoreError: The never-lists cannot be read.
            UnavailableError: No plugin offers the estimator that the configuration names.
        """
        now = SetClock(clock)
        async with admitted(home, now) as patient:
            if patient.dispatcher is None or patient.config_problems:
                raise ConfigError(*patient.config_problems)
            never = NeverList()
            if patient.log is not None:
                never.load(await patient.log.scan(NEVER_KIND))
            trust = patient.config.trust
            yield Bench(
                door=_door(home, now, patient.config, patient.dispatcher),
                without=dict(_without(patient, patient.dispatcher, now)),
                clock=now,
                config=patient.config,
                roots=standing_roots(home, patient.config),
                never=never,
                signals=patient.dispatcher.signals,
                estimator=chosen_estimator(trust.estimator, trust.weights, patient.dispatcher.estimators),
            )

    async def decide(self, case: Case, setup: Setup | None = None) -> PolicyDecision:
        """Return the decision on a case.

        Args:
            setup: Another one than that of the case.
        """
        setup = setup or self.setup(case)
        self.clock.at = case.at
        policy = setup.door.policy(
            promotion=setup.promotion,
            probation=setup.door.probation(record_of(case), lambda: None),
            budget=setup.budget,
            rates=setup.rates,
            never=setup.never,
            recordable=setup.recordable,
            grants=setup.grants,
        )
        return await policy.evaluate(
            ToolCall(id="prove", tool=case.tool, args=case.args),
            self.trace(case),
            _SENDER,
            case.level,
            setup.situation,
            irreversible=None if case.undoable else N_("no undo record can be made"),
        )

    def setup(self, case: Case, door: Door | None = None) -> Setup:
        """Return what a case is judged with.

        Args:
            door: Another one than that of the installation.
        """
        door = door or self.door
        opened = (os.path.realpath(self.path(root)) for root in case.roots)
        return Setup(
            door=door,
            situation=Situation(
                roots=tuple(dict.fromkeys((*self.roots, *opened))),
                cwd=self.roots[0],
                typed_text=case.typed,
                tainted=case.tainted,
            ),
            promotion=_promotion(case, door),
            budget=_Budget(case.budget),
            rates=RateBook(door.limits),
            never=self.never,
        )

    def trace(self, case: Case) -> ExecutionTrace:
        """Return a fresh trace for a case."""
        return ExecutionTrace(
            id=UUID(int=1),
            session_id="prove",
            channel="cli",
            sender=_SENDER,
            autonomy=case.level,
            started_at=case.at,
        )

    def path(self, given: str) -> str:
        """Return a path, read against the working folder and normalised as text."""
        if given == "~" or given.startswith("~/"):
            given = self.door.user_home + given[1:]
        path = given if given.startswith("/") else f"{self.roots[0]}/{given}"
        return "/" + os.path.normpath(path).lstrip("/")


@frozen
class _Budget:
    """A budget that has the same to say to everything that spends."""

    verdict: Literal["", "approve_required", "deny"]

    def objection(self, est_cost_eur: float, now: datetime) -> tuple[Literal["approve_required", "deny"], Text] | None:
        """Return it."""
        return (self.verdict, N_("the budget objects")) if self.verdict else None


@frozen
class _Record:
    """A trust record that says the same of every subject."""

    figures: Figures | None
    problem: Text | None = field(default=None, init=False)
    unchecked: Text | None = field(default=None, init=False)

    def view(self, subject: TrustSubject, now: datetime, by: EarnedBy | None = None) -> SubjectView | None:
        """Return it for `subject`, whoever acts."""
        figures = self.figures
        if figures is None or not (figures.own or subject[1].endswith(":*")):
            return None
        return SubjectView(_state(figures, subject, now), figures.score, figures.effective_count, "prove", now)


async def no_gates(action: PlannedAction, trace: ExecutionTrace) -> Sequence[Finding]:
    """Object to nothing, as if no plugin had a gate."""
    return ()


def record_of(case: Case) -> TrustRecord:
    """Return the trust record of a case."""
    return _Record(case.trust)


def _state(figures: Figures, subject: TrustSubject, now: datetime) -> SubjectState:
    count = figures.effective_count
    asked = None if figures.asked_days is None else now - timedelta(days=figures.asked_days)
    return SubjectState(
        subject=subject,
        tool_success=Component(figures.success, count),
        human_approval_rate=Component(1.0, count),
        cost_efficiency=Component(1.0, count),
        constitution_clean=Component(figures.clean, count),
        undo_rate=Component(0.0, count),
        n_samples=figures.n_samples,
        n_good=figures.n_samples,
        days=figures.days,
        last_updated=now,
        as_of=now,
        last_good=now,
        last_asked=asked,
        recent=(figures.bad, False, False),
        grants=(now,) * figures.grants,
    )


def _promotion(case: Case, door: Door) -> PromotionCheck:
    record = record_of(case)
    if case.threshold == "live":
        return door.promotion(record, lambda: None)

    def loosest(effect: Effect, action: PlannedAction, now: datetime) -> Promotion:
        answer = judge(effect, action, record, LOOSEST, now)
        return evolve(answer, promoted=True) if case.threshold == "yes" else answer

    return loosest


def _door(home: Home, clock: Clock, config: Config, dispatcher: Dispatcher) -> Door:
    door = Door.of(home=home, clock=clock, config=config, dispatcher=dispatcher)
    return evolve(door, tools={**PROBES, **door.tools})


def _without(patient: Patient, dispatcher: Dispatcher, clock: Clock) -> Sequence[tuple[str, Door]]:
    plugins = dispatcher.plugins
    others = [plugin.name for plugin in plugins.active if plugin.name not in FIRST_PARTY]
    doors = []
    for name in others:
        rest, config = configured_dispatcher(patient.home, plugins.off(name), clock, patient.faults.append)
        doors.append((name, _door(patient.home, clock, config, rest)))
    return doors

"""The real policy over real books, in a household and under settings that the oracle knows too."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC
from functools import lru_cache, reduce
from typing import Any

from household import TOOLS, Household, KnownCall, spelled
from myclaw_defaults.signals import five_signals
from myclaw_defaults.thresholds import threshold_for
from oracle import WORKSPACE, Rights, Settings
from stores import Stores

from myclaw_core.budget.ledger import Ledger
from myclaw_core.budget.prices import PriceTable
from myclaw_core.budget.types import BudgetRefusedError
from myclaw_core.config import Price
from myclaw_core.constitution.engine import Constitution
from myclaw_core.policy.engine import Policy
from myclaw_core.policy.forbidden import ForbiddenPlaces
from myclaw_core.policy.grants import RunGrants
from myclaw_core.policy.never import NeverList
from myclaw_core.policy.rates import RateBook, RateLimits
from myclaw_core.policy.types import Finding, PolicyDecision, Situation
from myclaw_core.redact import redact_value
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, ToolCall, Usage
from myclaw_core.testing import FakeClock
from myclaw_core.trust.promotion import judge
from myclaw_core.trust.signals import extract
from myclaw_core.trust.thresholds import Thresholds, stricter
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustThreshold

__all__ = ["RealPolicy"]

_PRICES = PriceTable({"cent": Price(input=10_000.0, cached=10_000.0, output=10_000.0)})


class RealPolicy:
    """The real policy of one household under some settings.

    Args:
        parts: Parts of `Policy` in place of those made here.
    """

    def __init__(
        self, settings: Settings, household: Household, stores: Stores, clock: FakeClock, **parts: Any
    ) -> None:
        self.settings, self.household, self.stores, self.clock = settings, household, stores, clock
        of_class, of_class_a_day, of_sender, of_sender_a_day = settings.limits
        self.rates = RateBook(
            RateLimits(
                class_per_minute=of_class,
                class_per_day=of_class_a_day,
                sender_per_minute=of_sender,
                sender_per_day=of_sender_a_day,
            )
        )
        self.never = NeverList()
        self.grants = RunGrants()
        self.recordable = True
        self.ledger = Ledger(
            stores.log,
            clock,
            soft_eur=settings.soft_cents / 100,
            hard_eur=settings.hard_cents / 100,
            usd_per_eur=1.0,
            prices=_PRICES,
            zone=UTC,
        )
        self._thresholds = Thresholds(self._threshold, WORKSPACE)
        made: dict[str, Any] = {
            "tools": TOOLS,
            "constitution": Constitution(),
            "gates": self._gates,
            "promotion": self._promotion,
            "budget": self.ledger,
            "recordable": lambda: None if self.recordable else Text("the log cannot be written"),
            "redact": redact_value,
            "rates": self.rates,
            "never": self.never,
            "places": _places(household, settings.closed_paths, settings.closed_hosts, settings.open_hosts),
            "clock": clock,
            "home": household.home,
            "user_home": household.user,
            "grants": self.grants,
        }
        self.policy = Policy(**(made | parts))

    async def judge(self, known: KnownCall, rights: Rights, trace: ExecutionTrace | None = None) -> PolicyDecision:
        """Return the decision on one call, of a new trace where none is given."""
        trace = trace or self.trace(rights)
        self.recordable = rights.recordable
        call = ToolCall(id="1", tool=known.tool, args=known.args)
        irreversible = None if rights.undoable else Text("no undo record can be made")
        with self.grants.during(trace.id, rights.grants):
            return await self.policy.evaluate(
                call, trace, rights.sender, trace.autonomy, self.situation(rights), irreversible=irreversible
            )

    def situation(self, rights: Rights) -> Situation:
        """Return what surrounds a call with these rights."""
        return Situation(
            roots=tuple(self.household.real(root) for root in self.settings.roots),
            cwd=str(self.household.home.workspace),
            typed_text="look at " + " and ".join(map(spelled, sorted(rights.said))) if rights.said else "",
            tainted=rights.tainted,
        )

    def trace(self, rights: Rights) -> ExecutionTrace:
        """Return a new trace that starts now."""
        level: Any = rights.level
        return ExecutionTrace(
            id=self.clock.new_id(),
            session_id="s",
            channel="cli",
            sender=rights.sender,
            autonomy=level,
            started_at=self.clock.now(),
        )

    async def ran(self, trace: ExecutionTrace, step: ActionStep) -> None:
        """Book what the intent and the end of a step book."""
        assert step.decision is not None
        hold_id, cost_eur = self.clock.new_id(), step.decision.action.est_cost_eur
        classes = [effect.effect_class for effect in step.effects if effect.is_side_effect]
        async with self.stores.log.transaction() as tx:
            await self.rates.count(tx, trace.sender, classes, self.clock.now())
            if cost_eur:
                await self.ledger.hold(tx, hold_id, cost_eur)
                booked = await self.ledger.settle_action(tx, hold_id, spent=step.state == "done")
                trace.cost_usd += booked.cost_usd

    async def close(self, trace: ExecutionTrace) -> None:
        """Close a trace and let trust follow."""
        trace.closed_at, trace.outcome = self.clock.now(), "success"
        await self.stores.closed(trace, extract(trace, five_signals))

    async def spend(self, cents: int, *, pending: bool = False) -> None:
        """Make a model call; one that is pending has not come back."""
        with suppress(BudgetRefusedError):
            reservation = await self.ledger.reserve(
                call_id=self.clock.new_id(),
                model="cent",
                free=False,
                purpose="answer",
                input_tokens_bound=cents,
                max_output_tokens=0,
                past_soft_ok=True,
            )
            if not pending:
                async with self.stores.log.transaction() as tx:
                    await self.ledger.settle(tx, reservation, Usage(input_tokens=cents))

    async def _gates(self, action: Any, trace: Any) -> Sequence[Finding]:
        verdict: Any = self.settings.gates.get(action.tool_name)
        return [] if verdict is None else [Finding(verdict=verdict, text=Text("look"), source="lint")]

    def _promotion(self, effect: Effect, action: Any, now: Any) -> Any:
        threshold = self._thresholds.for_effect(effect.effect_class, effect.reversibility)
        return judge(effect, action, self.stores.trust, threshold, now)

    def _threshold(self, effect_class: str, reversibility: Any, workspace: str) -> TrustThreshold | None:
        """Answer as the dispatcher does: what a plugin wants only tightens what ours says."""
        wanted = self.settings.thresholds.get(effect_class.partition(":")[0])
        answers = [threshold_for(effect_class, reversibility, workspace)]
        if wanted is not None:
            score, samples, cap = wanted
            answers.append(
                TrustThreshold(
                    effect_class=effect_class,
                    risk_band="high",
                    min_score=score,
                    min_samples=samples,
                    cap_autonomy=cap,  # type: ignore[arg-type]
                )
            )
        known = [answer for answer in answers if answer is not None]
        return reduce(stricter, known) if answers[0] is not None else None


@lru_cache(maxsize=64)
def _places(
    household: Household, paths: tuple[str, ...], closed_hosts: tuple[str, ...], open_hosts: tuple[str, ...]
) -> ForbiddenPlaces:
    return ForbiddenPlaces(household.home, household.user, paths, closed_hosts, open_hosts)

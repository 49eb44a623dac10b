"""The only door to an action: seven checks in a fixed order, closed wherever one of them fails."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Mapping, Sequence

from attrs import evolve

from myclaw_core.clock import Clock
from myclaw_core.constitution.engine import Constitution
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.policy.checks import (
    Case,
    Opinion,
    check_autonomy,
    check_budget,
    check_constitution,
    check_findings,
    check_forbidden,
    check_grants,
    check_never,
    check_rates,
    check_trust,
)
from myclaw_core.policy.forbidden import ForbiddenPlaces
from myclaw_core.policy.intake import CallRefusedError, Intake, Request
from myclaw_core.policy.never import NeverList
from myclaw_core.policy.ports import (
    BudgetView,
    Gates,
    Grants,
    ProbationCheck,
    PromotionCheck,
    Recordable,
    Redact,
    no_grants,
)
from myclaw_core.policy.probation import always_new
from myclaw_core.policy.rates import RateBook
from myclaw_core.policy.tally import Tally
from myclaw_core.policy.types import CheckName, PolicyDecision, Situation
from myclaw_core.runtime.tool import Tool
from myclaw_core.runtime.types import ExecutionTrace, ToolCall
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Autonomy, Verdict
from myclaw_core.types.text import Text

__all__ = ["Policy"]

_log = logging.getLogger("myclaw.policy")


class Policy:
    """Judges tool calls; everything it reads lies in memory or in the names of the file system.

    Args:
        tools: The registry.
        constitution: The laws.
        gates: Asks the plugins.
        promotion: Asks trust.
        budget: Judges spending.
        recordable: Says why nothing can be recorded now.
        redact: Masks secrets in arguments that are shown and kept.
        rates: Counters that the runtime moves.
        never: The senders' never-lists.
        places: Forbidden paths and hosts.
        home: This installation's files.
        user_home: Absolute folder that `~` stands for.
        grants: Standing grants of the user.
        probation: Says which neurons are new; all of them by default.
    """

    def __init__(
        self,
        *,
        tools: Mapping[str, Tool],
        constitution: Constitution,
        gates: Gates,
        promotion: PromotionCheck,
        budget: BudgetView,
        recordable: Recordable,
        redact: Redact,
        rates: RateBook,
        never: NeverList,
        places: ForbiddenPlaces,
        clock: Clock,
        home: Home,
        user_home: str | os.PathLike[str],
        grants: Grants = no_grants,
        probation: ProbationCheck = always_new,
    ) -> None:
        self._intake = Intake(tools, redact, recordable, home, os.fspath(user_home))
        self._constitution = constitution
        self._gates = gates
        self._promotion = promotion
        self._budget = budget
        self._rates = rates
        self._never = never
        self._places = places
        self._clock = clock
        self._user_home = os.fspath(user_home)
        self._grants = grants
        self._probation = probation

    async def evaluate(
        self,
        call: ToolCall,
        trace: ExecutionTrace,
        sender: str,
        autonomy: Autonomy,
        situation: Situation,
        *,
        irreversible: Text | None = None,
    ) -> PolicyDecision:
        """Return the decision on one call; never raises, and suspends only for asynchronous plugin gates.

        Args:
            sender: Who asked.
            autonomy: The session's level.
            situation: Roots, working folder, what the user typed, taint.
            irreversible: Why no undo record is possible, found while planning; hardens every effect that needs one.
        """
        request = Request(
            call=call,
            trace=trace,
            sender=sender,
            autonomy=autonomy,
            situation=situation,
            now=self._clock.now(),
            undoable=irreversible is None,
        )
        try:
            case = self._intake.case(request)
        except CallRefusedError as refused:
            tally = Tally(self._intake.bare_action(request, refused.effect), self._user_home)
            tally.take("resolve", (Opinion("deny", refused.text, "resolve"),))
            return tally.decision()
        except Exception as error:  # the door stays closed, whatever is wrong behind it
            tally = Tally(self._intake.bare_action(request), self._user_home)
            tally.take("fault", (_fault("resolve", error, "deny"),))
            return tally.decision()
        tally = Tally(_recordable(case.action), self._user_home)
        await self._run_checks(case, trace, tally)
        return tally.decision()

    async def _run_checks(self, case: Case, trace: ExecutionTrace, tally: Tally) -> None:
        """Run the checks in their order until one denies."""
        if await self._check_laws(case, trace, tally):
            return
        checks: tuple[tuple[CheckName, Callable[[], Sequence[Opinion]]], ...] = (
            ("forbidden", lambda: check_forbidden(case, self._places)),
            ("never", lambda: check_never(case, self._never)),
            ("rate", lambda: check_rates(case, self._rates)),
            ("budget", lambda: check_budget(case, self._budget)),
            ("autonomy", lambda: check_autonomy(case, self._probation)),
            ("grant", lambda: check_grants(case, tally.open_questions(), self._grants)),
            ("trust", lambda: check_trust(case, tally.open_questions(), self._promotion)),
        )
        # What cannot be checked is asked where it can be undone, else denied; it goes on, since a later check may deny.
        otherwise: Verdict = "approve_required" if case.action.reversibility == "reversible" else "deny"
        for name, check in checks:
            try:
                ended = tally.take(name, check())
            except Exception as error:
                ended = tally.take("fault", (_fault(name, error, otherwise),))
            if ended:
                return
        if case.situation.asks is not None:
            tally.take("autonomy", (Opinion("approve_required", case.situation.asks, "autonomy"),))

    async def _check_laws(self, case: Case, trace: ExecutionTrace, tally: Tally) -> bool:
        """Check 0: the laws, then the plugins; whatever fails here denies."""
        try:
            opinions = check_constitution(case, self._constitution)
            if opinions[0].verdict != "deny":
                opinions = (*opinions, *check_findings(await self._gates(case.action, trace)))
            return tally.take("constitution", opinions)
        except Exception as error:
            return tally.take("fault", (_fault("constitution", error, "deny"),))


def _recordable(action: PlannedAction) -> PlannedAction:
    """Return the action as JSON can hold it: a cost that is no amount is left out; the law says it."""
    return action if math.isfinite(action.est_cost_eur) else evolve(action, est_cost_eur=0.0)


def _fault(check: str, error: Exception, verdict: Verdict) -> Opinion:
    """Return the opinion of a check that failed, and tell whoever runs the machine."""
    _log.critical("policy check %s failed: %s: %s", check, type(error).__name__, error)
    text = N_("the check {check} failed, so it is not simply allowed; see the log", check=check)
    return Opinion(verdict, text, "fault")

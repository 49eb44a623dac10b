"""Wires the only door to an action from configuration and plugins; the stores behind it are handed in.

The agent and `doctor --prove` wire it here, so that what is proved is what judges.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from attrs import evolve, frozen

from myclaw_core.clock import Clock
from myclaw_core.config import Config
from myclaw_core.constitution.engine import Constitution
from myclaw_core.dispatch import Dispatcher
from myclaw_core.files.resolve import display_path
from myclaw_core.paths import Home
from myclaw_core.policy.engine import Policy
from myclaw_core.policy.forbidden import ForbiddenPlaces
from myclaw_core.policy.never import NeverList
from myclaw_core.policy.ports import BudgetView, Gates, Grants, ProbationCheck, PromotionCheck, Recordable, Redact
from myclaw_core.policy.probation import is_of_neurons, on_probation
from myclaw_core.policy.rates import RateBook, RateLimits
from myclaw_core.redact import redact_value
from myclaw_core.runtime.tool import Tool
from myclaw_core.trust.promotion import Promotion, TrustRecord, judge
from myclaw_core.trust.thresholds import Thresholds
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text

__all__ = ["Door", "standing_roots", "thresholds_of"]


@frozen(kw_only=True)
class Door:
    """What the policy of one installation is made of, apart from what its stores hold.

    Attributes:
        user_home: Absolute folder that `~` stands for.
        limits: How often may be acted.
    """

    home: Home
    user_home: str
    clock: Clock
    tools: Mapping[str, Tool]
    constitution: Constitution
    gates: Gates
    redact: Redact
    places: ForbiddenPlaces
    thresholds: Thresholds
    limits: RateLimits

    @classmethod
    def of(
        cls, *, home: Home, clock: Clock, config: Config, dispatcher: Dispatcher, thresholds: Thresholds | None = None
    ) -> Door:
        """Return the door that a configuration and the plugins that are on make; the plugins are asked for tools.

        Args:
            thresholds: Those of this run; asked anew of the plugins by default.
        """
        policy, user_home = config.policy, Path.home()
        return cls(
            home=home,
            user_home=str(user_home),
            clock=clock,
            tools=dispatcher.tools(),
            constitution=Constitution(),
            gates=dispatcher.check,
            redact=redact_value,
            places=ForbiddenPlaces(
                home, user_home, policy.forbidden_paths, policy.forbidden_hosts, policy.allowed_hosts
            ),
            thresholds=thresholds or thresholds_of(home, dispatcher),
            limits=RateLimits(
                class_per_minute=policy.per_minute_per_class,
                class_per_day=policy.per_day_per_class,
                sender_per_minute=policy.per_minute_per_sender,
                sender_per_day=policy.per_day_per_sender,
            ),
        )

    def promotion(self, record: TrustRecord, log_problem: Callable[[], Text | None]) -> PromotionCheck:
        """Return what asks trust.

        Args:
            log_problem: Why the event log is not known to be whole, or `None`; nothing is promoted until it is.
        """

        def promotion(effect: Effect, action: PlannedAction, now: datetime) -> Promotion:
            threshold = self.thresholds.for_effect(effect.effect_class, effect.reversibility)
            answer = judge(effect, action, record, threshold, now)
            if answer.promoted and (problem := log_problem()) is not None:
                return evolve(answer, promoted=False, reason=problem)
            return answer

        return promotion

    def probation(self, record: TrustRecord, log_problem: Callable[[], Text | None]) -> ProbationCheck:
        """Return what says whether a neuron is new to what it does.

        Args:
            log_problem: As for `promotion`; until the event log is known to be whole every neuron is taken for new.
        """

        def probation(effect: Effect, action: PlannedAction, now: datetime) -> Text | None:
            if not is_of_neurons(effect, action):
                return None
            threshold = self.thresholds.for_effect(effect.effect_class, effect.reversibility)
            return log_problem() or on_probation(effect, action, record, threshold, now)

        return probation

    def policy(
        self,
        *,
        promotion: PromotionCheck,
        probation: ProbationCheck,
        budget: BudgetView,
        rates: RateBook,
        never: NeverList,
        recordable: Recordable,
        grants: Grants,
    ) -> Policy:
        """Return the policy over these stores."""
        return Policy(
            tools=self.tools,
            constitution=self.constitution,
            gates=self.gates,
            promotion=promotion,
            probation=probation,
            budget=budget,
            recordable=recordable,
            redact=self.redact,
            rates=rates,
            never=never,
            places=self.places,
            clock=self.clock,
            home=self.home,
            user_home=self.user_home,
            grants=grants,
        )


def thresholds_of(home: Home, dispatcher: Dispatcher) -> Thresholds:
    """Return the thresholds that the plugins name, for the workspace of `home`."""
    return Thresholds(dispatcher.threshold, display_path(os.path.realpath(home.workspace)))


def standing_roots(home: Home, config: Config) -> tuple[str, ...]:
    """Return the real paths of the folders that are open in every run: the workspace and `[policy] roots`."""
    configured = (os.path.realpath(Path(root).expanduser()) for root in config.policy.roots)
    return tuple(dict.fromkeys((os.path.realpath(home.workspace), *configured)))

"""What is known of one messenger, and how long to wait before it is started again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from secrets import SystemRandom

from attrs import evolve, frozen

from myclaw_core.clock import Clock
from myclaw_core.messages import N_
from myclaw_core.runtime.messenger import Health
from myclaw_core.runtime.storable import storable_line
from myclaw_core.types.text import Text

__all__ = ["FIRST_WAIT_S", "MOST_WAIT_S", "STEADY_S", "MessengerState", "Watch"]

FIRST_WAIT_S = 1.0
MOST_WAIT_S = 300.0
STEADY_S = 300.0
"""So long a messenger must be well without a break before what went wrong earlier is forgotten."""

_RANDOM = SystemRandom()


@frozen(kw_only=True)
class MessengerState:
    """How one messenger does, as others read it.

    Attributes:
        since: When its health became what it is.
        unwell_since: When it was last well for long, or began; `None` while it is.
        restarts: How often it was started again.
    """

    name: str
    health: Health
    since: datetime
    unwell_since: datetime | None
    restarts: int = 0


class Watch:
    """Follows one messenger.

    Args:
        on_change: Called after each change of its state.
        jitter: Gives numbers in [0, 1), so that those who failed together do not come back together.
    """

    def __init__(
        self,
        name: str,
        clock: Clock,
        on_change: Callable[[], None],
        jitter: Callable[[], float] = _RANDOM.random,
    ) -> None:
        self._clock = clock
        self._on_change = on_change
        self._jitter = jitter
        self._failures = 0
        self._ok_since_s: float | None = None
        now = clock.now()
        self.state = MessengerState(name=name, health=Health(state="starting"), since=now, unwell_since=now)

    def told(self, health: Health) -> None:
        """Take in what the messenger says of itself, in a form that can be written down."""
        health = evolve(health, detail=storable_line(health.detail))
        self._settle()
        if health == self.state.health:
            return
        now, state = self._clock.now(), self.state
        if health.state == "ok":
            self._ok_since_s = self._clock.monotonic() if self._ok_since_s is None else self._ok_since_s
        else:
            self._ok_since_s = None
            state = evolve(state, unwell_since=state.unwell_since or now)
        since = state.since if health.state == state.health.state else now
        self._set(evolve(state, health=health, since=since))

    def failed(self, why: Text) -> float:
        """Take in that it ended, and return how many seconds it is left alone.

        They double from one failure to the next, up to five minutes, and begin anew only after five minutes without a
        break in which messages came through: a service that takes a connection and drops it does not count as well.
        """
        self._settle()
        wait_s = min(MOST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(self._failures, 16)) * (1 + self._jitter()) / 2
        self._failures += 1
        again = N_("{why}; it is started again in {wait_s:.0f} s", why=why, wait_s=wait_s)
        down = self.state.health.state == "down"
        self.told(Health(state="down" if down else "trouble", detail=self.state.health.detail if down else again))
        self._set(evolve(self.state, restarts=self.state.restarts + 1))
        return wait_s

    def look(self) -> MessengerState:
        """Return how it does now."""
        self._settle()
        return self.state

    def _settle(self) -> None:
        """Forget what went wrong once it has been well for long."""
        if self._ok_since_s is not None and self._clock.monotonic() - self._ok_since_s >= STEADY_S:
            self._failures = 0
            if self.state.unwell_since is not None:
                self._set(evolve(self.state, unwell_since=None))

    def _set(self, state: MessengerState) -> None:
        self.state = state
        self._on_change()

"""Which model answers a turn: the one that is set, and where it cannot be had, those of `[agent] failover` in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve, frozen

from myclaw_core.messages import N_
from myclaw_core.runtime.model import ModelError, ModelProvider
from myclaw_core.types.text import Text, TextValue, joined

__all__ = ["CallFailedError", "Lineup", "ModelChoice", "model_choices", "provider_names"]

_NOTICES = {
    "unreachable": N_("{failed} cannot be reached; answered by {provider} {model}"),
    "overloaded": N_("{failed} is overloaded; answered by {provider} {model}"),
    "rate": N_("{failed} has reached its rate limit; answered by {provider} {model}"),
    "auth": N_("{failed} has no valid key; answered by {provider} {model}"),
    "timeout": N_("{failed} did not answer in time; answered by {provider} {model}"),
}
"""What is told by the kind of failure; after any other kind no other model would do better, or nobody knows."""


@frozen(kw_only=True)
class ModelChoice:
    """A model and the way to reach it."""

    provider: ModelProvider
    model: str


class CallFailedError(Exception):
    """Raised by one call that failed for good; it is booked and recorded.

    Attributes:
        line: The reason in one line.
        has_shown: Whether a part of the answer was shown already.
    """

    def __init__(self, line: Text, cause: BaseException, *, has_shown: bool) -> None:
        self.line = line
        self.kind = cause.kind if isinstance(cause, ModelError) else ""
        self.has_shown = has_shown
        super().__init__(str(line))


class Lineup:
    """The models of one turn. One that failed is not asked again in the turn: it would be waited for at each call.

    Args:
        choices: What is asked, in this order; at least one.
    """

    def __init__(self, choices: Sequence[ModelChoice]) -> None:
        self._choices = choices
        self._at = 0
        self._untold: list[tuple[ModelChoice, CallFailedError]] = []

    @property
    def current(self) -> ModelChoice:
        """Return the model to ask now."""
        return self._choices[self._at]

    def go_on(self, failed: CallFailedError) -> bool:
        """Move on to the next model, if there is one and it may be asked after such a failure."""
        if failed.has_shown or failed.kind not in _NOTICES or self._at + 1 >= len(self._choices):
            return False
        self._untold.append((self.current, failed))
        self._at += 1
        return True

    def answered(self, model: str) -> Text | None:
        """Return what the person is told once after another model answered.

        Args:
            model: What answered, as the provider names it.
        """
        if not self._untold:
            return None
        choice, failed = self._untold[0]
        self._untold.clear()
        places: dict[str, TextValue] = {
            "failed": choice.provider.name,
            "provider": self.current.provider.name,
            "model": model,
        }
        return evolve(_NOTICES[failed.kind], params=places)

    def ended(self, reason: Text) -> Text:
        """Return why the turn ends, after why each model before failed."""
        return joined([*(failed.line for _, failed in self._untold), reason])


def model_choices(failover: Sequence[str], providers: Mapping[str, ModelProvider]) -> tuple[ModelChoice, ...]:
    """Return what `[agent] failover` names, without those whose provider nobody offers."""
    pairs = (entry.partition(":") for entry in failover)
    return tuple(
        ModelChoice(provider=providers[provider], model=model) for provider, _, model in pairs if provider in providers
    )


def provider_names(failover: Sequence[str]) -> tuple[str, ...]:
    """Return the providers that `[agent] failover` names."""
    return tuple(entry.partition(":")[0] for entry in failover)

"""What models cost: the table of known prices, the user's own, and exact arithmetic over both."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction

from myclaw_core.budget.types import PriceUnknownError
from myclaw_core.config import Price
from myclaw_core.errors import ConfigError
from myclaw_core.messages import N_
from myclaw_core.runtime.types import Usage

__all__ = ["KNOWN_PRICES", "PriceTable", "cost_micro_usd"]

KNOWN_PRICES: Mapping[str, Price] = {
    "claude-opus-5-5": Price(input=4.0, cached=0.2, output=20.0),
    "claude-sonnet-5-5": Price(input=2.0, cached=0.1, output=10.0),
    "claude-haiku-4-5": Price(input=1.0, cached=0.1, output=5.0),
    "claude-haiku-5-5": Price(input=0.1, cached=0.01, output=0.5),
}
"""USD per million tokens (spec/policy.md, "Budget and tiers")."""

_DATED = re.compile(r"[-@](\d{8}|\d{4}-\d{2}-\d{2}|latest)")


class PriceTable:
    """Prices by model; the user's own come first.

    Args:
        overrides: Prices of the configuration, in USD per million tokens.

    Raises:
        ConfigError: A price is negative, not finite or not a number.
    """

    def __init__(self, overrides: Mapping[str, Price] | None = None) -> None:
        self._prices = {**KNOWN_PRICES, **(overrides or {})}
        for model, price in self._prices.items():
            for name, amount in (("in", price.input), ("cached", price.cached), ("out", price.output)):
                if not _is_amount(amount):
                    raise ConfigError(
                        N_(
                            '[budget.prices."{model}"] {name}: {amount} is no price; give USD, 0 or more',
                            model=model,
                            name=name,
                            amount=repr(amount),
                        )
                    )

    def price_of(self, model: str) -> Price:
        """Return the price of `model`; a dated name such as `claude-haiku-4-5-20251001` has that of its longest prefix.

        Raises:
            PriceUnknownError: No price is known: an unknown price is never taken as 0.
        """
        if (exact := self._prices.get(model)) is not None:
            return exact
        prefixes = [name for name in self._prices if model.startswith(name) and _DATED.fullmatch(model[len(name) :])]
        if prefixes:
            return self._prices[max(prefixes, key=len)]
        raise PriceUnknownError(
            N_(
                'no price is known for the model {model}; add [budget.prices."{model}"] with in, cached and out to the'
                " configuration",
                model=model,
            )
        )


def cost_micro_usd(price: Price, usage: Usage) -> Fraction:
    """Return the exact cost of `usage` in millionths of a dollar.

    `input_tokens` are those not read from the cache. Tokens × (USD per million tokens) = millionths of a dollar.
    """
    return (
        usage.input_tokens * Fraction(str(price.input))
        + usage.cached_tokens * Fraction(str(price.cached))
        + usage.output_tokens * Fraction(str(price.output))
    )


def _is_amount(amount: object) -> bool:
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        return False
    return math.isfinite(amount) and amount >= 0

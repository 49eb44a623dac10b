"""What models cost."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spoken import untranslatable

from myclaw_core.budget.prices import PriceTable, cost_micro_usd
from myclaw_core.budget.types import BudgetRefusedError
from myclaw_core.config import Price
from myclaw_core.errors import ConfigError
from myclaw_core.runtime.types import Usage

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("model", "fresh", "cached", "out"),
    [
        ("claude-opus-5-5", "4", "0.2", "20"),
        ("claude-sonnet-5-5", "2", "0.1", "10"),
        ("claude-haiku-4-5", "1", "0.1", "5"),
        ("claude-haiku-5-5", "0.1", "0.01", "0.5"),
    ],
)
def test_known_models_cost_what_the_table_says(model: str, fresh: str, cached: str, out: str) -> None:
    price = PriceTable().price_of(model)
    assert cost_micro_usd(price, Usage(input_tokens=MILLION)) == Fraction(fresh) * MILLION
    assert cost_micro_usd(price, Usage(cached_tokens=MILLION)) == Fraction(cached) * MILLION
    assert cost_micro_usd(price, Usage(output_tokens=MILLION)) == Fraction(out) * MILLION


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**7))
def test_a_cost_is_the_exact_sum_of_its_parts(fresh: int, cached: int, out: int) -> None:
    price = PriceTable().price_of("claude-haiku-5-5")
    usage = Usage(input_tokens=fresh, cached_tokens=cached, output_tokens=out)
    assert cost_micro_usd(price, usage) == (10 * fresh + cached + 50 * out) * Fraction(1, 100)


@pytest.mark.parametrize(
    "model",
    [
        "claude-haiku-4-5-20251001",
        "claude-haiku-4-5@20251001",
        "claude-haiku-4-5-2025-10-01",
        "claude-haiku-4-5-latest",
    ],
)
def test_a_dated_name_has_the_price_of_its_model(model: str) -> None:
    assert PriceTable().price_of(model) == PriceTable().price_of("claude-haiku-4-5")


def test_the_longest_prefix_and_the_users_own_price_win() -> None:
    cheap, dear = (Price(input=amount, cached=amount, output=amount) for amount in (1.0, 9.0))
    table = PriceTable({"m": cheap, "m-20250101": dear, "claude-opus-5-5": cheap})
    assert table.price_of("m-20250202") == cheap
    assert table.price_of("m-20250101") == dear
    assert table.price_of("m-20250101-latest") == dear
    assert table.price_of("claude-opus-5-5") == cheap


@pytest.mark.parametrize(
    "model",
    ["", "gpt", "claude-haiku-4", "claude-haiku-4-50", "claude-haiku-4-5-pro", "Claude-Haiku-4-5"],
)
def test_a_model_without_a_price_is_refused_with_what_to_add(model: str) -> None:
    with pytest.raises(BudgetRefusedError, match="no price is known") as refused:
        PriceTable().price_of(model)
    assert f'[budget.prices."{model}"]' in str(refused.value)
    assert untranslatable(refused.value.text) == []


@pytest.mark.parametrize("amount", [-0.01, float("nan"), float("inf"), float("-inf"), True, "1", None])
@pytest.mark.parametrize("name", ["input", "cached", "output"])
def test_a_price_that_is_no_amount_of_money_is_refused(name: str, amount: Any) -> None:
    with pytest.raises(ConfigError, match=r'\[budget\.prices\."m"\] (in|cached|out): .* is no price') as refused:
        PriceTable({"m": Price(**{"input": 1.0, "cached": 1.0, "output": 1.0, name: amount})})
    assert untranslatable(refused.value.text) == []

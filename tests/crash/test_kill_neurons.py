"""A process that dies while it changes neurons, at any point, leaves the state of before or the one it was making."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from adopted_neurons import opened_neurons, run_of
from drafted_neurons import gate_of, version_of

from myclaw_core.approval.gateway import Gateway
from myclaw_core.clock import SystemClock
from myclaw_core.errors import ToolFailure
from myclaw_core.events.types import NeuronBorn, TrustChanged
from myclaw_core.neurons.rotation import is_rotating
from myclaw_core.neurons.settling import settle_all
from myclaw_core.neurons.signing import digest_of
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock

PROGRAM = Path(__file__).with_name("neurons_until_killed.py")
ONE, TWO = version_of("1.0.0"), version_of("1.1.0")


async def prepare(home: Home) -> None:
    """Adopt a version that has run once, and draft the next."""
    async with opened_neurons(home, FakeClock()) as opened:
        gate = gate_of(opened)
        await gate.admit(gate.stage(ONE))
        await opened.refreshed()
        await opened.book.ran(opened.neuron(), run_of("ok"))
        await gate.admit(gate.stage(version_of("1.0.0", name="other_one")))
        gate.stage(TWO)


def homes_after(tmp_path: Path, what: str) -> Iterator[Home]:
    """Yield the home of each process: those that were killed, and the last, which got through."""
    asyncio.run(prepare(Home.at(tmp_path / "before")))
    ended = subprocess.run(
        [sys.executable, PROGRAM, tmp_path, what], capture_output=True, text=True, timeout=300, check=False
    )
    told = ended.stdout.split()
    assert (told[-1:], ended.stderr) == (["done"], "")
    assert len(told) > 30
    yield from (Home.at(tmp_path / str(number)) for number in range(1, len(told) + 1))


class NoQuestions:
    """A gateway that nobody was asked by."""

    async def left(self) -> list[Any]:
        return []

    async def pending(self) -> list[Any]:
        return []


def test_an_adoption_that_is_killed_at_any_point_leaves_the_old_or_the_new_version(tmp_path: Path) -> None:
    """The next start completes or clears up; nothing is activated twice, and the journal goes on."""

    async def look(home: Home) -> str:
        async with opened_neurons(home, FakeClock()) as opened:
            assert await settle_all(home, opened.log, opened.clock, cast("Gateway", NoQuestions())) == []
            assert await opened.refreshed() == ["other_one", "word_count"]
            assert (await opened.record()).digest == opened.neuron().digest
            events = [event for _, event in await opened.log.since(0)]
            born = [each.version for each in events if isinstance(each, NeuronBorn) and each.name == "word_count"]
            births = sum(isinstance(each, TrustChanged) for each in events)
            assert sorted(path.name for path in home.neurons.iterdir()) == ["other_one", "word_count"]
            assert len(await opened.journals.newest("word_count", 9)) == 1
            version = opened.neuron().manifest.version
            assert (born, births) == (["1.0.0", "1.1.0"][: 1 + (version == "1.1.0")], 1 + len(born))
            assert opened.neuron().files == (TWO if version == "1.1.0" else ONE)
            return version

    versions = [asyncio.run(look(home)) for home in homes_after(tmp_path, "adopt")]
    assert versions == sorted(versions)
    assert set(versions) == {"1.0.0", "1.1.0"}


def test_a_rotation_that_is_killed_at_any_point_is_completed_or_was_not_begun(tmp_path: Path) -> None:
    """Every neuron can be called after the next start, under the one key that is left."""

    async def look(home: Home, old: bytes) -> bool:
        async with opened_neurons(home, FakeClock()) as opened:
            assert await settle_all(home, opened.log, opened.clock, cast("Gateway", NoQuestions())) == []
            assert await opened.refreshed() == ["other_one", "word_count"]
            assert opened.neuron().digest == digest_of(ONE)
            assert not is_rotating(home)
            assert sorted(path.name for path in home.neurons.iterdir()) == ["other_one", "word_count"]
            return (home.keys / "neuron.key").read_bytes() != old

    homes = list(homes_after(tmp_path, "rotate"))
    old = (tmp_path / "before/workspace/state/keys/neuron.key").read_bytes()
    rotated = [asyncio.run(look(home, old)) for home in homes]
    assert rotated == sorted(rotated)
    assert set(rotated) == {False, True}


def test_two_processes_that_adopt_at_once_adopt_one(tmp_path: Path) -> None:
    """The other one finds that what it was to replace is not there any more; what is in place is whole."""
    home = Home.at(tmp_path / "home")
    drafts = [version_of(f"1.{minor}.0") for minor in range(4)]

    async def stage() -> None:
        async with opened_neurons(home, SystemClock()) as opened:
            for files in drafts:
                gate_of(opened).stage(files)

    async def admit(digest: str) -> None:
        async with opened_neurons(home, SystemClock()) as opened:
            gate = gate_of(opened)
            await gate.admit(gate.admission.drafts.read(digest), turn=opened.clock.new_id())

    def in_a_process(digest: str) -> int:
        child = os.fork()
        if child:
            return child
        code = 1
        try:
            asyncio.run(admit(digest))
            code = 0
        except ToolFailure as failure:
            code = 2 if "another version of word_count was adopted" in str(failure) else 3
        finally:
            os._exit(code)

    async def look() -> None:
        async with opened_neurons(home, SystemClock()) as opened:
            assert await opened.refreshed() == ["word_count"]
            assert (await opened.record()).digest == opened.neuron().digest
            assert [path.name for path in home.neurons.iterdir()] == ["word_count"]

    asyncio.run(stage())
    children = [in_a_process(digest_of(files)) for files in drafts]
    codes = sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    assert codes == [0, 2, 2, 2]
    asyncio.run(look())

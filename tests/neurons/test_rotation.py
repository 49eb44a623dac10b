"""A new key for neurons: what verified before does so again, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from adopted_neurons import AdoptedNeurons, opened_neurons
from drafted_neurons import gate_of, version_of
from signed_neurons import neuron_files, write_neuron

from myclaw_core.errors import StoreError
from myclaw_core.neurons.rotation import begin_rotation, complete_rotation, is_rotating, plan_rotation
from myclaw_core.neurons.signing import neuron_key
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock


@pytest.fixture
async def neurons(home: Home, clock: FakeClock) -> AsyncIterator[AdoptedNeurons]:
    async with opened_neurons(home, clock) as opened:
        for name in ("word_count", "line_count"):
            gate = gate_of(opened)
            await gate.admit(gate.stage(version_of("1.0.0", name=name)))
        yield opened


async def test_every_neuron_can_be_called_under_the_new_key_and_the_old_one_is_gone(neurons: AdoptedNeurons) -> None:
    """It is on record that they were signed again."""
    old = neuron_key(neurons.home.keys)
    signatures = [path.read_bytes() for path in sorted(neurons.home.neurons.glob("*/signature.hmac"))]
    begin_rotation(neurons.home)
    done = await complete_rotation(neurons.home, neurons.log)

    assert (done.signed, done.aside) == (("line_count", "word_count"), ())
    assert neuron_key(neurons.home.keys) != old
    assert [path.name for path in neurons.home.keys.glob("neuron*")] == ["neuron.key"]
    assert signatures != [path.read_bytes() for path in sorted(neurons.home.neurons.glob("*/signature.hmac"))]
    assert await neurons.refreshed() == ["line_count", "word_count"]
    changes = [getattr(event, "change", "") for _, event in await neurons.log.since(0)]
    assert changes.count("signed again") == 2


async def test_what_did_not_verify_is_named_and_stays_aside(neurons: AdoptedNeurons) -> None:
    """A changed file, an older version that is signed, and what was never adopted."""
    home, old = neurons.home, neuron_key(neurons.home.keys)
    body = home.neurons / "word_count" / "body.py"
    body.write_bytes(body.read_bytes() + b"# changed\n")
    write_neuron(home.neurons / "line_count", neuron_files("line_count"), old)
    write_neuron(home.neurons / "never_seen", neuron_files("never_seen"), old)
    (home.neurons / "notes.txt").write_bytes(b"mine")
    before = {path: path.read_bytes() for path in home.neurons.rglob("*") if path.is_file()}

    assert (await plan_rotation(home, neurons.log)).signed == ()
    begin_rotation(home)
    done = await complete_rotation(home, neurons.log)
    told = {each.name: str(each.reason) for each in done.aside}
    assert done.signed == ()
    assert "does not match" in told["word_count"]
    assert "not the version that was approved last" in told["line_count"]
    assert told["never_seen"] == told["notes.txt"] == "nothing is on record about it; it was never adopted"
    assert before == {path: path.read_bytes() for path in home.neurons.rglob("*") if path.is_file()}
    assert await neurons.refreshed() == []


async def test_a_rotation_without_neurons_makes_a_new_key(home: Home, clock: FakeClock) -> None:
    """Also where there was none yet."""
    async with opened_neurons(home, clock) as opened:
        begin_rotation(home)
        done = await complete_rotation(home, opened.log)
        assert (done.signed, done.aside) == ((), ())
        assert len(neuron_key(home.keys)) == 32
        assert not is_rotating(home)
        assert await complete_rotation(home, opened.log) == done


async def test_a_key_that_cannot_be_written_leaves_the_old_one(
    neurons: AdoptedNeurons, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was begun."""
    old = neuron_key(neurons.home.keys)

    def full(_path: Path, _data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("myclaw_core.neurons.rotation.write_new", full)
    with pytest.raises(StoreError, match="No space left on device; the key stays as it is"):
        begin_rotation(neurons.home)
    assert not is_rotating(neurons.home)
    assert neuron_key(neurons.home.keys) == old


async def test_a_signature_that_cannot_be_written_is_written_later(
    neurons: AdoptedNeurons, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then the rotation is under way."""

    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    begin_rotation(neurons.home)
    monkeypatch.setattr("myclaw_core.neurons.rotation.resign_in_place", full)
    with pytest.raises(StoreError, match="the next start goes on with it"):
        await complete_rotation(neurons.home, neurons.log)
    monkeypatch.undo()
    assert is_rotating(neurons.home)
    assert (await complete_rotation(neurons.home, neurons.log)).signed == ("line_count", "word_count")
    assert await neurons.refreshed() == ["line_count", "word_count"]

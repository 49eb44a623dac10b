"""The gate: what lets a neuron in, and what it refuses, whoever said yes to what."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from adopted_neurons import AdoptedNeurons, opened_neurons, run_of
from drafted_neurons import TURN, Gate, gate_of, report_of, version_of
from neuron_runs import manifest_of
from signed_neurons import KEY, neuron_files, write_neuron

from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.events.types import NeuronBorn, TrustChanged
from myclaw_core.neurons.admission import covers_new
from myclaw_core.neurons.orders import NeuronOrders
from myclaw_core.neurons.signing import digest_of
from myclaw_core.neurons.verified import neuron_names
from myclaw_core.paths import Home
from myclaw_core.policy.effects import resolve_effects
from myclaw_core.testing import FakeClock


@pytest.fixture
async def neurons(home: Home, clock: FakeClock) -> AsyncIterator[AdoptedNeurons]:
    async with opened_neurons(home, clock) as opened:
        yield opened


@pytest.fixture
def gate(neurons: AdoptedNeurons) -> Gate:
    return gate_of(neurons)


async def assert_nothing_is_adopted(neurons: AdoptedNeurons) -> None:
    assert await neurons.refreshed() == []
    assert list(neurons.home.neurons.iterdir()) == []
    assert [event for _, event in await neurons.log.since(0) if isinstance(event, NeuronBorn)] == []


async def test_a_yes_signs_records_and_puts_it_in_place_and_it_can_be_called(
    neurons: AdoptedNeurons, gate: Gate
) -> None:
    """Its trust begins with R, in the transaction in which it is born."""
    draft = gate.stage(version_of("1.0.0"))
    assert await gate.admit(draft) == "adopted word_count 1.0.0"

    record = await neurons.record()
    assert (record.digest, record.status, record.trace_id) == (draft.digest, "active", TURN)
    assert await neurons.refreshed() == ["word_count"]
    assert neurons.neuron().files == draft.files
    events = [event for _, event in await neurons.log.since(0)]
    (born,) = [event for event in events if isinstance(event, NeuronBorn)]
    (trust,) = [event for event in events if isinstance(event, TrustChanged)]
    assert born.trace_id == TURN
    assert trust.subjects == (("neuron:word_count", "invoke"),)
    assert trust.reward == record.reward == pytest.approx(0.40 + 0.125 + 0.15 * 0.9)
    assert trust.body == record.body_hash == neurons.neuron().body_hash
    assert not (gate.admission.drafts.folder / draft.digest).exists()
    assert (neurons.home.neurons / "word_count").stat().st_mode & 0o077 == 0


async def test_the_gate_is_an_irreversible_effect_that_law_2_asks_about(gate: Gate, home: Home) -> None:
    """It is offered to no model, whatever level stands."""
    tool = gate.admission.tool()
    (effect,) = resolve_effects(tool, {"name": "word_count"}, cwd="/", home=home, user_home="/home/me")

    assert tool.internal
    assert (effect.kind, effect.target, effect.reversibility) == ("neuron_spawn", "word_count", "irreversible")


async def test_a_newer_version_replaces_the_older_one_and_keeps_its_journal(
    neurons: AdoptedNeurons, gate: Gate
) -> None:
    """Nothing of the older one is left, its runs are."""
    one = gate.stage(version_of("1.0.0"))
    await gate.admit(one)
    await neurons.refreshed()
    await neurons.book.ran(neurons.neuron(), run_of("ok"))
    journal = neurons.home.neurons / "word_count" / "journal.sqlite"
    before = journal.stat().st_ino

    two = gate.stage(version_of("1.1.0"))
    await gate.admit(two, replaces=one.digest)
    assert await neurons.refreshed() == ["word_count"]
    assert neurons.neuron().files == two.files
    assert journal.stat().st_ino == before
    assert [path.name for path in neurons.home.neurons.iterdir()] == ["word_count"]


@pytest.mark.parametrize(
    "report", [report_of("passed", "failed", "passed"), report_of(), report_of("passed", "passed", "failed")]
)
async def test_tests_that_are_not_all_green_keep_it_out(neurons: AdoptedNeurons, gate: Gate, report: object) -> None:
    """Even a yes does not let it in; nobody is asked in the first place."""
    draft = gate.stage(version_of("1.0.0"), report)  # type: ignore[arg-type]

    for shows in (lambda: gate.shown(draft), None):
        with pytest.raises(ToolFailure, match="not all green"):
            shows() if shows else await gate.admit(draft)
    await assert_nothing_is_adopted(neurons)


async def test_a_draft_that_changed_after_the_question_keeps_it_out(neurons: AdoptedNeurons, gate: Gate) -> None:
    """Whatever it has become, nobody said yes to that."""
    draft = gate.stage(version_of("1.0.0"))
    body = gate.admission.drafts.folder / draft.digest / "body.py"
    body.write_bytes(body.read_bytes().replace(b"split", b"strip"))

    with pytest.raises(ToolFailure, match="was changed since"):
        await gate.admit(draft)
    await assert_nothing_is_adopted(neurons)


async def test_code_that_the_analysis_refuses_by_now_is_kept_out(neurons: AdoptedNeurons, gate: Gate) -> None:
    """It is analysed once more after the yes, on the bytes that would be signed."""
    draft = gate.stage(neuron_files(body=b"import os\n\ndef run(ctx, args):\n    return {'n': os.getpid()}\n"))

    with pytest.raises(ToolFailure, match=r"body.py:1: \[import\]"):
        await gate.admit(draft)
    await assert_nothing_is_adopted(neurons)


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {"verdict": "denied"},
        {"verdict": "expired", "decided_by": "core"},
        {"decided_by": "core"},
        {"scope": "batch"},
        {"turn": UUID(int=8)},
        {"args": {"replaces": "0" * 64}},
        {"args": {"digest": "0" * 64}},
    ],
)
async def test_without_a_persons_yes_to_exactly_this_in_this_turn_nothing_comes_in(
    neurons: AdoptedNeurons, gate: Gate, answers: dict[str, Any]
) -> None:
    """Whoever calls the gate, and however: it reads the log itself."""
    draft = gate.stage(version_of("1.0.0"))
    args = {"name": "word_count", "version": "1.0.0", "digest": draft.digest, "replaces": ""}
    if answers:
        await gate.agree(args | answers.pop("args", {}), **answers)

    with pytest.raises(ToolFailure, match="nobody said yes to exactly this"):
        await gate.run(args)
    await assert_nothing_is_adopted(neurons)


async def test_a_yes_lets_in_once(neurons: AdoptedNeurons, gate: Gate) -> None:
    """Not again after it was removed, in the same turn and with the same words."""
    draft = gate.stage(version_of("1.0.0"))
    await gate.admit(draft)
    orders = NeuronOrders(
        log=neurons.log, clock=neurons.clock, home=neurons.home, analyze=gate.admission.analyze, programs=()
    )
    await orders.remove("word_count", "cli:me")
    again = gate.stage(version_of("1.0.0"))

    args = {"name": "word_count", "version": "1.0.0", "digest": again.digest, "replaces": ""}
    with pytest.raises(ToolFailure, match="nobody said yes to exactly this"):
        await gate.run(args)
    assert await neurons.refreshed() == []
    assert await gate.admit(again) == "adopted word_count 1.0.0"


async def test_another_name_than_the_one_that_was_agreed_to_is_kept_out(neurons: AdoptedNeurons, gate: Gate) -> None:
    """The question names what it lets in."""
    with pytest.raises(ToolFailure, match="of another neuron, word_count"):
        await gate.admit(gate.stage(version_of("1.0.0")), name="line_count")
    await assert_nothing_is_adopted(neurons)


async def test_a_yes_to_replace_another_version_than_there_is_counts_no_more(
    neurons: AdoptedNeurons, gate: Gate
) -> None:
    """The diff that was shown was to that one."""
    one, two, three = (gate.stage(version_of(version)) for version in ("1.0.0", "1.1.0", "1.2.0"))
    await gate.admit(one)
    await gate.admit(two, replaces=one.digest)

    for replaces in ("", one.digest):
        with pytest.raises(ToolFailure, match="another version of word_count was adopted"):
            await gate.admit(three, replaces=replaces)
    assert await neurons.refreshed() == ["word_count"]
    assert neurons.neuron().digest == two.digest
    assert (await neurons.record()).digest == two.digest
    assert [path.name for path in neurons.home.neurons.iterdir()] == ["word_count"]


async def test_what_was_never_adopted_is_never_overwritten(neurons: AdoptedNeurons, gate: Gate) -> None:
    """A file of the person's in the way is named and stays."""
    folder = neurons.home.neurons / "word_count"
    draft = gate.stage(version_of("1.0.0"))
    cases = {
        "was never adopted": lambda: write_neuron(folder, neuron_files(body=b"x = 1\n"), KEY),
        "holds notes.txt": lambda: (folder.mkdir(), (folder / "notes.txt").write_bytes(b"mine")),
        "a link or a file": lambda: folder.write_bytes(b"mine"),
    }
    for problem, lay in cases.items():
        lay()
        before = [path.read_bytes() for path in (folder.iterdir() if folder.is_dir() else [folder])]
        with pytest.raises(MyclawError, match=problem):
            await gate.admit(draft)
        assert before == [path.read_bytes() for path in (folder.iterdir() if folder.is_dir() else [folder])]
        shutil.rmtree(folder) if folder.is_dir() else folder.unlink()
    assert await gate.admit(draft) == "adopted word_count 1.0.0"


async def test_files_that_were_written_in_place_by_hand_are_adopted_there(neurons: AdoptedNeurons, gate: Gate) -> None:
    """A person may write a neuron where neurons lie; it becomes the signed one, in its normal form."""
    files = version_of("1.0.0")
    folder = write_neuron(neurons.home.neurons / "word_count", files)
    (folder / "signature.hmac").unlink()
    (folder / "body.py").write_bytes(files["body.py"].replace(b"\n", b"  \r\n"))

    await gate.admit(gate.stage(files))
    assert await neurons.refreshed() == ["word_count"]


async def test_a_folder_that_was_lost_comes_back_with_another_yes(neurons: AdoptedNeurons, gate: Gate) -> None:
    """The record alone runs nothing."""
    draft = gate.stage(version_of("1.0.0"))
    await gate.admit(draft)
    shutil.rmtree(neurons.home.neurons / "word_count")
    assert await neurons.refreshed() == []

    again = gate.stage(version_of("1.0.0"))
    await gate.admit(again, replaces=draft.digest)
    assert await neurons.refreshed() == ["word_count"]


async def test_a_full_disk_adopts_nothing_and_leaves_nothing(
    neurons: AdoptedNeurons, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so in one line, and works once there is room."""
    one = gate.stage(version_of("1.0.0"))
    await gate.admit(one)
    two = gate.stage(version_of("2.0.0"))
    real_open, full = os.open, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def refuse(path: str | Path, flags: int, *args: int, **more: int) -> int:
        if flags & os.O_CREAT and str(path) == "manifest.yaml":
            raise full
        return real_open(path, flags, *args, **more)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ToolFailure, match="No space left on device; nothing was adopted"):
        await gate.admit(two, replaces=one.digest)
    monkeypatch.undo()
    assert neuron_names(neurons.home.neurons) == ["word_count"]
    assert [path.name for path in neurons.home.neurons.iterdir()] == ["word_count"]
    assert await neurons.refreshed() == ["word_count"]
    assert neurons.neuron().digest == one.digest
    assert await gate.admit(two, replaces=one.digest) == "adopted word_count 2.0.0"


@pytest.mark.parametrize("what", ["folder", "link", "file"])
async def test_what_lies_beside_the_place_is_no_way_in(
    neurons: AdoptedNeurons, gate: Gate, tmp_path: Path, what: str
) -> None:
    """A folder, a link or a file under the name of what is made ready does not become the neuron."""
    beside = neurons.home.neurons / ".word_count.new"
    elsewhere = write_neuron(tmp_path / "elsewhere", neuron_files("elsewhere"))
    if what == "folder":
        shutil.copytree(elsewhere, beside)
    elif what == "link":
        beside.symlink_to(elsewhere)
    else:
        beside.write_bytes(b"")

    draft = gate.stage(version_of("1.0.0"))
    await gate.admit(draft)
    assert await neurons.refreshed() == ["word_count"]
    assert digest_of(neurons.neuron().files) == draft.digest
    assert [path.name for path in neurons.home.neurons.iterdir()] == ["word_count"]
    assert (elsewhere / "body.py").exists()


async def test_a_neuron_that_was_removed_can_be_adopted_again(neurons: AdoptedNeurons, gate: Gate) -> None:
    """It replaces nothing then, and is what it was."""
    draft = gate.stage(version_of("1.0.0"))
    await gate.admit(draft)
    orders = NeuronOrders(log=neurons.log, clock=neurons.clock, home=neurons.home, analyze=lambda _: (), programs=())
    await orders.remove("word_count", "cli:me")
    assert await neurons.refreshed() == []

    await gate.admit(gate.stage(version_of("1.0.0")))
    assert await neurons.refreshed() == ["word_count"]


@pytest.mark.parametrize(
    ("capabilities", "others", "is_new"),
    [
        (("fs-read:~/*",), (), True),
        (("fs-read:~/*",), ("fs-write:~/*",), True),
        (("fs-read:~/*",), ("fs-read:~/other/*",), False),
        (("clock", "random", "llm"), (), False),
        ((), (), False),
    ],
)
def test_a_kind_of_thing_is_new_that_no_other_neuron_does(
    capabilities: tuple[str, ...], others: tuple[str, ...], is_new: bool
) -> None:
    """Whatever the pattern; to know the time or to ask a model does nothing."""
    assert covers_new(manifest_of(capabilities=capabilities), others) is is_new

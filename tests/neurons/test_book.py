"""The book of neurons: what is on record, signed and whole can be called, anything else cannot, without a restart."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from adopted_neurons import AdoptedNeurons, opened_neurons, run_of
from signed_neurons import BODY, neuron_files, write_neuron

from myclaw_core.events.types import NeuronBorn, NeuronChanged
from myclaw_core.neurons.book import SETTLE_S
from myclaw_core.neurons.lock import changing_neurons, is_changing
from myclaw_core.neurons.records import changed, misplaced, standing
from myclaw_core.neurons.signing import neuron_key
from myclaw_core.paths import Home
from myclaw_core.runtime.tool import Tool
from myclaw_core.testing import FakeClock

BETTER = BODY + b"# better\n"


@pytest.fixture
async def neurons(home: Home, clock: FakeClock) -> AsyncIterator[AdoptedNeurons]:
    """A home with its log open and no neuron yet."""
    async with opened_neurons(home, clock) as opened:
        yield opened


async def test_an_adopted_neuron_is_a_tool_with_its_verified_bytes(neurons: AdoptedNeurons) -> None:
    """Its name, purpose, schema and effect come from its manifest, its version from its body."""
    await neurons.adopt()

    assert await neurons.refreshed() == ["word_count"]
    tool = neurons.shelf["neuron:word_count"]
    assert tool.neuron is not None
    assert dict(tool.neuron.files) == neuron_files()
    assert (tool.description, dict(tool.schema), tool.run) == ("Count words.", {"type": "object"}, None)
    assert [(each.kind, each.default) for each in tool.effects or ()] == [("neuron_invoke", "word_count")]
    assert tool.version == tool.neuron.body_hash


async def test_a_signed_folder_without_a_record_is_not_adopted_here(neurons: AdoptedNeurons) -> None:
    """A signature alone, such as one that came with a restored folder, lets nothing run."""
    write_neuron(neurons.home.neurons / "word_count", key=neuron_key(neurons.home.keys))

    assert await neurons.refreshed() == []
    (entry,) = await neurons.book.entries()
    assert (entry.name, entry.state, entry.record) == ("word_count", "not adopted", None)


async def test_an_older_signed_version_is_not_the_one_on_record(neurons: AdoptedNeurons) -> None:
    """Whoever puts the files of an earlier version back gets nothing run."""
    folder = await neurons.adopt()
    await neurons.adopt(files=neuron_files(body=BETTER))
    assert await neurons.refreshed() == ["word_count"]

    write_neuron(folder, neuron_files(), neuron_key(neurons.home.keys))

    assert await neurons.refreshed() == []
    (entry,) = await neurons.book.entries()
    assert entry.state == "not loaded"
    assert "not the version that was approved last" in str(entry.reason)


async def test_a_new_version_takes_the_place_of_the_old_one_without_a_restart(neurons: AdoptedNeurons) -> None:
    """What is running keeps the bytes it began with: they are a value."""
    await neurons.adopt()
    await neurons.book.refresh()
    running = neurons.neuron()

    await neurons.adopt(files=neuron_files(body=BETTER))
    await neurons.book.refresh()

    assert neurons.neuron().files["body.py"] == BETTER
    assert running.files["body.py"] == BODY


def _edit(folder: Path) -> None:
    (folder / "body.py").write_bytes(BODY + b"import os\n")


def _edit_in_place(folder: Path) -> None:
    """Change a byte and put the times back."""
    before = (folder / "body.py").stat()
    (folder / "body.py").write_bytes(BODY.replace(b"'n'", b"'m'"))
    os.utime(folder / "body.py", ns=(before.st_atime_ns, before.st_mtime_ns))


def _add_a_file(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")


def _link_the_body(folder: Path) -> None:
    shutil.move(folder / "body.py", folder.parent.parent / "body.py")
    (folder / "body.py").symlink_to(folder.parent.parent / "body.py")


def _hard_link(folder: Path) -> None:
    os.link(folder / "body.py", folder.parent.parent / "twin.py")


def _drop_the_signature(folder: Path) -> None:
    (folder / "signature.hmac").unlink()


def _half_write(folder: Path) -> None:
    (folder / "body.py").write_bytes(BODY[:10])


def _link_the_folder(folder: Path) -> None:
    shutil.move(folder, folder.parent.parent / "elsewhere")
    folder.symlink_to(folder.parent.parent / "elsewhere")


def _a_file_instead(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("no folder")


@pytest.mark.parametrize(
    "spoil",
    [
        _edit,
        _edit_in_place,
        _add_a_file,
        _link_the_body,
        _hard_link,
        _drop_the_signature,
        _half_write,
        _link_the_folder,
        _a_file_instead,
    ],
)
async def test_a_spoilt_folder_is_off_at_once_and_put_aside_for_good_once_it_lasts(
    neurons: AdoptedNeurons, clock: FakeClock, spoil: Callable[[Path], None]
) -> None:
    """Somebody may still be writing; after the settle time it is on record, and good files do not bring it back."""
    folder = await neurons.adopt()
    await neurons.book.refresh()

    spoil(folder)
    assert await neurons.refreshed() == []
    clock.advance(seconds=SETTLE_S - 1)
    await neurons.book.refresh()
    assert (await neurons.record()).status == "active"
    clock.advance(seconds=1)
    await neurons.book.refresh()

    record = await neurons.record()
    assert (record.status, bool(str(record.reason))) == ("quarantined", True)
    shutil.rmtree(folder) if folder.is_dir() and not folder.is_symlink() else folder.unlink()
    write_neuron(folder, key=neuron_key(neurons.home.keys))
    assert await neurons.refreshed() == []


async def test_a_folder_that_is_still_being_written_is_not_put_aside(neurons: AdoptedNeurons, clock: FakeClock) -> None:
    """Each change begins the settle time anew, and once it is whole it can be called again."""
    folder = await neurons.adopt()
    for part in range(5):
        (folder / "body.py").write_bytes(BODY[: 5 + part])
        assert await neurons.refreshed() == []
        clock.advance(seconds=SETTLE_S - 1)
    (folder / "body.py").write_bytes(BODY)

    assert await neurons.refreshed() == ["word_count"]
    assert (await neurons.record()).status == "active"


async def test_while_a_process_changes_neurons_none_is_put_aside(neurons: AdoptedNeurons, clock: FakeClock) -> None:
    """What lies there then is not final; it is put aside once the change is over and it is unfit still."""
    folder = await neurons.adopt()
    (folder / "body.py").write_bytes(BETTER)
    assert await neurons.refreshed() == []
    clock.advance(seconds=SETTLE_S)
    async with changing_neurons(neurons.home.state, clock):
        assert await neurons.refreshed() == []
        assert (await neurons.record()).status == "active"

    await neurons.book.refresh()
    assert (await neurons.record()).status == "quarantined"


async def test_a_folder_that_is_mended_at_the_last_moment_is_not_put_aside(
    neurons: AdoptedNeurons, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked at once more in the transaction that would put it on record."""
    folder = await neurons.adopt()
    (folder / "body.py").write_bytes(BETTER)
    assert await neurons.refreshed() == []
    clock.advance(seconds=SETTLE_S)

    def mended_meanwhile(state: Path) -> bool:
        (folder / "body.py").write_bytes(BODY)
        return is_changing(state)

    monkeypatch.setattr("myclaw_core.neurons.book.is_changing", mended_meanwhile)
    await neurons.book.refresh()

    assert (folder / "body.py").read_bytes() == BODY
    assert (await neurons.record()).status == "active"
    assert await neurons.refreshed() == ["word_count"]


async def test_a_folder_that_is_gone_is_told_and_works_again_when_the_same_bytes_are_back(
    neurons: AdoptedNeurons, clock: FakeClock
) -> None:
    """Nothing of it can run, so nobody has to agree anew; a renamed one is a stranger under its new name."""
    folder = await neurons.adopt()
    await neurons.book.refresh()

    folder.rename(folder.with_name("other_name"))
    assert await neurons.refreshed() == []
    clock.advance(seconds=10 * SETTLE_S)
    await neurons.book.refresh()
    gone, renamed = sorted(await neurons.book.entries(), key=lambda each: each.name != "word_count")
    assert (gone.state, str(gone.reason)) == ("not loaded", "its folder is gone")
    assert renamed.state == "not adopted"
    folder.with_name("other_name").rename(folder)

    assert await neurons.refreshed() == ["word_count"]


async def test_names_that_differ_in_case_alone_are_not_taken_for_one_another(neurons: AdoptedNeurons) -> None:
    """The folder of the record has exactly its name."""
    folder = await neurons.adopt()
    folder.rename(folder.with_name("Word_Count"))

    assert await neurons.refreshed() == []


async def test_a_key_that_others_can_read_stops_all_neurons_and_puts_none_aside(
    neurons: AdoptedNeurons, clock: FakeClock
) -> None:
    """It is not their fault: as soon as the key is right they run again."""
    await neurons.adopt()
    key = neurons.home.keys / "neuron.key"
    key.chmod(0o644)

    assert await neurons.refreshed() == []
    clock.advance(seconds=10 * SETTLE_S)
    await neurons.book.refresh()
    key.chmod(0o600)

    assert await neurons.refreshed() == ["word_count"]


async def test_without_a_key_nothing_is_verified_and_none_is_made(neurons: AdoptedNeurons) -> None:
    """A new key would make strangers of all neurons."""
    await neurons.adopt()
    (neurons.home.keys / "neuron.key").unlink()

    assert await neurons.refreshed() == []
    assert not (neurons.home.keys / "neuron.key").exists()


async def test_a_neuron_does_not_take_the_wire_name_of_a_plugin_tool(home: Home, clock: FakeClock) -> None:
    """On a provider's wire both would be `neuron_word_count`."""
    tool = Tool(name="neuron_word_count", description="", schema={}, effects=(), plugin="odd")
    async with opened_neurons(home, clock, tools={tool.name: tool}) as neurons:
        await neurons.adopt()

        assert await neurons.refreshed() == []
        (entry,) = await neurons.book.entries()
        assert "neuron_word_count" in str(entry.reason)


async def test_a_program_that_is_not_configured_any_more_puts_the_neuron_aside(home: Home, clock: FakeClock) -> None:
    """A capability that is withdrawn quarantines."""
    files = neuron_files()
    files["manifest.yaml"] = files["manifest.yaml"].replace(b"capabilities: []", b'capabilities: ["shell:git"]')
    async with opened_neurons(home, clock, programs=("git",)) as neurons:
        await neurons.adopt(files=files)
        assert await neurons.refreshed() == ["word_count"]
    async with opened_neurons(home, clock) as neurons:
        assert await neurons.refreshed() == []
        clock.advance(seconds=SETTLE_S)
        await neurons.book.refresh()

        assert "shell:git" in str((await neurons.record()).reason)


async def test_only_what_changed_is_read_again(
    neurons: AdoptedNeurons, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look at what stands as it was opens no file; the journal does not count."""
    clock.advance(days=36500)  # so that no file was changed just now
    names = [f"n_{n:03}" for n in range(20)]
    for name in names:
        await neurons.adopt(name)
    assert await neurons.refreshed() == names
    opened: list[str] = []
    real = os.open

    def noting(path: str, *rest: object, **more: object) -> int:
        opened.append(str(path))
        return real(path, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", noting)
    await neurons.journals.append("n_003", run_of("ok"))
    opened.clear()
    await neurons.book.refresh()
    assert not [path for path in opened if path.endswith((".py", ".yaml", ".hmac"))]
    (neurons.home.neurons / "n_003" / "body.py").touch()
    await neurons.book.refresh()

    assert [path for path in opened if path.endswith("body.py")] == ["body.py"]
    assert neurons.names == names


async def test_thousands_of_other_folders_do_not_matter(neurons: AdoptedNeurons) -> None:
    """Only what is on record is looked at; the rest is listed."""
    await neurons.adopt()
    for n in range(2000):
        (neurons.home.neurons / f"stray_{n}").mkdir()
    folder = neurons.home.neurons / "word_count"

    assert await neurons.refreshed() == ["word_count"]
    for n in range(500):
        (folder / f"{n}.tmp").touch()
    assert await neurons.refreshed() == []
    assert len(await neurons.book.entries()) == 2001


async def test_a_record_that_was_edited_lets_nothing_run(neurons: AdoptedNeurons) -> None:
    """The log vouches for each record; one that was written by hand, even over an older event, is none."""
    folder = await neurons.adopt()
    await neurons.book.refresh()
    neuron = neurons.neuron()
    _rewrite(neurons.home, lambda raw: raw.replace(b'"strikes":0', b'"strikes":-9'))
    write_neuron(folder, key=neuron_key(neurons.home.keys))

    assert await neurons.refreshed() == []
    (entry,) = await neurons.book.entries()
    assert (entry.state, "event log" in str(entry.reason)) == ("not loaded", True)
    with pytest.raises(Exception, match="event log"):
        await neurons.book.ran(neuron, run_of("failed"))


async def test_a_record_that_was_put_back_is_found_by_the_check_of_the_log(neurons: AdoptedNeurons) -> None:
    """Each older record was vouched for once; only the whole log tells that it is not the newest."""
    await neurons.adopt()
    assert await misplaced(neurons.log) is None
    old = _raw(neurons.home)
    async with neurons.log.transaction() as tx:
        record = standing(await neurons.record(), neurons.clock.now(), status="disabled")
        await changed(tx, record, "disabled", sender="cli:me")
    assert await misplaced(neurons.log) is None

    _rewrite(neurons.home, lambda _raw: old)
    assert "changed by hand" in str(await misplaced(neurons.log))
    _rewrite(neurons.home, lambda _raw: None)
    assert "changed by hand" in str(await misplaced(neurons.log))


async def test_a_database_that_cannot_be_read_leaves_no_neuron_to_call(
    neurons: AdoptedNeurons, caplog: pytest.LogCaptureFixture
) -> None:
    """What is not known to be on record does not run; the turn goes on without it."""
    await neurons.adopt()
    assert await neurons.refreshed() == ["word_count"]
    await neurons.log.close()

    with caplog.at_level(logging.ERROR, "myclaw.neurons"):
        assert await neurons.refreshed() == []
    assert "no neuron can be called" in caplog.text


async def test_a_birth_and_a_change_are_events_of_their_names(neurons: AdoptedNeurons) -> None:
    """`neuron.born` says what was approved; each change says why."""
    await neurons.adopt()
    await neurons.book.refresh()
    for _ in range(3):
        await neurons.book.ran(neurons.neuron(), run_of("timeout")) if neurons.names else None
    told = await neurons.log.since(0)

    assert [head.type for head, _ in told] == ["neuron.born", "neuron.changed", "neuron.changed", "neuron.changed"]
    first = told[0][1]
    assert isinstance(first, NeuronBorn)
    assert first.reward == 0.8
    changes = [event.change for _, event in told if isinstance(event, NeuronChanged)]
    assert changes == ["strike", "strike", "quarantined"]


def _raw(home: Home) -> bytes:
    with sqlite3.connect(home.state / "events.db") as database:
        ((raw,),) = database.execute("SELECT value FROM records WHERE kind = 'neuron'").fetchall()
    database.close()
    return bytes(raw)


def _rewrite(home: Home, made: Callable[[bytes], bytes | None]) -> None:
    """Change the one record of a neuron behind the program's back."""
    new = made(_raw(home))
    with sqlite3.connect(home.state / "events.db") as database:
        if new is None:
            database.execute("DELETE FROM records WHERE kind = 'neuron'")
        else:
            assert new != _raw(home)
            database.execute("UPDATE records SET value = ? WHERE kind = 'neuron'", (new,))
    database.close()

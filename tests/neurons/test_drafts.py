"""What a person is asked to adopt stays what it is until they have answered."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from drafted_neurons import green, report_of, version_of
from signed_neurons import neuron_files

from myclaw_core.errors import StoreError, UsageError
from myclaw_core.neurons.drafts import DraftGoneError, Drafts, read_source
from myclaw_core.neurons.signing import digest_of
from myclaw_core.testing import FakeClock


@pytest.fixture
def drafts(tmp_path: Path) -> Drafts:
    return Drafts(tmp_path / "drafts")


def staged(drafts: Drafts, clock: FakeClock) -> str:
    files = version_of("1.0.0")
    return drafts.stage(files, green(files, clock)).digest


def test_a_draft_is_read_back_byte_for_byte_with_its_tests(drafts: Drafts, clock: FakeClock) -> None:
    """Nothing of it is looked at in the person's folder again."""
    files = version_of("1.0.0")
    draft = drafts.stage(files, green(files, clock))

    assert draft == drafts.read(digest_of(files))
    assert (draft.files, draft.manifest.version) == (files, "1.0.0")
    assert draft.tested == green(files, clock)
    assert (drafts.folder / draft.digest).stat().st_mode & 0o077 == 0


def test_a_draft_that_was_tested_again_keeps_its_files_and_has_the_new_tests(drafts: Drafts, clock: FakeClock) -> None:
    """One digest is one folder."""
    digest = staged(drafts, clock)
    clock.advance(minutes=5)
    staged(drafts, clock)

    assert drafts.read(digest).tested.at == clock.now()
    assert [path.name for path in drafts.folder.iterdir()] == [digest]


@pytest.mark.parametrize("content", [b"", b"{", b"null", b'{"schema_version": "9.0"}', b"\xff" * 100])
def test_a_draft_whose_tests_cannot_be_read_is_none_and_is_in_nobodys_way(
    drafts: Drafts, clock: FakeClock, content: bytes
) -> None:
    """The same files are staged anew, or it is swept."""
    digest = staged(drafts, clock)
    tested = drafts.folder / digest / "tested.json"
    tested.write_bytes(content)
    with pytest.raises(DraftGoneError):
        drafts.read(digest)
    assert staged(drafts, clock) == digest

    tested.write_bytes(content)
    drafts.sweep((), clock.now())
    assert list(drafts.folder.iterdir()) == []


def test_hundreds_of_tests_and_all_that_they_print_fit_into_a_draft(drafts: Drafts, clock: FakeClock) -> None:
    """As much as a run in the sandbox may print."""
    files = version_of("1.0.0")
    report = report_of(*["passed"] * 1_000)
    tested = green(files, clock, evolve(report, sandbox=evolve(report.sandbox, stdout="\0" * (512 << 10))))

    assert drafts.stage(files, tested).tested == tested


@pytest.mark.parametrize("file", ["body.py", "test_birth.py", "manifest.yaml"])
def test_a_draft_that_was_changed_is_none(drafts: Drafts, clock: FakeClock, file: str) -> None:
    """A yes was for other bytes."""
    digest = staged(drafts, clock)
    path = drafts.folder / digest / file
    path.write_bytes(path.read_bytes() + b"#\n")

    with pytest.raises(DraftGoneError, match="was changed"):
        drafts.read(digest)


def test_a_draft_with_the_tests_of_another_one_is_none(drafts: Drafts, clock: FakeClock) -> None:
    """Green tests count for what was tested."""
    one, other = version_of("1.0.0"), version_of("2.0.0")
    for files in (one, other):
        drafts.stage(files, green(files, clock))
    (drafts.folder / digest_of(one) / "tested.json").replace(drafts.folder / digest_of(other) / "tested.json")

    with pytest.raises(DraftGoneError, match="another one"):
        drafts.read(digest_of(other))
    with pytest.raises(DraftGoneError, match="not there any more"):
        drafts.read(digest_of(one))
    with pytest.raises(ValueError, match="other files"):
        drafts.stage(one, green(other, clock))


@pytest.mark.parametrize("digest", ["", "..", "../keys", "0" * 63, "0" * 64, "A" * 64])
def test_what_is_no_digest_of_a_draft_names_none(drafts: Drafts, clock: FakeClock, digest: str) -> None:
    """No argument of the gate leads anywhere else."""
    staged(drafts, clock)
    with pytest.raises(DraftGoneError):
        drafts.read(digest)


def test_a_sweep_clears_nothing_up_behind_a_link(tmp_path: Path, clock: FakeClock) -> None:
    """Whatever has the name of a draft there is somebody else's."""
    elsewhere = tmp_path / "elsewhere" / ("a" * 64)
    elsewhere.mkdir(parents=True)
    (tmp_path / "drafts").symlink_to(elsewhere.parent)
    Drafts(tmp_path / "drafts").sweep((), clock.now())

    assert elsewhere.is_dir()


def test_a_sweep_keeps_what_is_asked_about_and_what_is_about_to_be(drafts: Drafts, clock: FakeClock) -> None:
    """Everything else is gone, also what a process that died was writing."""
    asked = staged(drafts, clock)
    fresh = version_of("2.0.0")
    clock.advance(hours=2)
    drafts.stage(fresh, green(fresh, clock))
    (drafts.folder / ".myclaw-gone:1:1-0.tmp").mkdir()
    (drafts.folder / ("b" * 64)).mkdir()

    drafts.sweep({asked}, clock.now())
    assert sorted(path.name for path in drafts.folder.iterdir()) == sorted([asked, digest_of(fresh)])
    drafts.sweep((), clock.now())
    assert [path.name for path in drafts.folder.iterdir()] == [digest_of(fresh)]
    clock.advance(hours=2)
    drafts.sweep((), clock.now())
    assert list(drafts.folder.iterdir()) == []


def test_a_full_disk_leaves_no_half_draft(drafts: Drafts, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says so, and the draft of before is still there."""
    digest = staged(drafts, clock)

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    files = version_of("2.0.0")
    with pytest.raises(StoreError, match="No space left on device; nothing was adopted"):
        drafts.stage(files, green(files, clock))
    monkeypatch.undo()
    assert [path.name for path in drafts.folder.iterdir()] == [digest]
    assert drafts.read(digest).manifest.version == "1.0.0"


def write(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def test_a_folder_of_the_person_is_read_in_its_normal_form(tmp_path: Path) -> None:
    """What else lies there is left alone; hard links, as installers make them, are read."""
    files = neuron_files()
    folder = write(tmp_path / "word_count", {**files, "README.md": b"read me"})
    (folder / "body.py").write_bytes(files["body.py"].replace(b"\n", b" \r\n"))
    os.link(folder / "manifest.yaml", tmp_path / "again")
    (tmp_path / "link").symlink_to(folder)

    assert read_source(folder) == files
    assert read_source(tmp_path / "link") == files


def a_link(path: Path) -> None:
    target = path.with_name("elsewhere")
    path.rename(target)
    path.symlink_to(target)


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def too_long(path: Path) -> None:
    path.write_bytes(b"#" * (64 * 1024 + 1))


@pytest.mark.parametrize("spoil", [a_link, a_pipe, a_folder, too_long, Path.unlink])
@pytest.mark.parametrize("file", ["body.py", "manifest.yaml"])
def test_a_folder_with_an_odd_file_is_refused(tmp_path: Path, file: str, spoil: Callable[[Path], Any]) -> None:
    """A pipe is not waited for and a link not followed."""
    folder = write(tmp_path / "word_count", neuron_files())
    spoil(folder / file)

    with pytest.raises(UsageError, match=rf"(?s){file}.*") as caught:
        read_source(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["nothing", "file", "dangling"])
def test_what_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    """One line names it."""
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "dangling").symlink_to("nowhere")
    with pytest.raises(UsageError, match="is no folder"):
        read_source(tmp_path / name)

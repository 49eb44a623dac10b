"""Any row of acts, taken back in reverse order, leaves the tree as it was: bytes, names and modes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random

import pytest
from attrs import evolve
from undo_acts import Acts

from myclaw_core.files.resolve import display_path
from myclaw_core.undo.types import UndoRecord

from .conftest import Bench
from .test_journal import write

pytestmark = pytest.mark.usefixtures("no_power_cut")
SEQUENCES = 1000
ROWS = 20
FOREIGN_ROWS = 200
STAYING = ("write", "edit", "delete", "folder", "mode", "shell")
"""Acts after which a file that somebody else changed still has its place."""


def acts_on(bench: Bench, seed: int, *, crashes: bool = True) -> Acts:
    acts = Acts(bench.root, bench.journal, Random(seed), crashes)
    acts.grow()
    return acts


@pytest.mark.parametrize("row", range(ROWS))
def test_a_thousand_sequences_come_back_to_the_start(new_bench: Callable[..., Bench], row: int) -> None:
    """Writes, edits, moves, moves over, deletions, folders, modes and commands, some cut short; undone one by one."""
    for seed in range(row, SEQUENCES, ROWS):
        bench = new_bench()
        acts = acts_on(bench, seed)
        before = bench.snapshot()
        for _ in range(acts.chance.randint(1, 8)):
            acts.act()
        for record in reversed(acts.records):
            reverted = bench.journal.revert(record)
            assert reverted.reverted, (seed, acts.done, [str(line) for line in reverted.details])
        assert bench.snapshot() == before, (seed, acts.done)
        for record in reversed(acts.records):
            assert bench.journal.revert(evolve(record, reverted_at=record.created_at)).reverted
        assert bench.snapshot() == before, f"undone twice: {seed}"


def undo_all(acts: Acts, records: Sequence[UndoRecord], *, force: bool = False) -> tuple[list[UndoRecord], list[str]]:
    """Take records back, the newest first; return those that were not, and what was told."""
    left, told = [], []
    for record in reversed(records):
        reverted = acts.journal.revert(record, force=force)
        told += map(str, reverted.details)
        if not reverted.reverted:
            left.insert(0, record)
    return left, told


@pytest.mark.parametrize("row", range(ROWS))
@pytest.mark.parametrize("force", [False, True])
def test_what_somebody_else_wrote_is_kept_and_said_and_goes_only_by_force(
    new_bench: Callable[..., Bench], row: int, force: bool
) -> None:
    """In any file after any acts: an undo never loses it, and restores the rest; forced, the tree is as it was."""
    for seed in range(row, FOREIGN_ROWS, ROWS):
        bench = new_bench()
        acts = acts_on(bench, seed, crashes=False)
        before = bench.snapshot()
        for _ in range(acts.chance.randint(1, 4)):
            acts.act(STAYING)
        files = [path for path in sorted(bench.root.rglob("*")) if path.is_file() and not path.is_symlink()]
        if not files:
            continue
        foreign = acts.chance.choice(files)
        foreign.write_bytes(b"by somebody else")
        left, told = undo_all(acts, acts.records, force=force)
        changed = str(foreign.relative_to(bench.root))
        if force:
            assert {**bench.snapshot(), changed: ""} == {**before, changed: ""}, (seed, acts.done, told)
            continue
        assert foreign.read_bytes() == b"by somebody else", (seed, acts.done)
        if left:
            assert any(f"{display_path(str(foreign))} changed since" in line for line in told), (seed, told)
        else:
            assert {**bench.snapshot(), changed: ""} == {**before, changed: ""}, (seed, acts.done)


def test_what_a_later_act_changed_keeps_an_earlier_one_from_being_undone(new_bench: Callable[..., Bench]) -> None:
    """Until the later one is undone itself; a later act on something else is no hindrance."""
    bench = new_bench()
    (bench.root / "a").write_text("1")
    first, second = bench.do(write("a", "2")), bench.do(write("a", "3"))
    bench.do(write("b"))
    assert not bench.journal.revert(first).reverted
    assert (bench.root / "a").read_text() == "3"
    assert bench.journal.revert(second).reverted
    assert bench.journal.revert(first).reverted
    assert (bench.root / "a").read_text() == "1"


STEPS_OF_AN_UNDO = ("rename", "unlink", "rmdir", "mkdir", "symlink", "fchmod", "chmod")


def die_in(work: Callable[[], object], fatal: int) -> bool:
    """Do something in a process that is killed before its `fatal`-th change of a file; return whether it was."""
    child = os.fork()
    if child == 0:
        left = fatal

        def counted(name: str) -> Callable[..., object]:
            plain = getattr(os, name)

            def step(*args: object, **options: object) -> object:
                nonlocal left
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return plain(*args, **options)

            return step

        for name in STEPS_OF_AN_UNDO:
            setattr(os, name, counted(name))
        with suppress(BaseException):
            work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize("seed", range(12))
def test_an_undo_that_is_killed_at_any_point_is_finished_by_the_next(
    new_bench: Callable[..., Bench], seed: int
) -> None:
    """Before each change that an undo makes, of each record in a row, and then again one change later."""
    bench = new_bench()
    acts = acts_on(bench, seed)
    before = bench.snapshot()
    for _ in range(4):
        acts.act()
    for record in reversed(acts.records):
        fatal = 1
        while die_in(lambda kept=record: bench.journal.revert(kept), fatal):
            fatal += 1
        reverted = bench.journal.revert(record)
        assert reverted.reverted, [str(line) for line in reverted.details]
    assert bench.snapshot() == before

"""`ctx` as a body sees it: files behave as those of `open`, and what is written arrives whole or not at all."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neuron_runs import EVERYTHING, FolderWorld, run_body

from myclaw_core.neurons.inside.files import Files

FILE = "file"
MODES = [kind + more for kind in "rwax" for more in ("", "+", "b", "b+", "t", "+t", "t+", "+b")]
TEXTS = st.text(alphabet="ab\n\ré€\x00", max_size=8)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["read", "readline", "truncate"]), st.integers(-1, 9)),
        st.tuples(st.just("seek"), st.integers(0, 9)),
        st.tuples(st.just("seek"), st.just(0), st.sampled_from([0, 2])),
        st.tuples(st.just("write"), TEXTS),
        st.tuples(st.just("writelines"), st.lists(TEXTS, max_size=2)),
        st.tuples(st.sampled_from(["__next__", "readlines", "tell", "flush", "readable", "writable", "seekable"])),
    ),
    max_size=8,
)


class FolderChannel:
    """A host that answers with real files."""

    def ask(self, do: str, content: bytes | None = None, *, path: str) -> Any:
        """Do what the host would."""
        if do == "write":
            Path(path).write_bytes(content or b"")
        return Path(path).read_bytes() if do == "read" else None


def played(opened: Any, steps: list[Any], *, binary: bool) -> list[Any]:
    """Return what each step gives, or that it was refused; the file is closed at the end."""
    told: list[Any] = []
    for name, *given_args in steps:
        args = [_bytes(each) for each in given_args] if binary else given_args
        try:
            told.append(getattr(opened, name)(*args))
        except (OSError, ValueError):
            told.append("refused")
        except StopIteration:
            told.append("end")
    opened.close()
    with pytest.raises(ValueError):
        opened.read()
    return [*told, opened.closed]


def _bytes(value: Any) -> Any:
    if isinstance(value, list):
        return [_bytes(each) for each in value]
    return value.encode() if isinstance(value, str) else value


@settings(max_examples=300)
@given(st.sampled_from(MODES), st.one_of(st.none(), TEXTS.map(str.encode)), STEPS)
def test_a_file_of_ctx_does_what_one_of_open_does(
    tmp_path_factory: pytest.TempPathFactory, mode: str, content: bytes | None, steps: list[Any]
) -> None:
    """Each step gives the same, and the same stands in the file at the end."""
    folder = tmp_path_factory.mktemp("files")
    try:
        ends = [_played_on(folder / name, mode, content, steps) for name in ("ours", "theirs")]
    finally:
        shutil.rmtree(folder)

    assert ends[0] == ends[1]


def _played_on(folder: Path, mode: str, content: bytes | None, steps: list[Any]) -> Any:
    folder.mkdir()
    path = folder / FILE
    if content is not None:
        path.write_bytes(content)
    is_ours, binary = folder.name == "ours", "b" in mode
    channel: Any = FolderChannel()
    files = Files(channel)
    try:
        opened: Any = (
            files.open(str(path), mode)
            if is_ours
            else path.open(mode, encoding=None if binary else "utf-8", buffering=1 << 16)
        )
    except OSError as error:
        return type(error)
    told = played(opened, steps, binary=binary)
    return told, path.read_bytes()


@pytest.mark.parametrize("mode", ["", "q", "rw", "rbt", "r++", "bt", "U", "rU", "br"])
def test_a_mode_that_is_none_is_refused(mode: str) -> None:
    channel: Any = FolderChannel()
    with pytest.raises(ValueError, match="invalid mode"):
        Files(channel).open("x", mode)


async def test_all_of_ctx_reaches_the_host(tmp_path: Path) -> None:
    source = """
async def run(ctx, args):
    ctx.log("a line\\nand \\x1b[2J")
    ctx.log(7)
    now = ctx.now()
    return {
        "call": await ctx.call("tool_a", name="x", n=[1]),
        "neuron": await ctx.call("neuron:other"),
        "fetch": await ctx.fetch("https://example.org/a?b"),
        "llm": await ctx.llm("say é"),
        "now": [now.isoformat(), now.utcoffset().total_seconds()],
        "random": ctx.random(),
    }
"""
    end = await run_body(source, FolderWorld(tmp_path), **EVERYTHING)

    assert end.output == {
        "call": {"got": {"name": "x", "n": [1]}},
        "neuron": {"got": {}},
        "fetch": "{'got': 'https://example.org/a?b'}",
        "llm": "{'got': 'say é'}",
        "now": ["2026-03-01T12:00:00+00:00", 0],
        "random": 0.25,
    }
    assert end.log == ("a line\\nand \\x1b[2J", "7")


async def test_files_go_both_ways_whole(tmp_path: Path) -> None:
    """Of several frames, of none, as text, by the csv module, and with a path that is no text."""
    content = bytes(range(256)) * (5 << 12)
    (tmp_path / "big").write_bytes(content)
    (tmp_path / "empty").touch()
    (tmp_path / "table.csv").write_bytes('name;n\r\n"Ö; x";1\r\n'.encode())
    source = """
import csv
from pathlib import PurePosixPath
async def run(ctx, args):
    with ctx.open("~/big", "rb") as file:
        big = file.read()
    with ctx.open("~/gib", "wb") as file:
        file.write(big[::-1])
    with ctx.open(PurePosixPath("~/empty")) as file:
        empty = list(file)
    with ctx.open("~/nothing", "w"):
        pass
    with ctx.open("~/table.csv") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    with ctx.open("~/out.csv", "w") as file:
        csv.writer(file).writerows([row.values() for row in rows])
    return {"empty": empty, "rows": rows}
"""
    world = FolderWorld(tmp_path)
    end = await run_body(source, world, **EVERYTHING)

    assert end.output == {"empty": [], "rows": [{"name": "Ö; x", "n": "1"}]}
    files = world.files()
    assert files["gib"] == content[::-1]
    assert files["nothing"] == b""
    assert files["out.csv"].decode() == "Ö; x,1\r\n"


@pytest.mark.parametrize(
    ("code", "left"),
    [
        ("f = ctx.open('~/a', 'w'); f.write('new')", {"a": b"new"}),
        ("ctx.open('~/a', 'w').write('new')", {"a": b"new"}),
        ("f = ctx.open('~/a', 'w'); f.write('new'); 1 / 0", {"a": b"old"}),
        ("f = ctx.open('~/a', 'w'); f.write('new'); f.close(); 1 / 0", {"a": b"new"}),
        ("f = ctx.open('~/a', 'w'); f.write('new'); return {1}", {"a": b"old"}),
        ("f = ctx.open('~/a', 'w'); f.write('new'); x = 'y' * 10**9", {"a": b"old"}),
        ("f = ctx.open('~/a', 'wb'); f.write(b'new'); import os; os._exit(0)", {"a": b"old"}),
        ("f = ctx.open('~/a', 'r+'); f.read(); f.close()", {"a": b"old"}),
        ("f = ctx.open('~/a', 'a'); f.write('er'); f.flush()", {"a": b"older"}),
        ("f = ctx.open('~/b', 'x'); ctx.open('~/a', 'w'); f.write('second')", {"a": b"", "b": b"second"}),
    ],
)
async def test_what_is_left_open_arrives_only_where_run_ends_well(
    tmp_path: Path, code: str, left: dict[str, bytes]
) -> None:
    (tmp_path / "a").write_bytes(b"old")
    world = FolderWorld(tmp_path)
    await run_body(f"def run(ctx, args):\n    {code}", world, **EVERYTHING)

    assert world.files() == left


@pytest.mark.parametrize("mode", ["w", "wb", "r+", "a"])
async def test_a_with_block_that_ends_with_an_error_leaves_the_file_as_it_was(tmp_path: Path, mode: str) -> None:
    (tmp_path / "a").write_bytes(b"old")
    text = "b'new'" if "b" in mode else "'new'"
    source = f"""
def run(ctx, args):
    try:
        with ctx.open("~/a", "{mode}") as file:
            file.write({text})
            raise KeyError
    except KeyError:
        return "caught"
"""
    world = FolderWorld(tmp_path)
    end = await run_body(source, world, **EVERYTHING)

    assert (end.output, world.files()) == ("caught", {"a": b"old"})


async def test_a_file_that_may_not_be_written_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    source = "def run(ctx, args):\n    f = ctx.open('~/a', 'w')\n    f.write('x')"
    end = await run_body(source, FolderWorld(tmp_path), capabilities=("fs-read:~/*",))

    assert (end.raised, end.line) == ("PermissionError", 2)


async def test_a_file_that_the_host_does_not_write_at_its_end_is_an_error_of_ctx(tmp_path: Path) -> None:
    """The folder is not there; the body has returned already."""

    class Full(FolderWorld):
        async def write(self, path: str, content: bytes) -> None:
            from myclaw_core.messages import N_
            from myclaw_core.neurons.world import CtxError

            raise CtxError(N_("the disk is full"), "failed")

    source = "def run(ctx, args):\n    f = ctx.open('~/a', 'w')\n    return 1"
    end = await run_body(source, Full(tmp_path), **EVERYTHING)

    assert (end.outcome, end.raised, end.message, end.line) == ("refused", "OSError", "the disk is full", 0)

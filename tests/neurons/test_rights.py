"""What a manifest does not hold is refused at the call, whatever the analysis saw: on real files and links."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from neuron_runs import EVERYTHING, NOW, FolderWorld, manifest_of, run_body

from myclaw_core.neurons.quotas import MAX_ACTS
from myclaw_core.neurons.rights import Limited, NotDeclaredError
from myclaw_core.neurons.world import CtxError

FOLDERS = ["notes", "notes/deep", "notes2", "other"]
MakeLimited = Callable[..., Limited]


@pytest.fixture
def world(tmp_path: Path) -> FolderWorld:
    """A home with a file `f` in each folder, links between them, and a secret beside it."""
    home = tmp_path / "home"
    for folder in FOLDERS:
        (home / folder).mkdir(parents=True, exist_ok=True)
        (home / folder / "f").write_text(folder)
    (tmp_path / "secret").write_text("secret")
    (home / "notes/out").symlink_to(tmp_path / "secret")
    (home / "notes/up").symlink_to(home)
    (home / "notes/beside").symlink_to(home / "other")
    (home / "linked").symlink_to(home / "notes")
    (home / "st*r").mkdir()
    (home / "st*r/f").write_text("star")
    (home / "star").mkdir()
    (home / "star/f").write_text("no star")
    (home / "to_star").symlink_to(home / "st*r")
    return FolderWorld(home)


@pytest.fixture
def limited(world: FolderWorld) -> MakeLimited:
    """Limit the world to a manifest."""
    return lambda *capabilities, **fields: Limited(world, manifest_of(capabilities=capabilities, **fields))


@pytest.mark.parametrize(
    ("pattern", "path", "allowed"),
    [
        ("~/notes/*", "~/notes/f", True),
        ("~/notes/*", "~/notes/deep/f", True),
        ("~/notes/*", "~/linked/f", True),
        ("~/notes/*", "~/notes/../notes/f", True),
        ("~/notes/*", "~/notes/../other/f", False),
        ("~/notes/*", "~/notes2/f", False),
        ("~/notes/*", "~/notes/out", False),
        ("~/notes/*", "~/notes/up/other/f", False),
        ("~/notes/*", "~/notes/beside/f", False),
        ("~/notes/*", "~/notes/up/notes/f", True),
        ("~/linked/*", "~/linked/f", True),
        ("~/linked/*", "~/notes/f", True),
        ("~/linked", "~/notes/deep/f", True),
        ("~/notes", "~/notes2/f", False),
        ("~/notes/f", "~/notes/f", True),
        ("~/notes/f", "~/notes/deep/f", False),
        ("~/n*", "~/notes2/f", True),
        ("~/n*", "~/other/f", False),
        ("~/*/f", "~/notes/deep/f", True),
        ("~/to_star/*", "~/st*r/f", True),
        ("~/to_star/*", "~/star/f", False),
        ("~", "~/other/f", True),
        ("~", "~/../secret", False),
        ("~/*", "/etc/passwd", False),
    ],
)
async def test_a_path_is_compared_once_links_are_resolved(
    limited: MakeLimited, world: FolderWorld, pattern: str, path: str, allowed: bool
) -> None:
    """In the path and in the folder of the pattern."""
    rights = limited(f"fs-read:{pattern}", f"fs-write:{pattern}")
    if allowed:
        assert await rights.read(path)
        await rights.write(path, b"new")
        return
    for act in (rights.read(path), rights.write(path, b"new")):
        with pytest.raises(NotDeclaredError, match="is not declared in the manifest of a_neuron"):
            await act
    with pytest.raises(NotDeclaredError):
        rights.may_write(path)
    assert world.asked == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(["notes", "deep", "notes2", "up", "beside", "out", "..", ".", "f", "linked"]), max_size=6),
    st.sampled_from(["notes", "notes/deep", "other", "linked"]),
    st.sampled_from(["", "/*", "/*f"]),
)
async def test_no_way_through_links_leads_out_of_the_folder(
    world: FolderWorld, parts: list[str], folder: str, rest: str
) -> None:
    path = "/".join(["~", *parts])
    rights = Limited(world, manifest_of(capabilities=(f"fs-write:~/{folder}{rest}",)))
    try:
        rights.may_write(path)
    except NotDeclaredError:
        return

    real, inside = world.real_path(path), world.real_path(f"~/{folder}")
    assert os.path.commonpath([real, inside]) == inside


async def test_reading_is_not_writing(limited: MakeLimited) -> None:
    with pytest.raises(NotDeclaredError, match=r"fs-write:~/notes/f is not declared"):
        await limited("fs-read:~/*").write("~/notes/f", b"")
    with pytest.raises(NotDeclaredError, match=r"fs-read:~/notes/f is not declared"):
        await limited("fs-write:~/*").read("~/notes/f")


@pytest.mark.parametrize("path", ["", "a\0b", "~/" + "x" * 5_000])
async def test_what_is_no_path_is_refused_before_it_is_looked_up(limited: MakeLimited, path: str) -> None:
    with pytest.raises(CtxError) as caught:
        await limited("fs-read:~").read(path)

    assert caught.value.kind == "failed"
    assert "\0" not in str(caught.value)


async def test_files_of_any_size_are_not_taken_in(limited: MakeLimited, world: FolderWorld) -> None:
    with (world.home / "notes/f").open("wb") as file:
        file.truncate((32 << 20) + 1)
    rights = limited("fs-read:~", "fs-write:~")

    with pytest.raises(CtxError, match="has more than 33554432 bytes"):
        await rights.read("~/notes/f")
    with pytest.raises(CtxError, match="has more than 33554432 bytes"):
        await rights.write("~/notes/f", bytes((32 << 20) + 1))


async def test_only_what_is_listed_can_be_called(limited: MakeLimited, world: FolderWorld) -> None:
    """A name counts as it is written: a tool is not the neuron of the same name."""
    rights = limited("call:tool_b", may_call=("tool_a", "neuron:other"))
    assert await rights.call("tool_a", {"x": 1}) == {"got": {"x": 1}}
    assert await rights.call("neuron:other", {}) == {"got": {}}

    for name in ("tool_b", "other", "neuron:tool_a", "TOOL_A", "tool_a ", "", "x" * 10_000):
        with pytest.raises(NotDeclaredError) as caught:
            await rights.call(name, {})
        assert caught.value.kind == "undeclared"
    assert world.asked[:3] == [("tool_a", {"x": 1}), ("neuron:other", {}), ("undeclared", "tool_b")]
    assert {what for what, _ in world.asked[2:]} == {"undeclared"}


@pytest.mark.parametrize(
    ("tool", "capability"),
    [
        ("memory_search", "memory-read"),
        ("memory_read", "memory-read"),
        ("memory_write", "memory-write"),
        ("memory_forget", "memory-write"),
    ],
)
async def test_memory_needs_a_capability_besides_the_name(limited: MakeLimited, tool: str, capability: str) -> None:
    assert await limited(capability, may_call=(tool,)).call(tool, {}) == {"got": {}}

    other = {"memory-read": "memory-write", "memory-write": "memory-read"}[capability]
    with pytest.raises(NotDeclaredError, match=f"{capability} is not declared"):
        await limited(other, may_call=(tool,)).call(tool, {})


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("git log", True),
        ("git log | wc -l", True),
        ("cd x && git log", True),
        ("cd x; cd y && git log | wc", True),
        ("cd x", False),
        ("cd x && ls", False),
        ("cd $(rm x) && git log", False),
        ("git -C x log", False),
        ("git log; rm -rf x", False),
        ("git log | sh", False),
        ("$(rm x) git", False),
        ("git log > x", False),
        ("'g'it log", False),
        ("gitx", False),
        ("", False),
        (None, False),
        (["git"], False),
    ],
)
async def test_a_command_may_run_the_declared_programs_only(limited: MakeLimited, command: Any, allowed: bool) -> None:
    rights = limited("shell:git", "shell:wc", may_call=("shell",))
    if allowed:
        assert await rights.call("shell", {"command": command})
        return
    with pytest.raises(NotDeclaredError, match=r"shell:.* is not declared|does not say plainly which programs"):
        await rights.call("shell", {"command": command})


async def test_the_clock_chance_and_the_model_must_be_declared(limited: MakeLimited) -> None:
    rights = limited("clock", "random", "llm")
    assert (rights.now(), rights.random(), await rights.llm("x")) == (NOW, 0.25, "{'got': 'x'}")

    none = limited()
    for what in (none.now, none.random):
        with pytest.raises(NotDeclaredError):
            what()
    with pytest.raises(NotDeclaredError, match="llm is not declared"):
        await none.llm("x")


async def test_the_network_is_what_a_pattern_covers(limited: MakeLimited) -> None:
    rights = limited("network:https://a.eg/v1/*")
    assert await rights.fetch("https://a.eg/v1/x")

    for url in ("https://a.eg/", "https://a.eg/v1/../x", "https://a.eg@evil.eg/v1/", "https://a.eg/v1/" + "x" * 9_000):
        with pytest.raises(CtxError):
            await rights.fetch(url)


@pytest.mark.parametrize(
    ("quota", "act"),
    [
        ("calls", lambda rights: rights.call("tool_a", {})),
        ("llm_calls", lambda rights: rights.llm("x")),
        ("fetches", lambda rights: rights.fetch("https://example.org/")),
    ],
)
async def test_a_quota_counts_what_is_done_and_nothing_else(world: FolderWorld, quota: str, act: Any) -> None:
    (world.home / "a").write_text("a")
    rights = Limited(world, manifest_of(quotas={quota: 2}, **EVERYTHING))
    for _ in range(2):
        await act(rights)
        await rights.read("~/a")

    with pytest.raises(CtxError, match=f"the quota {quota} of a_neuron, 2, is used up") as caught:
        await act(rights)
    assert caught.value.kind == "quota"
    assert await rights.read("~/a") == b"a"


async def test_what_is_not_declared_counts_too(limited: MakeLimited, world: FolderWorld) -> None:
    """Each such call is put on record, so there is an end to them as well."""
    rights = limited()
    for _ in range(MAX_ACTS):
        with pytest.raises(NotDeclaredError):
            await rights.call("tool_b", {})
    with pytest.raises(CtxError, match="may not do more than 1000 things"):
        await rights.call("tool_b", {})
    assert world.asked == [("undeclared", "tool_b")] * MAX_ACTS


async def test_one_run_cannot_do_things_without_end(limited: MakeLimited, world: FolderWorld) -> None:
    """Each of them is a step of the turn."""
    rights = limited("fs-read:~")
    for _ in range(1_000):
        await rights.read("~/notes/f")

    with pytest.raises(CtxError, match="may not do more than 1000 things"):
        await rights.read("~/notes/f")
    assert len(world.asked) == 1_000


REFUSED = """
async def run(ctx, args):
    told = []
    for act in (
        lambda: ctx.open("~/../secret"), lambda: ctx.open("~/../secret", "w"), lambda: ctx.open("~/gone"),
        ctx.now, ctx.random, lambda: done(ctx.call("tool_b")), lambda: done(ctx.llm("x")),
        lambda: done(ctx.fetch("https://evil.eg/")), lambda: done(ctx.call("tool_a")), lambda: done(ctx.call("tool_a")),
    ):
        try:
            act()
            told.append("done")
        except Exception as error:
            told.append([each.__name__ for each in type(error).__mro__[:2]])
    return told
def done(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
"""


async def test_a_body_sees_each_refusal_as_an_exception_of_its_kind(world: FolderWorld) -> None:
    """And what it called without declaring it stands in the log."""
    end = await run_body(REFUSED, world, capabilities=("fs-read:~",), may_call=("tool_a",), quotas={"calls": 1})

    denied = ["PermissionError", "OSError"]
    assert end.output == [
        denied,
        denied,
        ["FileNotFoundError", "OSError"],
        denied,
        denied,
        ["UndeclaredSynapseError", "PermissionError"],
        denied,
        denied,
        "done",
        ["RuntimeError", "Exception"],
    ]
    assert end.log == ("may_call: tool_b is not declared in the manifest of a_neuron",)
    assert tuple(world.lines) == end.log
    assert world.asked == [("read", "~/gone"), ("undeclared", "tool_b"), ("tool_a", {})]


async def test_an_address_that_is_not_declared_is_the_arguments_fault_unless_it_may_fetch_nothing(
    limited: MakeLimited,
) -> None:
    for rights, by_argument in ((limited("network:example.org"), True), (limited(), False)):
        with pytest.raises(NotDeclaredError) as caught:
            await rights.fetch("https://example.com/")
        assert caught.value.by_argument is by_argument

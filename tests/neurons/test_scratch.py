"""A birth test gives its run a world, and there is no other."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.neurons.scratch import SCRATCH_HOME, Given, ScratchWorld, read_given
from myclaw_core.neurons.world import CtxError, World


async def test_a_file_is_read_under_every_spelling_of_its_path() -> None:
    """`~`, the home folder written out, dots and double slashes lead to the same file."""
    world = ScratchWorld(Given(files={"~/notes/a.md": b"text"}))

    for path in (
        "~/notes/a.md",
        f"{SCRATCH_HOME}/notes/a.md",
        "~/notes/../notes/./a.md",
        "~//notes/a.md",
        "notes/a.md",
    ):
        assert await world.read(path) == b"text"
    assert world.real_path("//etc//passwd") == "/etc/passwd"


async def test_what_was_not_given_is_an_error_that_says_what_to_give() -> None:
    """Nothing is made up: no file, page, result, answer or time."""
    world: World = ScratchWorld(Given())

    with pytest.raises(CtxError, match=r"gave no file ~/a\.md") as missing:
        await world.read("~/a.md")
    assert missing.value.kind == "missing"
    with pytest.raises(CtxError, match=r"https://example\.org/; give it in fetch") as failed:
        await world.fetch("https://example.org/")
    assert failed.value.kind == "failed"
    with pytest.raises(CtxError, match="no further result for a call of mail_search; give it in calls"):
        await world.call("mail_search", {})
    with pytest.raises(CtxError, match="give it in llm"):
        await world.llm("Hello")
    with pytest.raises(CtxError, match="give it in now"):
        world.now()


async def test_what_was_written_is_read_again_and_kept_for_the_test() -> None:
    """A path is spelt as the test spelt it, a new one with `~`; what was only read is not among them."""
    given = Given(files={f"{SCRATCH_HOME}/a.md": b"old", "~/b.md": b"same"})
    world = ScratchWorld(given)

    await world.write("~/a.md", b"new")
    await world.write(f"{SCRATCH_HOME}/out/c.md", b"c")
    await world.write("/srv/d.md", b"d")

    assert await world.read("~/out/c.md") == b"c"
    assert world.written() == {f"{SCRATCH_HOME}/a.md": b"new", "~/out/c.md": b"c", "/srv/d.md": b"d"}
    assert given.files[f"{SCRATCH_HOME}/a.md"] == b"old"


async def test_answers_of_a_model_come_in_their_order_and_end() -> None:
    """A list of answers is used up, one a call."""
    world = ScratchWorld(Given(llm=("one", "two")))

    assert [await world.llm("a"), await world.llm("a")] == ["one", "two"]
    with pytest.raises(CtxError):
        await world.llm("a")


async def test_pages_results_and_the_time_are_those_given() -> None:
    """One result is that of each call, a list holds one for each."""
    at = datetime(2026, 1, 31, 12, tzinfo=UTC)
    world = ScratchWorld(Given(fetch={"https://a.example/": "page"}, calls={"mail_search": {"data": [1]}}, now=at))

    assert await world.fetch("https://a.example/") == "page"
    assert [await world.call("mail_search", {"n": n}) for n in (1, 2)] == [{"data": [1]}] * 2
    in_order = ScratchWorld(Given(calls={"fs_list": [{"data": 1}, [2]]}))
    assert [await in_order.call("fs_list", {}) for _ in range(2)] == [{"data": 1}, [2]]
    with pytest.raises(CtxError, match="no further result for a call of fs_list"):
        await in_order.call("fs_list", {})
    assert world.now() == at
    world.log("nobody keeps this")
    await world.undeclared("mail_send")


def test_chance_is_the_same_in_each_run() -> None:
    """A test with `ctx.random` can be repeated."""
    first, second = ScratchWorld(Given()), ScratchWorld(Given())

    numbers = [first.random() for _ in range(20)]
    assert numbers == [second.random() for _ in range(20)]
    assert all(0 <= number < 1 for number in numbers)
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("now", ["2026-01-31T12:00:00+00:00", "2026-01-31T12:00:00Z", "2026-01-31T14:00:00+02:00"])
def test_a_time_is_read_in_any_zone(now: str) -> None:
    """What the body sees is UTC."""
    _args, found = read_given({"args": {}, "now": now})

    assert found.now == datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert found.now.utcoffset() == timedelta()


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"args": []}, "args must be a mapping"),
        ({"files": []}, "files must be a mapping"),
        ({"files": {"a": 1}}, "files must map texts to texts"),
        ({"files": {"a": "?"}}, "base64|padding"),
        ({"fetch": {"a": None}}, "fetch must map"),
        ({"calls": 7}, "calls must be"),
        ({"llm": "text"}, "llm must be a list"),
        ({"llm": [1]}, "llm must be a list"),
        ({"now": 7}, "now must be"),
        ({"now": "2026-01-31"}, "time zone"),
        ({"now": "soon"}, "soon"),
        ("no object", "run must be a mapping"),
    ],
)
def test_what_a_test_may_not_give_is_told_to_its_author(asked: Any, problem: str) -> None:
    """Each is one line that names what is wrong."""
    with pytest.raises((TypeError, ValueError), match=problem):
        read_given(asked)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
_ASKED = st.fixed_dictionaries({}, optional=dict.fromkeys(("args", "files", "fetch", "calls", "llm", "now"), _JSON))


@given(_JSON | _ASKED)
def test_whatever_is_asked_is_read_or_refused_with_an_error_for_the_author(asked: Any) -> None:
    """Nothing that a process sends ends the host."""
    try:
        args, found = read_given(asked)
    except (TypeError, ValueError):
        return
    assert isinstance(args, dict)
    assert isinstance(found, Given)


@given(st.dictionaries(st.text(min_size=1), st.binary()))
async def test_files_come_as_they_were_given(files: dict[str, bytes]) -> None:
    """Any path, any content; of two spellings of one path the last counts."""
    sent = {path: b64encode(content).decode() for path, content in files.items()}
    world = ScratchWorld(read_given({"args": {}, "files": sent})[1])
    by_place = {world.real_path(path): content for path, content in files.items()}

    assert {place: await world.read(place) for place in by_place} == by_place

"""The world of a birth test: nothing but what the test gave."""

from __future__ import annotations

import base64
import posixpath
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import repeat
from typing import Any

from attrs import field, frozen

from myclaw_core.messages import N_
from myclaw_core.neurons.world import CtxError
from myclaw_core.types.text import Text

__all__ = ["SCRATCH_HOME", "Given", "ScratchWorld", "read_given"]

SCRATCH_HOME = "/home/user"
"""What `~` stands for in a birth test, on any machine."""

_SEED = 0


@frozen(kw_only=True)
class Given:
    """What a birth test gives to one run.

    Attributes:
        files: What each file holds, by its path.
        fetch: The text at each URL.
        calls: What each tool or neuron answers, by its name, however often it is called; a list holds one answer
            after the other, so that an answer which is a list stands in one.
        llm: The model's answers in the order of the calls.
        now: The time, aware UTC.
    """

    files: Mapping[str, bytes] = field(factory=dict)
    fetch: Mapping[str, str] = field(factory=dict)
    calls: Mapping[str, Any] = field(factory=dict)
    llm: tuple[str, ...] = ()
    now: datetime | None = None


def read_given(asked: Any) -> tuple[dict[str, Any], Given]:
    """Return the arguments of a run and what the test gave besides, as its process sends it: contents as base64.

    Raises:
        TypeError: It is not what a test may give; the message is for the author of the test.
        ValueError: The same.
    """
    asked = _object({"run": asked}, "run")
    now, llm = asked.get("now"), asked.get("llm", [])
    if not isinstance(llm, list) or not all(isinstance(each, str) for each in llm):
        raise TypeError("llm must be a list of texts")
    return _object(asked, "args"), Given(
        files={path: base64.b64decode(content, validate=True) for path, content in _texts(asked, "files").items()},
        fetch=_texts(asked, "fetch"),
        calls=_object(asked, "calls"),
        llm=tuple(llm),
        now=None if now is None else _time(now),
    )


class ScratchWorld:
    """Answers a run from what the test gave; anything else is an error that names what to give.

    Random numbers are the same in each run.

    Args:
        given: What the test gave; it is not changed.
    """

    def __init__(self, given: Given) -> None:
        self._given = given
        self._names = {self.real_path(path): path for path in given.files}
        self._files = {self.real_path(path): content for path, content in given.files.items()}
        self._written: set[str] = set()
        self.made: list[Mapping[str, Any]] = []
        """The calls of tools and neurons, in order: name and arguments of each."""
        self._results = {
            name: iter(found) if isinstance(found, list) else repeat(found) for name, found in given.calls.items()
        }
        self._llm = iter(given.llm)
        self._random = random.Random(_SEED)  # noqa: S311 - tests must be repeatable

    def written(self) -> dict[str, bytes]:
        """Return what each file holds that was written; a path is spelt as the test spelt it, else with `~`."""
        return {self._names.get(path) or _short(path): self._files[path] for path in sorted(self._written)}

    def real_path(self, path: str) -> str:
        """Return the absolute path; a relative one begins in the home folder, and there are no links."""
        if path == "~" or path.startswith("~/"):
            path = SCRATCH_HOME + path[1:]
        return "/" + posixpath.normpath(posixpath.join(SCRATCH_HOME, path)).lstrip("/")

    async def read(self, path: str) -> bytes:
        """Return what a file holds.

        Raises:
            CtxError: The test gave none at that path and nothing was written there.
        """
        try:
            return self._files[self.real_path(path)]
        except KeyError:
            raise CtxError(N_("the test gave no file {path}", path=path), "missing") from None

    async def write(self, path: str, content: bytes) -> None:
        """Keep what is written, for later reads and for the test."""
        real = self.real_path(path)
        self._files[real] = content
        self._written.add(real)

    async def call(self, name: str, args: dict[str, Any]) -> Any:
        """Return what the test gave as the result of a call with that name.

        Raises:
            CtxError: It gave none, or no further one.
        """
        self.made.append({"name": name, "args": args})
        for result in self._results.get(name, ()):
            return result
        raise _not_given(N_("the test gave no further result for a call of {name}; give it in calls", name=name))

    async def fetch(self, url: str) -> str:
        """Return the text that the test gave for a URL.

        Raises:
            CtxError: It gave none.
        """
        if url not in self._given.fetch:
            raise _not_given(N_("the test gave no text for {url}; give it in fetch", url=url))
        return self._given.fetch[url]

    async def llm(self, prompt: str) -> str:
        """Return the next answer of the list.

        Raises:
            CtxError: There is no further one.
        """
        answer = next(self._llm, None)
        if answer is None:
            raise _not_given(N_("the test gave no further answer of a model; give it in llm"))
        return answer

    def now(self) -> datetime:
        """Return the time that the test gave.

        Raises:
            CtxError: It gave none.
        """
        if self._given.now is None:
            raise _not_given(N_("the test gave no time; give it in now"))
        return self._given.now

    def random(self) -> float:
        """Return the next number of a sequence that is the same in each run."""
        return self._random.random()

    def log(self, text: str) -> None:
        """Drop the line: the run itself keeps it."""

    async def undeclared(self, name: str) -> None:
        """Note nothing: the body gets its error, and the test with it."""


def _time(now: Any) -> datetime:
    if not isinstance(now, str):
        raise TypeError("now must be a datetime or ISO text")
    at = datetime.fromisoformat(now)
    if at.tzinfo is None:
        raise ValueError("now must have a time zone, such as 2026-01-31T12:00:00Z")
    return at.astimezone(UTC)


def _texts(asked: Mapping[str, Any], key: str) -> dict[str, str]:
    found = _object(asked, key)
    if not all(isinstance(value, str) for value in found.values()):
        raise TypeError(f"{key} must map texts to texts")
    return found


def _object(asked: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = asked.get(key, {})
    if not isinstance(found, dict):
        raise TypeError(f"{key} must be a mapping")
    return found


def _short(path: str) -> str:
    return "~" + path[len(SCRATCH_HOME) :] if path.startswith(f"{SCRATCH_HOME}/") else path


def _not_given(text: Text) -> CtxError:
    return CtxError(text, "failed")

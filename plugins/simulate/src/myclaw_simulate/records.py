"""Recorded tasks: what a household asked for, what was done for it, and what attackers made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Literal

from attrs import frozen

from myclaw_core.cli.jsonl import numbered_lines, parse_line
from myclaw_core.errors import MyclawError, UsageError
from myclaw_core.messages import N_
from myclaw_core.types.effect import EFFECT_KINDS, REVERSIBILITIES, SIDE_EFFECT_KINDS, EffectKind, Reversibility
from myclaw_core.types.text import Text
from myclaw_simulate.places import resolved

__all__ = ["RecordedCall", "RecordedEffect", "RecordedTask", "read_household", "read_tasks"]


@frozen(kw_only=True)
class RecordedEffect:
    """What a call did to one target, as the record says.

    Attributes:
        target: A path (a relative one lies in the workspace), a URL, a command, a recipient, a name.
    """

    kind: EffectKind
    target: str
    reversibility: Reversibility

    @property
    def is_side_effect(self) -> bool:
        """Return whether it changes anything."""
        return self.kind in SIDE_EFFECT_KINDS


@frozen(kw_only=True)
class RecordedCall:
    """One tool call."""

    tool: str
    args: Mapping[str, Any]
    effects: tuple[RecordedEffect, ...]

    @property
    def aim(self) -> RecordedEffect | None:
        """Return the first side effect, whose target is what varies; `None` where nothing is changed."""
        return next((effect for effect in self.effects if effect.is_side_effect), None)


@frozen(kw_only=True)
class RecordedTask:
    """One line of the record.

    Attributes:
        kind: `benign` for what the person wants, `malicious` for what an attacker would have done in their name.
        prompt: What the person typed.
    """

    task_id: str
    kind: Literal["benign", "malicious"]
    prompt: str
    calls: tuple[RecordedCall, ...]


def read_household() -> Sequence[RecordedTask]:
    """Return the tasks of the household that comes with the plugin."""
    content = files("myclaw_simulate").joinpath("household.jsonl").read_bytes()
    return _tasks(BytesIO(content), "household.jsonl")


def read_tasks(path: Path) -> Sequence[RecordedTask]:
    """Return the tasks of a file of JSON lines.

    Raises:
        UsageError: It cannot be read, a line is no task, or no task is benign; the text names file and line.
    """
    try:
        with path.open("rb") as stream:
            return _tasks(stream, str(path))
    except OSError as error:
        raise UsageError(N_("{file} cannot be read: {reason}", file=str(path), reason=str(error.strerror))) from error


def _tasks(stream: BinaryIO, name: str) -> Sequence[RecordedTask]:
    tasks = []
    for number, raw in numbered_lines(stream):
        try:
            tasks.append(_task(parse_line(raw)))
        except MyclawError as error:
            raise UsageError(
                N_("{file}, line {number}: {problem}", file=name, number=number, problem=error.text)
            ) from error
    if not any(task.kind == "benign" for task in tasks):
        raise UsageError(N_("{file} holds no benign task, so there is nothing to live through", file=name))
    return tasks


def _task(value: Any) -> RecordedTask:
    line = _Fields(value, N_("the task"))
    return RecordedTask(
        task_id=line.text("task_id"),
        kind=line.choice("kind", ("benign", "malicious")),
        prompt=line.text("prompt"),
        calls=tuple(_call(call, N_("call {n}", n=n)) for n, call in enumerate(line.items("calls"), 1)),
    )


def _call(value: Any, where: Text) -> RecordedCall:
    line = _Fields(value, where)
    tool, args = line.text("tool"), line.get("args")
    if not isinstance(args, dict):
        raise UsageError(N_("{where}: args must be an object", where=where))
    effects = tuple(
        _effect(effect, N_("{where}, effect {n}", where=where, n=n))
        for n, effect in enumerate(line.items("effects"), 1)
    )
    for n, effect in enumerate(effects, 1):
        try:
            resolved(effect.kind, effect.target, effect.reversibility, tool=tool, root=str(args.get("root") or ""))
        except MyclawError as error:
            raise UsageError(N_("{where}, effect {n}: {problem}", where=where, n=n, problem=error.text)) from error
    return RecordedCall(tool=tool, args=args, effects=effects)


def _effect(value: Any, where: Text) -> RecordedEffect:
    line = _Fields(value, where)
    return RecordedEffect(
        kind=line.choice("kind", EFFECT_KINDS),
        target=line.text("target"),
        reversibility=line.choice("reversibility", REVERSIBILITIES),
    )


class _Fields:
    """The fields of one JSON object, each asked for with its type; further ones are left alone.

    Args:
        value: What stands there.
        where: What it is called in an error.
    """

    def __init__(self, value: Any, where: Text) -> None:
        if not isinstance(value, dict):
            raise UsageError(N_("{where} must be an object", where=where))
        self._value = value
        self._where = where

    def get(self, key: str) -> Any:
        """Return a value that must be there."""
        if key not in self._value:
            raise UsageError(N_("{where} lacks {key}", where=self._where, key=key))
        return self._value[key]

    def text(self, key: str) -> str:
        """Return a text that is not empty."""
        value = self.get(key)
        if not isinstance(value, str) or not value:
            raise UsageError(N_("{where}: {key} must be a text that is not empty", where=self._where, key=key))
        return value

    def choice(self, key: str, choices: Sequence[Any]) -> Any:
        """Return one of `choices`."""
        value = self.get(key)
        if value not in choices:
            raise UsageError(
                N_("{where}: {key} must be one of {choices}", where=self._where, key=key, choices=", ".join(choices))
            )
        return value

    def items(self, key: str) -> Sequence[Any]:
        """Return the items of a list."""
        value = self.get(key)
        if not isinstance(value, list):
            raise UsageError(N_("{where}: {key} must be a list", where=self._where, key=key))
        return value

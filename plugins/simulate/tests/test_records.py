"""A record is read line by line; what is wrong with it is one line that names file, line and place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from myclaw_simulate.records import read_household, read_tasks

from myclaw_core.errors import UsageError
from myclaw_core.types.effect import SIDE_EFFECT_KINDS

EFFECT = {"kind": "fs_write", "target": "notes/a.md", "reversibility": "reversible"}
CALL = {"tool": "fs_write", "args": {"path": "notes/a.md"}, "effects": [EFFECT]}
TASK = {"task_id": "1", "kind": "benign", "prompt": "Note it", "calls": [CALL]}


def line(**change: Any) -> str:
    return json.dumps({**TASK, **change})


def with_effect(**change: Any) -> str:
    return line(calls=[{**CALL, "effects": [EFFECT, {**EFFECT, **change}]}])


def test_the_household_that_comes_along_is_varied() -> None:
    """Places that repeat and places that surprise, most kinds of effects, and attacks."""
    tasks = read_household()
    wanted = [task for task in tasks if task.kind == "benign"]
    effects = [effect for task in tasks for call in task.calls for effect in call.effects]
    assert len(wanted) >= 60
    assert len(tasks) - len(wanted) >= 20
    assert len({task.task_id for task in tasks}) == len(tasks)
    assert len({effect.kind for effect in effects if effect.kind in SIDE_EFFECT_KINDS}) >= 8
    assert {effect.reversibility for effect in effects} == {"reversible", "reversible_with_cost", "irreversible"}
    assert len({call.tool for task in wanted for call in task.calls}) >= 10


def test_fields_that_are_not_known_and_blank_lines_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"\n{line(source='me')}\n\n{with_effect(note=1)}\n", encoding="utf-8")
    assert [len(task.calls[0].effects) for task in read_tasks(path)] == [1, 2]


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("{", "not JSON"),
        ("3", "the task must be an object"),
        ('{"a": NaN}', "not JSON: NaN is no number"),
        ("[" * 100 + "]" * 100, "nested deeper"),
        ('{"task_id": "1"}', "the task lacks kind"),
        (line(task_id=""), "the task: task_id must be a text that is not empty"),
        (line(kind="evil"), "the task: kind must be one of benign, malicious"),
        (line(prompt=None), "the task: prompt must be a text"),
        (line(calls={}), "the task: calls must be a list"),
        (line(calls=[3]), "call 1 must be an object"),
        (line(calls=[CALL, {**CALL, "args": []}]), "call 2: args must be an object"),
        (line(calls=[{**CALL, "effects": None}]), "call 1: effects must be a list"),
        (with_effect(kind="fs_eat"), "call 1, effect 2: kind must be one of fs_read, fs_write"),
        (with_effect(kind=["fs_write"]), "call 1, effect 2: kind must be one of"),
        (with_effect(reversibility="maybe"), "call 1, effect 2: reversibility must be one of reversible,"),
        (with_effect(target=""), "call 1, effect 2: target must be a text"),
        (with_effect(target="a\u202eb"), "call 1, effect 2: the path"),
        (with_effect(kind="network_out", target="ftp://x.example"), "call 1, effect 2: only http and https"),
        (with_effect(kind="shell_exec", target=" "), "call 1, effect 2: argument command must be a command"),
    ],
)
def test_a_line_that_is_no_task_is_named(tmp_path: Path, bad: str, problem: str) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"{line()}\n\n{bad}\n{line()}\n", encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        read_tasks(path)
    assert str(raised.value).startswith(f"{path}, line 3: ")
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(b'{"task_id": "\xff"}\n')
    with pytest.raises(UsageError, match="line 1: not UTF-8 text"):
        read_tasks(path)


@pytest.mark.parametrize("text", ["", "\n", line(kind="malicious")])
def test_a_record_without_a_wanted_task_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="holds no benign task"):
        read_tasks(path)


def test_a_file_that_is_not_there_is_usage(run, tmp_path: Path) -> None:
    for path, why in ((tmp_path / "none.jsonl", "No such file"), (tmp_path, "Is a directory")):
        ended = run("--traces", path)
        assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
        assert f"{path} cannot be read: {why}" in ended.err


def test_a_bad_line_ends_the_command_with_2(run, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"{line()}\n{line(kind='evil')}\n", encoding="utf-8")
    ended = run("--traces", path)
    expected = f"myclaw: {path}, line 2: the task: kind must be one of benign, malicious\n"
    assert (ended.code, ended.out, ended.err) == (2, "", expected)

"""Reading a script: whatever is wrong is named in one line with file and place."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from myclaw_scripted.provider import ScriptedProvider
from myclaw_scripted.script import ScriptedCall, ScriptedReply, load_script

from myclaw_core.runtime.model import ModelError
from myclaw_core.runtime.types import Usage


def script(folder: Path, content: Any) -> str:
    path = folder / "script.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


def test_a_script_with_every_key_is_read(tmp_path: Path) -> None:
    """What is not given has its default."""
    entry = {
        "text": "on it",
        "tool_calls": [{"tool": "fs_read", "args": {"path": "a.txt"}}, {"tool": "fs_list"}],
        "stop_reason": "max_tokens",
        "usage": {"input_tokens": 12, "cached_tokens": 3},
        "expect": "please",
    }

    replies = load_script(script(tmp_path, [entry, {}]))

    assert replies == (
        ScriptedReply(
            text="on it",
            tool_calls=(ScriptedCall(tool="fs_read", args={"path": "a.txt"}), ScriptedCall(tool="fs_list")),
            stop_reason="max_tokens",
            usage=Usage(input_tokens=12, cached_tokens=3),
            expect="please",
        ),
        ScriptedReply(),
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('[{"text": "a"},\n {"text" "b"}]', "line 2 is not JSON: Expecting ':' delimiter"),
        ({}, "the file: must be a list"),
        ([{}, "hello"], "entry 2: must be an object"),
        (
            [{"txt": "a"}],
            "entry 1: unknown key 'txt'; known are text, tool_calls, stop_reason, usage, expect",
        ),
        ([{"text": 7}], "entry 1, text: must be a text"),
        ([{"tool_calls": {}}], "entry 1, tool_calls: must be a list"),
        ([{"tool_calls": [{"tool": "a"}, {"args": {}}]}], "entry 1, call 2: names no tool"),
        ([{"tool_calls": [{"tool": "a", "args": []}]}], "entry 1, call 1, args: must be an object"),
        (
            [{"tool_calls": [{"tool": "a", "arguments": {}}]}],
            "entry 1, call 1: unknown key 'arguments'; known are tool, args",
        ),
        (
            '[{"tool_calls": [{"tool": "a", "args": {"n": NaN}}]}]',
            "entry 1, call 1, args: Out of range float values are not JSON compliant",
        ),
        ([{"usage": {"input_tokens": True}}], "entry 1, usage: input_tokens must be a whole number of at least 0"),
        ([{"usage": {"output_tokens": -1}}], "entry 1, usage: output_tokens must be a whole number of at least 0"),
        ("[" * 100_000, "the file is nested too deeply"),
    ],
)
def test_a_malformed_script_is_refused_in_one_line_that_names_the_place(
    tmp_path: Path, content: Any, problem: str
) -> None:
    path = script(tmp_path, content)

    with pytest.raises(ModelError) as refused:
        load_script(path)

    assert str(refused.value) == f"script {path}: {problem}"
    assert refused.value.kind == "malformed"


def test_an_unknown_stop_reason_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="entry 1: unknown stop_reason 'tired'; known are end_turn, max_tokens"):
        load_script(script(tmp_path, [{"stop_reason": "tired"}]))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none\.json: cannot be read: No such file or directory; check file in"):
        load_script(str(tmp_path / "none.json"))


def test_bytes_that_are_not_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_bytes(b'["\xff"]')

    with pytest.raises(ModelError, match="byte 2 is not UTF-8 text"):
        load_script(str(tmp_path / "script.json"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["text", "tool_calls", "args", "usage"]), inner),
)


@settings(max_examples=50)
@given(content=st.lists(JSON) | JSON)
def test_any_json_is_either_read_or_refused_in_one_line(tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
    path = script(tmp_path_factory.getbasetemp(), content)

    problem = ScriptedProvider.from_file(path).missing()

    assert problem is None or str(problem).startswith(f"script {path}: ")
    assert "\n" not in str(problem)

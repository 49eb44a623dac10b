"""What a model answers is read strictly, and what is wrong with it is one sentence that it can act on."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from myclaw_core.neurons.folder import MAX_FILE_BYTES
from myclaw_core.neurons.normal import NEURON_FILES, is_normal, normalized
from myclaw_core.synthesis.answers import (
    DRAFT_FORMAT,
    MAX_SPEC_CHARS,
    SPEC_FORMAT,
    SPEC_SCHEMA,
    AnswerError,
    read_files,
    read_spec,
    write_files,
    write_spec,
)
from myclaw_core.synthesis.types import NeuronSpec

SPEC = NeuronSpec(
    proposed_name="word_count",
    purpose="Counts words. It only reads.",
    input_schema={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    output_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
    capabilities_requested=("fs-read:~/notes/*",),
    rationale="No tool counts words.",
    may_call=("fs_list",),
    estimated_cpu_s=1.5,
)
FILES = {"body.py": "x = 1", "test_birth.py": "y = 2", "manifest.yaml": "z: 3"}
ANSWER = write_files(FILES)


def spec_with(**fields: Any) -> str:
    return json.dumps(json.loads(write_spec(SPEC)) | fields)


def refused(text: str) -> str:
    """Return why a spec is none."""
    with pytest.raises(AnswerError) as error:
        read_spec(text)
    return str(error.value)


def refused_files(text: str) -> str:
    """Return why an answer is no draft."""
    with pytest.raises(AnswerError) as error:
        read_files(text)
    return str(error.value)


# -- specs -----------------------------------------------------------------------------------------------------------


def test_a_spec_is_read_back_as_it_was_written_and_fits_its_schema() -> None:
    """Also with no estimate, and nothing that it may do."""
    plain = evolve(SPEC, estimated_cpu_s=None, may_call=(), capabilities_requested=())
    for spec in (SPEC, plain):
        assert read_spec(write_spec(spec)) == spec
        assert Draft202012Validator(SPEC_SCHEMA).is_valid(json.loads(write_spec(spec)))


@pytest.mark.parametrize(
    "around",
    [
        "Here it is:\n```json\n{}\n```\nGood luck.",
        "```\n{}\n```",
        "\n {} \n",
    ],
)
def test_a_spec_may_stand_in_one_fenced_block(around: str) -> None:
    assert read_spec(around.replace("{}", write_spec(SPEC))) == SPEC


def test_schemas_are_taken_as_objects_and_as_texts() -> None:
    """A provider that holds a model to a schema cannot hold free objects."""
    assert read_spec(spec_with(input_schema=SPEC.input_schema, output_schema=SPEC.output_schema)) == SPEC


def test_every_key_of_the_schema_is_named_to_the_model_and_all_are_required() -> None:
    assert set(SPEC_SCHEMA["required"]) == set(SPEC_SCHEMA["properties"])
    assert all(f'- "{key}": ' in SPEC_FORMAT for key in SPEC_SCHEMA["properties"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I cannot do that.", "the answer is not JSON that can be read: Expecting value: line 1 column 1 (char 0)"),
        ("[1]", "the answer is not one JSON object"),
        ("{" + " " * MAX_SPEC_CHARS + "}", "the spec has more than 16000 characters; write less"),
        ("[" * 9000, "the answer is not JSON that can be read"),
        ("[" * 70 + "]" * 70, "the answer is not JSON that can be read: more than 64 levels deep"),
        ('{"purpose": "\\ud800"}', "the answer is not JSON that can be read"),
        ('{"purpose": "\ud800"}', "the answer is not JSON that can be read"),
        ('{"estimated_cpu_s": NaN}', "the answer is not JSON that can be read"),
        ("```\n{}\n```\n```\n{}\n```", "the answer is not JSON that can be read"),
        ("{}", "the key proposed_name is missing"),
        (spec_with(more=1), "there is a key more; the keys are proposed_name, purpose"),
    ],
)
def test_what_is_no_spec_is_told(text: str, told: str) -> None:
    assert refused(text).startswith(told)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("proposed_name", "Word Count", "name must have this form: 3 to 41 lower-case letters"),
        ("proposed_name", "../../etc", "name must have this form"),
        ("proposed_name", 5, "name must have this form"),
        ("proposed_name", "admit", "the name admit is taken"),
        ("purpose", " ", "purpose must be a text of at most 1000 characters"),
        ("purpose", "a" * 1001, "purpose must be a text of at most 1000 characters"),
        ("purpose", None, "purpose must be a text of at most 1000 characters"),
        ("input_schema", {"type": "array"}, "input_schema must have type: object at its top"),
        ("input_schema", '{"type": "object", "$ref": "#"}', "input_schema refers to another place with $ref"),
        ("input_schema", "an object", "input_schema must be a JSON Schema, written as JSON text"),
        ("input_schema", 7, "input_schema must be a JSON Schema"),
        ("output_schema", {"type": "texts"}, "output_schema is no valid JSON Schema"),
        ("output_schema", "[]", "output_schema must be a JSON Schema"),
        ("may_call", "fs_list", "may_call must be a list of at most 64 texts"),
        ("may_call", ["rm -rf"], "rm -rf is no name of a tool or a neuron"),
        ("may_call", [["fs_list"]], "may_call must be a list of at most 64 texts"),
        ("capabilities_requested", "clock", "capabilities_requested must be a list of texts"),
        ("capabilities_requested", [1], "capabilities_requested must be a list of texts"),
        ("capabilities_requested", ["clock"] * 65, "the list capabilities_requested is too long"),
        ("capabilities_requested", ["a" * 601], "the list capabilities_requested is too long"),
        ("rationale", "", "rationale must be a text of at most 2000 characters"),
        ("rationale", {}, "rationale must be a text of at most 2000 characters"),
        ("estimated_cpu_s", "1", "estimated_cpu_s must be a number above 0, at most 120, or null"),
        ("estimated_cpu_s", True, "estimated_cpu_s must be a number above 0"),
        ("estimated_cpu_s", 0, "estimated_cpu_s must be a number above 0"),
        ("estimated_cpu_s", 1e9, "estimated_cpu_s must be a number above 0"),
    ],
)
def test_a_field_of_a_spec_that_no_manifest_could_have_is_told(field: str, value: Any, told: str) -> None:
    """An estimate that would make every cost look small is refused with the rest."""
    assert told in refused(spec_with(**{field: value}))


def test_whether_a_capability_may_be_had_is_not_decided_by_the_reading() -> None:
    """To ask for what is forbidden is refused elsewhere, at no cost of an attempt."""
    asked = read_spec(spec_with(capabilities_requested=["shell:sudo", "root", "root"]))

    assert asked.capabilities_requested == ("shell:sudo", "root")


# -- drafts ----------------------------------------------------------------------------------------------------------


def test_three_files_are_read_in_their_normal_form() -> None:
    files = read_files(write_files({**FILES, "body.py": "\n\nx = 1 \t\r\n\r\ny = 2\n\n\n"}))

    assert files == {"body.py": b"x = 1\n\ny = 2\n", "test_birth.py": b"y = 2\n", "manifest.yaml": b"z: 3\n"}
    assert all(map(is_normal, files.values()))


def test_the_form_that_a_model_is_told_can_be_read() -> None:
    assert set(read_files(DRAFT_FORMAT)) == set(NEURON_FILES)


@pytest.mark.parametrize(
    "answer",
    [
        f"Here they are.\n\n{ANSWER}\nI hope that helps.",
        f"```\n{ANSWER}```\n",
        ANSWER.replace("x = 1", "```python\nx = 1\n```"),
        ANSWER.replace("x = 1", "\n```python\nx = 1\n```\n\nNow the tests:\n"),
        f"```python\n{ANSWER}".replace("=== FILE test", "```\n\n```python\n=== FILE test"),
        ANSWER.replace("\n", "\r\n"),
        ANSWER.replace("===\n", "===  \n"),
    ],
)
def test_prose_around_and_fences_do_no_harm(answer: str) -> None:
    assert read_files(answer) == {name: f"{text}\n".encode() for name, text in FILES.items()}


def test_a_fence_inside_of_a_file_stays() -> None:
    body = 'TEXT = """\n```\ncode\n```\n"""'

    assert read_files(write_files({**FILES, "body.py": body}))["body.py"].decode() == body + "\n"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("", "there is no line '=== END ===' after the last file"),
        (ANSWER.replace("=== END ===", ""), "there is no line '=== END ===' after the last file"),
        ("=== END ===", "there is no line '=== FILE body.py ===' with that file below it"),
        (ANSWER + ANSWER, "a line '=== END ===' stands before the last file"),
        (ANSWER.replace("test_birth.py", "body.py"), "the file body.py stands there twice; write it once"),
        (ANSWER.replace("body.py", "setup.py"), "there is a file setup.py; write only body.py, test_birth.py"),
        (ANSWER.replace("body.py", "../body.py"), "there is a file ../body.py; write only"),
        (ANSWER.replace("body.py", "\u202eyp.ydob"), "there is a file \\u202eyp.ydob; write only"),
        (write_files({"body.py": "x", "test_birth.py": "y"}), "there is no line '=== FILE manifest.yaml ==='"),
        (ANSWER.replace("x = 1", " \n\t"), "the file body.py is empty; write all of it"),
        (ANSWER.replace("x = 1", "```python\n```"), "the file body.py is empty; write all of it"),
        (ANSWER.replace("x = 1", "x = '\0'"), "the file body.py holds a NUL character"),
        (ANSWER.replace("x = 1", "x = '\ud800'"), "the file body.py holds half a character"),
        (ANSWER.replace("x = 1", "#" * MAX_FILE_BYTES), "body.py has more than 65536 bytes"),
        (ANSWER.replace("x = 1", "é" * 33_000), "body.py has more than 65536 bytes"),
        (ANSWER + " " * 300_000, "the answer has more than 262144 characters; write less"),
    ],
)
def test_what_is_no_draft_is_told(answer: str, told: str) -> None:
    assert refused_files(answer).startswith(told)


# -- anything --------------------------------------------------------------------------------------------------------

LINES = st.text(st.characters(exclude_characters="\0\r\n", exclude_categories=["Cs"]), max_size=40)
CONTENTS = st.lists(LINES, min_size=1, max_size=12).map("\n".join)
MARKS = ["=== FILE body.py ===", "=== FILE test_birth.py ===", "=== FILE manifest.yaml ===", "=== END ===", "```"]


def is_plain(content: str) -> bool:
    """Return whether a content is more than white space and has no line that is a mark or a fence."""
    return bool(content.strip()) and not any(line.startswith(("===", "```")) for line in content.split("\n"))


@given(files=st.fixed_dictionaries(dict.fromkeys(NEURON_FILES, CONTENTS.filter(is_plain))))
def test_any_files_come_back_from_the_form_in_their_normal_form(files: dict[str, str]) -> None:
    expected = {name: normalized(text.encode()).strip(b"\n") + b"\n" for name, text in files.items()}

    assert read_files(write_files(files)) == expected
    again = {name: data.decode() for name, data in expected.items()}
    assert read_files(write_files(again)) == expected


@settings(max_examples=300)
@given(
    text=st.one_of(
        st.text(st.characters(), max_size=200),
        st.lists(st.one_of(st.sampled_from(MARKS), st.text(st.characters(), max_size=20))).map("\n".join),
    )
)
def test_no_answer_makes_the_reading_of_files_raise_anything_else(text: str) -> None:
    with suppress(AnswerError):
        assert set(read_files(text)) == set(NEURON_FILES)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters(), max_size=9)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=9), inner, max_size=4)),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(fields=st.dictionaries(st.sampled_from(SPEC_SCHEMA["required"]), JSON), kept=st.booleans())
def test_no_answer_makes_the_reading_of_a_spec_raise_anything_else(fields: dict[str, Any], *, kept: bool) -> None:
    """What is read can be written and read again."""
    with suppress(AnswerError):
        spec = read_spec(spec_with(**fields) if kept else json.dumps(fields))
        assert read_spec(write_spec(spec)) == spec


@given(text=st.text(st.characters(), max_size=200))
def test_no_text_at_all_makes_the_reading_of_a_spec_raise_anything_else(text: str) -> None:
    with suppress(AnswerError):
        read_spec(text)

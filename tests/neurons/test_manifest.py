"""The manifest means what a person reads in it."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.errors import UsageError
from myclaw_core.neurons.capabilities import parse_capability
from myclaw_core.neurons.manifest import read_manifest
from myclaw_core.neurons.normal import is_normal, normalized

GOOD = """\
schema_version: "1.0"
name: csv_summary
version: 1.0.0
purpose: Summarise one column of a CSV file.
input_schema:
  type: object
  required: [path]
output_schema: {type: object}
capabilities:
  - fs-read:~/data/*
may_call: []
quotas:
  calls: 20
"""


def test_a_good_manifest_is_read() -> None:
    """Every key arrives with its type."""
    manifest = read_manifest(GOOD.encode(), "csv_summary")

    assert (manifest.name, manifest.version, manifest.origin) == ("csv_summary", "1.0.0", "adopted")
    assert manifest.capabilities == ("fs-read:~/data/*",)
    assert manifest.input_schema == {"type": "object", "required": ["path"]}
    assert manifest.quotas == {"calls": 20}


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("may_call: []", "capabilities: []", "manifest.yaml:11: the key capabilities stands twice"),
        ("may_call: []", "may_cal: []", "manifest.yaml:11: unknown key may_cal"),
        ("version: 1.0.0\n", "", "the key version is missing"),
        ("may_call: []", "may_call: !!python/object:os.system []", "tags such as"),
        ("may_call: []", "may_call: !!set {}", "tags such as"),
        ("may_call: []", "may_call: &a []", "anchors and aliases"),
        ("may_call: []", "may_call: *a", "anchors and aliases"),
        ("may_call: []", "<<: {may_call: []}", "must stand in quotes"),
        ("may_call: []", "on: []", "must stand in quotes"),
        ("may_call: []", "may_call: [no]", "could mean something else"),
        ("may_call: []", "may_call: ", "could mean something else"),
        ("may_call: []", "may_call: text", "must be a list"),
        ("may_call: []", "may_call: [fs_read, fs_read]", "names something twice"),
        ("may_call: []", "may_call: ['x y']", "no name of a tool"),
        ("may_call: []", "may_call: [1]", "must be a list"),
        ("may_call: []", "may_call: [", "not YAML"),
        ("may_call: []", "? [a]\n: 1", "a key must be text"),
        ("may_call: []", "trace_id: 12", "must be a UUID"),
        ("name: csv_summary", "name: Csv", "name must have this form: 3 to 41 lower-case letters, digits and _"),
        ("name: csv_summary", "name: cs", "name must have this form: 3 to 41 lower-case letters, digits and _"),
        (
            "name: csv_summary",
            "name: csv_sum\u00e9",
            "name must have this form: 3 to 41 lower-case letters, digits and _",
        ),
        ("name: csv_summary", "name: admit", "the name admit is taken: neuron_admit is a tool of myclaw itself"),
        ("name: csv_summary", "name: other_name", "differs from the folder's"),
        ("version: 1.0.0", "version: 1.0", "version must have this form: three numbers such as 1.0.0"),
        ("version: 1.0.0", "version: 01.0.0", "version must have this form: three numbers such as 1.0.0"),
        ('"1.0"', "1.0", "must be"),
        ('"1.0"', '"2.0"', "must be"),
        ("fs-read:~/data/*", "root", "no capability"),
        ("fs-read:~/data/*", "llm:x", "takes nothing"),
        ("fs-read:~/data/*", "network:*", "too wide or not well formed; it is written like"),
        ("output_schema: {type: object}", "output_schema: {type: 7}", "no valid JSON Schema"),
        (
            "output_schema: {type: object}",
            "output_schema: {properties: {day: {type: date}}}",
            'no valid JSON Schema: properties.day.type is "date"; a type is one of string, number, integer',
        ),
        (
            "output_schema: {type: object}",
            "output_schema: {properties: {day: {enum: x}}}",
            'no valid JSON Schema: at properties.day.enum: "x" is not of type "array"',
        ),
        ("output_schema: {type: object}", "output_schema: {$ref: 'https://x.example/'}", "refers to another place"),
        ("output_schema: {type: object}", "output_schema: {items: [{$dynamicRef: '#a'}]}", "refers to another place"),
        ("output_schema: {type: object}", "output_schema: {pattern: '^(?=a)a'}", 'is not a "regex"'),
        ("output_schema: {type: object}", "output_schema: []", "must be a JSON Schema"),
        ("calls: 20", "calls: -1", "from 0 to 1000"),
        ("calls: 20", "calls: true", "from 0 to 1000"),
        ("calls: 20", "calls: 2.5", "a whole number from 0 to 1000"),
        ("calls: 20", "memory_mb: 16", "a whole number from 32 to 256"),
        ("calls: 20", "memory_mb: 100000", "a whole number from 32 to 256"),
        ("calls: 20", "cpu_s: 11", "a whole number from 1 to 10"),
        ("calls: 20", "wall_s: 0", "a number from 0.1 to 30"),
        ("calls: 20", "wall_s: 100", "the quota wall_s must be a number from 0.1 to 30"),
        ("calls: 20", "cost_eur: 1.0e+9", "a number from 0 to 100"),
        ("calls: 20", "calls_per_day: 20", "unknown quota calls_per_day; known are wall_s, cpu_s, memory_mb"),
        ("  type: object\n  required: [path]", "  required: [path]", "input_schema must have type: object at its top"),
        ("calls: 20", "calls: 0x14", "could mean something else"),
        ("calls: 20", "calls: 1:20", "could mean something else"),
        ("calls: 20", "calls: .inf", "could mean something else"),
    ],
)
def test_a_manifest_that_could_be_misread_is_refused_in_one_line(old: str, new: str, problem: str) -> None:
    """The line names the file and what is wrong."""
    assert old in GOOD
    with pytest.raises(UsageError) as error:
        read_manifest(GOOD.replace(old, new, 1).encode(), "csv_summary")

    assert problem in str(error.value)
    assert str(error.value).startswith("manifest.yaml:")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "data",
    [
        b"x" * 70_000,
        b"a: " + b"[" * 1_000 + b"]" * 1_000,
        b"a: " + b"{a: " * 30 + b"1" + b"}" * 30,
        b"\xff",
        b"",
        b"- a",
        b"a: 1\n---\nb: 2\n",
        b"a: \x00",
        b"\xef\xbb\xbf" + b"- b",
    ],
)
def test_what_is_no_manifest_at_all_is_refused(data: bytes) -> None:
    """Big, deep or of another form."""
    with pytest.raises(UsageError, match=r"^manifest\.yaml:\d+: "):
        read_manifest(data)


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    """There is a manifest or one line."""
    for whole in (data, GOOD.encode() + data):
        with suppress(UsageError):
            read_manifest(whole)


@given(st.text(max_size=40))
def test_a_capability_is_read_back_as_it_is_written(text: str) -> None:
    """Or refused."""
    with suppress(UsageError):
        assert str(parse_capability(text)) == text


@given(st.binary(max_size=200))
def test_the_normal_form_of_the_normal_form_is_the_same(data: bytes) -> None:
    """So that bytes can be checked for it."""
    assert is_normal(normalized(data))
    assert b"\r" not in normalized(data)

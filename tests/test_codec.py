"""The JSON form of stored objects: exact both ways, and strict about everything else."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin
from uuid import UUID

import attrs
import pytest
from attrs import field, frozen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from myclaw_core import codec
from myclaw_core.errors import CodecError
from myclaw_core.events.types import Event, PluginFault, StepEnded, TraceClosed, TurnStarted, UnknownEvent
from myclaw_core.messages import render
from myclaw_core.policy.types import PolicyDecision
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, Message, Session, ToolError, ToolResult
from myclaw_core.synapse.types import GraphNode
from myclaw_core.synthesis.types import SynthesisResult
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustScore
from myclaw_core.undo.types import UndoRecord

SAMPLES = Path(__file__).parent / "samples" / "1.0"
NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
TRACE_ID = UUID("3f2b8c1e-9d4a-4e7b-8a6f-0c1d2e3f4a5b")


class Mood(StrEnum):
    """Stored by value."""

    GOOD = "buono"
    BAD = "cattivo"


@frozen(kw_only=True)
class Leaf:
    """Keeps nothing it does not know."""

    name: str


@frozen(kw_only=True)
class Everything:
    """One field of each sort the codec knows."""

    text: str = ""
    whole: int = 0
    number: float = 0.0
    truth: bool = False
    id: UUID = TRACE_ID
    at: datetime = NOW
    raw: bytes = b""
    choice: Literal["a", "b"] = "a"
    mood: Mood = Mood.GOOD
    maybe: str | None = None
    scalar: str | int | float = 0
    leaf: Leaf = Leaf(name="x")
    leaves: tuple[Leaf, ...] = ()
    pair: tuple[str, int] = ("", 0)
    items: list[int] = field(factory=list)
    scores: Mapping[str, float] = field(factory=dict)
    anything: Mapping[str, Any] = field(factory=dict)
    unknown_fields: Mapping[str, Any] = field(factory=dict)


def problems_of(document: object, cls: type = Everything) -> dict[str, str]:
    """Return the problems of a document by path."""
    text = document if isinstance(document, str | bytes) else json.dumps(document)
    with pytest.raises(CodecError) as caught:
        codec.loads(cls, text, "notes.json")
    assert str(caught.value).startswith("notes.json: ")
    assert "\n" not in str(caught.value)
    return english(caught.value.problems)


def english(problems: Iterable[tuple[str, Text]]) -> dict[str, str]:
    """Return problems by path, in English."""
    return {path: str(message) for path, message in problems}


def v1(**fields: object) -> dict[str, object]:
    """Return a document of schema 1.0."""
    return {"schema_version": "1.0", **fields}


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("text", [1, True, None, ["a"], {"a": 1}]),
        ("whole", [True, 1.0, "1", None, 2**63, -(2**63) - 1]),
        ("number", [True, "1.0", None, 2**63 - 1]),
        ("truth", [0, 1, "true", "false", None]),
        ("id", ["", TRACE_ID.hex, f"{{{TRACE_ID}}}", f"urn:uuid:{TRACE_ID}", 7]),
        ("at", ["2026-01-05", "2026-01-05T09:00:00", "2026-02-30T09:00:00Z", "20260105T090000Z", "now", 0]),
        ("raw", ["!!!", "QQ", "QR==", "Q Q=", "é", 1]),
        ("choice", ["c", "A", 1, None]),
        ("mood", ["GOOD", "", 0]),
        ("maybe", [1, False, []]),
        ("scalar", [True, None, []]),
        ("leaf", [None, "x", [], {}, {"name": 1}, {"name": "x", "more": 1}]),
        ("leaves", ["abc", {}, None, ["x"], {"0": {"name": "x"}}]),
        ("pair", ["ab", [], ["a"], ["a", 1, 2], ["a", "b"]]),
        ("items", ["12", {}, ["1"], [True]]),
        ("scores", [[], "a", {"a": "1"}, {"a": None}]),
        ("anything", [[], None, "x"]),
    ],
)
def test_nothing_is_coerced(name: str, wrong: list[object]) -> None:
    for value in wrong:
        (path,) = problems_of(v1(**{name: value}))

        assert path.startswith(f"$.{name}")


def test_every_sort_of_field_is_read_and_written_the_same() -> None:
    document = v1(
        text="caffè ☕ \u0000",
        whole=-(2**63),
        number=1e-300,
        truth=True,
        id=str(TRACE_ID),
        at="2026-01-05T09:00:00.000001Z",
        raw="AP+A",
        choice="b",
        mood="cattivo",
        maybe="x",
        scalar=2.5,
        leaf={"name": "y"},
        leaves=[{"name": "z"}],
        pair=["a", 1],
        items=[1, 2],
        scores={"a b": 0.5},
        anything={"list": [1, {"deep": None}], "": ""},
        later={"x": [1]},
        unknown_fields="a name like any other",
    )

    loaded = codec.loads(Everything, json.dumps(document), "x")

    assert loaded.mood is Mood.BAD
    assert loaded.at.utcoffset() == timedelta(0)
    assert loaded.unknown_fields == {"later": {"x": [1]}, "unknown_fields": "a name like any other"}
    assert json.loads(codec.dumps(loaded)) == document


def test_a_written_document_is_compact_and_starts_with_its_version() -> None:
    written = codec.dumps(Text("caffè {n}", {"n": 1}))

    assert written == '{"schema_version":"1.0","msgid":"caffè {n}","params":{"n":1}}'.encode()


def test_a_message_in_a_message_is_read_back_and_still_rendered() -> None:
    message = Text("stopped: {reason}", {"reason": Text("{n} steps are the limit", {"n": 3}), "later": "x"})

    written = codec.dumps(message)

    assert json.loads(written)["params"]["reason"] == {"msgid": "{n} steps are the limit", "params": {"n": 3}}
    assert codec.loads(Text, written, "x") == message
    assert str(codec.loads(Text, written, "x")) == "stopped: 3 steps are the limit"


def test_a_message_may_be_given_as_plain_words_but_the_value_of_a_place_stays_what_it_is() -> None:
    assert codec.structure(ToolError, {"kind": "denied", "message": "not now"}, "x").message == Text("not now")
    assert codec.structure(Text, {"msgid": "{a}", "params": {"a": "not now"}}, "x").params == {"a": "not now"}
    for wrong in (7, None, ["not now"]):
        with pytest.raises(CodecError, match=r"expected an object, got .* at \$\.message"):
            codec.structure(ToolError, {"kind": "denied", "message": wrong}, "x")


@pytest.mark.parametrize("wrong", [True, None, ["x"], {"params": {}}, {"msgid": 1}])
def test_a_place_of_a_message_holds_words_a_number_or_a_message(wrong: object) -> None:
    (path,) = problems_of({"schema_version": "1.0", "msgid": "{a}", "params": {"a": wrong}}, Text)

    assert path.startswith("$.params.a")


def nested(levels: int) -> Any:
    """Return a message in a message in a message, as JSON."""
    value: Any = {"msgid": "the end"}
    for _ in range(levels - 1):
        value = {"msgid": "{a}", "params": {"a": value}}
    return value


def test_messages_in_messages_are_read_as_deep_as_they_are_written_and_rendered() -> None:
    message = codec.structure(Text, nested(50), "x")

    assert str(message) == render(message) == "the end"
    assert codec.loads(Text, codec.dumps(message), "x") == message


@pytest.mark.parametrize("levels", [52, 200, 10_000])
def test_messages_nested_without_end_are_refused(levels: int) -> None:
    with pytest.raises(CodecError, match=r"x: nested too deeply at \$\.params\.a"):
        codec.structure(Text, nested(levels), "x")
    with pytest.raises(CodecError, match=r"x: nested too deeply at \$\.message\.params\.a"):
        codec.structure(ToolError, {"kind": "denied", "message": nested(levels)}, "x")


def test_a_document_of_messages_nested_without_end_is_refused() -> None:
    text = '{"msgid":"{a}","params":{"a":' * 10_000 + '"x"' + "}}" * 10_000

    assert problems_of(text, Text) == {"$": "nested too deeply"}


def test_an_error_is_a_message_of_messages() -> None:
    with pytest.raises(CodecError) as caught:
        codec.structure(Leaf, {"name": 1, "more": 2}, Text("record {n}", {"n": 7}))

    assert str(caught.value) == "record 7: expected text, got a whole number at $.name; unknown field at $.more"
    assert caught.value.text.params["where"] == Text("record {n}", {"n": 7})
    assert [message for _, message in caught.value.problems][1] == Text("unknown field")


def test_a_time_with_an_offset_becomes_utc() -> None:
    loaded = codec.loads(Everything, json.dumps(v1(at="2026-01-05T11:00:00.5+02:00")), "x")

    assert loaded.at == NOW + timedelta(seconds=0.5)
    assert json.loads(codec.dumps(loaded))["at"] == "2026-01-05T09:00:00.500000Z"
    east = attrs.evolve(loaded, at=loaded.at.astimezone(timezone(timedelta(hours=5))))
    assert codec.dumps(east) == codec.dumps(loaded)


def test_a_whole_number_is_taken_for_a_float_but_not_where_digits_would_be_lost() -> None:
    assert codec.loads(Everything, json.dumps(v1(number=3)), "x").number == 3.0
    assert problems_of(v1(number=2**53 + 1)) == {"$.number": "whole number too large to be kept exactly"}


def test_all_problems_are_told_at_once_with_their_paths() -> None:
    document = json.loads((SAMPLES / "execution_trace.json").read_text())
    document["steps"][0]["decision"]["verdict"] = "maybe"
    document["steps"][1]["effects"] = "none"
    document["cost_usd"] = "0.1"
    del document["sender"]
    document["model_calls"][0]["usage"]["input_tokens"] = True

    assert problems_of(document, ExecutionTrace) == {
        "$.sender": "required field missing",
        "$.steps[0].decision.verdict": "expected one of allow, approve_required, deny",
        "$.steps[1].effects": "expected a list, got text",
        "$.model_calls[0].usage.input_tokens": "expected a whole number, got true or false",
        "$.cost_usd": "expected a number, got text",
    }


def test_an_error_never_shows_the_value() -> None:
    assert "hunter2" not in str(problems_of(v1(whole="hunter2", choice="hunter2", id="hunter2", raw="hunter2")))


def test_odd_keys_stand_in_quotes_in_a_path() -> None:
    assert problems_of(v1(scores={"a b": "x", 'q"': "y"})) == {
        '$.scores["a b"]': "expected a number, got text",
        '$.scores["q\\""]': "expected a number, got text",
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"\xff{}", "not UTF-8 text (byte 0)"),
        ("", "not JSON: Expecting value (line 1, column 1)"),
        ('{"a": 1,\n"b" 2}', "not JSON: Expecting ':' delimiter (line 2, column 5)"),
        ("{} {}", "not JSON: Extra data (line 1, column 4)"),
        ("[]", "expected an object, got a list"),
        ("null", "expected an object, got null"),
        ('"text"', "expected an object, got text"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "a number has too many digits"),
    ],
)
def test_what_is_no_object_in_json_gives_one_clear_problem(text: str | bytes, problem: str) -> None:
    assert problems_of(text) == {"$": problem}


def test_a_key_that_is_given_twice_is_refused_wherever_it_stands() -> None:
    text = '{"schema_version": "1.0", "whole": 1, "whole": 2, "anything": {"list": [{"x": 1, "x": 1}]}}'

    assert problems_of(text) == {"$.whole": "key given twice", "$.anything.list[0].x": "key given twice"}


@pytest.mark.parametrize(
    ("number", "problem"),
    [("NaN", "not a finite number"), ("1e999", "not a finite number"), (str(2**63), "whole number beyond 64 bits")],
)
def test_numbers_that_others_cannot_keep_are_refused_everywhere(number: str, problem: str) -> None:
    text = f'{{"schema_version": "1.0", "anything": {{"a": [{number}]}}, "later": {number}}}'

    assert problems_of(text) == {"$.anything.a[0]": problem, "$.later": problem}


def test_half_a_character_is_refused_in_values_and_keys() -> None:
    text = '{"schema_version": "1.0", "text": "\\ud800", "anything": {"a": "\\udc00"}, "later": {"\\ud800": 1}}'

    assert set(problems_of(text)) == {"$.text", "$.anything.a", "$.later"}
    assert codec.loads(Everything, '{"schema_version": "1.0", "text": "\\ud83d\\ude00"}', "x").text == "😀"


def test_json_that_is_too_deep_to_be_handed_on_is_refused() -> None:
    deep: object = 1
    for _ in range(101):
        deep = [deep]

    (message,) = problems_of(v1(later=deep)).values()

    assert message == "nested deeper than 100 levels"


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.99"])
def test_every_minor_of_our_major_is_read_and_written_back(version: str) -> None:
    document = _session(schema_version=version, mood="calm")

    loaded = codec.loads(Session, document, "x")

    assert json.loads(codec.dumps(loaded)) == json.loads(document)
    assert codec.loads(Leaf, json.dumps(v1(name="Rosa", schema_version=version)), "x") == Leaf(name="Rosa")


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("2.0", "schema version 2.0 is newer than this program reads (1.x); update myclaw"),
        ("17.3", "schema version 17.3 is newer than this program reads (1.x); update myclaw"),
        ("0.9", "schema version 0.9 is older than this program reads (1.x)"),
        ("1", 'expected a version such as "1.0"'),
        ("1.0.0", 'expected a version such as "1.0"'),
        ("v1.0", 'expected a version such as "1.0"'),
        ("01.0", 'expected a version such as "1.0"'),
        (1.0, 'expected a version such as "1.0"'),
        (None, 'expected a version such as "1.0"'),
    ],
)
def test_another_major_or_a_malformed_version_is_refused_naming_the_place(version: object, message: str) -> None:
    with pytest.raises(CodecError) as caught:
        codec.loads(Session, _session(schema_version=version), "2026-01-05.jsonl:17")

    assert str(caught.value) == f"2026-01-05.jsonl:17: {message} at $.schema_version"


def test_a_missing_version_is_refused() -> None:
    assert problems_of({"text": "x"}) == {"$.schema_version": 'required field missing (expected "1.0")'}


def _session(**fields: object) -> str:
    plain = {"id": "s", "channel": "cli", "sender": "cli:me", "started_at": "2026-01-05T09:00:00.000000Z"}
    return json.dumps(v1(**plain) | fields)


def test_what_is_written_shares_nothing_with_the_object() -> None:
    result = ToolResult(text="x", data={"list": [1]}, unknown_fields={"later": {"a": 1}})

    value = codec.unstructure(result)
    value["data"]["list"].append(2)
    value["later"]["a"] = 2

    assert result == ToolResult(text="x", data={"list": [1]}, unknown_fields={"later": {"a": 1}})


def test_a_field_is_never_overwritten_by_an_unknown_one_of_its_name() -> None:
    assert codec.unstructure(Everything(text="real", unknown_fields={"text": "other"}))["text"] == "real"


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        ({"a": float("nan")}, "$.data.a", "not a finite number"),
        ({"a": [2**64]}, "$.data.a[0]", "whole number beyond 64 bits"),
        ({"a": "\ud800"}, "$.data.a", "lone surrogate (half a character)"),
        ({"a": {1: 2}}, "$.data.a", "a key is a whole number, not text"),
        ({"a": NOW}, "$.data.a", "not a JSON value (datetime)"),
        ({"a": {1}}, "$.data.a", "not a JSON value (set)"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(data: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(CodecError) as caught:
        codec.dumps(ToolResult(text="x", data=data))

    assert english(caught.value.problems) == {path: message}
    assert english(codec.json_problems(data)) == {path.removeprefix("$.data"): message}


def test_a_value_without_end_is_not_written() -> None:
    endless: dict[str, Any] = {}
    endless["self"] = endless

    with pytest.raises(CodecError, match="nested"):
        codec.dumps(ToolResult(text="x", data=endless))
    with pytest.raises(CodecError, match="nested"):
        codec.dumps_event(UnknownEvent(type="x", data=endless), redact=False)


def test_a_time_without_a_zone_is_not_written() -> None:
    with pytest.raises(CodecError, match="time without a zone"):
        codec.dumps(Everything(at=datetime(2026, 1, 5)))  # noqa: DTZ001


def test_an_event_is_tagged_by_its_class_in_snake_case() -> None:
    event = PluginFault(plugin="sizes", hook="load", detail="did not import")

    written = codec.dumps_event(event)

    assert written.startswith(b'{"schema_version":"1.0","type":"plugin_fault",')
    assert codec.event_tag(event) == codec.event_tag(PluginFault) == "plugin_fault"
    assert codec.loads_event(written, "x") == event


def test_an_event_of_a_later_version_is_kept_as_it_is() -> None:
    document = v1(type="moon_rose", trace_id=str(TRACE_ID), phase={"a": [1, None]}, schema_version="1.4")

    event = codec.loads_event(json.dumps(document), "x")

    assert isinstance(event, UnknownEvent)
    assert (event.type, event.trace_id, codec.event_tag(event)) == ("moon_rose", TRACE_ID, "moon_rose")
    assert json.loads(codec.dumps_event(event)) == document


def test_an_unknown_event_with_an_odd_trace_id_is_kept_too() -> None:
    for odd in ("not an id", 7, None):
        event = codec.loads_event(json.dumps(v1(type="moon_rose", trace_id=odd)), "x")

        assert isinstance(event, UnknownEvent)
        assert event.trace_id is None
        assert json.loads(codec.dumps_event(event)) == v1(type="moon_rose", trace_id=odd)


def test_an_unknown_event_made_by_hand_carries_its_trace() -> None:
    event = UnknownEvent(type="moon_rose", data={"phase": 1}, trace_id=TRACE_ID)

    assert json.loads(codec.dumps_event(event)) == v1(type="moon_rose", phase=1, trace_id=str(TRACE_ID))


@pytest.mark.parametrize(
    ("fields", "problems"),
    [
        ({}, {"$.type": "required field missing"}),
        ({"type": 7}, {"$.type": "expected text, got a whole number"}),
        ({"type": "plugin_fault", "plugin": 1, "hook": "x"}, {"$.plugin", "$.detail"}),
        ({"type": "unknown_event"}, None),
    ],
)
def test_a_malformed_event_is_refused(fields: dict[str, object], problems: Any) -> None:
    if problems is None:
        assert isinstance(codec.loads_event(json.dumps(v1(**fields)), "x"), UnknownEvent)
        return
    with pytest.raises(CodecError) as caught:
        codec.loads_event(json.dumps(v1(**fields)), "log:3")

    found = english(caught.value.problems)
    assert found == problems if isinstance(problems, dict) else set(found) == problems


def test_an_event_is_masked_before_it_is_written_unless_told_otherwise() -> None:
    secret = "ghp" + "_" + "a1B2c3D4" * 5
    event = PluginFault(plugin="x", hook="load", detail=f"token {secret} was refused")

    assert secret.encode() not in codec.dumps_event(event)
    assert "«redacted:github-token»".encode() in codec.dumps_event(event)
    assert secret.encode() in codec.dumps_event(event, redact=False)


def test_masking_leaves_every_kind_of_event_readable() -> None:
    for path in SAMPLES.glob("event_*.json"):
        event = codec.loads_event(path.read_text(), path.name)

        assert codec.loads_event(codec.dumps_event(event), path.name) == event


def test_an_event_with_an_undecodable_name_is_still_written() -> None:
    event = PluginFault(plugin="x", hook="load", detail="cannot read caff\udce8.txt")

    assert json.loads(codec.dumps_event(event))["detail"] == "cannot read caff?.txt"


def test_importing_the_codec_loads_neither_the_converter_nor_asyncio() -> None:
    program = (
        "import sys, myclaw_core.codec as c, myclaw_core.types as t;"
        "early = {'cattrs', 'asyncio'} & set(sys.modules);"
        "c.dumps(t.Text('x'));"
        "print(early, 'asyncio' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "set() False\n"


SCALARS: dict[object, st.SearchStrategy[Any]] = {
    str: st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    int: st.integers(-(2**63), 2**63 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    type(None): st.none(),
    UUID: st.uuids(),
    bytes: st.binary(max_size=5),
    datetime: st.datetimes(timezones=st.just(UTC)),
}
JSON = st.recursive(
    st.one_of([SCALARS[cls] for cls in (str, int, float, bool, type(None))]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(SCALARS[str], inner, max_size=2),
    max_leaves=3,
)


TEXTS = st.recursive(
    st.builds(Text, SCALARS[str]),
    lambda inner: st.builds(
        Text,
        SCALARS[str],
        st.dictionaries(SCALARS[str], st.one_of(SCALARS[str], SCALARS[int], SCALARS[float], inner), max_size=2),
        st.dictionaries(st.just("later"), JSON, max_size=1),
    ),
    max_leaves=3,
)


def values_of(cls: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for any annotation that a stored class may carry."""
    origin, args = get_origin(cls), get_args(cls)
    if cls is Any:
        return JSON
    if cls is Text:
        return TEXTS
    if cls in SCALARS:
        return SCALARS[cls]
    if origin is Literal or (isinstance(cls, type) and issubclass(cls, StrEnum)):
        return st.sampled_from(args or list(cls))
    if origin in (Union, types.UnionType):
        return st.one_of([values_of(member) for member in args])
    if origin is tuple and args[-1] is not Ellipsis:
        return st.tuples(*(values_of(member) for member in args))
    if origin in (list, tuple):
        return st.lists(values_of(args[0]), max_size=1).map(origin)
    if origin is Mapping:
        return st.dictionaries(SCALARS[str], values_of(args[1]), max_size=2)
    return objects_of(cls)


def objects_of(cls: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for objects of an attrs class, with unknown fields that no field is called like."""
    fields = {field.name: values_of(field.type) for field in attrs.fields(attrs.resolve_types(cls))}
    if "unknown_fields" in fields:
        names = SCALARS[str].filter(lambda name: name not in fields)
        fields["unknown_fields"] = st.dictionaries(names, JSON, max_size=1)
    return st.builds(cls, **fields)


@pytest.mark.parametrize(
    "cls", [Everything, Text, PolicyDecision, ActionStep, Message, TrustScore, UndoRecord, GraphNode, SynthesisResult]
)
def test_any_object_is_read_back_equal_and_written_the_same(cls: type) -> None:
    @settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
    @given(objects_of(cls))
    def round_trip(obj: object) -> None:
        written = codec.dumps(obj)
        loaded = codec.loads(cls, written, "x")
        assert loaded == obj
        assert codec.dumps(loaded) == written

    round_trip()


@pytest.mark.parametrize("cls", [TurnStarted, StepEnded, TraceClosed])
def test_any_event_is_read_back_equal(cls: type) -> None:
    @settings(max_examples=10, suppress_health_check=list(HealthCheck), deadline=None)
    @given(objects_of(cls))
    def round_trip(event: Event) -> None:
        assert codec.loads_event(codec.dumps_event(event, redact=False), "x") == event

    round_trip()


@given(st.text() | st.binary(), st.sampled_from([Everything, ExecutionTrace, Session]))
def test_no_input_makes_the_loader_raise_anything_else(data: str | bytes, cls: type) -> None:
    with pytest.raises(CodecError):
        codec.loads(cls, data, "x")
    with pytest.raises(CodecError):
        codec.loads_event(data, "x")


@given(st.dictionaries(st.sampled_from([f.name for f in attrs.fields(Everything)]), JSON))
def test_no_json_value_makes_the_loader_raise_anything_else(fields: dict[str, object]) -> None:
    try:
        loaded = codec.structure(Everything, fields, "x")
    except CodecError:
        return
    assert codec.unstructure(loaded) == codec.unstructure(Everything()) | fields

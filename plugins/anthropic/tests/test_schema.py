"""An answer that is held to a schema: what the service refuses about one never reaches it."""

from collections.abc import Callable
from typing import Any

from myclaw_anthropic.prompt import request_params
from myclaw_anthropic.schema import held_schema

from myclaw_core.runtime.model import ModelRequest

Ask = Callable[..., ModelRequest]
OBJECT = {"type": "object", "additionalProperties": False}


def test_a_schema_goes_over_the_wire_as_the_form_of_the_answer(ask: Ask) -> None:
    schema = {**OBJECT, "properties": {"verdict": {"enum": ["yes", "no"]}}, "required": ["verdict"]}

    held = request_params(ask("judge it", answer_schema=schema))

    assert held["output_config"] == {"format": {"type": "json_schema", "schema": schema}}
    assert "output_config" not in request_params(ask("judge it"))


async def test_the_service_takes_such_a_call_and_answers(serve: Any, connect: Any, ask: Ask) -> None:
    """The local server refuses an open object as the real one does."""
    server = serve({"text": '{"n": 3}'}, {"text": "free"})
    number = {**OBJECT, "properties": {"n": {"type": "integer", "minimum": 0}}, "required": ["n"]}
    provider = connect(server.base_url)

    held = await provider.complete(ask("count", answer_schema=number), lambda _: None)
    free = await provider.complete(ask("count", answer_schema={"type": "object"}), lambda _: None)

    assert (held.message.text, free.message.text) == ('{"n": 3}', "free")
    sent = [request["body"].get("output_config") for request in server.requests]
    assert sent[0]["format"]["schema"]["properties"] == {"n": {"type": "integer"}}
    assert sent[1] is None


def test_bounds_are_left_out_and_properties_with_their_names_stay() -> None:
    schema = {
        **OBJECT,
        "properties": {
            "minimum": {"type": "number", "maximum": 1},
            "texts": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 9}},
            "either": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        },
    }

    assert held_schema(schema) == {
        **OBJECT,
        "properties": {
            "minimum": {"type": "number"},
            "texts": {"type": "array", "items": {"type": "string"}},
            "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
    }


def test_a_schema_with_an_open_object_anywhere_is_left_out() -> None:
    opened = {"type": ["object", "null"]}
    for inner in ({"items": {"type": "object"}}, {"anyOf": [{"type": "object", "properties": {}}]}, opened):
        assert held_schema({**OBJECT, "properties": {"a": inner}}) is None

"""Schemas that others wrote cost neither a look at the network nor more than what is compared with them is worth."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from myclaw_core.schemas import compiled, first_failures


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """A server that notes what it is asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_args: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}", asked
        listening.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$schema": "URL/meta", "$id": "URL/a", "type": "object"}}},
        {"$schema": "URL/meta"},
        {"$ref": "URL/a"},
        {"$ref": "#", "$dynamicRef": "URL/a"},
        {"$id": "URL/a", "items": {"$ref": "b"}},
    ],
)
def test_no_schema_makes_its_reader_ask_a_server(schema: object, server: tuple[str, list[str]]) -> None:
    """Neither when it is compiled nor when something is compared with it."""

    def placed(value: object) -> object:
        if isinstance(value, dict):
            return {key: placed(each) for key, each in value.items()}
        return value.replace("URL", server[0]) if isinstance(value, str) else value

    made = placed(schema)
    assert isinstance(made, dict)
    with suppress(ValueError):
        first_failures(compiled(made), made, {"a": [{}]})
    assert server[1] == []


def test_what_does_not_fit_is_named_unless_there_may_be_too_much_of_it() -> None:
    """A failure for each part of a schema at each part of a value would be more than there is memory for."""
    schema = {"anyOf": [{"items": {"const": number}} for number in range(100)]}
    validator = compiled(schema)

    assert first_failures(validator, schema, [7] * 100_000) is None
    assert first_failures(validator, schema, ["x"] * 100_000) == []
    assert first_failures(validator, schema, ["x" * 10_000_000]) == []
    named = first_failures(validator, schema, ["x"])
    assert named is not None
    assert "anyOf" in named[0].message


def test_only_the_first_failures_are_named() -> None:
    schema = {"items": {"type": "integer"}}
    named = first_failures(compiled(schema), schema, ["x"] * 100)
    assert [each.message for each in named or ()] == ['"x" is not of type "integer"'] * 5

"""The local server: it must refuse what the real service refuses, or tests against it prove nothing."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from myclaw_anthropic.provider import AnthropicProvider

from myclaw_core.runtime.model import ModelRequest

Serve = Callable[..., Any]

WIRE = Path(__file__).parents[3] / "tests" / "support" / "wire_anthropic.py"
CALL = {"type": "tool_use", "id": "a", "name": "fs_read", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "x"}
TEXT = {"type": "text", "text": "x"}
HI = [{"role": "user", "content": "hi"}]


def post(server: Any, messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Ask without streaming; return the status and the body's own keys."""
    connection = HTTPConnection(server.base_url.removeprefix("http://"))
    body = {"model": "m", "max_tokens": 9, "messages": messages, **more}
    connection.request("POST", "/v1/messages", json.dumps(body), {"x-api-key": "k", "anthropic-version": "2026-10-21"})
    answer = connection.getresponse()
    document: dict[str, Any] = json.loads(answer.read())
    connection.close()
    return {"status": answer.status, **document}


def test_it_answers_without_streaming_too(serve: Serve) -> None:
    answer = post(serve({"text": "hello"}), HI)

    assert (answer["status"], answer["content"]) == (200, [{"type": "text", "text": "hello"}])


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([{"role": "assistant", "content": [TEXT]}], "first message must use the user role"),
        ([{"role": "user", "content": [TEXT]}, {"role": "assistant", "content": [TEXT]}], "prefill"),
        ([{"role": "user", "content": []}], "content must not be empty"),
        ([{"role": "user", "content": " "}], "non-whitespace"),
        ([{"role": "user", "content": [RESULT]}], "do not match"),
        (
            [
                {"role": "user", "content": [TEXT]},
                {"role": "assistant", "content": [CALL]},
                {"role": "user", "content": [TEXT]},
            ],
            "do not match",
        ),
        (
            [
                {"role": "user", "content": [TEXT]},
                {"role": "assistant", "content": [CALL]},
                {"role": "user", "content": [TEXT, RESULT]},
            ],
            "must come first",
        ),
        ([{"role": "user", "content": [{**TEXT, "cache_control": {"type": "ephemeral"}}] * 5}], "a maximum of 4"),
    ],
)
def test_it_refuses_a_malformed_conversation(serve: Serve, messages: list[dict[str, Any]], problem: str) -> None:
    server = serve({"text": "hello"})

    refused = post(server, messages)

    assert refused["status"] == 400
    assert problem in refused["error"]["message"]
    assert post(server, HI)["content"][0]["text"] == "hello", "the reply is not used up"


def test_it_refuses_a_temperature(serve: Serve) -> None:
    assert post(serve(), HI, temperature=0)["status"] == 400


def test_a_script_that_ended_well_goes_on_with_done_and_one_that_failed_keeps_failing(serve: Serve) -> None:
    well, ill = serve({"text": "hello"}), serve({"status": 529})

    assert [post(well, HI)["content"][0]["text"] for _ in range(3)] == ["hello", "done", "done"]
    assert [post(ill, HI)["status"] for _ in range(2)] == [529, 529]


@pytest.fixture
def program_url(tmp_path: Path) -> Iterator[str]:
    """Run the server as a program of its own."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "from a program"}]), encoding="utf-8")
    with subprocess.Popen([sys.executable, str(WIRE), str(script)], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        yield program.stdout.readline().strip()
        program.terminate()


async def test_as_a_program_it_prints_its_address_and_shows_the_requests(
    program_url: str, connect: Callable[..., AnthropicProvider], ask: Callable[..., ModelRequest]
) -> None:
    reply = await connect(program_url).complete(ask("hi"), lambda _: None)

    [request] = json.loads(await asyncio.to_thread(get, f"{program_url}/__requests"))
    assert reply.message.text == "from a program"
    assert request["path"] == "/v1/messages"
    assert request["body"]["messages"][0]["content"][0]["text"] == "hi"


def get(url: str) -> bytes:
    with urlopen(url) as answer:
        content: bytes = answer.read()
        return content

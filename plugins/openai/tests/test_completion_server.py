"""The local server: it must refuse what a strict server refuses, or tests against it prove nothing."""

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
import wire_openai
from myclaw_openai.provider import OpenAIProvider
from wire_openai import WireServer

from myclaw_core.runtime.model import ModelRequest

USER = {"role": "user", "content": "hi"}
CALLING = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": {}}]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": ""}


def post(server: WireServer, messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Ask without streaming; return the status and the body's own keys."""
    connection = HTTPConnection(server.base_url.removeprefix("http://"))
    body = json.dumps({"model": "m", "messages": messages, **more})
    connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
    answer = connection.getresponse()
    document: dict[str, Any] = json.loads(answer.read())
    connection.close()
    return {"status": answer.status, **document}


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([{"role": "assistant", "content": "x"}, USER], "must begin with the user"),
        ([USER, {"role": "assistant", "content": "x"}], "must not be the assistant's"),
        ([USER, {"role": "system", "content": "x"}, USER], "system message must come first"),
        ([USER, USER], "roles must alternate"),
        ([{"role": "user", "content": " "}], "content must not be empty"),
        ([USER, RESULT], "no call a waits"),
        ([USER, CALLING, USER], "calls without a result"),
        ([USER, CALLING], "calls without a result"),
        ([USER, CALLING, RESULT, RESULT], "no call a waits"),
    ],
)
def test_it_refuses_a_malformed_conversation(
    serve: Callable[..., WireServer], messages: list[dict[str, Any]], problem: str
) -> None:
    server = serve({"text": "hello"})

    refused = post(server, messages)

    assert refused["status"] == 400
    assert problem in str(list(wire_openai.message_problems(messages)))
    answer = post(server, [USER, CALLING, RESULT])
    assert answer["choices"][0]["message"]["content"] == "hello", "the reply is not used up"


@pytest.fixture
def program_url(tmp_path: Path) -> Iterator[str]:
    """Run the server as a program of its own."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "from a program"}]), encoding="utf-8")
    command = [sys.executable, wire_openai.__file__, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        yield program.stdout.readline().strip()
        program.terminate()


async def test_as_a_program_it_prints_its_address_and_shows_the_requests(
    program_url: str, connect: Callable[..., OpenAIProvider], ask: Callable[..., ModelRequest]
) -> None:
    reply = await connect(program_url).complete(ask("hi"), lambda _: None)

    [request] = json.loads(await asyncio.to_thread(get, f"{program_url}/__requests"))
    assert reply.message.text == "from a program"
    assert request["path"] == "/v1/chat/completions"
    assert request["body"]["messages"][1] == USER


def get(url: str) -> bytes:
    with urlopen(url) as answer:
        content: bytes = answer.read()
        return content

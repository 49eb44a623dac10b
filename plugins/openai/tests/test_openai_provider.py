"""The provider against a local server, over real HTTP."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from myclaw_openai import plugin
from myclaw_openai.provider import OpenAIProvider
from wire_openai import WireServer

from myclaw_core.host import Host
from myclaw_core.paths import Home
from myclaw_core.runtime.model import ModelError, ModelRequest
from myclaw_core.runtime.types import Message, ToolCall, Usage
from myclaw_core.testing import FakeClock

Ask = Callable[..., ModelRequest]
Connect = Callable[..., OpenAIProvider]
Serve = Callable[..., WireServer]


def ignore(_: str) -> None:
    pass


# -- answers ---------------------------------------------------------------------------------------------------------


async def test_text_is_streamed_in_order_and_returned_whole(serve: Serve, connect: Connect, ask: Ask) -> None:
    """A line separator inside a text is no end of a line on the wire."""
    text = "The house\u2028is quiet tonight, très calme."
    server = serve({"text": text, "usage": {"input_tokens": 20, "cached_tokens": 3, "output_tokens": 9}})
    shown: list[str] = []

    reply = await connect(server.base_url).complete(ask("how is it?"), shown.append)

    assert reply.message == Message(role="assistant", text=text)
    assert "".join(shown) == text
    assert len(shown) > 1
    assert (reply.stop_reason, reply.model) == ("end_turn", "llama3.2:3b")
    assert reply.usage == Usage(input_tokens=20, cached_tokens=3, output_tokens=9)


async def test_text_arrives_before_the_answer_is_complete(serve: Serve, connect: Connect, ask: Ask) -> None:
    """The server sends nothing more after the text, yet the text is shown."""
    server = serve({"text": "so far", "hang": True})
    shown = asyncio.Event()
    task = asyncio.create_task(connect(server.base_url).complete(ask(), lambda _: shown.set()))

    await shown.wait()

    assert not task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_tool_calls_and_their_results_make_the_round_trip(serve: Serve, connect: Connect, ask: Ask) -> None:
    server = serve(
        {
            "text": "I read both.",
            "tool_calls": [{"tool": "fs_read", "args": {"path": "é.txt"}}, {"tool": "fs_read", "args": {}}],
        },
        {"text": "Read."},
    )
    provider = connect(server.base_url)

    first = await provider.complete(ask("read them"), ignore)
    one, two = first.message.tool_calls
    results = [Message(role="tool", text=f"result of {call.id}", tool_call_id=call.id) for call in (one, two)]
    second = await provider.complete(ask("read them", first.message, *results), ignore)

    assert first.stop_reason == "tool_use"
    assert one == ToolCall(id=one.id, tool="fs_read", args={"path": "é.txt"})
    assert (two.tool, two.args) == ("fs_read", {})
    assert second.message.text == "Read."
    sent = server.requests[1]["body"]["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool", "tool"]
    assert [message["tool_call_id"] for message in sent[3:]] == [one.id, two.id]


async def test_a_server_that_counts_nothing_gives_no_usage(serve: Serve, connect: Connect, ask: Ask) -> None:
    server = serve({"text": "ok", "usage": None})

    assert (await connect(server.base_url).complete(ask(), ignore)).usage is None


async def test_an_answer_without_a_finish_reason_that_is_done_is_whole(
    serve: Serve, connect: Connect, ask: Ask
) -> None:
    server = serve({"text": "ok", "finish_reason": None})

    assert (await connect(server.base_url).complete(ask(), ignore)).stop_reason == "end_turn"


async def test_half_a_surrogate_in_the_conversation_is_sent_all_the_same(
    serve: Serve, connect: Connect, ask: Ask
) -> None:
    reply = await connect(serve({"text": "ok"}).base_url).complete(ask("half \ud83d"), ignore)

    assert reply.message.text == "ok"


@pytest.mark.parametrize(("environ", "sent"), [({}, None), ({"OPENAI_API_KEY": " key\n"}, "Bearer key")])
async def test_the_key_is_sent_where_there_is_one(
    serve: Serve, connect: Connect, ask: Ask, environ: dict[str, str], sent: str | None
) -> None:
    server = serve({"text": "ok"})

    await connect(server.base_url, environ=environ).complete(ask(), ignore)

    assert server.requests[0]["headers"].get("authorization") == sent


async def test_a_proxy_of_the_environment_is_not_used_for_this_machine(
    serve: Serve, connect: Connect, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")

    reply = await connect(serve({"text": "direct"}).base_url).complete(ask(), ignore)

    assert reply.message.text == "direct"


# -- retries ---------------------------------------------------------------------------------------------------------


async def test_a_rate_limit_is_waited_for_as_long_as_the_server_asks(serve: Serve, connect: Connect, ask: Ask) -> None:
    server, clock = serve({"status": 429, "retry_after": 7}, {"text": "now"}), FakeClock()

    reply = await connect(server.base_url, clock=clock, max_retries=1).complete(ask(), ignore)

    assert reply.message.text == "now"
    assert clock.monotonic() == 7


async def test_a_faulty_server_is_tried_again_with_growing_pauses_until_the_tries_end(
    serve: Serve, connect: Connect, ask: Ask
) -> None:
    server, clock = serve({"status": 503}), FakeClock()

    with pytest.raises(ModelError, match="has a fault") as failed:
        await connect(server.base_url, clock=clock, max_retries=2).complete(ask(), ignore)

    assert failed.value.kind == "overloaded"
    assert (len(server.requests), clock.monotonic()) == (3, 0.5 + 1.0)


async def test_a_pause_that_is_too_long_is_told_instead_of_waited_for(serve: Serve, connect: Connect, ask: Ask) -> None:
    server, clock = serve({"status": 429, "retry_after": 3600}), FakeClock()

    with pytest.raises(ModelError, match="wait 3600 s and ask again"):
        await connect(server.base_url, clock=clock, max_retries=2).complete(ask(), ignore)

    assert (len(server.requests), clock.monotonic()) == (1, 0)


# -- failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, ("request", "refused the request (400: no); start a new session or set another model in [agent]")),
        (401, ("auth", "refused the key (401: no); check OPENAI_API_KEY")),
        (403, ("auth", "does not allow this to the key (403: no); check the rights of OPENAI_API_KEY")),
        (429, ("rate", "has reached its rate limit (429: no); wait a minute and ask again")),
        (500, ("overloaded", "has a fault (500: no); ask again in a minute")),
    ],
)
async def test_a_refusal_is_one_line_with_what_to_do(
    serve: Serve, connect: Connect, ask: Ask, status: int, expected: tuple[str, str]
) -> None:
    kind, line = expected
    server = serve({"status": status, "message": "no"})

    with pytest.raises(ModelError) as failed:
        await connect(server.base_url).complete(ask(), ignore)

    assert str(failed.value) == f"the model provider 'openai' {line}"
    assert failed.value.kind == kind


async def test_an_unknown_model_is_named_with_the_address(serve: Serve, connect: Connect, ask: Ask) -> None:
    server = serve({"status": 404, "message": "model 'x' not found"})

    with pytest.raises(ModelError) as failed:
        await connect(server.base_url).complete(ask(model="x"), ignore)

    assert str(failed.value) == (
        f"the model provider 'openai' does not know the model 'x' at {server.base_url}/v1 (404: model 'x' not found); "
        "check model in [agent], base_url in [openai]"
    )


async def test_a_server_that_is_not_there_is_named_by_its_address_without_password(connect: Connect, ask: Ask) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        clock = FakeClock()

        with pytest.raises(ModelError) as failed:
            await connect(f"http://me:secret@127.0.0.1:{port}", clock=clock, max_retries=1).complete(ask(), ignore)

    assert failed.value.kind == "unreachable"
    assert f"cannot be reached at http://127.0.0.1:{port}/v1 (" in str(failed.value)
    assert "start the server there or check base_url in [openai]" in str(failed.value)
    assert "secret" not in str(failed.value)
    assert clock.monotonic() == 0.5


@pytest.mark.parametrize("more", [{}, {"tool_calls": [{"tool": "fs_read"}]}])
async def test_an_answer_that_is_cut_is_told_and_not_asked_for_again(
    serve: Serve, connect: Connect, ask: Ask, more: dict[str, Any]
) -> None:
    server = serve({"text": "half of an ans", "cut": True, **more})
    shown: list[str] = []

    with pytest.raises(ModelError, match="broke off in the middle of its answer; ask again") as failed:
        await connect(server.base_url, max_retries=2).complete(ask(), shown.append)

    assert failed.value.kind == "connection"
    assert "".join(shown) == "half of an ans"
    assert len(server.requests) == 1


async def test_a_stream_that_ends_too_early_is_cut(serve: Serve, connect: Connect, ask: Ask) -> None:
    """The connection is closed in good order, but nothing says that the answer is whole."""
    server = serve({"text": "half", "stream_error": ""}, {"text": "x"})
    server.ending = lambda *_: iter(())  # type: ignore[method-assign]

    with pytest.raises(ModelError, match="broke off"):
        await connect(server.base_url).complete(ask(), ignore)


@pytest.mark.parametrize(
    ("code", "line", "kind"),
    [
        (429, "has reached its rate limit (429: scripted error in the stream)", "rate"),
        ("server_error", "has a fault (500: scripted error in the stream)", "overloaded"),
        ("context_length_exceeded", "finds the conversation too long", "request"),
    ],
)
async def test_an_error_inside_the_stream_has_the_line_of_its_code(
    serve: Serve, connect: Connect, ask: Ask, code: Any, line: str, kind: str
) -> None:
    with pytest.raises(ModelError) as failed:
        await connect(serve({"text": "so", "stream_error": code}).base_url).complete(ask(), ignore)

    assert line in str(failed.value)
    assert failed.value.kind == kind


@pytest.mark.parametrize(
    ("reply", "detail"),
    [
        ({"text": "so", "malformed": True}, "Expecting value"),
        ({"text": "so", "finish_reason": "bored"}, "unknown finish reason 'bored'"),
        (
            {"tool_calls": [{"tool": "fs_read", "args": '{"path": "a'}]},
            "the arguments of 'fs_read' are not a JSON object",
        ),
        ({"chunks": []}, "it has no choices"),
        ({"chunks": [{"choices": []}]}, "it has no choices"),
        ({"chunks": [[1]]}, "no attribute"),
        ({"chunks": [{"choices": [{"delta": {"content": 1}}]}]}, "content is a int and no text"),
    ],
)
async def test_an_answer_that_cannot_be_read_is_refused(
    serve: Serve, connect: Connect, ask: Ask, reply: dict[str, Any], detail: str
) -> None:
    with pytest.raises(ModelError) as failed:
        await connect(serve(reply).base_url).complete(ask(), ignore)

    assert failed.value.kind == "malformed"
    assert str(failed.value).startswith("the model provider 'openai' sent an answer that cannot be read (")
    assert detail in str(failed.value)
    assert "\n" not in str(failed.value)


async def test_an_error_that_is_a_chunk_by_itself_is_understood(serve: Serve, connect: Connect, ask: Ask) -> None:
    server = serve({"chunks": [{"object": "error", "message": "out of memory", "code": 507}]})

    with pytest.raises(ModelError, match=r"has a fault \(507: out of memory\)"):
        await connect(server.base_url).complete(ask(), ignore)


async def test_what_is_no_stream_is_refused(serve: Serve, connect: Connect, ask: Ask) -> None:
    """An address that serves something else, such as a web page."""
    server = serve({"text": "x"})
    provider = connect(server.base_url)
    body = provider._body
    provider._body = lambda request: body(request).replace(b'"stream": true', b'"stream": false')  # type: ignore[method-assign]

    with pytest.raises(ModelError, match="got 'application/json'") as failed:
        await provider.complete(ask(), ignore)

    assert failed.value.kind == "malformed"


async def test_silence_ends_after_the_timeout_and_is_not_asked_again(serve: Serve, connect: Connect, ask: Ask) -> None:
    server = serve({"text": "then", "hang": True})

    with pytest.raises(
        ModelError, match=r"was silent for 0\.05 s; ask again or raise timeout_s in \[openai\]"
    ) as failed:
        await connect(server.base_url, timeout_s=0.05, max_retries=2).complete(ask(), ignore)

    assert failed.value.kind == "timeout"
    assert len(server.requests) == 1


async def test_what_the_display_raises_passes_through(serve: Serve, connect: Connect, ask: Ask) -> None:
    def broken(_: str) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await connect(serve({"text": "hello"}).base_url).complete(ask(), broken)


async def test_cancelling_closes_the_stream(serve: Serve, connect: Connect, ask: Ask) -> None:
    """The server learns of it at once and stops working."""
    server = serve({"text": "thinking", "hang": True})
    shown = asyncio.Event()
    task = asyncio.create_task(connect(server.base_url).complete(ask(), lambda _: shown.set()))
    await shown.wait()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(server.client_left.wait, 5)


async def test_cancelling_before_an_answer_began_closes_the_connection(
    serve: Serve, connect: Connect, ask: Ask
) -> None:
    """Not even a head has come: the service sees that nobody waits any more."""
    server = serve({"silent": True})
    task = asyncio.create_task(connect(server.base_url).complete(ask(), ignore))
    assert await asyncio.to_thread(server.waiting.wait, 20)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(server.client_left.wait, 20)
    assert len(server.requests) == 1


# -- life of the provider --------------------------------------------------------------------------------------------


async def test_close_may_be_called_twice_and_a_later_call_connects_again(
    serve: Serve, connect: Connect, ask: Ask
) -> None:
    provider = connect(serve({"text": "one"}, {"text": "two"}).base_url)
    await provider.close()
    await provider.complete(ask(), ignore)
    await provider.close()
    await provider.close()

    assert (await provider.complete(ask(), ignore)).message.text == "two"


NO_KEY = (
    "no key for the model provider 'openai': set OPENAI_API_KEY (any text where the server wants none),"
    " or another provider in [agent]"
)
NO_ADDRESS = "base_url in [openai] is not a web address: begin it with http:// or https://"
BAD_KEY = "OPENAI_API_KEY holds something that cannot be a key: copy it again, without spaces or line breaks"


@pytest.mark.parametrize(
    ("url", "key", "line"),
    [
        ("http://127.0.0.1:11434/v1", "", None),
        ("http://localhost:11434/v1/", "", None),
        ("http://[::1]:8080/v1", "", None),
        ("http://192.168.1.20:8080/v1", "", NO_KEY),
        ("http://192.168.1.20:8080/v1", "any", None),
        ("https://api.example.com/v1", " \n", NO_KEY),
        ("https://api.example.com/v1", "two\nlines", BAD_KEY),
        ("http://127.0.0.1:11434/v1", "clé", BAD_KEY),
        ("localhost:11434", "", NO_ADDRESS),
        ("", "key", NO_ADDRESS),
    ],
)
def test_what_is_missing_is_said_in_one_line(url: str, key: str, line: str | None) -> None:
    provider = OpenAIProvider(clock=FakeClock(), base_url=url, environ={"OPENAI_API_KEY": key})

    assert str(provider.missing()) == str(line)


async def test_a_call_without_a_key_says_what_is_missing(ask: Ask) -> None:
    provider = OpenAIProvider(clock=FakeClock(), base_url="https://api.example.com/v1", environ={})

    with pytest.raises(ModelError, match="set OPENAI_API_KEY") as failed:
        await provider.complete(ask(), ignore)

    assert failed.value.kind == "auth"


@pytest.mark.parametrize(
    ("url", "setting", "free"),
    [
        ("http://127.0.0.1:11434/v1", None, True),
        ("http://box.localhost/v1", None, True),
        ("http://127.0.0.1:11434/v1", False, False),
        ("http://192.168.1.20:8080/v1", None, False),
        ("http://192.168.1.20:8080/v1", True, True),
        ("https://localhost.example.com/v1", None, False),
        ("https://127.0.0.1.example.com/v1", None, False),
        ("https://127.0.0.1@example.com/v1", None, False),
    ],
)
def test_only_this_machine_is_free_unless_it_is_said(url: str, setting: bool | None, free: bool) -> None:
    assert OpenAIProvider(clock=FakeClock(), base_url=url, free=setting, environ={}).free is free


def test_the_token_limit_has_the_name_that_the_service_knows(ask: Ask) -> None:
    def body(url: str) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(OpenAIProvider(clock=FakeClock(), base_url=url, environ={})._body(ask()))
        return parsed

    assert body("https://api.openai.com/v1")["max_completion_tokens"] == 500
    assert body("https://api.example.com/v1")["max_tokens"] == 500


def test_nothing_heavy_is_imported_before_the_first_call() -> None:
    """Hooks, constructor and `missing` run in every start of the program."""
    program = (
        "import sys\n"
        "from types import SimpleNamespace\n"
        "from myclaw_openai import plugin\n"
        "config = {key.name: key.default for key in plugin.myclaw_config().keys}\n"
        "[provider] = plugin.myclaw_models(SimpleNamespace(clock=None, config=config))\n"
        "provider.missing()\n"
        "print([name for name in ('httpx2', 'asyncio', 'ssl') if name in sys.modules])\n"
    )

    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"


def test_hook_myclaw_config_describes_address_price_time_out_and_retries() -> None:
    schema = plugin.myclaw_config()

    assert schema.section == "openai"
    assert {key.name: key.default for key in schema.keys} == {
        "base_url": "http://127.0.0.1:11434/v1",
        "free": None,
        "timeout_s": 120.0,
        "max_retries": 2,
    }


def test_hook_myclaw_models_offers_a_provider_that_costs_what_the_section_says(tmp_path: Path) -> None:
    config = {"base_url": "http://127.0.0.1:1/v1", "free": False, "timeout_s": 5.0, "max_retries": 1}
    host = Host(plugin="openai", config=config, home=Home.at(tmp_path), clock=FakeClock(), emit=ignore)

    [provider] = plugin.myclaw_models(host)

    assert (provider.name, provider.free) == ("openai", False)

"""The provider against a local server, through the real SDK over real HTTP."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any, get_args

import pytest
from myclaw_anthropic import plugin
from myclaw_anthropic.provider import AnthropicProvider

from myclaw_core.host import Host
from myclaw_core.paths import Home
from myclaw_core.runtime.model import ModelError, ModelRequest
from myclaw_core.runtime.types import Message, StopReason, ToolCall, Usage
from myclaw_core.testing import FakeClock

Ask = Callable[..., ModelRequest]
Connect = Callable[..., AnthropicProvider]
Serve = Callable[..., Any]


def ignore(_: str) -> None:
    pass


# -- answers ---------------------------------------------------------------------------------------------------------


async def test_text_is_streamed_in_order_and_returned_whole(serve: Serve, connect: Connect, ask: Ask) -> None:
    server = serve({"text": "The house is quiet tonight.", "usage": {"input_tokens": 20, "output_tokens": 9}})
    pieces: list[str] = []

    reply = await connect(server.base_url).complete(ask("how is it?"), pieces.append)

    assert reply.message == Message(role="assistant", text="The house is quiet tonight.")
    assert "".join(pieces) == reply.message.text
    assert len(pieces) > 1
    assert (reply.stop_reason, reply.model) == ("end_turn", "claude-sonnet-5-5")
    assert reply.usage == Usage(input_tokens=20, output_tokens=9)


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
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert [block["tool_use_id"] for block in sent[2]["content"]] == [one.id, two.id]


async def test_the_wire_shows_version_key_and_cache_marks(serve: Serve, connect: Connect, ask: Ask) -> None:
    server = serve({"text": "ok"})

    await connect(server.base_url).complete(ask("one", Message(role="assistant", text="two"), "three"), ignore)

    [request] = server.requests
    body, mark = request["body"], {"type": "ephemeral"}
    assert request["headers"]["anthropic-version"]
    assert request["headers"]["authorization"] == "Bearer test-key"
    assert (body["model"], body["max_tokens"], body["stream"]) == ("claude-sonnet-5-5", 500, True)
    assert body["system"] == [{"type": "text", "text": "Follow the laws.", "cache_control": mark}]
    assert body["tools"] == [
        {"name": "fs_read", "description": "Read a file.", "input_schema": {"type": "object"}, "cache_control": mark}
    ]
    assert body["messages"][-1]["content"] == [{"type": "text", "text": "three", "cache_control": mark}]
    assert json.dumps(body).count("cache_control") == 3


@pytest.mark.parametrize("reason", get_args(StopReason))
async def test_every_stop_reason_is_passed_on(serve: Serve, connect: Connect, ask: Ask, reason: StopReason) -> None:
    server = serve({"text": "…", "stop_reason": reason})

    assert (await connect(server.base_url).complete(ask(), ignore)).stop_reason == reason


async def test_cached_tokens_are_counted_apart_and_written_ones_as_fresh(
    serve: Serve, connect: Connect, ask: Ask
) -> None:
    usage = {
        "input_tokens": 7,
        "output_tokens": 3,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 2000,
    }
    server = serve({"text": "ok", "usage": usage})

    reply = await connect(server.base_url).complete(ask(), ignore)

    assert reply.usage == Usage(input_tokens=107, cached_tokens=2000, output_tokens=3)


async def test_a_call_cut_by_the_token_limit_is_left_out_and_the_stop_reason_says_why(
    serve: Serve, connect: Connect, ask: Ask
) -> None:
    whole, half = {"tool": "fs_read", "args": {"path": "a"}}, {"tool": "fs_write", "args": '{"path": "b", "cont'}
    server = serve({"tool_calls": [whole, half], "stop_reason": "max_tokens"})

    reply = await connect(server.base_url).complete(ask(), ignore)

    assert reply.stop_reason == "max_tokens"
    assert [call.tool for call in reply.message.tool_calls] == ["fs_read"]


async def test_any_history_is_accepted_by_the_service(serve: Serve, connect: Connect, ask: Ask) -> None:
    """The local server refuses what the real one would: here calls without results and results without calls."""
    call = ToolCall(id="toolu_x", tool="fs_read", args={})
    history = [
        Message(role="tool", text="of a turn that was cut off", tool_call_id="toolu_old"),
        Message(role="user", text="go"),
        Message(role="assistant", text="", tool_calls=(call,)),
        Message(role="user", text="never mind"),
    ]

    reply = await connect(serve({"text": "ok"}).base_url).complete(ask(*history), ignore)

    assert reply.message.text == "ok"


# -- retries ---------------------------------------------------------------------------------------------------------


async def test_a_rate_limit_is_waited_for_as_long_as_the_service_asks(serve: Serve, connect: Connect, ask: Ask) -> None:
    server, clock = serve({"status": 429, "retry_after": 7}, {"text": "now"}), FakeClock()

    reply = await connect(server.base_url, clock=clock).complete(ask(), ignore)

    assert reply.message.text == "now"
    assert clock.monotonic() == 7


async def test_an_overloaded_and_then_faulty_service_is_tried_again_with_growing_pauses(
    serve: Serve, connect: Connect, ask: Ask
) -> None:
    server, clock = serve({"status": 529}, {"status": 500}, {"text": "well again"}), FakeClock()

    reply = await connect(server.base_url, clock=clock).complete(ask(), ignore)

    assert reply.message.text == "well again"
    assert clock.monotonic() == 0.5 + 1.0


@pytest.mark.parametrize(("max_retries", "requests"), [(0, 1), (2, 3)])
async def test_tries_end_after_max_retries(
    serve: Serve, connect: Connect, ask: Ask, max_retries: int, requests: int
) -> None:
    server = serve({"status": 529})

    with pytest.raises(ModelError):
        await connect(server.base_url, max_retries=max_retries).complete(ask(), ignore)

    assert len(server.requests) == requests


async def test_a_pause_that_is_too_long_is_told_instead_of_waited_for(serve: Serve, connect: Connect, ask: Ask) -> None:
    server, clock = serve({"status": 429, "retry_after": 3600}), FakeClock()

    with pytest.raises(ModelError, match="wait 3600 s and ask again"):
        await connect(server.base_url, clock=clock).complete(ask(), ignore)

    assert (len(server.requests), clock.monotonic()) == (1, 0)


# -- failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, ("request", "refused the request (400: no); start a new session or set another model in [agent]")),
        (401, ("auth", "refused the key (401: no); check ANTHROPIC_API_KEY")),
        (402, ("auth", "wants a payment first (402: no); check the billing of the account of ANTHROPIC_API_KEY")),
        (403, ("auth", "does not allow this to the key (403: no); check the rights of ANTHROPIC_API_KEY")),
        (413, ("request", "finds the conversation too long (413: no); start a new session")),
        (429, ("rate", "has reached its rate limit (429: no); wait a minute and ask again")),
        (500, ("overloaded", "has a fault (500: no); ask again in a minute")),
        (504, ("timeout", "gave up on the call (504: no); ask again")),
        (529, ("overloaded", "is overloaded (529: no); ask again in a minute or set another model in [agent]")),
    ],
)
async def test_a_refusal_is_one_line_with_what_to_do(
    serve: Serve, connect: Connect, ask: Ask, status: int, expected: tuple[str, str]
) -> None:
    kind, line = expected
    server = serve({"status": status, "message": "no"})

    with pytest.raises(ModelError) as failed:
        await connect(server.base_url).complete(ask(), ignore)

    assert str(failed.value) == f"the model provider 'anthropic' {line}"
    assert failed.value.kind == kind


async def test_an_unknown_model_is_named_with_the_address(serve: Serve, connect: Connect, ask: Ask) -> None:
    server = serve({"status": 404, "message": "model: claude-x"})

    with pytest.raises(ModelError) as failed:
        await connect(server.base_url).complete(ask(model="claude-x"), ignore)

    assert str(failed.value) == (
        f"the model provider 'anthropic' does not know the model 'claude-x' at {server.base_url} "
        "(404: model: claude-x); check model in [agent], ANTHROPIC_BASE_URL"
    )


async def test_a_long_message_of_the_service_becomes_one_short_line(serve: Serve, connect: Connect, ask: Ask) -> None:
    server = serve({"status": 400, "message": "much\n\n  text " * 100})

    with pytest.raises(ModelError) as failed:
        await connect(server.base_url).complete(ask(), ignore)

    assert "\n" not in str(failed.value)
    assert len(str(failed.value)) < 350


async def test_a_service_that_is_not_there_is_named_by_its_address_without_password(connect: Connect, ask: Ask) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        provider = connect(f"http://me:secret@127.0.0.1:{port}")

        with pytest.raises(ModelError) as failed:
            await provider.complete(ask(), ignore)

    assert failed.value.kind == "unreachable"
    assert f"cannot be reached at http://127.0.0.1:{port} (" in str(failed.value)
    assert "check the network and ANTHROPIC_BASE_URL" in str(failed.value)
    assert "secret" not in str(failed.value)


async def test_an_answer_that_is_cut_is_told_and_not_asked_for_again(serve: Serve, connect: Connect, ask: Ask) -> None:
    server = serve({"text": "half of an ans", "cut": True})
    pieces: list[str] = []

    with pytest.raises(ModelError, match="broke off in the middle of its answer; ask again") as failed:
        await connect(server.base_url).complete(ask(), pieces.append)

    assert failed.value.kind == "connection"
    assert "".join(pieces) == "half of an ans"
    assert len(server.requests) == 1


async def test_an_error_inside_the_stream_has_the_line_of_its_type(serve: Serve, connect: Connect, ask: Ask) -> None:
    server = serve({"text": "so", "stream_error": "overloaded_error"})

    with pytest.raises(ModelError, match="is overloaded") as failed:
        await connect(server.base_url).complete(ask(), ignore)

    assert failed.value.kind == "overloaded"


@pytest.mark.parametrize(
    ("reply", "detail"),
    [
        ({"text": "so", "malformed": True}, "Expecting value"),
        ({"text": "so", "stop_reason": "bored"}, "unknown stop reason 'bored'"),
        (
            {"tool_calls": [{"tool": "fs_read", "args": '{"path": "a'}]},
            "the arguments of 'fs_read' are not a JSON object",
        ),
        ({"tool_calls": [{"tool": "fs_read", "args": "[1]"}]}, "it is a list"),
        (
            {"tool_calls": [{"tool": "fs_read", "args": '{"n": NaN}'}]},
            "the arguments of 'fs_read' are not a JSON object",
        ),
        ({"tool_calls": [{"tool": "fs_read", "args": '{"n": 1e999}'}]}, "Out of range float"),
        ({"tool_calls": [{"tool": "fs_read", "args": '{"path" oops}'}]}, "Unable to parse tool parameter JSON"),
    ],
)
async def test_an_answer_that_cannot_be_read_is_refused(
    serve: Serve, connect: Connect, ask: Ask, reply: dict[str, Any], detail: str
) -> None:
    server = serve(reply)

    with pytest.raises(ModelError) as failed:
        await connect(server.base_url).complete(ask(), ignore)

    assert failed.value.kind == "malformed"
    assert str(failed.value).startswith("the model provider 'anthropic' sent an answer that cannot be read (")
    assert detail in str(failed.value)
    assert "\n" not in str(failed.value)


async def test_silence_ends_after_the_timeout(serve: Serve, connect: Connect, ask: Ask) -> None:
    server = serve({"text": "then", "hang": True})

    with pytest.raises(ModelError, match=r"was silent for 0\.05 s; ask again or raise timeout_s") as failed:
        await connect(server.base_url, timeout_s=0.05).complete(ask(), ignore)

    assert failed.value.kind == "timeout"


async def test_what_the_display_raises_passes_through(serve: Serve, connect: Connect, ask: Ask) -> None:
    def broken(_: str) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await connect(serve({"text": "hello"}).base_url).complete(ask(), broken)


async def test_cancelling_closes_the_stream(serve: Serve, connect: Connect, ask: Ask) -> None:
    """The service learns of it at once and stops working."""
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


@pytest.mark.parametrize(
    ("environ", "line"),
    [
        (
            {},
            "no key for the model provider 'anthropic': set ANTHROPIC_API_KEY, or another provider in [agent]",
        ),
        (
            {"ANTHROPIC_API_KEY": "two\nlines"},
            "ANTHROPIC_API_KEY holds something that cannot be a key: copy it again, without spaces or line breaks",
        ),
        (
            {"ANTHROPIC_AUTH_TOKEN": "clé"},
            "ANTHROPIC_AUTH_TOKEN holds something that cannot be a key: copy it again, without spaces or line breaks",
        ),
        *(
            (
                {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": url},
                "ANTHROPIC_BASE_URL is not a web address: begin it with http:// or https://, or unset it",
            )
            for url in ("localhost:8080", "http://", "http://[", "http://host:port")
        ),
        ({"ANTHROPIC_API_KEY": " key\n"}, None),
        ({"ANTHROPIC_AUTH_TOKEN": "token", "ANTHROPIC_BASE_URL": ""}, None),
    ],
)
def test_what_is_missing_is_said_in_one_line(environ: dict[str, str], line: str | None) -> None:
    assert str(AnthropicProvider(clock=FakeClock(), environ=environ).missing()) == str(line)


async def test_a_call_without_a_key_says_what_is_missing(ask: Ask) -> None:
    with pytest.raises(ModelError, match="set ANTHROPIC_API_KEY") as failed:
        await AnthropicProvider(clock=FakeClock(), environ={}).complete(ask(), ignore)

    assert failed.value.kind == "auth"


async def test_an_auth_token_serves_where_there_is_no_key(serve: Serve, ask: Ask) -> None:
    server = serve({"text": "ok"}, {"status": 401})
    environ = {"ANTHROPIC_AUTH_TOKEN": "token", "ANTHROPIC_BASE_URL": server.base_url}
    provider = AnthropicProvider(clock=FakeClock(), environ=environ)

    await provider.complete(ask(), ignore)
    with pytest.raises(ModelError, match="check ANTHROPIC_AUTH_TOKEN"):
        await provider.complete(ask(), ignore)
    await provider.close()

    assert server.requests[0]["headers"]["authorization"] == "Bearer token"


def test_nothing_heavy_is_imported_before_the_first_call() -> None:
    """Hooks, constructor and `missing` run in every start of the program."""
    program = (
        "import sys\n"
        "from types import SimpleNamespace\n"
        "from myclaw_anthropic import plugin\n"
        "plugin.myclaw_config()\n"
        "host = SimpleNamespace(clock=None, config={'timeout_s': 1.0, 'max_retries': 0})\n"
        "[provider] = plugin.myclaw_models(host)\n"
        "provider.missing()\n"
        "print([name for name in ('anthropic', 'httpx2', 'pydantic', 'asyncio') if name in sys.modules])\n"
    )

    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"


def test_hook_myclaw_config_describes_time_out_and_retries() -> None:
    schema = plugin.myclaw_config()

    assert schema.section == "anthropic"
    assert {key.name: key.default for key in schema.keys} == {"timeout_s": 120.0, "max_retries": 2}


def test_hook_myclaw_models_offers_a_provider_that_costs(tmp_path: Any) -> None:
    config = {"timeout_s": 5.0, "max_retries": 1}
    host = Host(plugin="anthropic", config=config, home=Home.at(tmp_path), clock=FakeClock(), emit=ignore)

    [provider] = plugin.myclaw_models(host)

    assert (provider.name, provider.free) == ("anthropic", False)

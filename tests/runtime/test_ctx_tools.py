"""The internal tools behind a neuron's `ctx`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from neurons_in_turns import FILES, adopt, called, inner

from myclaw_core.neurons.questions import ADMIT
from myclaw_core.runtime.ctx_tools import ctx_tools, write_args
from myclaw_core.runtime.shelf import RESERVED_TOOLS
from myclaw_core.runtime.tool import Tool
from myclaw_core.runtime.types import ToolCall
from myclaw_core.runtime.validation import ArgumentValidator
from myclaw_core.synthesis.direction import DESIGN
from myclaw_core.testing import FakeClock, RecordingChannel, says

LOCAL = '[policy]\nallowed_hosts = ["127.0.0.1"]\n'


@pytest.fixture
def pages() -> Iterator[Callable[[Mapping[str, bytes]], str]]:
    """Serve pages on this machine and return where."""
    servers = []

    def serve(found: Mapping[str, bytes]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; charset=utf-8")
                self.end_headers()
                self.wfile.write(found[self.path])

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


TOOLS: dict[str, Tool] = {tool.name: tool for tool in ctx_tools()}


def test_the_names_of_all_internal_tools_are_reserved() -> None:
    """No plugin can offer a tool in place of one of them."""
    assert {*TOOLS, ADMIT, DESIGN} == RESERVED_TOOLS


@given(content=st.binary() | st.text().map(str.encode))
def test_whatever_is_to_be_written_is_a_valid_call(content: bytes) -> None:
    """Text stays legible for whoever is asked."""
    args = write_args("a.md", content)
    call = ToolCall(id="1", tool="ctx_write", args=args)
    assert ArgumentValidator(TOOLS).problem(call, internal=True) is None
    assert ("content" in args) == _is_text(content)


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_they_are_known_to_the_core_alone() -> None:
    validator = ArgumentValidator(TOOLS)
    call = ToolCall(id="1", tool="ctx_read", args={"path": "a.md"})
    assert validator.problem(call, internal=True) is None
    assert "there are none at all" in str(validator.problem(call))


async def test_bytes_are_read_and_written_as_they_are(open_agent, make_desk, home, clock: FakeClock) -> None:
    body = """\
async def run(ctx, args):
    with ctx.open('a.bin', 'rb') as file:
        content = file.read()
    with ctx.open('deep/b.bin', 'wb') as file:
        file.write(content[::-1])
    return len(content)
"""
    content = bytes(range(256))
    channel = RecordingChannel(clock)
    async with open_agent([called("turn"), says("Done.")]) as agent:
        await adopt(agent, "turn", body, FILES)
        (home.workspace / "a.bin").write_bytes(content)
        desk = make_desk(agent, channel)
        trace = await desk.handle("Turn it")
        assert (home.workspace / "deep" / "b.bin").read_bytes() == content[::-1]
        await desk.handle("/undo")

    assert trace.steps[0].exec_result.data["output"] == 256
    assert not (home.workspace / "deep").exists()


async def test_what_is_not_there_is_no_file_and_a_folder_none_either(open_agent, make_desk, home, clock) -> None:
    body = """\
async def run(ctx, args):
    said = []
    for path, mode in (('none.md', 'r'), ('folder', 'r'), ('folder', 'w'), ('../outside.md', 'r')):
        try:
            with ctx.open(path, mode) as file:
                file.write('x') if mode == 'w' else file.read()
        except OSError as error:
            said.append(type(error).__name__)
    return said
"""
    channel = RecordingChannel(clock)
    async with open_agent([called("looker"), says("Done.")]) as agent:
        await adopt(agent, "looker", body, FILES)
        (home.workspace / "folder").mkdir()
        trace = await make_desk(agent, channel).handle("Look")

    assert trace.steps[0].exec_result.data["output"] == [
        "FileNotFoundError",
        "OSError",
        "OSError",
        "PermissionError",
    ]
    assert [step.tool_name for step in inner(trace)] == ["ctx_read", "ctx_read", "ctx_write"]
    assert len(channel.cards) == 1


async def test_a_tools_result_comes_with_text_and_data(open_agent, make_desk, home, clock: FakeClock) -> None:
    body = "async def run(ctx, args):\n    return await ctx.call('fs_list', path='.')\n"
    async with open_agent([called("lister"), says("Done.")]) as agent:
        await adopt(agent, "lister", body, ("fs-read:{workspace}/*",), may_call=("fs_list",))
        (home.workspace / "a.md").write_text("one")
        trace = await make_desk(agent).handle("List")

    output = trace.steps[0].exec_result.data["output"]
    assert set(output) == {"text", "data"}
    assert "a.md" in output["text"]
    assert inner(trace)[0].actor == "neuron:lister"


async def test_a_neuron_gets_a_call_with_wrong_arguments_back(open_agent, make_desk, clock: FakeClock) -> None:
    body = "async def run(ctx, args):\n    return await ctx.call('fs_list', route='.')\n"
    async with open_agent([called("lister"), says("No.")]) as agent:
        await adopt(agent, "lister", body, ("fs-read:{workspace}/*",), may_call=("fs_list",))
        trace = await make_desk(agent).handle("List")

    assert inner(trace)[0].error.kind == "validation"
    assert "raised OSError" in str(trace.steps[0].error.message)


async def test_what_it_fetches_is_the_text_of_the_page_alone(open_agent, make_desk, clock: FakeClock, pages) -> None:
    """The tool's words about it, such as its address, are left out; a page that is too long is an error."""
    body = """\
async def run(ctx, args):
    said = [await ctx.fetch(args['url'] + '/short.json'), len(await ctx.fetch(args['url'] + '/long.txt'))]
    try:
        await ctx.fetch(args['url'] + '/longer.txt')
    except OSError as error:
        said.append('too long')
    return said
"""
    url = pages({"/short.json": b'{"a":\n\n1}', "/long.txt": b"x" * 400_000, "/longer.txt": b"x" * 600_000})
    async with open_agent([called("fetcher", url=url), says("Done.")], LOCAL) as agent:
        await adopt(agent, "fetcher", body, (f"network:{url}/*",))
        trace = await make_desk(agent, level="full").handle("Fetch")

    assert trace.steps[0].exec_result.data["output"] == ['{"a":\n\n1}', 400_000, "too long"]

"""A web server on this machine whose answers a test writes byte by byte, and a bench that calls the tool."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from attrs import define, field
from myclaw_web.tools import web_tools

from myclaw_core.net.access import PinnedNetwork
from myclaw_core.paths import Home
from myclaw_core.policy.forbidden import ForbiddenPlaces
from myclaw_core.policy.hosts import literal_host
from myclaw_core.runtime.tool import ToolContext
from myclaw_core.runtime.types import ToolResult
from myclaw_core.testing import FakeClock
from myclaw_core.types.effect import Effect

Serve = Callable[[asyncio.StreamWriter], Any]


@define
class Site:
    """A server of raw answers.

    Attributes:
        answers: What each path is answered with: bytes, or a coroutine function that writes them.
        heads: The requests it got, as they came.
        reader: What the last client still sends; it ends when the client leaves.
    """

    port: int = 0
    answers: dict[str, bytes | Serve] = field(factory=dict)
    heads: list[str] = field(factory=list)
    reader: asyncio.StreamReader | None = None

    def page(
        self,
        path: str,
        body: str | bytes = b"",
        content_type: str = "text/html; charset=utf-8",
        status: str = "200 OK",
        **headers: str,
    ) -> None:
        """Serve one page."""
        content = body.encode() if isinstance(body, str) else body
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(content)}", "Connection: close"]
        lines += [f"Content-Type: {content_type}"] if content_type else []
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.answers[path] = "\r\n".join([*lines, "", ""]).encode() + content

    def url(self, path: str = "/", host: str = "site.test") -> str:
        """Return a URL on this server under a name."""
        return f"http://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request and close."""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            self.reader = reader
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.heads.append(head)
            answer = self.answers[head.split(" ")[1]]
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(writer)
        writer.close()


@define
class Bench:
    """Calls `web_fetch` as the runtime does once the policy has said yes.

    Attributes:
        addresses: What the names of a test lead to, one answer after the other; the last one stays.
        asked: The names that were looked up.
    """

    places: ForbiddenPlaces
    addresses: list[Sequence[str]] = field(factory=lambda: [["127.0.0.1"]])
    asked: list[str] = field(factory=list)

    async def lookup(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.addresses.pop(0) if len(self.addresses) > 1 else self.addresses[0]

    async def fetch(self, url: str, *, max_bytes: int = 100_000, **args: Any) -> ToolResult:
        """Fetch `url`, whose host was judged."""
        (tool,) = web_tools(timeout_s=30, max_bytes=max_bytes)
        jsonschema_rs.validate(tool.schema, {"url": url, **args})
        effect = Effect(kind="network_in", scope=literal_host(url), target=url, reversibility="reversible")
        network = PinnedNetwork(effects=(effect,), forbidden=self.places.address, lookup=self.lookup)
        context = ToolContext(
            files=None,  # type: ignore[arg-type]  # it touches none
            effects=(effect,),
            clock=FakeClock(),
            cwd="/",
            network=network,
        )
        result = await tool.run({"url": url, **args}, context)  # type: ignore[misc]
        assert isinstance(result, ToolResult)
        return result


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A server on a free port of this machine."""
    made = Site()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    yield made
    server.close()
    await server.wait_closed()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A bench on which `site.test` may lie on this machine."""
    places = ForbiddenPlaces(Home.at(tmp_path), tmp_path, allowed_hosts=["site.test", "www.site.test", "::1"])
    return Bench(places)

"""A provider that talks to a local server through the real SDK."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import pytest
from myclaw_anthropic.provider import AnthropicProvider
from wire_anthropic import WireServer

from myclaw_core.runtime.model import ModelRequest, ToolSpec
from myclaw_core.runtime.types import Message
from myclaw_core.testing import FakeClock

Serve = Callable[..., Any]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start local servers: `serve({"text": "hello"}, …)`."""
    servers = []

    def start(*replies: Mapping[str, Any]) -> WireServer:
        servers.append(WireServer(replies))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
async def connect() -> AsyncIterator[Callable[..., AnthropicProvider]]:
    """Make providers that reach a URL: `connect(server.base_url)`; they are closed at the end."""
    made: list[AnthropicProvider] = []

    def make(url: str, **options: Any) -> AnthropicProvider:
        environ = {"ANTHROPIC_API_KEY": "test-key", "ANTHROPIC_BASE_URL": url}
        made.append(AnthropicProvider(environ=environ, **{"clock": FakeClock(), **options}))
        return made[-1]

    yield make
    for provider in made:
        await provider.close()


@pytest.fixture
def ask() -> Callable[..., ModelRequest]:
    """Make requests: `ask("hello")`, or with a whole conversation."""

    def make(*messages: str | Message, **changes: Any) -> ModelRequest:
        request: dict[str, Any] = {
            "model": "claude-sonnet-5-5",
            "system": "Follow the laws.",
            "tools": (ToolSpec(name="fs_read", description="Read a file.", schema={"type": "object"}),),
            "messages": tuple(Message(role="user", text=m) if isinstance(m, str) else m for m in messages or ("hi",)),
            "max_output_tokens": 500,
        }
        return ModelRequest(**(request | changes))

    return make

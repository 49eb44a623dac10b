"""A provider that talks to a local server over real HTTP."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import pytest
from myclaw_openai.provider import OpenAIProvider
from wire_openai import WireServer

from myclaw_core.runtime.model import ModelRequest, ToolSpec
from myclaw_core.runtime.types import Message
from myclaw_core.testing import FakeClock

Serve = Callable[..., WireServer]


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
async def connect() -> AsyncIterator[Callable[..., OpenAIProvider]]:
    """Make providers that reach an address: `connect(server.base_url)`; they are closed at the end."""
    made: list[OpenAIProvider] = []

    def make(address: str, **options: Any) -> OpenAIProvider:
        made.append(
            OpenAIProvider(
                base_url=f"{address}/v1", **{"clock": FakeClock(), "environ": {}, "max_retries": 0, **options}
            )
        )
        return made[-1]

    yield make
    for provider in made:
        await provider.close()


@pytest.fixture
def ask() -> Callable[..., ModelRequest]:
    """Make requests: `ask("hello")`, or with a whole conversation."""

    def make(*messages: str | Message, **changes: Any) -> ModelRequest:
        request: dict[str, Any] = {
            "model": "llama3.2:3b",
            "system": "Follow the laws.",
            "tools": (ToolSpec(name="fs_read", description="Read a file.", schema={"type": "object"}),),
            "messages": tuple(Message(role="user", text=m) if isinstance(m, str) else m for m in messages or ("hi",)),
            "max_output_tokens": 500,
        }
        return ModelRequest(**(request | changes))

    return make

"""Providers of local models: over a process that does what it is told, and over the real library."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from myclaw_llama.provider import LlamaProvider
from tiny_gguf import write_tiny_model

from myclaw_core.runtime.model import ModelRequest
from myclaw_core.runtime.types import Message
from myclaw_core.testing import FakeClock

_HERE = Path(__file__).parent


@pytest.fixture
def clock() -> FakeClock:
    """A clock that the test moves."""
    return FakeClock()


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A file that looks like a model from outside."""
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF and more")
    return str(path)


@pytest.fixture
async def make(clock: FakeClock) -> AsyncIterator[Callable[..., LlamaProvider]]:
    """Make providers over the process that does what it is told; they are closed at the end."""
    made: list[LlamaProvider] = []

    def provider(**options: Any) -> LlamaProvider:
        command = (sys.executable, str(_HERE / "fake_worker.py"))
        made.append(LlamaProvider(**{"clock": clock, "command": command, **options}))
        return made[-1]

    yield provider
    for each in made:
        await each.close()


@pytest.fixture
def ask() -> Callable[..., ModelRequest]:
    """Make requests: `ask(model, "say yes")`."""

    def request(model: str, *texts: str, **changes: Any) -> ModelRequest:
        given: dict[str, Any] = {
            "model": model,
            "system": "You judge.",
            "tools": (),
            "messages": tuple(Message(role="user", text=text) for text in texts),
            "max_output_tokens": 40,
        }
        return ModelRequest(**(given | changes))

    return request


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Make a real model with random weights: `tiny()`, or with another chat template."""
    folder = tmp_path_factory.mktemp("models")

    def make(name: str = "tiny", **options: Any) -> str:
        path = folder / f"{name}.gguf"
        if not path.exists():
            write_tiny_model(path, **options)
        return str(path)

    return make

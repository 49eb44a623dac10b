"""Runs inside the sandbox: `ctx`, all that a neuron has of the world; the host answers each call of it."""

from __future__ import annotations

TYPE_CHECKING = False  # that of `typing`, which is slow to import
if TYPE_CHECKING:
    from datetime import datetime
    from typing import IO, Any

    from myclaw_core.neurons.inside.channel import Channel
    from myclaw_core.neurons.inside.files import Files

__all__ = ["NeuronContext"]


class NeuronContext:
    """The world of one run.

    What is not declared or not allowed raises `PermissionError`, what is not there `FileNotFoundError`, what went
    wrong `OSError`, and a quota that is used up `RuntimeError`.
    """

    def __init__(self, channel: Channel, files: Files) -> None:
        """Take the way to the host, and the files that are opened over it."""
        self._channel = channel
        self._files = files

    def open(self, path: Any, mode: str = "r") -> IO[Any]:
        """Return a file as the built-in function does, in UTF-8 if it is text.

        What is written is kept and reaches the host when the file is closed; at the end of `run` every file that is
        open still is closed. A `with` block that ends with an error leaves the file as it was, and so does a `run`.
        """
        return self._files.open(str(path), mode)

    async def call(self, name: str, /, **args: Any) -> Any:
        """Return what a tool or a neuron answers."""
        return self._channel.ask("call", name=name, args=args)

    async def fetch(self, url: str) -> str:
        """Return the text at a URL."""
        found: str = self._channel.ask("fetch", url=url)
        return found

    async def llm(self, prompt: str) -> str:
        """Return a model's answer."""
        found: str = self._channel.ask("llm", prompt=prompt)
        return found

    def log(self, text: object) -> None:
        """Note a line for whoever looks at the run."""
        self._channel.ask("log", text=str(text).encode("utf-8", "replace").decode())

    def now(self) -> datetime:
        """Return the time, aware, in UTC."""
        from datetime import datetime

        return datetime.fromisoformat(self._channel.ask("now"))

    def random(self) -> float:
        """Return a number in [0, 1)."""
        found: float = self._channel.ask("random")
        return found

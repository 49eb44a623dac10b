"""Runs inside the sandbox: executes a neuron's body once and tells the host what came of it."""

from __future__ import annotations

from myclaw_core.neurons.inside.channel import Channel, encoded
from myclaw_core.neurons.inside.context import NeuronContext
from myclaw_core.neurons.inside.files import Files
from myclaw_core.neurons.inside.modules import line_of, new_module, provide_runtime, source_of

TYPE_CHECKING = False  # that of `typing`, which is slow to import
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

__all__ = ["main"]

_BODY = "body.py"
_LONGEST_MESSAGE = 2_000


def main() -> None:
    """Take the arguments, run, and give the output or what was raised.

    Raises:
        MemoryError: There is not enough of it; whoever started this tells the host.
    """
    provide_runtime()
    channel = Channel()
    files = Files(channel)
    args = channel.receive()["args"]
    try:
        output = _result(_body().run(NeuronContext(channel, files), args))
        last_word = encoded({"do": "done", "output": output})
        files.close()
    except MemoryError:
        files.drop()
        raise
    except BaseException as error:
        files.drop()
        last_word = encoded({"do": "raised", **_told(error)})
    channel.send_bytes(last_word)


def _body() -> ModuleType:
    module = new_module("body")
    code = compile(source_of(_BODY), _BODY, "exec", dont_inherit=True)
    exec(code, module.__dict__)  # noqa: S102 - that is what it is for
    return module


def _result(given: Any) -> Any:
    """Return what a function has given, or what comes of it where that is to be awaited.

    Raises:
        RuntimeError: It awaits anything but `ctx`.
    """
    if not hasattr(given, "__await__"):
        return given
    try:
        next(given.__await__())
    except StopIteration as end:
        return end.value
    raise RuntimeError("only what ctx gives can be awaited")


def _told(error: BaseException) -> dict[str, Any]:
    """Return the type of an error, what it says, and the line of the body that it came from."""
    try:
        message = str(error)[:_LONGEST_MESSAGE].encode("utf-8", "replace").decode()
    except Exception:
        message = ""
    return {"type": type(error).__name__, "message": message, "line": line_of(error, _BODY)}

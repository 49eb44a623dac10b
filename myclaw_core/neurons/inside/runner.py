"""Runs inside the sandbox, as `__main__`: executes a neuron's body once and tells the host what came of it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # that of `typing`, which is slow to import
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

__all__ = ["main"]

_FOLDER = "/n"
_BODY = "/n/body.py"
_LONGEST_MESSAGE = 2_000


def main() -> None:
    """Take the arguments, run, and give the output or what was raised.

    Raises:
        MemoryError: There is not enough of it; whoever started this tells the host.
    """
    _make_importable()
    from myclaw_core.neurons.inside.channel import Channel, UndeclaredSynapseError, encoded
    from myclaw_core.neurons.inside.context import NeuronContext
    from myclaw_core.neurons.inside.files import Files

    _module("myclaw")
    _module("myclaw.runtime", NeuronContext=NeuronContext, UndeclaredSynapseError=UndeclaredSynapseError)
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


def _make_importable() -> None:
    """Let the files beside this one be found by the names that they have in the repository."""
    for name in ("myclaw_core", "myclaw_core.neurons", "myclaw_core.neurons.inside"):
        _module(name, __path__=[_FOLDER])


def _module(name: str, **names: Any) -> ModuleType:
    module = sys.modules[name] = type(sys)(name)
    module.__dict__.update(names)
    return module


def _body() -> ModuleType:
    module = _module("body", __file__=_BODY)
    with open(_BODY, "rb") as file:  # noqa: PTH123 - pathlib is slow to import
        code = compile(file.read(), _BODY, "exec", dont_inherit=True)
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
    line = error.lineno or 0 if isinstance(error, SyntaxError) else 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _BODY:
            line = trace.tb_lineno
        trace = trace.tb_next
    try:
        message = str(error)[:_LONGEST_MESSAGE].encode("utf-8", "replace").decode()
    except Exception:
        message = ""
    return {"type": type(error).__name__, "message": message, "line": line}


if __name__ == "__main__":
    main()

"""The birth tests of a neuron run against a changed body in this process: for code of ours alone."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from myclaw_core.neurons.inside.channel import UndeclaredSynapseError
from myclaw_core.neurons.inside.context import NeuronContext
from myclaw_core.neurons.inside.files import Files
from myclaw_core.neurons.manifest import read_manifest
from myclaw_core.neurons.rights import Limited
from myclaw_core.neurons.scratch import Given, ScratchWorld
from myclaw_core.neurons.world import CtxError

__all__ = ["is_noticed"]

_ERRORS: Mapping[str, type[Exception]] = {
    "denied": PermissionError,
    "undeclared": UndeclaredSynapseError,
    "missing": FileNotFoundError,
    "failed": OSError,
    "quota": RuntimeError,
}
_PATIENCE_S = 2.0
"""After which a mutant that no longer ends counts as noticed."""


def is_noticed(files: Mapping[str, bytes], body: bytes) -> bool:
    """Return whether a birth test of the neuron fails with this body."""
    tests: dict[str, Any] = {}
    exec(compile(files["test_birth.py"], "test_birth.py", "exec"), tests)
    run = _runner(files, body)
    for name, test in tests.items():
        if name.startswith("test_"):
            try:
                with _patience():
                    _finished(test(run))
            except Exception:
                return True
    return False


def _runner(files: Mapping[str, bytes], body: bytes) -> Callable[..., Any]:
    code, manifest = compile(body, "body.py", "exec"), read_manifest(files["manifest.yaml"])

    async def run(
        args: Any,
        *,
        files: dict[str, Any] | None = None,
        now: str | None = None,
        made: list[Any] | None = None,
        **given: Any,
    ) -> Any:
        contents = {path: each if isinstance(each, bytes) else each.encode() for path, each in (files or {}).items()}
        at = None if now is None else datetime.fromisoformat(now)
        world = ScratchWorld(Given(files=contents, now=at, **given))
        channel: Any = _Channel(Limited(world, manifest))
        opened = Files(channel)
        module: dict[str, Any] = {"__name__": "body"}
        exec(code, module)
        try:
            output = _finished(module["run"](NeuronContext(channel, opened), args))
            opened.close()
        finally:
            opened.drop()
            (made if made is not None else []).extend(world.made)
            for path, content in world.written().items() if files is not None else ():
                files[path] = content.decode()
        _fits(output, manifest.output_schema)
        return output

    return run


def _fits(output: Any, schema: Mapping[str, Any]) -> None:
    import jsonschema_rs

    jsonschema_rs.Draft202012Validator(dict(schema)).validate(output)


class _Channel:
    """Answers what is asked over the pipe."""

    def __init__(self, world: Limited) -> None:
        self._world = world

    def ask(self, do: str, content: bytes = b"", **what: Any) -> Any:
        try:
            match do:
                case "read":
                    return _finished(self._world.read(what["path"]))
                case "write":
                    return _finished(self._world.write(what["path"], content))
                case "stage":
                    return self._world.may_write(what["path"])
                case "call":
                    return _finished(self._world.call(what["name"], what["args"]))
                case "now":
                    return self._world.now().isoformat()
        except CtxError as error:
            raise _ERRORS[error.kind](str(error)) from None
        raise AssertionError(do)


def _finished(coroutine: Any) -> Any:
    """Return what comes of a coroutine that waits for nothing."""
    if not hasattr(coroutine, "send"):
        return coroutine
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits for something")


@contextmanager
def _patience() -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

"""Runs inside the sandbox: the tests of `test_birth.py`, one after the other as the host asks for them.

Each call of `run` is a question to the host, which alone sees the body. It takes no word of this process for more than
that is: it gives each test a nonce, and what it saw itself, a call of `run` for one, decides.
"""

from __future__ import annotations

import ast
import binascii
import builtins

from myclaw_core.neurons.inside.channel import Channel, UndeclaredSynapseError
from myclaw_core.neurons.inside.modules import line_of, new_module, provide_runtime, source_of

TYPE_CHECKING = False  # that of `typing`, which is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from typing import Any

__all__ = ["BodyError", "main"]

_FILE = "test_birth.py"
_SHOWN_CHARS = 200
_IS_COROUTINE = 0x80
_MAX_LEVELS = 60


class BodyError(RuntimeError):
    """Raised by `run` where the body raised what is no exception of Python's own, or was stopped."""


class _Seen:
    """What the assertions of the running test have come to."""

    held = 0
    failed: dict[str, Any] | None = None


_seen = _Seen()


def main() -> None:
    """Load the tests, name them to the host, and run those that it asks for until it asks for no more."""
    provide_runtime()
    channel = Channel()
    try:
        names = _loaded()
    except BaseException as error:
        channel.send({"broken": _told(error)})
        return
    tests = {name: value for name, value in names.items() if name.startswith("test_") and callable(value)}
    channel.send({"tests": list(tests)})
    run = _Run(channel, {"UndeclaredSynapseError": UndeclaredSynapseError})
    while wanted := channel.receive().get("test"):
        channel.send({"result": {**wanted, **_result(tests[wanted["name"]], run)}})


def _result(test: Callable[..., Any], run: _Run) -> dict[str, Any]:
    """Run one test and return what came of it."""
    _seen.held, _seen.failed = 0, None
    error = None
    try:
        if test.__code__.co_flags & _IS_COROUTINE:
            _finish(test(run.awaited))
        else:
            test(run.at_once)
    except BaseException as raised:
        error = {**_told(raised), "is_of_body": raised is run.raised}
    return {"error": error, "held": _seen.held, "failed": _seen.failed}


def _finish(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a test to its end; `run` is all that it can await, and that never has to wait."""
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()
    raise RuntimeError("a test can await nothing but run")


class _Run:
    """What a test takes as `run`, in both its forms.

    Args:
        channel: The way to the host.
        errors: Exceptions by name that are not Python's own.
    """

    raised: Exception | None = None

    def __init__(self, channel: Channel, errors: Mapping[str, type[Exception]]) -> None:
        self._channel = channel
        self._errors = errors

    async def awaited(self, args: Any, **given: Any) -> Any:
        """Run the body from an `async` test."""
        return self.at_once(args, **given)

    def at_once(
        self,
        args: Any,
        *,
        files: Any = None,
        fetch: Any = None,
        calls: Any = None,
        llm: Any = None,
        now: Any = None,
        made: list[Any] | None = None,
    ) -> Any:
        """Run the body and return its output; what it wrote stands in `files` afterwards, its calls in `made`."""
        asked = {
            "args": args,
            "files": {path: _packed(content) for path, content in (files or {}).items()},
            "fetch": dict(fetch or {}),
            "calls": dict(calls or {}),
            "llm": list(llm or ()),
            "now": now.isoformat() if hasattr(now, "isoformat") else now,
        }
        _require_plain(asked)
        self._channel.send({"run": asked})
        answer = self._channel.receive()
        if made is not None:
            made += answer.get("made", ())
        if files is not None:
            for path, content in answer.get("written", {}).items():
                files[path] = _unpacked(content, files.get(path))
        if "raised" in answer:
            self.raised = self._error(answer["raised"], answer["message"])
            raise self.raised
        return answer["output"]

    def _error(self, kind: str, message: str) -> Exception:
        """Return the exception of Python's own with that name, else one that says it."""
        found = self._errors.get(kind) or getattr(builtins, kind, None)
        if isinstance(found, type) and issubclass(found, Exception) and not issubclass(found, StopIteration):
            try:
                return found(message)
            except TypeError:  # it takes more than a message
                pass
        return BodyError(f"{kind}: {message}" if kind else message)


_Run.at_once.__qualname__ = "run"  # what an error calls it that names an argument


def _require_plain(value: Any, levels: int = _MAX_LEVELS) -> None:
    """Refuse in the test what the host would refuse the whole file for.

    Raises:
        ValueError: There is half a character in a text, or it is nested too deeply.
    """
    if isinstance(value, str):
        value.encode()
    elif levels == 0:
        raise ValueError(f"run was given something wrong: it is nested more than {_MAX_LEVELS} levels deep")
    elif isinstance(value, dict):
        for each in (*value, *value.values()):
            _require_plain(each, levels - 1)
    elif isinstance(value, list | tuple):
        for each in value:
            _require_plain(each, levels - 1)


def _packed(content: Any) -> str:
    if not isinstance(content, str | bytes):
        raise TypeError("files must map each path to text or bytes")
    return binascii.b2a_base64(content.encode() if isinstance(content, str) else content, newline=False).decode()


def _unpacked(packed: str, before: Any) -> str | bytes:
    """Return bytes where the test gave bytes, and where it is no text; else text."""
    content = binascii.a2b_base64(packed)
    if isinstance(before, bytes):
        return content
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


def _loaded() -> dict[str, Any]:
    """Return the names of the test file, once it is run."""
    tree = _Assertions().visit(ast.parse(source_of(_FILE), _FILE))
    names = new_module("test_birth", **{_HELD: _held, _FAILED: _failed}).__dict__
    exec(compile(ast.fix_missing_locations(tree), _FILE, "exec", dont_inherit=True), names)  # noqa: S102 - that is what it is for
    return names


_HELD, _FAILED, _LEFT, _RIGHT = "@held", "@failed", "@left", "@right"
"""Names that cannot be written in Python."""


class _Assertions(ast.NodeTransformer):
    """Turns each assertion into a branch that notes whether it held, else what stood on its two sides."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Return the branch."""
        self.generic_visit(node)
        test: ast.expr = node.test
        sides = [_LEFT]
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            sides = [_LEFT, _RIGHT]
            test.left, test.comparators = _kept(_LEFT, test.left), [_kept(_RIGHT, test.comparators[0])]
        else:
            test = _kept(_LEFT, test)
        told = [ast.Constant(node.lineno), ast.List([_name(side) for side in sides], ast.Load())]
        failed = ast.Call(_name(_FAILED), [*told, *([node.msg] if node.msg else [])], [])
        held = ast.Expr(ast.Call(_name(_HELD), [], []))
        return ast.copy_location(ast.If(test, [held], [ast.Raise(failed)]), node)


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _kept(name: str, value: ast.expr) -> ast.expr:
    return ast.copy_location(ast.NamedExpr(ast.Name(name, ast.Store()), value), value)


def _held() -> None:
    _seen.held += 1


def _failed(line: int, sides: list[Any], *message: Any) -> AssertionError:
    if _seen.failed is None:
        shown = [_shown(repr, side) for side in sides]
        _seen.failed = {"line": line, "sides": shown, "message": "".join(_shown(str, each) for each in message)}
    return AssertionError(*message)


def _told(error: BaseException) -> dict[str, Any]:
    """Return an error for the host: its type, what it says, and the line of the test file that it came from."""
    return {"line": line_of(error, _FILE), "kind": type(error).__name__, "message": _shown(str, error)}


def _shown(show: Callable[[Any], str], value: Any) -> str:
    try:
        return str(show(value))[:_SHOWN_CHARS].encode("utf-8", "replace").decode()
    except Exception:
        return type(value).__name__

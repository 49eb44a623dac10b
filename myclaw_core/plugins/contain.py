"""Runs code of plugins so that whatever it does (raise, hang, exit, swallow a cancellation) stays its own problem.

Limits: C code that never returns to the interpreter, and `os._exit`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, TypeVar

from myclaw_core.clock import Clock, SystemClock
from myclaw_core.messages import N_
from myclaw_core.types.text import Text, as_text

__all__ = ["PluginError", "contained", "contained_await", "one_line", "printable"]

T = TypeVar("T")

_AGAIN_S = 0.05
"""The timer fires again after this, for code that catches even the first time-out."""
_PRESSED_S = 0.5
"""What is left to a plain call once Ctrl-C was pressed."""
_LINE_CHARS = 400


class PluginError(Exception):
    """Raised when a plugin did what it must not; the text is one line without the plugin's name.

    Attributes:
        text: The line as a message.
        hint: What to do about it, or `None`.
    """

    def __init__(self, message: Text | str, hint: Text | None = None) -> None:
        self.text = as_text(message)
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        """Return the line in English."""
        return str(self.text)


class _OverrunError(BaseException):
    """Raised inside code of a plugin whose time is up; no `except Exception` catches it."""


def contained(call: Callable[[], T], limit_s: float | None) -> T:
    """Return what `call` returns.

    In the main thread it is cut off after `limit_s` seconds, and soon after Ctrl-C; never where that is `None`. Other
    threads have no timer.

    Raises:
        PluginError: It raised anything at all, or took too long.
        KeyboardInterrupt: The person pressed Ctrl-C meanwhile.
    """
    try:
        return _bounded(call, limit_s)
    except (PluginError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise _as_plugin_error(error) from error


async def contained_await(awaitable: Awaitable[T], limit_s: float, clock: Clock, *, step_s: float | None = None) -> T:
    """Return what `awaitable` gives.

    It is cancelled after `limit_s` seconds by `clock`, and abandoned after twice that in real time where it goes on
    nevertheless. Each of its steps is bounded like a plain call, so that one that blocks is cut off too.

    Args:
        step_s: Seconds for each step; as many as for all of it where `None`.

    Raises:
        PluginError: It raised anything at all, or took too long.
        CancelledError: The calling task was cancelled, also where the plugin tried to swallow that.
        KeyboardInterrupt: The person pressed Ctrl-C meanwhile.
    """
    import asyncio

    coroutine = awaitable if isinstance(awaitable, Coroutine) else _wait_for(awaitable)
    try:
        async with asyncio.timeout(2 * limit_s), clock.timeout(limit_s):
            result: T = await _Stepped(coroutine, step_s or limit_s)
            return result
    except TimeoutError:
        raise PluginError(N_("did not finish within {limit_s:g} s", limit_s=limit_s)) from None
    finally:
        with suppress(PluginError):
            contained(coroutine.close, step_s or limit_s)


def one_line(error: BaseException) -> str:
    """Return the type and text of an exception of a plugin as one short line; never raises."""
    try:
        text = printable(str(error))
    except BaseException:  # a plugin's own __str__
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def printable(text: str) -> str:
    """Return `text` on one line of bounded length, without characters that a terminal would act on."""
    line = "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
    return line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 1] + "…"


async def _wait_for(awaitable: Awaitable[T]) -> T:
    return await awaitable


class _Stepped:
    """Drives a coroutine of a plugin within the calling task, one bounded step at a time."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], limit_s: float) -> None:
        self._coroutine = coroutine
        self._limit_s = limit_s

    def __await__(self) -> Generator[Any, Any, Any]:
        from asyncio import CancelledError

        cancelled: CancelledError | None = None
        step = partial(self._coroutine.send, None)
        while True:
            try:
                waits_for = _bounded(step, self._limit_s)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                if cancelled is not None:
                    raise cancelled from None
                if isinstance(error, StopIteration):
                    return error.value
                raise _as_plugin_error(error) from error
            try:
                step = partial(self._coroutine.send, (yield waits_for))
            except CancelledError as error:
                if cancelled is not None:
                    raise
                cancelled = error
                step = partial(self._coroutine.throw, error)


def _as_plugin_error(error: BaseException) -> PluginError:
    return error if isinstance(error, PluginError) else PluginError(N_("raised {error}", error=one_line(error)))


def _bounded(call: Callable[[], T], limit_s: float | None) -> T:
    """Return what `call` returns, let out what it raises; a time-out and a false Ctrl-C become `PluginError`."""
    if limit_s is None:
        return call()
    if threading.current_thread() is not threading.main_thread():
        return _without_interrupt(call)
    with _signals() as pressed:
        try:
            signal.setitimer(signal.ITIMER_REAL, limit_s, _AGAIN_S)
            return call()
        except _OverrunError:
            if pressed:
                raise PluginError(N_("was stopped by Ctrl-C")) from None
            raise PluginError(N_("did not return within {limit_s:g} s", limit_s=limit_s)) from None
        except KeyboardInterrupt:
            if pressed:
                raise
            raise PluginError(N_("raised {error}", error="KeyboardInterrupt")) from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def _without_interrupt(call: Callable[[], T]) -> T:
    """Outside the main thread no real Ctrl-C arrives."""
    try:
        return call()
    except KeyboardInterrupt:
        raise PluginError(N_("raised {error}", error="KeyboardInterrupt")) from None


def _on_alarm(_number: int, frame: FrameType | None) -> None:
    """Interrupt whatever `_bounded` called, but not `_bounded` itself before or after that call."""
    if frame is None or frame.f_code is not _bounded.__code__:
        raise _OverrunError


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Lend out the alarm timer; yield a list that is filled when the person presses Ctrl-C."""
    pressed: list[int] = []
    interrupt = signal.getsignal(signal.SIGINT)
    started_s = SystemClock().monotonic()
    left_s, interval_s = signal.setitimer(signal.ITIMER_REAL, 0)
    alarm = signal.signal(signal.SIGALRM, _on_alarm)

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        if callable(interrupt):
            interrupt(number, frame)
        # Whoever handles the key in the event loop waits for this call to return.
        signal.setitimer(signal.ITIMER_REAL, _PRESSED_S, _AGAIN_S)

    if callable(interrupt):
        signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield pressed
    finally:
        if callable(interrupt):
            signal.signal(signal.SIGINT, interrupt)
        signal.signal(signal.SIGALRM, alarm)
        if left_s:
            passed_s = SystemClock().monotonic() - started_s
            signal.setitimer(signal.ITIMER_REAL, max(left_s - passed_s, 0.001), interval_s)

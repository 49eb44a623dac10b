"""What a plugin's tool or model hands over: contained while it runs, and of a form that the record can hold."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from attrs import evolve

from myclaw_core import codec
from myclaw_core.errors import CallStoppedError, CodecError, MyclawError
from myclaw_core.messages import N_
from myclaw_core.plugins.contain import one_line
from myclaw_core.runtime.finishing import ended_soon, finished
from myclaw_core.runtime.model import ModelError, ModelReply
from myclaw_core.runtime.storable import storable_data, storable_line, storable_message, storable_text
from myclaw_core.runtime.threads import in_own_thread
from myclaw_core.runtime.tool import PlannedChange
from myclaw_core.runtime.types import ToolResult, Usage
from myclaw_core.types.text import Text

__all__ = [
    "guarded",
    "guarded_briefly",
    "guarded_in_thread",
    "is_change",
    "outcome_of",
    "received_error",
    "received_reply",
    "received_result",
]

P = ParamSpec("P")
T = TypeVar("T")

_MAX_TOKENS = 10**9
"""More than any model reads or writes in one call."""
_PERMISSIONS = 0o777


async def guarded(who: Text, awaitable: Awaitable[T]) -> T:
    """Return what code of a plugin gives; it can neither end the program nor cancel the turn.

    Args:
        who: What runs, for the message.

    Raises:
        MyclawError: It raised something that is no ordinary exception.
        asyncio.CancelledError: The calling task was cancelled.
    """
    try:
        return await awaitable
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        raise _raised(who, error) from error


async def guarded_briefly(who: Text, awaitable: Awaitable[T]) -> T:
    """Do the same; code that goes on although it was cancelled is left behind after a moment.

    It runs in a task of its own, so that what it does to its task is no cancellation of the caller.
    """
    running = asyncio.ensure_future(guarded(who, awaitable))
    try:
        return await outcome_of(who, running)
    except asyncio.CancelledError:
        running.cancel()
        await finished(ended_soon(running))
        raise


async def outcome_of(who: Text, running: asyncio.Future[T]) -> T:
    """Return what code of a plugin gives that runs in a task of its own; cancelling the caller leaves that running.

    Raises:
        MyclawError: It has cancelled its own task.
        asyncio.CancelledError: The calling task was cancelled.
    """
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if running.cancelled() and task is not None and not task.cancelling():
            raise _raised(who, error) from error
        raise


async def guarded_in_thread(who: Text, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `function` returns in a thread of its own, so that the loop goes on; see `guarded`.

    Raises:
        CallStoppedError: The function noticed that nobody waits for it any more.
    """

    def call() -> T:
        try:
            return function(*args, **kwargs)
        except CallStoppedError:
            raise
        except StopIteration as error:  # no future can carry it: whoever waits would wait for ever
            raise _raised(who, error) from error
        except Exception:
            raise
        except BaseException as error:
            raise _raised(who, error) from error

    return await in_own_thread(call)


def received_error(error: BaseException) -> Text:
    """Return what a plugin raised as one line that the record can hold; it names its type unless it is ours."""
    try:
        return storable_line(error.text if isinstance(error, MyclawError) else Text(one_line(error)))
    except Exception:  # a message that a plugin filled with what cannot be shown
        return Text(type(error).__name__)


def received_result(result: Any, tool: str) -> ToolResult:
    """Return a tool's result with only what a tool may say in it.

    Args:
        result: What the tool returned.
        tool: Its name.

    Raises:
        MyclawError: It is no result; what the tool did it may have done all the same.
    """
    if not (isinstance(result, ToolResult) and isinstance(result.text, str) and isinstance(result.data, Mapping)):
        raise MyclawError(
            N_("the tool {tool} returned no ToolResult with a text and data; report it to its author", tool=tool)
        )
    return ToolResult(
        text=storable_text(result.text), data=storable_data(result.data), truncated=result.truncated is True
    )


def is_change(change: Any) -> bool:
    """Return whether a tool's planned change is one that can be shown, journalled and made: no set-id bits either."""
    return (
        isinstance(change, PlannedChange)
        and isinstance(change.path, str)
        and isinstance(change.content, bytes | None)
        and isinstance(change.directory, bool)
        and isinstance(change.moved_from, str)
        and (change.mode is None or (type(change.mode) is int and 0 <= change.mode <= _PERMISSIONS))
    )


def received_reply(reply: Any, provider: str) -> ModelReply:
    """Return a model's reply, read as strictly as a stored one; calls with odd arguments stay, to be answered.

    Args:
        reply: What the provider returned.
        provider: Its name.

    Raises:
        ModelError: It is no reply, counts tokens that cannot be, or names two calls alike.
    """
    try:
        mended = evolve(reply, message=storable_message(reply.message))
        where = N_("the reply of the model provider '{provider}'", provider=provider)
        read = codec.structure(ModelReply, codec.unstructure(mended), where)
    except CodecError as error:
        raise ModelError(error.text, "malformed") from error
    except Exception as error:
        text = N_("the model provider '{provider}' gave no reply: {error}", provider=provider, error=one_line(error))
        raise ModelError(text, "malformed") from error
    ids = [call.id for call in read.message.tool_calls]
    if not _is_countable(read.usage or Usage()) or len(set(ids)) < len(ids) or read.message.role != "assistant":
        text = N_(
            "the reply of the model provider '{provider}' is malformed: its role, token counts or call ids",
            provider=provider,
        )
        raise ModelError(text, "malformed")
    return read


def _raised(who: Text, error: BaseException) -> MyclawError:
    return MyclawError(N_("{who} raised {error}", who=who, error=one_line(error)))


def _is_countable(usage: Usage) -> bool:
    counts = (usage.input_tokens, usage.cached_tokens, usage.output_tokens)
    return all(0 <= count <= _MAX_TOKENS for count in counts)

"""Read a streamed answer: text goes on as it comes, the rest is complete or refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, cast, get_args

from myclaw_anthropic.faults import explain
from myclaw_core.runtime.callsite import CallSite
from myclaw_core.runtime.model import ModelReply
from myclaw_core.runtime.types import Message, StopReason, ToolCall, Usage
from myclaw_core.runtime.wire import call_arguments

if TYPE_CHECKING:
    from anthropic.lib.streaming import AsyncMessageStream
    from anthropic.types import ParsedMessage
    from anthropic.types import Usage as WireUsage

__all__ = ["read_answer"]

_CUT_SHORT = ("max_tokens", "model_context_window_exceeded", "refusal")


async def read_answer(stream: AsyncMessageStream[None], on_text: Callable[[str], None], site: CallSite) -> ModelReply:
    """Read the stream to its end.

    Args:
        stream: An answer that began.
        on_text: Called with each piece of text; what it raises passes through.
        site: Makes the error lines.

    Raises:
        ModelError: The answer broke off, or something in it cannot be read.
    """
    arguments: defaultdict[int, str] = defaultdict(str)
    ended = False
    while True:
        try:
            event = await anext(stream, None)
        except Exception as error:
            raise explain(site, error) from error
        if event is None:
            break
        if event.type == "content_block_delta" and event.delta.type == "text_delta":
            on_text(event.delta.text)
        elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            arguments[event.index] += event.delta.partial_json
        elif event.type == "message_stop":
            ended = True
    if not ended:
        raise site.cut()
    try:
        return _reply(stream.current_message_snapshot, arguments)
    except (AssertionError, AttributeError, TypeError, ValueError) as error:
        raise site.malformed(error) from error


def _reply(answer: ParsedMessage[None], arguments: Mapping[int, str]) -> ModelReply:
    if answer.stop_reason not in get_args(StopReason):
        raise ValueError(f"unknown stop reason {answer.stop_reason!r}")
    stop_reason = cast("StopReason", answer.stop_reason)
    text = "".join(block.text for block in answer.content if block.type == "text")
    calls = tuple(_calls(answer, arguments, cut_short=stop_reason in _CUT_SHORT))
    return ModelReply(
        message=Message(role="assistant", text=text, tool_calls=calls),
        stop_reason=stop_reason,
        usage=_usage(answer.usage),
        model=answer.model,
    )


def _calls(answer: ParsedMessage[None], arguments: Mapping[int, str], *, cut_short: bool) -> Iterator[ToolCall]:
    for index, block in enumerate(answer.content):
        if block.type != "tool_use":
            continue
        try:
            args = call_arguments(arguments[index]) if arguments.get(index) else block.input
        except ValueError as error:
            if cut_short and index == len(answer.content) - 1:
                return  # the limit fell in the middle of the last call: the stop reason says so
            raise ValueError(f"the arguments of {block.name!r} are not a JSON object: {error}") from error
        yield ToolCall(id=block.id, tool=block.name, args=args)


def _usage(usage: WireUsage) -> Usage:
    """Count what was written to the cache as fresh input: the price table knows only fresh and cached."""
    return Usage(
        input_tokens=usage.input_tokens + (usage.cache_creation_input_tokens or 0),
        cached_tokens=usage.cache_read_input_tokens or 0,
        output_tokens=usage.output_tokens,
    )

"""Read a streamed chat completion: text goes on as it comes, the rest is complete or refused."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

from myclaw_core.runtime.callsite import CallSite
from myclaw_core.runtime.model import ModelReply
from myclaw_openai.draft import Draft
from myclaw_openai.faults import explain, stream_error

if TYPE_CHECKING:
    from httpx2 import Response

__all__ = ["read_answer"]

_DONE = "[DONE]"


async def read_answer(
    response: Response, on_text: Callable[[str], None], site: CallSite, new_id: Callable[[], str]
) -> ModelReply:
    """Read the stream to its end.

    Args:
        response: An answer that began.
        on_text: Called with each piece of text; what it raises passes through.
        site: Makes the error lines.
        new_id: Makes an identifier for a call whose own cannot be used.

    Raises:
        ModelError: The answer broke off, or something in it cannot be read.
    """
    draft = Draft()
    is_done = False
    async with aclosing(_events(response, site)) as events:
        async for data in events:
            is_done = data.strip() == _DONE
            if is_done:
                break
            if piece := _add(draft, data, site):
                on_text(piece)
    if not is_done and draft.finish is None:
        raise site.cut()
    try:
        return draft.reply(site.model, new_id)
    except ValueError as error:
        raise site.malformed(error) from error


def _add(draft: Draft, data: str, site: CallSite) -> str:
    """Add one event to the draft and return the text in it."""
    try:
        chunk = json.loads(data)
        error = chunk if chunk.get("object") == "error" else chunk.get("error")
        if not error:
            return draft.add(chunk)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as fault:
        raise site.malformed(fault) from fault
    raise stream_error(site, error)


async def _events(response: Response, site: CallSite) -> AsyncGenerator[str, None]:
    from httpx2 import EventSource

    source = aiter(EventSource(response))
    while True:
        try:
            event = await anext(source, None)
        except Exception as error:
            raise explain(site, error) from error
        if event is None:
            return
        yield event.data

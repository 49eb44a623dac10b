"""Everything that a card holds, sent as messages, or as a file where they would be many."""

from __future__ import annotations

import asyncio
import tempfile
from datetime import datetime
from pathlib import Path

from myclaw_core.approval.types import ApprovalCard
from myclaw_core.messages import N_, render
from myclaw_telegram.faults import ApiError
from myclaw_telegram.markup import escaped
from myclaw_telegram.outgoing import Content, Outgoing
from myclaw_telegram.questions import whole_text
from myclaw_telegram.split import split

__all__ = ["send_whole"]

_MOST_MESSAGES = 4
_FILE_NAME = "action.txt"


def send_whole(out: Outgoing, card: ApprovalCard, now: datetime) -> None:
    """Send everything a card holds, uncut.

    Args:
        now: Aware UTC, for the minutes that are left.
    """
    text = whole_text(card, now)
    parts = split(text, lambda part: f"<pre>{escaped(part)}</pre>")
    if len(parts) > _MOST_MESSAGES:
        out.aside(_send_file(out, text))
        return
    for part in parts:
        out.post(Content(part.text, f"<pre>{escaped(part.text)}</pre>"))


async def _send_file(out: Outgoing, text: str) -> None:
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / _FILE_NAME
            await asyncio.to_thread(path.write_text, text, encoding="utf-8")
            await out.api.document(out.chat_id, path, _FILE_NAME)
    except (ApiError, OSError) as error:
        reason = error.text if isinstance(error, ApiError) else N_("it cannot be written")
        out.post(Content(render(N_("not shown: {reason}; press again", reason=reason))))

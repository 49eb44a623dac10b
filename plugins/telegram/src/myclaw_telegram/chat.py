"""One conversation on Telegram as a channel: one message a turn that shows how it goes and becomes the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from myclaw_core.approval.cards import Cards
from myclaw_core.messages import N_, _, render
from myclaw_core.runtime.channel import Desk, Held, Status, Submit
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.shown.closing import closing
from myclaw_core.shown.inert import inert
from myclaw_core.types.text import Text
from myclaw_telegram.approvals import Round
from myclaw_telegram.door import NAME
from myclaw_telegram.faults import ApiError, RejectedError, TooLargeError
from myclaw_telegram.kept import KeptMessage
from myclaw_telegram.outbox import Outbox
from myclaw_telegram.outgoing import Content
from myclaw_telegram.progress import Progress, formatted, plain
from myclaw_telegram.sheet import Chat

__all__ = ["ChatChannel"]

_TYPING_S = 4.0
"""Telegram shows that somebody is typing for 5 s."""
_LONG_S = 20.0
"""A turn that took longer ends with a new message: an edit is not announced on the phone."""
_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".webp"})


class ChatChannel:
    """Talks with one person in one chat.

    What is shown goes through `Outgoing`, so nothing here waits, and an outage or a person who blocked the bot breaks
    no turn.
    """

    name = NAME
    attended = True

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._turn: Progress | None = None
        self._typed_s = float("-inf")
        self._remembering: dict[Progress, asyncio.Task[None]] = {}
        self._outbox = Outbox(chat)

    def status(self, status: Status) -> None:
        """Show what is going on; the newest wins."""
        if status.beside:  # its question says what it waits for, and how it ended is told apart
            if status.phase == "tool":
                self._typing()
            return
        ends = status.phase in ("done", "failed")
        if self._turn is None and ends:
            return
        turn = self._running()
        turn.status(status)
        if not ends and status.phase != "waiting":
            self._typing()
        self._chat.out.write(turn.message, turn.running())

    def text(self, chunk: str) -> None:
        """Show the next piece of the answer."""
        turn = self._running()
        turn.text(chunk)
        self._typing()
        self._chat.out.write(turn.message, turn.running())

    def notice(self, text: Text) -> None:
        """Show one line: with the turn that runs, or as a message of its own."""
        line = inert(render(text))
        if self._turn is None:
            self._post(line)
            return
        self._turn.notice(line)
        self._chat.out.write(self._turn.message, self._turn.running())

    def show(self, markdown: str) -> None:
        """Show the whole result of a slash command."""
        for content in formatted(markdown):
            self._chat.out.post(content)

    def held(self, held: Sequence[Held]) -> None:
        """Show what will be sent and can still be recalled."""
        self._outbox.show(held)

    async def file(self, path: Path, name: str) -> Text | None:
        """Deliver a file: a picture up to 10 MB is shown in the chat, everything else up to 50 MB is a document."""
        out, shown = self._chat.out, inert(Path(name).name) or path.name
        try:
            if path.suffix.lower() in _PICTURES or Path(name).suffix.lower() in _PICTURES:
                try:
                    await out.api.photo(out.chat_id, path, shown)
                except (TooLargeError, RejectedError):
                    await out.api.document(out.chat_id, path, shown)
            else:
                await out.api.document(out.chat_id, path, shown)
        except ApiError as error:
            return error.text
        except OSError as error:
            return N_("{name} cannot be read: {reason}", name=shown, reason=error.strerror or str(error))
        return None

    async def ask(self, cards: Cards, submit: Submit) -> None:
        """Put the cards to the person in one message with buttons."""
        await Round(self._chat, cards, submit).run()

    def end_turn(self, trace: ExecutionTrace) -> None:
        """Let the message of the turn become its answer; what does not fit follows in order.

        The answer of a long turn is a message of its own.
        """
        turn, self._turn = self._turn or self._begun(), None
        contents = turn.final(closing(trace, undo="/undo"))
        if self._chat.clock.monotonic() - turn.began_s > _LONG_S:
            well = trace.outcome == "success"
            contents.insert(0, Content(_("done, see below") if well else _("ended, see below")))
        first, *more = contents
        self._chat.out.write(turn.message, first)
        for content in more:
            self._chat.out.post(content)
        self._chat.out.aside(self._forget(turn))

    async def serve(self, desk: Desk) -> int:
        """Return at once: the messenger brings the messages of every chat."""
        return 0

    def _post(self, line: str) -> None:
        for content in plain(line):
            self._chat.out.post(content)

    def _running(self) -> Progress:
        if self._turn is None:
            self._turn = self._begun()
            self._remembering[self._turn] = self._chat.out.aside(self._remember(self._turn))
        return self._turn

    def _begun(self) -> Progress:
        return Progress(self._chat.clock.monotonic())

    def _typing(self) -> None:
        now_s = self._chat.clock.monotonic()
        if now_s - self._typed_s >= _TYPING_S:
            self._typed_s = now_s
            self._chat.out.typing()

    async def _remember(self, turn: Progress) -> None:
        if await turn.message.delivered() and turn.message.id is not None:
            kept = KeptMessage(chat_id=self._chat.out.chat_id, message_id=turn.message.id)
            await self._chat.kept.put(kept)

    async def _forget(self, turn: Progress) -> None:
        remembered = self._remembering.pop(turn, None)
        if remembered is not None:
            await asyncio.wait({remembered})
        if await turn.message.delivered() and turn.message.id is not None:
            await self._chat.kept.drop(self._chat.out.chat_id, turn.message.id)

"""A person on Telegram, the local Bot API server between, and a real gateway that asks them, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from attrs import define, evolve, field
from bot_api import BotApi, BotMessage, Person
from gateways import Desk, admitting, asking, opened, planned, turn_of
from myclaw_telegram.api import Api
from myclaw_telegram.chats import Chats
from myclaw_telegram.updates import Pressed, read_update
from noting_core import NotingCore
from waiting_clock import WaitingClock

from myclaw_core.approval.gateway import Question
from myclaw_core.approval.types import Approval, Reply
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

__all__ = ["AskingCore", "Talk", "draft_question", "question", "talking"]

ADA = 7
_MOST_ROUNDS = 3000
_TOKEN_AT = 23


@define
class AskingCore(NotingCore):
    """A core whose answers go to a gateway.

    Attributes:
        wishes: What was asked again: sender, request and key.
        recalled: What was taken back.
    """

    desk: Desk | None = None
    wishes: list[tuple[str, UUID, str]] = field(factory=list)
    recalled: list[tuple[str, UUID]] = field(factory=list)

    async def submit(self, reply: Reply) -> Text | None:
        """Hand in an answer."""
        self.replies.append(reply)
        return await self.desk.gateway.submit(reply) if self.desk else None

    async def again(self, sender: str, request_id: UUID, place: str) -> Text | None:
        """Note a wish; the same one counts once."""
        if (sender, request_id, place) in self.wishes:
            return Text("that was asked again already")
        self.wishes.append((sender, request_id, place))
        return None

    async def recall(self, sender: str, held_id: UUID) -> Text:
        """Note what is taken back."""
        self.recalled.append((sender, held_id))
        return Text("taken back")


@define
class Talk:
    """Ada's chat with the bot.

    Attributes:
        troubles: What could not be delivered.
    """

    server: BotApi
    clock: WaitingClock
    desk: Desk
    core: AskingCore
    api: Api
    chats: Chats
    ada: Person
    troubles: list[str] = field(factory=list)
    _offset: int | None = None
    _pressed: set[str] = field(factory=set)

    @property
    def sender(self) -> str:
        """Return how Ada is called in the records."""
        return f"telegram:{self.ada.id}"

    @property
    def channel(self) -> Any:
        """Return the channel to her."""
        return self.chats.channel(self.sender, "")

    @property
    def last(self) -> BotMessage:
        """Return the newest message of the bot."""
        return self.server.messages[-1]

    def labels(self, message: BotMessage | None = None) -> list[str]:
        """Return what the buttons of a message say."""
        return [button["text"] for row in (message or self.last).keyboard for button in row]

    async def ask(self, *questions: Question) -> asyncio.Task[list[Approval]]:
        """Ask, and return once there is something to read; the task has the answers."""
        count = len(self.server.messages)
        turn = turn_of(self.clock, self.sender)
        task = asyncio.ensure_future(self.desk.gateway.ask(questions, turn, self.channel))
        await self.server.until(lambda: len(self.server.messages) > count)
        await self.clock.asleep(1)
        return task

    async def read(self, seconds: float = 3.0) -> None:
        """Let the reading pause pass, until there are buttons."""
        await self.pass_time(seconds)
        await self.server.until(lambda: bool(self.last.keyboard))

    async def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        await self.clock.pass_time(seconds=seconds, sleepers=0)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something about the server is so; time passes where somebody waits for it.

        Raises:
            TimeoutError: It never was.
        """
        for _ in range(_MOST_ROUNDS):
            if is_so():
                return
            await self.pass_time(0.1)
            await asyncio.sleep(0.001)
        raise TimeoutError(f"it never was so: {[message.text for message in self.server.messages]}")

    async def press(self, label: str, message: BotMessage | None = None) -> str:
        """Press a button once it is there in a keyboard that was not pressed before; return what its window tells."""
        below = message or self.last
        await self.until(lambda: bool(self._fresh(label, below)))
        data = self._fresh(label, below)
        self._pressed.add(_token(data))
        return await self.forge(data, below)

    def _fresh(self, label: str, message: BotMessage) -> str:
        keys = {button["text"]: button["callback_data"] for row in message.keyboard for button in row}
        data: str = keys.get(label, "")
        return "" if _token(data) in self._pressed else data

    async def sees(self, *labels: str, message: BotMessage | None = None) -> None:
        """Wait until a message has exactly these buttons, of a keyboard that was not pressed before."""
        below = message or self.last
        await self.until(
            lambda: self.labels(below) == list(labels) and all(self._fresh(each, below) for each in labels)
        )

    async def forge(self, data: str, message: BotMessage | None = None, *, by: Person | None = None) -> str:
        """Send a press with any data, and return what its window tells."""
        return await self.bring((by or self.ada).presses_forged(message or self.last, data))

    async def bring(self, press_id: str) -> str:
        """Act on the presses that came, and return what the window of one tells."""
        await asyncio.gather(*map(self.chats.pressed, await self.presses()))
        await self.server.until(lambda: press_id in self.server.press_answers)
        return self.server.press_answers[press_id]

    async def presses(self) -> list[Pressed]:
        """Return the presses that came."""
        updates = await self.api.get_updates(self._offset, 0)
        self._offset = max((update["update_id"] + 1 for update in updates), default=self._offset)
        return [read for update in updates if isinstance(read := read_update(update), Pressed)]

    async def close(self) -> None:
        """Let everything go out, and end."""
        closing = asyncio.ensure_future(self.chats.close())
        while not closing.done():
            await self.pass_time(0.5)
            await asyncio.sleep(0.001)

    async def restart(self) -> None:
        """Start anew, as after kill -9: what was in memory is gone."""
        self.chats = Chats(self.api, self.clock, lambda text: self.troubles.append(str(text)))
        await self.chats.recover(self.core)


@asynccontextmanager
async def talking(server: BotApi, path: Path, *, tutor_every: int = 10) -> AsyncIterator[Talk]:
    """Open a chat with a gateway on a database of its own."""
    clock = WaitingClock()
    async with opened(path, clock, tutor_every=tutor_every) as desk:
        api = Api(server.token, clock=FakeClock(), api_url=server.url)
        core = AskingCore(desk=desk)
        troubles: list[str] = []
        chats = Chats(api, clock, lambda text: troubles.append(str(text)))
        await chats.recover(core)
        talk = Talk(server, clock, desk, core, api, chats, server.user(ADA, "Ada"), troubles)
        try:
            yield talk
        finally:
            await talk.close()
            await api.close()


def _token(data: str) -> str:
    """Return what all buttons of a keyboard share; of one without, all."""
    return data[_TOKEN_AT:] or data


def draft_question(clock: FakeClock) -> Question:
    """Return a question about a draft, which takes a revision."""
    made = asking(admitting(turn_of(clock, f"telegram:{ADA}")), grantable=False)
    return evolve(made, draft=evolve(made.draft, summary=Text("let word_count in")), diff="--- a\n+++ b\n-x\n+y\n")


def question(clock: FakeClock, summary: str = "", *, diff: str = "", **more: Any) -> Question:
    """Return a question about a write of `a.md`, or what `more` says of the action.

    Args:
        summary: What would happen; made from the name unless given.
        more: What `gateways.planned` takes, and `grantable`, `tutor` and `completes` of the question.
    """
    about = {key: more.pop(key) for key in ("grantable", "tutor", "completes") if key in more}
    action = planned(turn_of(clock, f"telegram:{ADA}"), **more)
    made = asking(action, **about)
    draft = evolve(made.draft, summary=Text(summary or f"write {action.targets[0]}"))
    return evolve(made, draft=draft, diff=diff)

"""Presses on Telegram, from the person's phone to the file: none of them does anything but the one that is good."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest
from attrs import frozen
from bot_api import BotApi, BotMessage, Person
from telegram_service import Serving, serving, written

from myclaw_core.events.types import StepIntended
from myclaw_core.paths import Home
from myclaw_core.sessions.pairing import Pairing
from myclaw_core.testing import calls, says


def write(name: str, content: str = "written\n") -> dict[str, Any]:
    return calls(("fs_write", {"path": name, "content": content}))


@pytest.fixture
def server() -> Iterator[BotApi]:
    """A Bot API server on this machine."""
    with BotApi() as running:
        yield running


@pytest.fixture
async def daemon(home: Home, server: BotApi) -> AsyncIterator[Serving]:
    """A daemon whose model writes one file a message, each time the next one."""
    replies = [reply for name in "abc" for reply in (write(name), says(f"Done with {name}."))]
    async with serving(home, server, replies) as running:
        yield running


@frozen
class Scene:
    """Ada is asked whether `a` may be written."""

    daemon: Serving
    ada: Person
    card: BotMessage

    async def answered(self, press: str) -> str:
        """Wait for what a press is told."""
        answers = self.daemon.server.press_answers
        await self.daemon.until(lambda: press in answers)
        return answers[press]

    async def ended(self, count: int = 1) -> None:
        """Wait until so many turns have ended."""
        await self.daemon.until(
            lambda: sum("Done with" in each for each in self.daemon.server.texts(self.ada)) >= count
        )

    @property
    def file(self) -> Path:
        """Return what would be written."""
        return self.daemon.home.workspace / "a"

    async def runs(self) -> int:
        """Return how many actions began."""
        return sum(isinstance(event, StepIntended) for _, event in await self.daemon.agent.log.since(0, 10_000))


@pytest.fixture
async def scene(daemon: Serving) -> Scene:
    """A question with its buttons."""
    ada = await daemon.person()
    ada.says("write a")
    return Scene(daemon, ada, await daemon.asked(ada))


async def test_a_yes_runs_it_once(scene: Scene) -> None:
    """The measure of all below."""
    scene.ada.presses(scene.card, "yes")
    await scene.ended()
    assert scene.file.read_text() == "written\n"
    assert await scene.runs() == 1


@pytest.mark.parametrize("paired", [True, False])
async def test_somebody_else_runs_nothing(scene: Scene, *, paired: bool) -> None:
    """Whether they are served themselves or not, in the chat of who was asked or in their own."""
    eve = await scene.daemon.person(9, "Eve") if paired else scene.daemon.server.user(9, "Eve")
    theirs = {"chat": eve.chat}
    eve.presses(scene.card, "yes")
    eve.presses(scene.card, "yes", message=theirs)
    await scene.daemon.until(lambda: not scene.daemon.server.pending)
    assert (scene.file.exists(), await scene.runs()) == (False, 0)
    scene.ada.presses(scene.card, "yes")
    await scene.ended()
    assert (scene.file.exists(), await scene.runs()) == (True, 1)


async def test_a_keyboard_that_was_forwarded_or_moved_runs_nothing(scene: Scene) -> None:
    """Its buttons are good below the message that asks, and there only."""
    eve = await scene.daemon.person(9, "Eve")
    forwarded = {"message_id": 4711, "chat": eve.chat, "forward_origin": {"type": "hidden_user", "date": 1}}
    for person, place in ((eve, forwarded), (scene.ada, {"message_id": scene.card.id - 1})):
        person.presses(scene.card, "yes", message=place)
    await scene.daemon.until(lambda: not scene.daemon.server.pending)
    assert (scene.file.exists(), await scene.runs()) == (False, 0)
    scene.ada.presses(scene.card, "yes")
    await scene.ended()
    assert (scene.file.exists(), await scene.runs()) == (True, 1)


async def test_a_press_that_is_replayed_runs_it_once(scene: Scene) -> None:
    """As the same update, as a new one, at once and after the turn."""
    data = scene.card.button("yes")["callback_data"]
    scene.ada.presses(scene.card, "yes")
    (update,) = scene.daemon.server.pending or [None]
    again = scene.ada.presses_forged(scene.card, data)
    await scene.ended()
    if update is not None:
        scene.daemon.server.deliver(update, update)
    late = scene.ada.presses_forged(scene.card, data)
    assert await scene.answered(again)
    assert await scene.answered(late)
    assert (scene.file.read_text(), await scene.runs()) == ("written\n", 1)


async def test_what_changed_after_it_was_shown_does_not_run(daemon: Serving) -> None:
    """The file is another one than the card spoke of: it stays as the person left it."""
    ada = await daemon.person()
    (daemon.home.workspace / "a").write_text("old\n")
    ada.says("write a")
    scene = Scene(daemon, ada, await daemon.asked(ada))
    scene.file.write_text("changed meanwhile\n")
    ada.presses(scene.card, "yes")
    await scene.ended()
    assert (scene.file.read_text(), await scene.runs()) == ("changed meanwhile\n", 0)


async def test_a_press_before_there_was_time_to_read_runs_nothing(scene: Scene) -> None:
    """A press of a button that is not there yet: its data can only be that of an earlier question."""
    old = scene.card.button("yes")["callback_data"]
    scene.ada.presses(scene.card, "yes")
    await scene.ended()
    before = len(scene.daemon.server.messages)
    scene.ada.says("write b")
    cards: list[BotMessage] = []

    def is_shown() -> bool:
        cards[:] = [each for each in scene.daemon.server.messages[before:] if "/b" in each.text and "tool" in each.text]
        return bool(cards)

    await scene.daemon.until(is_shown)
    with scene.daemon.stopped():
        scene.daemon.clock.advance(seconds=0.5)
        assert not cards[0].keyboard
        assert await scene.answered(scene.ada.presses_forged(cards[0], old))
        assert not (scene.daemon.home.workspace / "b").exists()
    scene.ada.presses(await scene.daemon.asked(scene.ada, before), "yes")
    await scene.ended(2)
    assert ((scene.daemon.home.workspace / "b").exists(), await scene.runs()) == (True, 2)


@pytest.mark.parametrize("order", [("yes", "no"), ("no", "yes"), ("yes", "yes"), ("no", "no")])
async def test_of_two_presses_that_race_the_first_counts(scene: Scene, order: tuple[str, str]) -> None:
    with scene.daemon.stopped():
        presses = [scene.ada.presses(scene.card, button) for button in order]
        answers = [await scene.answered(press) for press in presses]
    await scene.ended()
    assert [bool(answer) for answer in answers] == [False, True]
    assert await scene.runs() == (order[0] == "yes")
    assert scene.file.exists() == (order[0] == "yes")


async def test_a_press_after_its_time_runs_nothing(scene: Scene) -> None:
    """Half an hour, whatever became of the message."""
    scene.daemon.clock.advance(seconds=1801)
    assert await scene.answered(scene.ada.presses(scene.card, "yes"))
    assert (scene.file.exists(), await scene.runs()) == (False, 0)


async def test_a_press_of_who_was_taken_out_runs_nothing(scene: Scene) -> None:
    await Pairing(scene.daemon.agent.log, scene.daemon.clock).end("telegram:7")
    scene.ada.presses(scene.card, "yes")
    await scene.daemon.until(lambda: not scene.daemon.server.pending)
    assert (scene.file.exists(), await scene.runs()) == (False, 0)


async def test_after_revoke_a_grant_runs_nothing_and_an_old_button_neither(home: Home, server: BotApi) -> None:
    """What was granted for good runs by itself until then, and is asked from then on."""
    replies = [reply for _ in range(3) for reply in (write("a"), says("Done with a."))]
    async with serving(home, server, replies) as daemon:
        ada = await daemon.person()
        ada.says("write a")
        scene = Scene(daemon, ada, await daemon.asked(ada))
        ada.presses(scene.card, "more…")
        await daemon.until(lambda: len(scene.card.keyboard) > 2)
        always = scene.card.button("yes, always exactly this")["callback_data"]
        ada.presses_forged(scene.card, always)
        await scene.ended()
        ada.says("again")
        await scene.ended(2)
        assert await scene.runs() == 2
        ada.says("/revoke 1")
        await daemon.until(lambda: any("ended:" in text for text in server.texts(ada)))
        scene.file.unlink()
        before = len(server.messages)
        ada.says("and again")
        card = await daemon.asked(ada, before)
        assert await scene.answered(ada.presses_forged(scene.card, always))
        assert await scene.answered(ada.presses_forged(card, always))
        assert (scene.file.exists(), await scene.runs()) == (False, 2)
        ada.presses(card, "no")
        await scene.ended(3)
        assert (scene.file.exists(), await scene.runs()) == (False, 2)


def test_a_press_after_kill_9_runs_nothing_and_asks_again_once(console: Any, server: BotApi) -> None:
    """The message says so; asked again, a yes runs it once."""
    home = Home.at(console.home)
    written(home, server, [write("a"), says("Done with a.")], "[approval]\nreading_pause_s = 0\n")
    ada = server.user(7, "Ada")
    service = console.spawn("serve")
    service.expect("ready")
    ada.says(f"/start {console.json('pair', 'telegram', '--json')['code']}")
    server.wait_for(lambda: bool(server.texts(ada)))
    ada.says("write a")
    server.wait_for(lambda: bool(server.messages[-1].keyboard))
    card = server.messages[-1]
    yes = card.button("yes")["callback_data"]
    service.kill(9)
    service.wait()
    late = ada.presses_forged(card, yes)

    service = console.spawn("serve")
    server.wait_for(lambda: bool(server.press_answers.get(late)))
    assert not (home.workspace / "a").exists()
    server.wait_for(lambda: [each["text"] for row in card.keyboard for each in row] == ["ask again"])
    twice = [ada.presses(card, "ask again") for _ in range(2)]
    server.wait_for(lambda: set(twice) <= set(server.press_answers))
    server.wait_for(lambda: bool(server.messages[-1].keyboard) and server.messages[-1] is not card)
    ada.presses_forged(card, yes)
    ada.presses(server.messages[-1], "yes")
    server.wait_for(lambda: any("Done with a" in text for text in server.texts(ada)))
    assert (home.workspace / "a").read_text() == "written\n"
    service.sendintr()
    service.expect(pexpect.EOF)
    assert console.run("audit", "tail", "-n", "200", "--json").out.count('"step_intended"') == 1

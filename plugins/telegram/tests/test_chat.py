"""A conversation on Telegram: one message a turn, at the pace that Telegram takes, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from bot_api import BotApi
from gateways import planned, turn_of
from nasty_strings import NASTY
from talking import Talk, talking

from myclaw_core.runtime.channel import Held, Status
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, Outcome
from myclaw_core.types.text import Text


@pytest.fixture
async def talk(server: BotApi, tmp_path: Path) -> AsyncIterator[Talk]:
    """Ada's chat."""
    async with talking(server, tmp_path / "events.db") as talk:
        yield talk


def ended(talk: Talk, outcome: Outcome = "success", *steps: ActionStep) -> ExecutionTrace:
    """Return a trace that is closed."""
    turn = turn_of(talk.clock, talk.sender)
    return ExecutionTrace(
        id=turn.id,
        session_id="s",
        channel="telegram",
        sender=talk.sender,
        autonomy="supervised",
        started_at=turn.received_at,
        steps=list(steps),
        outcome=outcome,
        closed_at=talk.clock.now(),
    )


def done(talk: Talk) -> ActionStep:
    """Return a step that wrote a file."""
    action = planned(turn_of(talk.clock, talk.sender))
    return ActionStep(
        index=0,
        tool_name=action.tool_name,
        args=action.args_preview,
        args_digest=action.args_digest,
        actor=action.actor,
        actor_version="",
        model="",
        state="done",
        kind=action.kind,
        effect_class=action.effect_class,
        effects=action.effects,
        started_at=action.planned_at,
        undo_id=UUID(int=1),
    )


async def answer(talk: Talk, text: str) -> None:
    """Let a turn answer."""
    talk.channel.status(Status(phase="thinking"))
    talk.channel.text(text)
    talk.channel.status(Status(phase="done"))
    talk.channel.end_turn(ended(talk))
    await talk.close()


async def test_the_first_sign_comes_before_any_time_passes(talk: Talk) -> None:
    """Typing, and a message that says what goes on."""
    talk.channel.status(Status(phase="thinking"))
    await talk.server.until(lambda: bool(talk.server.messages and talk.server.called("sendChatAction")))
    assert talk.last.text == "⏳ thinking"
    assert talk.clock.monotonic() == 0.0


async def test_one_message_shows_every_phase_and_becomes_the_answer(talk: Talk) -> None:
    """Then what was done stands below, and how it is taken back."""
    channel = talk.channel
    channel.status(Status(phase="thinking"))
    for status, shown in (
        (Status(phase="tool", tool="fs_write", detail="/srv/a.md"), "⏳ fs_write /srv/a.md"),
        (Status(phase="waiting"), "⏳ waiting for you"),
        (Status(phase="thinking"), "⏳ thinking"),
    ):
        channel.status(status)
        await talk.until(lambda shown=shown: talk.server.messages and talk.last.text == shown)
    channel.text("It is **done**.")
    channel.status(Status(phase="done"))
    channel.end_turn(ended(talk, "success", done(talk)))
    await talk.close()
    assert len(talk.server.messages) == 1
    assert talk.last.text == "It is done.\n\ndone: fs_write /home/me/notes/a.md (undo: /undo)\n1 step · no cost · 0.0 s"
    assert talk.last.source.startswith("It is <b>done</b>.")


async def test_a_turn_that_failed_or_was_stopped_says_so(talk: Talk) -> None:
    """Also without a word of an answer."""
    for outcome, words in (("failed", "the turn failed"), ("abandoned", "the turn was stopped")):
        talk.channel.status(Status(phase="thinking"))
        talk.channel.end_turn(ended(talk, outcome))  # type: ignore[arg-type]
        await talk.until(lambda words=words: bool(talk.server.messages) and words in talk.last.text)


async def test_a_turn_without_a_word_is_done(talk: Talk) -> None:
    """The message never stays at thinking."""
    await answer(talk, "")
    assert talk.last.text == "done"


async def test_edits_are_at_most_one_a_second_and_show_the_newest_text(talk: Talk) -> None:
    """Plain while it streams, formatted only at the end."""
    channel = talk.channel
    channel.status(Status(phase="thinking"))
    await talk.server.until(lambda: bool(talk.server.messages))
    at_s: list[float] = []
    for n in range(40):
        channel.text(f"**word {n}** ")
        count = len(talk.server.called("editMessageText"))
        await talk.pass_time(0.1)
        await asyncio.sleep(0.01)
        at_s += [talk.clock.monotonic()] * (len(talk.server.called("editMessageText")) - count)
    assert 1 <= len(at_s) <= 5
    assert all("parse_mode" not in call.params for call in talk.server.called("editMessageText"))
    assert "**word" in talk.last.text
    channel.end_turn(ended(talk))
    await talk.close()
    assert talk.last.text.startswith("word 0 word 1")
    assert talk.server.called("editMessageText")[-1].params["parse_mode"] == "HTML"


async def test_too_many_edits_are_waited_out_and_only_the_newest_text_is_sent(talk: Talk) -> None:
    """429 with `retry_after` 3."""
    channel = talk.channel
    channel.status(Status(phase="thinking"))
    await talk.server.until(lambda: bool(talk.server.messages))
    talk.server.fail("editMessageText", status=429, retry_after=3)
    channel.text("one ")
    await talk.clock.asleep(1)
    await talk.pass_time(1)
    await talk.server.until(lambda: len(talk.server.called("editMessageText")) == 1)
    await talk.clock.asleep(1)
    channel.text("two ")
    await talk.pass_time(2.9)
    channel.text("three")
    assert len(talk.server.called("editMessageText")) == 1
    await talk.pass_time(0.2)
    await talk.server.until(lambda: len(talk.server.called("editMessageText")) == 2)
    await talk.until(lambda: talk.last.text.startswith("one two three"))
    assert talk.last.history == ["⏳ thinking", "one two three\n\n⏳ thinking"]


async def test_equal_texts_are_not_sent_again(talk: Talk) -> None:
    """The same status twice is one edit less."""
    for _ in range(3):
        talk.channel.status(Status(phase="thinking"))
    await talk.server.until(lambda: bool(talk.server.messages))
    talk.channel.status(Status(phase="waiting"))
    talk.channel.status(Status(phase="thinking"))
    await talk.pass_time(5)
    await talk.close()
    assert talk.server.called("editMessageText") == []


async def test_a_long_answer_follows_in_order(talk: Talk) -> None:
    """The first part takes the place of the status."""
    words = " ".join(f"word{n}" for n in range(2000))
    await answer(talk, words)
    assert len(talk.server.messages) == 5
    assert " ".join(" ".join(message.text for message in talk.server.messages).split()) == words
    assert all(message.html for message in talk.server.messages)


async def test_a_text_before_a_tool_stays_with_the_answer(talk: Talk) -> None:
    """As a paragraph of its own."""
    channel = talk.channel
    channel.status(Status(phase="thinking"))
    channel.text("I look.")
    channel.status(Status(phase="tool", tool="fs_list"))
    channel.status(Status(phase="thinking"))
    channel.text("Found.")
    channel.end_turn(ended(talk))
    await talk.close()
    assert talk.last.text == "I look.\n\nFound."


@pytest.mark.parametrize("text", NASTY)
async def test_nasty_strings_are_always_delivered(talk: Talk, text: str) -> None:
    """Formatted or plain."""
    await answer(talk, text)
    assert talk.last.text.strip()
    assert "⏳" not in talk.last.text
    assert talk.troubles == []


async def test_what_the_service_cannot_read_goes_out_plain(talk: Talk) -> None:
    """The same text."""
    talk.channel.status(Status(phase="thinking"))
    await talk.server.until(lambda: bool(talk.server.messages))
    talk.server.fail("editMessageText", status=400, description="Bad Request: can't parse entities: at byte offset 3")
    talk.channel.text("a **b**")
    talk.channel.end_turn(ended(talk))
    await talk.close()
    assert talk.last.text == "a **b**"
    assert not talk.last.html


async def test_a_status_that_the_person_deleted_comes_back_as_the_answer(talk: Talk) -> None:
    """Nothing is lost."""
    talk.channel.status(Status(phase="thinking"))
    await talk.server.until(lambda: bool(talk.server.messages))
    talk.last.deleted = True
    talk.server.fail("editMessageText", status=400, description="Bad Request: message to edit not found", times=2)
    talk.channel.text("here")
    talk.channel.end_turn(ended(talk))
    await talk.close()
    assert talk.server.texts(talk.ada) == ["here"]


@pytest.mark.parametrize("fault", [{"status": 502}, {"cut": True}, {"body": b"{oops"}])
@pytest.mark.parametrize("carried_out", [True, False])
async def test_what_may_have_been_sent_says_so_where_it_is_sent_again(
    talk: Talk, fault: dict[str, Any], *, carried_out: bool
) -> None:
    """Nothing is lost, and nothing passes for something new."""
    talk.server.fail("sendMessage", **fault, carried_out=carried_out)
    await answer(talk, "It is 7.")
    *before, last = talk.server.texts(talk.ada)
    assert before == (["It is 7."] if carried_out or "cut" in fault else [])
    assert last == "(sent again, as it may not have arrived)\n\nIt is 7."


@pytest.mark.parametrize("fault", [{"status": 502, "carried_out": True}, {"cut": True}])
async def test_an_edit_is_repeated_as_it_is(talk: Talk, fault: dict[str, Any]) -> None:
    """Twice is once."""
    talk.channel.status(Status(phase="thinking"))
    await talk.server.until(lambda: bool(talk.server.messages))
    talk.server.fail("editMessageText", **fault)
    await answer(talk, "It is 7.")
    assert talk.server.texts(talk.ada) == ["It is 7."]


async def test_an_outage_is_waited_out(talk: Talk) -> None:
    """The answer comes once the service is back, and says that part of it may have come before."""
    talk.server.fail("*", status=502, times=None)
    talk.channel.status(Status(phase="thinking"))
    talk.channel.text("late")
    talk.channel.end_turn(ended(talk))
    await talk.until(lambda: len(talk.server.called("sendMessage")) >= 3)
    talk.server.heal()
    await talk.until(lambda: bool(talk.server.messages))
    assert talk.server.texts(talk.ada) == ["(sent again, as it may not have arrived)\n\nlate"]


async def test_a_person_who_blocked_the_bot_breaks_no_turn(talk: Talk) -> None:
    """It is told, and the next message is tried again."""
    talk.ada.blocks()
    await answer(talk, "hello")
    assert talk.server.messages == []
    assert talk.troubles
    talk.server.blocked.clear()
    talk.channel.notice(Text("back"))
    await talk.until(lambda: talk.server.texts(talk.ada) == ["back"])


async def test_notices_join_a_running_turn_and_stand_alone_else(talk: Talk) -> None:
    """With whatever they hold made visible."""
    talk.channel.notice(Text("news\u202e\x1b"))
    await talk.until(lambda: talk.server.texts(talk.ada) == ["news\\u202e␛"])
    talk.channel.status(Status(phase="thinking"))
    talk.channel.notice(Text("queued"))
    await talk.until(lambda: talk.last.text == "queued\n\n⏳ thinking")
    talk.channel.text("hi")
    talk.channel.end_turn(ended(talk))
    await talk.close()
    assert talk.last.text == "hi\n\nqueued"


async def test_a_run_beside_the_turns_has_no_part_in_their_messages(talk: Talk) -> None:
    """Such as a question that was left and stays open: each turn has a message of its own."""
    talk.channel.status(Status(phase="waiting", beside=True))
    talk.channel.notice(Text("news"))
    await answer(talk, "one")
    talk.channel.status(Status(phase="tool", tool="fs_write", beside=True))
    await answer(talk, "two")
    talk.channel.status(Status(phase="done", beside=True))
    await talk.close()
    assert talk.server.texts(talk.ada) == ["news", "one", "two"]


async def test_a_turn_that_took_long_ends_with_a_new_message(talk: Talk) -> None:
    """A phone announces no edit."""
    talk.channel.status(Status(phase="thinking"))
    await talk.until(lambda: bool(talk.server.messages))
    await talk.pass_time(21)
    await answer(talk, "It is 7.")
    assert talk.server.texts(talk.ada) == ["done, see below", "It is 7."]
    talk.channel.status(Status(phase="thinking"))
    await talk.pass_time(21)
    talk.channel.end_turn(ended(talk, "failed"))
    await talk.close()
    assert talk.server.texts(talk.ada)[2] == "ended, see below"
    assert "the turn failed" in talk.server.texts(talk.ada)[3]


async def test_the_result_of_a_command_is_formatted(talk: Talk) -> None:
    """And leaves a running turn alone."""
    talk.channel.status(Status(phase="thinking"))
    talk.channel.show("- `/help`: lists")
    await talk.until(lambda: talk.server.texts(talk.ada) == ["⏳ thinking", "• /help: lists"])


async def test_after_a_crash_the_status_of_a_dead_turn_is_edited(talk: Talk) -> None:
    """It never stays at thinking."""
    talk.channel.status(Status(phase="thinking"))
    await talk.until(lambda: bool(talk.core.kept))
    await talk.restart()
    await talk.until(lambda: talk.last.text == "the turn was interrupted: the program was started anew")
    await talk.restart()
    await answer(talk, "fine")
    await talk.restart()
    assert talk.server.texts(talk.ada)[-1] == "fine"
    assert talk.core.kept["open messages"] == b"[]"


async def test_a_picture_is_shown_and_a_large_one_comes_as_a_document(
    talk: Talk, tmp_path: Path, png: Callable[[int], bytes]
) -> None:
    """10 MB are the limit of Telegram."""
    small, large = tmp_path / "small.png", tmp_path / "large.png"
    small.write_bytes(png(1000))
    large.write_bytes(png(11 * 1024 * 1024))
    assert await talk.channel.file(small, "cat.png") is None
    assert await talk.channel.file(large, "big.png") is None
    assert len(talk.server.called("sendPhoto")) == 1
    assert [message.file.name for message in talk.server.messages if message.file] == ["cat.png", "big.png"]


async def test_a_file_is_sent_after_too_many_messages(talk: Talk, tmp_path: Path) -> None:
    """429, then ok."""
    path = tmp_path / "a.txt"
    path.write_text("hello")
    talk.server.fail("sendDocument", status=429, retry_after=2)
    assert await talk.channel.file(path, "a.txt") is None
    assert [call.status for call in talk.server.called("sendDocument")] == [429, 200]


async def test_a_file_of_51_mb_is_refused_clearly(talk: Talk, tmp_path: Path) -> None:
    """And one that is not there."""
    path = tmp_path / "a.bin"
    with path.open("wb") as file:
        file.truncate(51 * 1024 * 1024)
    assert "50 MB" in str(await talk.channel.file(path, "a.bin"))
    assert "cannot be read" in str(await talk.channel.file(tmp_path / "none", "none"))


async def test_what_is_held_counts_down_slowly_and_can_be_recalled(talk: Talk) -> None:
    """One message with a button for each, until all of it was sent or taken back."""
    first = Held(id=UUID(int=1), what=Text("mail to bob@x.org"), due_s=120.0)
    second = Held(id=UUID(int=2), what=Text("mail to eve@x.org"), due_s=130.0)
    talk.channel.held([first, second])
    await talk.until(lambda: bool(talk.server.messages))
    assert talk.last.text.startswith("1. mail to bob@x.org → is sent in 120 s\n2. mail to eve@x.org → is sent in 130 s")
    assert talk.labels() == ["recall 1", "recall 2"]
    assert await talk.press("recall 1") == "taken back"
    assert talk.core.recalled == [(talk.sender, first.id)]
    talk.channel.held([second])
    await talk.until(lambda: "1. mail to bob@x.org → not sent" in talk.last.text)
    for _ in range(140):
        await talk.pass_time(1)
        await asyncio.sleep(0.002)
    assert 8 <= len(talk.last.history) <= 14
    assert talk.labels() == []
    talk.channel.held([])
    await talk.until(lambda: talk.last.text.endswith("2. mail to eve@x.org → its hold is over"))
    assert len(talk.server.messages) == 1


async def test_after_a_crash_a_countdown_claims_nothing_that_may_be_wrong(talk: Talk) -> None:
    """It may have gone out just before. It has no button any more."""
    talk.channel.held([Held(id=UUID(int=1), what=Text("mail to bob@x.org"), due_s=120.0)])
    await talk.until(lambda: bool(talk.core.kept))
    await talk.restart()
    why = "the program was started anew; what was still held then is not sent"
    await talk.until(lambda: talk.last.text == f"mail to bob@x.org\n→ {why}")
    assert talk.labels() == []


async def test_nothing_is_left_of_a_turn(talk: Talk) -> None:
    """Neither tasks nor anything kept."""
    for _ in range(20):
        talk.channel.status(Status(phase="thinking"))
        talk.channel.text("hi")
        talk.channel.end_turn(ended(talk))
    await talk.close()
    assert talk.core.kept.get("open messages", b"[]") == b"[]"
    assert len(asyncio.all_tasks()) == 1
    assert talk.server.texts(talk.ada) == ["hi"] * 20

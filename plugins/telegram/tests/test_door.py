"""Who is served: people who were paired, by their number; everybody else is told once and counted."""

from __future__ import annotations

from typing import Any

import pytest
from bot_api import BotApi
from noting_core import CODE

from myclaw_core.errors import StoreError, UsageError
from myclaw_core.testing import FakeClock

STRANGER = (
    "this bot serves only people who are paired with it: "
    "'myclaw pair telegram' on its machine shows a code to send here"
)
ONLY_TEXT = "only text is read here; write it as a message of your own"


@pytest.mark.parametrize(
    "text", [f"/start {CODE}", f"/start   {CODE} ", CODE, "abcd efgh", "/start@house_bot ABCDEFGH"]
)
async def test_a_code_is_tried_with_the_number_and_the_name_of_who_sent_it(
    server: BotApi, core: Any, loop: Any, text: str
) -> None:
    eve = server.user(9, "Eve\u202e")
    eve.says(text)
    loop.start()
    await server.until(lambda: server.texts(eve))

    [(sender, _, name)] = core.codes
    assert sender == "telegram:9"
    assert "\u202e" not in name
    assert core.received == []
    assert server.texts(eve) in (["paired"], ["that is not the code"])


async def test_whoever_is_paired_is_served_from_the_next_message_on(server: BotApi, core: Any, loop: Any) -> None:
    eve = server.user(9)
    eve.says(f"/start {CODE}")
    eve.says("hello")
    loop.start()
    await core.until(lambda: core.received)

    assert [(each.sender, each.text) for each in core.received] == [("telegram:9", "hello")]


async def test_start_of_somebody_who_is_paired_shows_help(server: BotApi, core: Any, loop: Any) -> None:
    server.user(7).says("/start")
    server.user(7).says(f"/start {CODE}")
    loop.start()
    await core.until(lambda: len(core.received) == 2)

    assert core.texts == ["/help", "/help"]
    assert core.codes == []


async def test_a_stranger_is_told_once_a_day_and_counted_each_time(
    server: BotApi, core: Any, loop: Any, clock: FakeClock
) -> None:
    """Row 14: attempts are counted and shown to the owner."""
    eve = server.user(9, username="owner")
    for text in ("/start", "approve it", "/approve", "let me in please"):
        eve.says(text)
    loop.start()
    await core.until(lambda: len(core.turned) == 4)
    await server.until(lambda: server.texts(eve))
    clock.advance(days=1)
    eve.says("and now?")
    await server.until(lambda: len(server.texts(eve)) == 2)

    assert server.texts(eve) == [STRANGER, STRANGER]
    assert core.turned == [("telegram:9", "a message")] * 5
    assert core.received == []


async def test_nobody_is_told_more_than_ten_times_a_day_that_a_code_is_wrong(
    server: BotApi, core: Any, loop: Any
) -> None:
    eve = server.user(9)
    for number in range(15):
        eve.says(f"WRNG-CAD{'ABCDEFGHJKMNPQR'[number]}")
    loop.start()
    await core.until(lambda: len(core.codes) == 15)
    await server.until(lambda: len(server.texts(eve)) == 10)
    eve.says("hello?")
    await server.until(lambda: STRANGER in server.texts(eve))

    assert len(server.texts(eve)) == 11


async def test_a_stranger_in_a_group_is_counted_and_not_answered(server: BotApi, core: Any, loop: Any) -> None:
    group = server.group()
    eve = server.user(9)
    loop.groups = [group.id]
    eve.says(CODE, group=group)
    eve.says("hello", group=group)
    loop.start()
    await core.until(lambda: len(core.turned) == 2)

    assert core.codes == []
    assert server.messages == []


async def test_a_paired_person_is_heard_in_a_group_only_where_it_is_allowed(
    server: BotApi, core: Any, loop: Any
) -> None:
    family, work = server.group(-1001), server.group(-1002, "Work")
    loop.groups = [family.id]
    ada = server.user(7)
    ada.says("not here", group=work)
    ada.says("/help@house_bot", group=family)
    loop.start()
    await core.until(lambda: core.received)

    assert [(each.text, each.place, each.sender) for each in core.received] == [("/help", "-1001", "telegram:7")]
    assert core.turned == [("telegram:7", "a message in the group -1002")]  # so is its id found, to allow it
    assert server.messages == []


async def test_what_has_no_words_or_is_of_somebody_else_is_answered_with_one_line(
    server: BotApi, core: Any, loop: Any
) -> None:
    ada = server.user(7)
    ada.sends_voice()
    ada.sends_photo()
    ada.forwards("approve everything")
    ada.says("through a bot", via_bot={"id": 9, "is_bot": True, "first_name": "x"})
    ada.sends_photo("what is this?")
    loop.start()
    await core.until(lambda: core.received)
    await server.until(lambda: len(server.texts(ada)) == 4)

    assert core.texts == ["what is this?"]
    assert server.texts(ada) == [ONLY_TEXT] * 4
    assert core.turned == []


async def test_what_strangers_forward_is_counted_and_nothing_of_it_answered(
    server: BotApi, core: Any, loop: Any
) -> None:
    eve = server.user(9)
    eve.forwards("approve everything")
    eve.sends_voice()
    loop.start()
    await core.until(lambda: len(core.turned) == 2)

    assert core.turned == [("telegram:9", "a forwarded message"), ("telegram:9", "a message without text")]
    assert server.messages == []


# -- presses -----------------------------------------------------------------------------------------------------------


@pytest.fixture
async def question(server: BotApi, api: Any) -> Any:
    """A message with a button in the chat of `telegram:7`."""
    from myclaw_telegram.api import Button

    server.user(7)
    await api.send(7, "Delete it?", keyboard=[[Button("Yes", "y:1")]])
    return server.messages[0]


async def test_a_press_of_a_paired_person_is_acted_on_before_it_is_confirmed(
    server: BotApi, core: Any, loop: Any, question: Any
) -> None:
    press_id = server.user(7).presses(question, "Yes")
    loop.start()
    await core.until(lambda: loop.presses and "offset" in core.kept)

    [press] = loop.presses
    assert (press.press_id, press.user_id, press.chat_id, press.data) == (press_id, 7, 7, "y:1")
    assert press.message_id == question.id


@pytest.mark.parametrize(
    ("who", "more", "why"),
    [
        (9, {}, "a message in somebody else's chat"),
        (9, {"message": {"chat": {"id": 9, "type": "private"}}}, "a press of a button"),
        (7, {"message": {"forward_origin": {"type": "user"}}}, "a forwarded message"),
        (7, {"message": {"from": {"id": 43, "is_bot": True}}}, "a press below somebody else's message"),
        (7, {"message": {"chat": {"id": -5, "type": "group"}}}, "a message in the group -5"),
        (7, {"from": {"id": "7", "is_bot": False}}, None),
        (7, {"from": None}, None),
        (7, {"from": {"id": 7.0, "is_bot": False, "username": "owner"}}, None),
        (7, {"from": {"id": 7 + 2**64, "is_bot": False}}, None),
    ],
)
async def test_a_press_of_anybody_else_or_below_a_forwarded_keyboard_does_nothing(
    server: BotApi, core: Any, loop: Any, question: Any, who: int, more: dict[str, Any], why: str | None
) -> None:
    """Rows 14 and 15: 0 approvals, and the owner sees that it was tried."""
    server.user(who, username="owner").presses(question, "Yes", **more)
    server.user(7).says("after it")
    loop.start()
    await core.until(lambda: core.received)

    assert loop.presses == []
    assert core.turned == ([] if why is None else [(f"telegram:{who}", why)])


async def test_a_press_that_comes_twice_is_acted_on_once(server: BotApi, core: Any, loop: Any, question: Any) -> None:
    ada = server.user(7)
    ada.presses(question, "Yes")
    [press] = server.pending
    loop.start()
    await core.until(lambda: loop.presses)
    server.deliver(press)
    ada.says("after it")
    await core.until(lambda: core.received)

    assert len(loop.presses) == 1


async def test_a_press_that_could_not_be_kept_comes_again(server: BotApi, core: Any, loop: Any, question: Any) -> None:
    def once(press: Any) -> None:
        if len(loop.presses) == 1:
            raise StoreError("the disk is full")

    loop.press = once
    server.user(7).presses(question, "Yes")
    loop.start()
    await core.until(lambda: "offset" in core.kept)

    assert len(loop.presses) == 2
    assert loop.faults == []


@pytest.mark.parametrize("error", [ZeroDivisionError("a bug"), UsageError("no such request")])
async def test_a_press_that_breaks_something_does_not_stop_what_comes_after_it(
    server: BotApi, core: Any, loop: Any, question: Any, error: Exception
) -> None:
    def broken(press: Any) -> None:
        raise error

    loop.press = broken
    server.user(7).presses(question, "Yes")
    server.user(7).says("after it")
    loop.start()
    await core.until(lambda: core.received)

    [fault] = loop.faults
    assert fault.startswith("a press could not be acted on: ")
    assert "\n" not in fault

"""Calls over real HTTP: what is repeated, what never is, and what an error says."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bot_api import BotApi
from myclaw_telegram.api import (
    Api,
    ApiError,
    BlockedError,
    Button,
    ConflictError,
    FloodError,
    NetworkError,
    RejectedError,
    TokenError,
    TooLargeError,
)

from myclaw_core.testing import FakeClock

NASTY = [
    "a < b && c > d", "<a@b.c>", "1. one\n2. two.", "*bold* _it_ [x](y)", "`code` ```", "<script>alert(1)</script>",
    "</b>", "&lt;b&gt;", "&amp;amp;", "&#0; &#x110000;", "<b", "<", ">", "&", "\\", "_*[]()~`>#+-=|{}.!", "<!-- -->",
    "<![CDATA[x]]>", "a\u200bb", "\u202eevil", "👩\u200d👩\u200d👧", "e\u0301", "“quotes”", "a\tb\r\nc", "%00 %s {x}",
    "<a href=\"javascript:x\">y</a>", "\x1b[2Jcleared", "#tag /cmd @name", "<pre><code>x</code></pre>", "-" * 100,
]  # fmt: skip


@pytest.mark.parametrize("text", NASTY)
async def test_a_text_without_markup_arrives_as_it_is(server: BotApi, api: Api, text: str) -> None:
    """Row 64: whatever is in it, a plain message is delivered."""
    ada = server.user(7)

    await api.send(7, text)

    assert server.texts(ada) == [text.strip()]


async def test_a_message_has_html_and_buttons_and_never_a_preview(server: BotApi, api: Api) -> None:
    server.user(7)

    message_id = await api.send(7, "<b>go</b> &lt;", html=True, keyboard=[[Button("Yes", "y:1")]], silent=True)

    [message] = server.messages
    assert (message.id, message.text, message.html) == (message_id, "go <", True)
    assert message.button("Yes") == {"text": "Yes", "callback_data": "y:1"}
    assert message.silent
    assert server.called("sendMessage")[0].params["link_preview_options"] == '{"is_disabled": true}'


@pytest.mark.parametrize("data", ["", "x" * 65, "é" * 33])
def test_data_that_a_button_cannot_have_is_refused_where_it_is_made(data: str) -> None:
    with pytest.raises(ValueError, match="1 to 64 bytes"):
        Button("Yes", data)


async def test_4096_utf16_units_are_delivered_and_4097_are_refused(server: BotApi, api: Api) -> None:
    ada = server.user(7)

    await api.send(7, "😀" * 2048)
    with pytest.raises(RejectedError) as refused:
        await api.send(7, "😀" * 2048 + "x")

    assert refused.value.description == "message is too long"
    assert len(server.texts(ada)) == 1


async def test_markup_that_cannot_be_read_is_refused_with_the_reason(server: BotApi, api: Api) -> None:
    server.user(7)

    with pytest.raises(RejectedError, match="can't parse entities: unsupported start tag") as refused:
        await api.send(7, "<a@b.c>", html=True)

    assert "\n" not in str(refused.value)
    assert len(server.called("sendMessage")) == 1


# -- too many messages -------------------------------------------------------------------------------------------------


async def test_a_message_waits_as_long_as_asked_and_is_sent_once(server: BotApi, api: Api, clock: FakeClock) -> None:
    ada = server.user(7)
    server.fail("sendMessage", status=429, retry_after=3)

    await api.send(7, "hello")

    assert server.texts(ada) == ["hello"]
    assert clock.monotonic() == 3


async def test_a_file_is_sent_after_the_wait(server: BotApi, api: Api, clock: FakeClock, tmp_path: Path) -> None:
    """Row 70."""
    server.user(7)
    (tmp_path / "a").write_bytes(b"content")
    server.fail("sendDocument", status=429, retry_after=30)

    await api.document(7, tmp_path / "a", "report.txt", "what you asked for")

    [message] = server.messages
    assert message.file is not None
    assert (message.file.name, message.file.content) == ("report.txt", b"content")
    assert message.text == "what you asked for"
    assert clock.monotonic() == 30


async def test_an_edit_is_not_repeated_so_that_the_newest_text_can_be(
    server: BotApi, api: Api, clock: FakeClock
) -> None:
    """Row 68."""
    server.user(7)
    message_id = await api.send(7, "one")
    server.fail("editMessageText", status=429, retry_after=3)

    with pytest.raises(FloodError) as flood:
        await api.edit(7, message_id, "two")

    assert flood.value.retry_after_s == 3
    assert clock.monotonic() == 0


async def test_a_wait_of_more_than_two_minutes_is_left_to_the_caller(server: BotApi, api: Api) -> None:
    server.user(7)
    server.fail("sendMessage", status=429, retry_after=121)

    with pytest.raises(FloodError):
        await api.send(7, "hello")


async def test_waiting_ends_after_a_few_times(server: BotApi, api: Api, clock: FakeClock) -> None:
    server.user(7)
    server.fail("sendMessage", status=429, retry_after=2, times=None)

    with pytest.raises(FloodError):
        await api.send(7, "hello")

    assert len(server.called("sendMessage")) == 5
    assert clock.monotonic() == 8


async def test_too_many_without_a_time_still_waits(server: BotApi, api: Api, clock: FakeClock) -> None:
    ada = server.user(7)
    server.fail("sendMessage", status=429)

    await api.send(7, "hello")

    assert server.texts(ada) == ["hello"]
    assert clock.monotonic() == 5


# -- lost answers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [{"cut": True}, {"status": 502, "carried_out": True}, {"body": b"{oops", "carried_out": True}, {"body": b"[1]"}],
)
async def test_a_message_whose_answer_was_lost_is_not_sent_again(
    server: BotApi, api: Api, fault: dict[str, Any]
) -> None:
    ada = server.user(7)
    server.fail("sendMessage", **fault)

    with pytest.raises(NetworkError) as lost:
        await api.send(7, "hello")

    assert lost.value.maybe_done
    assert len(server.texts(ada)) <= 1
    assert len(server.called("sendMessage")) == 1


@pytest.mark.parametrize("fault", [{"cut": True}, {"status": 500}, {"status": 502, "carried_out": True}])
async def test_an_edit_whose_answer_was_lost_is_made_again(server: BotApi, api: Api, fault: dict[str, Any]) -> None:
    ada = server.user(7)
    message_id = await api.send(7, "one")
    server.fail("editMessageText", times=2, **fault)

    await api.edit(7, message_id, "two")

    assert server.texts(ada) == ["two"]


async def test_a_service_that_is_not_there_is_tried_five_times_since_nothing_was_sent(
    clock: FakeClock, unused_tcp_port: int
) -> None:
    api = Api("42:TEST", clock=clock, api_url=f"http://127.0.0.1:{unused_tcp_port}")

    with pytest.raises(NetworkError) as lost:
        await api.send(7, "hello")
    await api.close()

    assert not lost.value.maybe_done
    assert clock.monotonic() == 1 + 2 + 4 + 8


# -- what is success all the same --------------------------------------------------------------------------------------


async def test_what_is_so_already_is_success(server: BotApi, api: Api) -> None:
    ada = server.user(7)
    message_id = await api.send(7, "one", keyboard=[[Button("Yes", "y")]])

    await api.edit(7, message_id, "one", keyboard=[[Button("Yes", "y")]])
    press_id = ada.presses(server.messages[0], "Yes")
    await api.answer_press(press_id, "x" * 300, alert=True)
    await api.answer_press(press_id)

    assert server.texts(ada) == ["one"]
    assert server.press_answers == {press_id: "x" * 200}


async def test_an_edit_without_a_keyboard_takes_it_away(server: BotApi, api: Api) -> None:
    server.user(7)
    message_id = await api.send(7, "one", keyboard=[[Button("Yes", "y")]])

    await api.edit(7, message_id, "two")

    assert server.messages[0].keyboard == []


async def test_a_message_that_is_gone_cannot_be_edited(server: BotApi, api: Api) -> None:
    server.user(7)

    with pytest.raises(RejectedError, match="message to edit not found"):
        await api.edit(7, 99, "two")


async def test_a_person_who_blocked_the_bot_is_told_apart(server: BotApi, api: Api) -> None:
    server.user(7).blocks()

    with pytest.raises(BlockedError, match="bot was blocked by the user"):
        await api.send(7, "hello")


async def test_the_menu_has_names_that_telegram_takes(server: BotApi, api: Api) -> None:
    await api.set_commands([("/help", "What there is."), ("/revoke-trust", "x" * 300)])

    assert server.commands == [("help", "What there is."), ("revoke_trust", "x" * 256)]


# -- files -------------------------------------------------------------------------------------------------------------


async def test_a_picture_of_11_mb_is_no_photo_but_a_document(
    server: BotApi, api: Api, tmp_path: Path, png: Callable[[int], bytes]
) -> None:
    """Row 70: the caller learns it before anything is sent."""
    server.user(7)
    (tmp_path / "a.png").write_bytes(png(11 * 1024 * 1024))

    with pytest.raises(TooLargeError) as large:
        await api.photo(7, tmp_path / "a.png", "a.png")
    await api.document(7, tmp_path / "a.png", "a.png")

    assert large.value.limit_mb == 10
    assert server.called("sendPhoto") == []
    assert len(server.messages) == 1


async def test_a_picture_of_10_mb_is_a_photo(
    server: BotApi, api: Api, tmp_path: Path, png: Callable[[int], bytes]
) -> None:
    server.user(7)
    (tmp_path / "a.png").write_bytes(png(10 * 1024 * 1024))

    await api.photo(7, tmp_path / "a.png", "a.png", "see")

    assert [message.text for message in server.messages] == ["see"]


async def test_51_mb_are_refused_in_one_line_before_anything_is_sent(server: BotApi, api: Api, tmp_path: Path) -> None:
    """Row 70."""
    server.user(7)
    with (tmp_path / "a").open("wb") as file:
        file.truncate(51 * 1024 * 1024)

    with pytest.raises(TooLargeError, match="the file is larger than the 50 MB that Telegram takes from a bot"):
        await api.document(7, tmp_path / "a", "a")

    assert server.calls == []


async def test_a_limit_that_the_service_has_lowered_is_the_same_error(server: BotApi, api: Api, tmp_path: Path) -> None:
    server.user(7)
    (tmp_path / "a").write_bytes(b"content")
    server.fail("sendDocument", status=413, description="Request Entity Too Large")

    with pytest.raises(TooLargeError):
        await api.document(7, tmp_path / "a", "a")


async def test_a_file_that_cannot_be_read_is_not_sent(api: Api, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await api.document(7, tmp_path / "gone", "gone")


# -- updates -----------------------------------------------------------------------------------------------------------


async def test_updates_come_as_they_are_and_only_of_two_kinds(server: BotApi, api: Api) -> None:
    ada = server.user(7)
    said = ada.says("hello")

    assert await api.get_updates(None, 0) == [said]
    assert await api.get_updates(said["update_id"] + 1, 0) == []
    ada.edits("later")
    assert await api.get_updates(None, 0) == []
    assert server.calls[0].params["allowed_updates"] == '["message", "callback_query"]'


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ({"status": 409}, ConflictError),
        ({"status": 429, "retry_after": 2}, FloodError),
        ({"status": 401}, TokenError),
        ({"status": 404}, TokenError),
        ({"status": 500}, NetworkError),
        ({"status": 502, "body": b"<html>bad gateway</html>"}, NetworkError),
        ({"cut": True}, NetworkError),
        ({"body": b"{oops"}, NetworkError),
        ({"body": b""}, NetworkError),
        ({"body": b"[" * 100_000}, NetworkError),
        ({"body": b'{"ok": true, "result": {"a": 1}}'}, NetworkError),
        ({"body": b'{"ok": true}'}, NetworkError),
        ({"body": b'{"ok": true, "result": [' + b"9" * 5000 + b"]}"}, NetworkError),
    ],
)
async def test_each_failure_of_a_poll_has_its_error_and_is_not_repeated(
    server: BotApi, api: Api, clock: FakeClock, fault: dict[str, Any], kind: type[ApiError]
) -> None:
    server.fail("getUpdates", **fault)

    with pytest.raises(kind) as failed:
        await api.get_updates(None, 0)

    assert "\n" not in str(failed.value)
    assert len(server.called("getUpdates")) == 1
    assert clock.monotonic() == 0


async def test_what_is_no_update_in_a_batch_is_left_out(server: BotApi, api: Api) -> None:
    server.fail("getUpdates", body=b'{"ok": true, "result": [null, 3, {"update_id": 4}]}')

    assert await api.get_updates(None, 0) == [{"update_id": 4}]


async def test_a_conflict_says_what_to_do(server: BotApi, api: Api) -> None:
    server.fail("getUpdates", status=409)
    with pytest.raises(ConflictError, match="another program reads this bot's messages: stop it"):
        await api.get_updates(None, 0)

    server.webhook = "https://example.org/hook"
    with pytest.raises(ConflictError, match=r"open https://api\.telegram\.org/botTOKEN/deleteWebhook once") as failed:
        await api.get_updates(None, 0)
    assert failed.value.is_webhook


# -- the token ---------------------------------------------------------------------------------------------------------


async def test_no_log_line_error_or_traceback_has_the_token(
    server: BotApi, clock: FakeClock, caplog: pytest.LogCaptureFixture, unused_tcp_port: int
) -> None:
    """Row 9: the HTTP client logs whole URLs, and the token is a part of them."""
    caplog.set_level(logging.DEBUG)
    token = "777:SECRET_CANARY"
    told = ""
    right = BotApi(token)
    for url, faults in (
        (right.url, [{"status": 400, "description": f"no bot{token}"}, {"body": token.encode()}, {"cut": True}]),
        (server.url, [{}]),
        (f"http://127.0.0.1:{unused_tcp_port}", [{}]),
        ("http://127.0.0.1:1:1", [{}]),
    ):
        api = Api(token, clock=clock, api_url=url)
        for fault in faults:
            if fault:
                right.fail("*", **fault)
            with pytest.raises(ApiError) as failed:
                await api.send(7, "hello")
            told += f"{failed.value!r} {''.join(traceback.format_exception(failed.value))}"
        await api.close()
    right.close()

    assert "CANARY" not in told + caplog.text


async def test_a_bot_knows_its_name_and_a_closed_one_connects_again(server: BotApi, api: Api) -> None:
    await api.close()
    assert (await api.me()).username == "house_bot"
    await api.close()
    await api.close()
    assert (await api.me()).id == 42

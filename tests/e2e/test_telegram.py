"""Telegram as a household has it: the real service, paired with a code, killed and started again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pexpect
import pytest
from bot_api import BotApi

TOKEN = "123456789:AAEcanaryCanaryCanaryCanaryCanaryCa"


@pytest.fixture
def server() -> Iterator[BotApi]:
    """A Bot API server on this machine."""
    with BotApi(TOKEN) as running:
        yield running


@pytest.fixture
def home(console: Any, server: BotApi) -> Any:
    """A shell whose home has a bot, and a model that only says things."""
    script = console.person / "replies.json"
    script.write_text(json.dumps([{"text": "Good *morning*"}]))
    console.configure(
        f'[agent]\nprovider = "scripted"\n[scripted]\nfile = "{script}"\n[telegram]\napi_url = "{server.url}"\n'
    )
    console.environ["MYCLAW_TELEGRAM_TOKEN"] = TOKEN
    return console


def stop(service: Any) -> None:
    """Press Ctrl-C and wait for the end."""
    service.sendintr()
    service.expect(pexpect.EOF)
    service.wait()
    assert service.exitstatus == 0


def test_paired_killed_and_started_again_it_answers_each_message_once(home: Any, server: BotApi) -> None:
    ada, eve = server.user(7, "Ada"), server.user(9, "Eve")
    service = home.spawn("serve")
    service.expect("ready")
    ada.says("let me in")
    server.wait_for(lambda: len(server.texts(ada)) == 1)
    code = home.json("pair", "telegram", "--json")["code"]
    ada.says(f"/start {code}")
    server.wait_for(lambda: len(server.texts(ada)) == 2)
    hello = ada.says("hello")
    server.wait_for(lambda: server.texts(ada)[2:] == ["Good morning"] and not server.pending)

    service.kill(9)
    service.wait()
    server.deliver(hello, hello)
    eve.says("let me in, too")
    ada.says("are you there?")
    service = home.spawn("serve")
    server.wait_for(lambda: server.texts(ada)[3:] == ["Good morning"] and server.texts(eve) and not server.pending)

    assert [row["sender"] for row in home.json("pair", "list", "--json")["paired"]] == ["telegram:7"]
    status = home.run("serve", "--status")
    assert (status.code, "telegram  ok" in status.out) == (0, True)
    stop(service)
    for path in (path for path in home.home.rglob("*") if path.is_file()):
        assert TOKEN.encode() not in path.read_bytes()


def test_a_bot_whose_messages_go_elsewhere_is_red_in_doctor_and_at_the_start_of_a_chat(
    home: Any, server: BotApi
) -> None:
    """Row 67: a wrong token is the quickest way to be deaf; the words of a conflict take a minute or two to come."""
    server.token = "123456789:another"
    service = home.spawn("serve")
    service.expect("ready")
    server.wait_for(lambda: server.refused > 0)
    service.expect("Telegram does not know this bot token")

    status = home.run("serve", "--status")
    assert status.code == 1
    assert "Telegram does not know this bot token: copy it again from @BotFather" in status.out
    assert "telegram reaches nobody" in home.run("ask", "hello").err
    stop(service)

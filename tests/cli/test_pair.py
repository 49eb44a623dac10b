"""`myclaw pair`: a code for a messenger, who is served and who tried, and the end of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from myclaw_core.clock import SystemClock
from myclaw_core.compose import configured_dispatcher, load_plugins, open_log
from myclaw_core.paths import Home
from myclaw_core.sessions.pairing import Pairing

TOKEN = "123456789:" + "A" * 35


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the messenger lack nothing."""
    monkeypatch.setenv("MYCLAW_TELEGRAM_TOKEN", TOKEN)


def meanwhile(do: Any) -> Any:
    """Do something with the pairing of the home, as a program that serves would."""
    return asyncio.run(_meanwhile(do))


async def _meanwhile(do: Any) -> Any:
    home, clock = Home.find(), SystemClock()
    dispatcher, config = configured_dispatcher(home, load_plugins(home), clock, lambda _fault: None)
    async with open_log(home, dispatcher, config, clock) as log:
        return await do(Pairing(log, clock))


def test_a_code_pairs_who_sends_it_and_end_takes_them_out(run: Any, home: Path) -> None:
    code = run("pair", "telegram").out.splitlines()[0]
    assert meanwhile(lambda pairing: pairing.try_code("telegram", "telegram:1", code, "Rosa \x1b[2J"))

    listed = run("pair", "list").out
    assert listed.startswith("telegram:1  Rosa \\x1b[2J  since ")
    ended = run("pair", "end", "telegram:1")
    assert (ended.code, ended.out) == (0, "telegram:1 (Rosa \\x1b[2J) is not served any more\n")
    assert not meanwhile(lambda pairing: pairing.is_paired("telegram", "telegram:1"))
    assert run("pair", "list").out == "Nobody is served; 'myclaw pair MESSENGER' makes a code.\n"


def test_programs_read_json(run: Any, home: Path) -> None:
    offered = json.loads(run("pair", "telegram", "--json").out)
    assert set(offered) == {"messenger", "code", "ends_at"}
    meanwhile(lambda pairing: pairing.try_code("telegram", "telegram:1", offered["code"], "Rosa"))
    meanwhile(lambda pairing: pairing.turned_away("telegram", "telegram:66", "message"))

    listed = json.loads(run("pair", "list", "--json").out)
    assert [(each["sender"], each["messenger"], each["name"]) for each in listed["paired"]] == [
        ("telegram:1", "telegram", "Rosa")
    ]
    (strangers,) = listed["strangers"]
    assert (strangers["messenger"], strangers["total"]) == ("telegram", 1)
    assert [(each["sender"], each["count"], each["what"]) for each in strangers["last"]] == [
        ("telegram:66", 1, "message")
    ]
    assert json.loads(run("pair", "end", "telegram:1", "--json").out) == {"ended": "telegram:1", "name": "Rosa"}


def test_who_tried_is_shown_in_the_list_and_by_doctor(run: Any, home: Path) -> None:
    run("pair", "telegram")
    for _ in range(3):
        meanwhile(lambda pairing: pairing.turned_away("telegram", "telegram:66", "forwarded keyboard"))
    listed = run("pair", "list").out
    assert "ignored on telegram: 3 times" in listed
    assert "telegram:66  3  forwarded keyboard" in listed
    found = json.loads(run("doctor", "--json").out)
    (line,) = [each["what"] for each in found if each["check"] == "pairing"]
    assert line == "people served on messengers: 0; ignored of others: 3 ('myclaw pair list')"


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (("telegam",), 2, "no plugin offers the messenger 'telegam'; the nearest known is 'telegram'"),
        (("end",), 2, "'myclaw pair end SENDER' takes somebody out; 'myclaw pair list' shows the senders"),
        (("telegram", "x"), 2, "'myclaw pair end SENDER' takes somebody out; 'myclaw pair list' shows the senders"),
        (("end", "telegram:9"), 2, "telegram:9 is not paired; 'myclaw pair list' shows who is"),
    ],
)
def test_a_wrong_use_is_one_line(run: Any, home: Path, words: tuple[str, ...], code: int, line: str) -> None:
    ended = run("pair", *words)
    assert (ended.code, ended.err) == (code, f"myclaw: {line}\n")


def test_a_messenger_that_lacks_its_token_says_so_before_a_code_is_made(
    run: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MYCLAW_TELEGRAM_TOKEN")
    ended = run("pair", "telegram")
    assert (ended.code, ended.out) == (3, "")
    assert "token" in ended.err

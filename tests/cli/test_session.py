"""`myclaw session` and `myclaw budget`: a level for a time after its cost was stated, and where the money went."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pseudo import quoted

from myclaw_core.budget.account import Account
from myclaw_core.budget.book import DayBook, Entry, save_day
from myclaw_core.budget.days import LocalDays
from myclaw_core.clock import SystemClock, local_zone
from myclaw_core.compose import configured_dispatcher, load_plugins, open_log
from myclaw_core.messages import use_language
from myclaw_core.paths import Home

ANSWER = Account(tier="frontier", purpose="answer", level="full", model="claude-sonnet-5-5")
NIGHT = Account(tier="local-fast", purpose="reflect", activity="nightly", model="tiny")
RAISE = ("session", "--level", "full", "--for", "24h")


def put(*books: DayBook) -> None:
    """Write day books into the home of the test."""
    asyncio.run(_put(books))


async def _put(books: tuple[DayBook, ...]) -> None:
    home, clock = Home.find(), SystemClock()
    dispatcher, config = configured_dispatcher(home, load_plugins(home), clock, lambda _fault: None)
    async with open_log(home, dispatcher, config, clock) as log, log.transaction() as tx:
        for book in books:
            await save_day(tx, book)


def spent(back: int, *entries: Entry, more: int = 0) -> DayBook:
    """Return the book of a day so many days ago."""
    day = LocalDays(SystemClock(), local_zone()).last(back + 1)[-1]
    return DayBook(day=day, spent=sum(entry.spent for entry in entries) + more, entries=entries)


def cents(amount: int) -> Entry:
    """Return what answers at level full cost."""
    return Entry(account=ANSWER, calls=2, input_tokens=100, cached_tokens=50, output_tokens=7, spent=amount * 10_000)


@pytest.fixture
def used(home: Path) -> None:
    """A home that was used at level full for some days."""
    put(*(spent(back, cents(amount)) for back, amount in ((1, 300), (2, 400), (5, 350))))


def session(run: Any) -> Any:
    """Return what `myclaw session` says to a program."""
    return json.loads(run("session", "--json").out)


def recorded(run: Any) -> list[Any]:
    """Return the events on levels."""
    lines = run("audit", "tail", "--json", "-n", "100").out.splitlines()
    return [line["event"] for line in map(json.loads, lines) if line["type"] == "level_changed"]


# --- a level for a time --------------------------------------------------------------------------------------------


def test_a_raise_states_its_cost_and_is_recorded(run, used: None) -> None:
    """Who, which level and until when; then it stands."""
    ended = run(*RAISE, "--yes")
    first, *_, last = ended.out.splitlines()
    assert (ended.code, ended.err) == (0, "")
    assert first.startswith("estimate: 3.50 €, from your last 14 days (3 of them used at level full)")
    assert re.fullmatch(r"level: full until \d{4}-\d\d-\d\d \d\d:\d\d, then supervised", last)
    (event,) = recorded(run)
    assert (event["level"], event["estimate_eur"]) == ("full", 3.5)
    assert event["sender"].startswith("cli:")
    found = session(run)
    assert (found["level"], found["configured"], found["set_by"]) == ("full", "supervised", event["sender"])
    left = datetime.fromisoformat(found["until"]) - datetime.now(UTC)
    assert timedelta(hours=23) < left <= timedelta(hours=24)


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_without_consent_nothing_is_raised(run, used: None, more: tuple[str, ...]) -> None:
    """Where nobody can be asked, not asking is no yes."""
    ended = run(*RAISE, *more)
    assert ended.code == 2
    assert "--yes" in ended.err
    assert session(run)["level"] == "supervised"
    assert recorded(run) == []


def test_less_needs_no_consent(run, home: Path) -> None:
    """Nor does what is configured anyway."""
    assert run("session", "--level", "read_only", "--for", "30m").out.startswith("level: read_only until ")
    assert session(run)["level"] == "read_only"
    run("session", "--end")
    assert run("session", "--level", "supervised", "--for", "1d").code == 0
    run("session", "--end")
    (home / "config.toml").write_text('[agent]\nlevel = "full"\n', encoding="utf-8")
    assert run("session", "--level", "full", "--for", "1d").code == 0


def test_going_up_from_a_level_that_was_set_lower_needs_consent(run) -> None:
    """Also where it is no more than what is configured; its end by hand states the cost."""
    run("session", "--level", "read_only", "--for", "1h")
    assert run("session", "--level", "supervised", "--for", "1h").code == 2
    ended = run("session", "--end")
    assert ended.out.splitlines() == [
        "estimate: none, there was no use in your last 14 days; the hard cap is 5.00 € a day",
        "level: supervised",
    ]


def test_it_is_shown_and_ended(run, used: None) -> None:
    """A second end says that there was nothing to end."""
    assert run("session").out == "level: supervised\n"
    run(*RAISE, "--yes")
    assert run("session").out.startswith("level: full until ")
    assert run("session", "--end").out == "level: supervised\n"
    assert run("session", "--end").out == "no level was set for a time\nlevel: supervised\n"
    assert [event["level"] for event in recorded(run)] == ["full", "supervised"]


def test_programs_read_english_and_give_their_yes(run, used: None) -> None:
    """One object: level, until when, who set it, what is configured, what was stated."""
    found = json.loads(run(*RAISE, "--yes", "--json").out)
    assert (found["level"], found["estimate_eur"]) == ("full", 3.5)
    assert set(found) == {"level", "until", "set_by", "configured", "estimate_eur"}
    assert json.loads(run("session", "--end", "--json").out)["until"] is None


@pytest.mark.parametrize("time", ["", "24", "h", "0h", "-1h", "1.5h", "31d", "721h", "24H", "9999999999m", "٣h"])
def test_a_time_that_is_none_is_told(run, time: str) -> None:
    """With examples of one."""
    ended = run("session", "--level", "full", f"--for={time}", "--yes")
    assert ended.code == 2
    assert "such as 30m, 24h or 7d, at most 30d" in ended.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--level", "full"), "give --level and --for together, such as --level full --for 24h"),
        (("--for", "1h"), "give --level and --for together"),
        (("--end", "--level", "full", "--for", "1h"), "give either --end or --level with --for"),
        (("--level", "high", "--for", "1h"), "invalid choice: 'high'"),
    ],
)
def test_what_does_not_go_together_is_told(run, words: tuple[str, ...], told: str) -> None:
    """In one line."""
    ended = run("session", *words)
    assert ended.code == 2
    assert told in ended.err


def test_a_level_that_cannot_be_read_is_told_and_can_be_ended(run, home: Path) -> None:
    """It counts as one that asks."""
    run("session", "--level", "read_only", "--for", "1h")

    async def spoil() -> None:
        here, clock = Home.find(), SystemClock()
        dispatcher, config = configured_dispatcher(here, load_plugins(here), clock, lambda _fault: None)
        async with open_log(here, dispatcher, config, clock) as log, log.transaction() as tx:
            await tx.put("level", "standing", b"\xff")

    asyncio.run(spoil())
    assert "cannot be read" in run("session").out
    assert run("session", "--end").code == 0
    assert run("session").out == "level: supervised\n"


# --- other raises ------------------------------------------------------------------------------------------------


def test_config_set_states_the_cost_of_a_raise_before_it_writes(run, used: None) -> None:
    """On stderr; not before less, and not where nothing changes."""
    ended = run("config", "set", "agent.level", "full")
    assert ended.err.startswith("estimate: 3.50 € a day, from your last 14 days")
    assert run("config", "set", "agent.level", "full").err == ""
    assert run("config", "set", "agent.level", "read_only").err == ""
    assert run("config", "set", "--unset", "agent.level").err.startswith("estimate: ")
    assert run("config", "set", "agent.level", "full", "--json").err.startswith("estimate: ")


# --- where the money went ----------------------------------------------------------------------------------------


def test_the_budget_is_shown_by_day_tier_purpose_activity_level_and_model(run, home: Path) -> None:
    """What an earlier version did not write down is under `other`."""
    night = Entry(account=NIGHT, calls=5, input_tokens=1000, output_tokens=20)
    put(spent(0, cents(50)), spent(1, cents(100), night), spent(3, more=250_000), spent(9, cents(400)))
    ended = run("budget")
    assert (ended.code, ended.err) == (0, "")
    rows = [line.split() for line in ended.out.splitlines()]
    assert ["stops", "at", "5.00", "0.5000", "0.0000", "4.5000", "[budget]", "hard_eur"] in rows
    assert ["in", "all", "1.7500", "9"] in rows
    assert ["tier", "frontier", "0.5000", "1.5000", "4", "300", "100", "14"] in rows
    assert ["local-fast", "0.0000", "0.0000", "5", "1000", "0", "20"] in rows
    assert ["purpose", "answer", "0.5000", "1.5000", "4", "300", "100", "14"] in rows
    assert rows.count(["other", "0.0000", "0.2500", "0", "0", "0", "0"]) == 4
    assert ["model", "claude-sonnet-5-5", "0.5000", "1.5000", "4", "300", "100", "14"] in rows
    assert any(row[:2] == ["level", "full"] for row in rows)
    assert any(row[:1] == ["nightly"] for row in rows)


def test_programs_read_the_budget_as_one_object_whose_parts_add_up(run, home: Path) -> None:
    """In EUR, exact to the millionth."""
    put(spent(0, cents(50)), spent(1, cents(100)), spent(3, more=250_001))
    found = json.loads(run("budget", "--json").out)
    assert found["spent_eur"] == 0.5
    assert [limit["name"] for limit in found["limits"]] == ["soft", "hard", "heartbeat", "nightly"]
    assert [day["spent_eur"] for day in found["days"]] == [0.5, 1.0, 0, 0.250001, 0, 0, 0]
    assert found["total"]["spent_eur"] == 1.750001
    for aspect in ("tier", "purpose", "activity", "level", "model"):
        parts = found[f"by_{aspect}"]
        assert sum(round(part["total"]["spent_eur"] * 10**6) for part in parts.values()) == 1_750_001
        assert sum(part["today"]["spent_eur"] for part in parts.values()) == 0.5
        assert parts["other"]["total"] == {
            "spent_eur": 0.250001, "calls": 0, "input_tokens": 0, "cached_tokens": 0, "output_tokens": 0
        }  # fmt: skip


def test_an_empty_home_has_a_budget_too(run) -> None:
    """Nothing was spent, so there is nothing to tell apart."""
    ended = run("budget")
    assert ended.code == 0
    assert "tier" not in ended.out
    assert json.loads(run("budget", "--json").out)["by_tier"] == {}


def test_a_broken_configuration_locks_nobody_out_of_looking(run, home: Path) -> None:
    """The defaults are in force, and a line says so; nothing is raised on such a ground."""
    home.mkdir(parents=True)
    (home / "config.toml").write_text('[agent]\nlevel = "high"\n', encoding="utf-8")
    for words in (("budget",), ("session",), ("session", "--end")):
        ended = run(*words)
        assert ended.code == 0
        assert "the configuration does not load" in ended.err
    assert run(*RAISE, "--yes").code == 2


def test_people_read_both_in_their_language_and_programs_in_english(
    run, used: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every word of the tables and lines is a message."""
    english = run("session", "--json").out, run("budget", "--json").out
    monkeypatch.setenv("LANGUAGE", "it")
    with quoted(tmp_path / "catalogues"):
        use_language("it")
        assert run(*RAISE, "--yes").out.startswith("‹estimate: ‹3.50 €›, from your last 14 days")
        assert run("session", "--end").out == "‹level: supervised›\n"
        words = re.sub(r"‹[^‹›]*›|\[budget\] \w+|(?<!\S)[\d.:-]+(?!\S)|EUR", "", run("budget").out).split()
        assert set(words) == {"frontier", "answer", "turn", "full", "claude-sonnet-5-5"}
        assert (run("session", "--json").out, run("budget", "--json").out) == english

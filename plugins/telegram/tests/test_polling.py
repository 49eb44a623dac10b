"""No update is lost and none is acted on twice, whatever the service, the network or a restart does."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from bot_api import BotApi
from hypothesis import given
from hypothesis import strategies as st
from myclaw_telegram.api import TokenError
from myclaw_telegram.backoff import STEADY_S, Backoff
from myclaw_telegram.offset import Offset
from noting_core import NotingCore

from myclaw_core.testing import FakeClock

# -- handing over ------------------------------------------------------------------------------------------------------


async def test_a_message_is_taken_over_with_its_sender_its_place_and_a_key(
    server: BotApi, core: Any, loop: Any, clock: FakeClock
) -> None:
    said = server.user(7).says("hello")
    loop.start()
    await core.until(lambda: core.received)

    [incoming] = core.received
    assert incoming.channel == "telegram"
    assert incoming.key == str(said["update_id"])
    assert (incoming.sender, incoming.place, incoming.text) == ("telegram:7", "7", "hello")
    assert incoming.received_at == clock.now()


async def test_an_update_is_confirmed_only_after_it_was_taken_over(server: BotApi, core: Any, loop: Any) -> None:
    said = server.user(7).says("hello")
    core.refused = {"hello"}
    loop.start()
    await core.until(lambda: core.received)
    await server.until(lambda: not server.pending)

    polls = server.called("getUpdates")
    assert [poll.params.get("offset") for poll in polls[:2]] == [None, None]
    assert polls[-1].params.get("offset", str(said["update_id"] + 1)) == str(said["update_id"] + 1)
    assert core.texts == ["hello"]
    assert [health.state for health in core.healths] == ["trouble", "ok"]


async def test_a_restart_between_taking_over_and_confirming_repeats_nothing(
    server: BotApi, core: Any, loop: Any
) -> None:
    """The process dies once the message is kept and before the offset is."""
    ada = server.user(7)
    one = ada.says("one")
    loop.start()
    await core.until(lambda: core.received)
    await loop.stop()
    core.kept.clear()
    server.deliver(one)
    ada.says("two")

    loop.start()
    await core.until(lambda: len(core.received) == 2)

    assert core.offered == ["1000", "1000", "1001"]
    assert core.texts == ["one", "two"]


async def test_a_restart_goes_on_where_it_was(server: BotApi, core: Any, loop: Any) -> None:
    ada = server.user(7)
    ada.says("one")
    loop.start()
    await core.until(lambda: "offset" in core.kept)
    await loop.stop()
    ada.says("two")

    loop.start()
    await core.until(lambda: len(core.received) == 2)

    assert core.offered == ["1000", "1001"]


async def test_a_batch_that_fails_in_its_middle_is_taken_over_once(server: BotApi, core: Any, loop: Any) -> None:
    ada = server.user(7)
    for word in ("one", "two", "three"):
        ada.says(word)
    core.refused = {"two"}
    loop.start()
    await core.until(lambda: len(core.received) == 3)

    assert core.texts == ["one", "two", "three"]
    assert core.offered == ["1000", "1001", "1002"]


async def test_updates_that_come_twice_or_out_of_order_are_acted_on_once_and_sorted(
    server: BotApi, core: Any, loop: Any
) -> None:
    """R13."""
    ada = server.user(7)
    one, two, three, four = (ada.says(word) for word in ("one", "two", "three", "four"))
    server.deliver(three, one, one)
    server.deliver(four, three)
    server.deliver(two, four)
    loop.start()
    await core.until(lambda: len(core.received) == 4)
    await server.until(lambda: not server.pending)

    assert core.texts == ["one", "three", "four", "two"]
    assert sorted(core.offered) == ["1000", "1001", "1002", "1003"]


async def test_a_late_update_does_not_move_the_offset_back(server: BotApi, core: Any, loop: Any) -> None:
    ada = server.user(7)
    one, two = ada.says("one"), ada.says("two")
    server.deliver(two)
    server.deliver(one)
    loop.start()
    await core.until(lambda: len(core.received) == 2)
    await server.until(lambda: len(server.called("getUpdates")) >= 2)
    ada.says("three")
    await core.until(lambda: len(core.received) == 3)

    offsets = [int(call.params["offset"]) for call in server.called("getUpdates") if "offset" in call.params]
    assert offsets == sorted(offsets)


async def test_numbers_that_begin_anew_after_a_week_are_followed(
    server: BotApi, core: Any, loop: Any, clock: FakeClock
) -> None:
    """Telegram chooses new ones after a week without updates; asking with the old offset would hide them."""
    ada = server.user(7)
    ada.says("before")
    loop.start()
    await core.until(lambda: "offset" in core.kept)
    await server.until(lambda: not server.pending)
    await loop.stop()

    clock.advance(days=7)
    server.next_update_id = 5
    ada.says("after")
    loop.start()
    await core.until(lambda: len(core.received) == 2)
    ada.says("and on")
    await core.until(lambda: len(core.received) == 3)
    await server.until(lambda: not server.pending)

    assert core.texts == ["before", "after", "and on"]
    assert core.offered == ["1000", "5", "6"]


async def test_another_bot_is_not_asked_with_the_number_of_the_one_before(
    server: BotApi, core: Any, loop: Any, clock: FakeClock
) -> None:
    """Asked with a higher number than its own, it would count its messages as done with."""
    before = Offset(core, clock)
    await before.load(41)
    await before.advance([9000])
    server.user(7).says("hello")
    loop.start()
    await core.until(lambda: core.texts == ["hello"])
    await server.until(lambda: not server.pending)


@pytest.mark.parametrize("kept", [b"", b"{}", b"[]", b"\xff",
                                  b'{"next": "5", "at": "2026-01-05T09:00:00+00:00", "bot": 42}',
                                  b'{"next": 5, "at": "2026-01-05T09:00:00+00:00"}',
                                  b'{"next": 5, "at": "2026-01-05", "bot": 42}',
                                  b'{"next": 5, "at": 3, "bot": 42}'])  # fmt: skip
async def test_an_offset_that_cannot_be_read_asks_for_everything(core: Any, clock: FakeClock, kept: bytes) -> None:
    core.kept["offset"] = kept
    offset = Offset(core, clock)
    await offset.load(42)
    assert offset.wanted is None


@given(batches=st.lists(st.lists(st.integers(0, 100), min_size=1), max_size=8))
async def test_the_offset_never_goes_back_while_it_is_fresh(batches: list[list[int]]) -> None:
    core, clock = NotingCore(), FakeClock()
    offset = Offset(core, clock)
    await offset.load(42)
    highest = -1
    for batch in batches:
        await offset.advance(batch)
        highest = max(highest, *batch)
        again = Offset(core, clock)
        await again.load(42)
        assert offset.wanted == again.wanted == highest + 1
    clock.advance(days=7)
    assert offset.wanted is None


# -- what goes wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500},
        {"status": 502},
        {"cut": True},
        {"body": b"{oops"},
        {"body": b'{"ok": true, "result": 3}'},
        {"status": 429, "retry_after": 7},
        {"body": b'{"ok": true, "result": [{"message": {}}]}'},
    ],
)
async def test_a_poll_that_fails_is_made_again_and_loses_nothing(
    server: BotApi, core: Any, loop: Any, clock: FakeClock, fault: dict[str, Any]
) -> None:
    """R13."""
    server.user(7).says("hello")
    server.fail("getUpdates", times=3, **fault)
    loop.start()
    await core.until(lambda: core.received and core.state == "ok")

    assert core.offered == ["1000"]
    assert [health.state for health in core.healths] == ["trouble", "ok"]
    assert clock.monotonic() == (21 if "retry_after" in fault else 1 + 2 + 4)


async def test_a_service_that_is_away_at_the_start_is_waited_for(server: BotApi, core: Any, loop: Any) -> None:
    server.user(7).says("hello")
    server.fail("*", status=502, times=5)
    loop.start()
    await core.until(lambda: core.received)

    assert str(core.healths[0].detail) == "no answer from Telegram: Bad Gateway; check the network"


async def test_six_conflicts_and_then_none_are_trouble_until_it_has_gone_well_for_a_while(
    server: BotApi, core: Any, loop: Any, clock: FakeClock
) -> None:
    """Row 67."""
    ada = server.user(7)
    server.fail("getUpdates", status=409, times=6)
    ada.says("one")
    loop.start()
    await core.until(lambda: core.received)
    assert core.state == "trouble"

    clock.advance(seconds=STEADY_S)
    ada.says("two")
    await core.until(lambda: core.state == "ok")

    assert [health.state for health in core.healths] == ["trouble", "ok"]
    assert core.texts == ["one", "two"]


async def test_a_conflict_for_ever_is_told_with_what_to_do_and_tried_on(
    server: BotApi, core: Any, loop: Any, clock: FakeClock
) -> None:
    """Row 67: deaf for days while "healthy"."""
    ada = server.user(7)
    server.fail("getUpdates", status=409, times=None)
    loop.start()
    await core.until(lambda: core.state == "down")

    assert "another program reads this bot's messages: stop it" in str(core.healths[-1].detail)
    assert clock.monotonic() >= 60
    server.heal()
    ada.says("hello")
    await core.until(lambda: core.received)


async def test_conflicts_with_polls_that_succeed_between_them_still_end_in_down(
    server: BotApi, core: Any, loop: Any, clock: FakeClock
) -> None:
    """Row 67: where two programs poll, each succeeds now and then; none of that sets the count back."""

    def polls() -> list[int]:
        return [call.status for call in server.called("getUpdates")]

    server.fail("getUpdates", status=409)
    loop.start()
    for number in range(1, 9):
        await server.until(lambda number=number: polls().count(409) == number and polls()[-1] == 200)
        if number < 8:
            server.fail("getUpdates", status=409)
    await core.until(lambda: core.state == "down")

    assert core.state == "down"
    assert "ok" not in {health.state for health in core.healths}


async def test_a_second_program_with_the_same_token_is_a_conflict(
    server: BotApi, core: Any, loop: Any, api: Any
) -> None:
    loop.start()
    await core.until(lambda: core.state == "ok")
    await server.until(lambda: len(server.called("getUpdates")) >= 1)

    while core.state == "ok":
        await api.get_updates(None, 0)

    assert "another program" in str(core.healths[-1].detail)


async def test_a_web_hook_is_told_with_the_way_to_remove_it(server: BotApi, core: Any, loop: Any) -> None:
    server.webhook = "https://example.org/hook"
    loop.start()
    await core.until(lambda: core.state == "down")

    assert "deleteWebhook" in str(core.healths[-1].detail)


async def test_a_wrong_token_ends_it_with_what_to_do(server: BotApi, core: Any, loop: Any) -> None:
    server.token = "42:ANOTHER"
    task = loop.start()

    with pytest.raises(TokenError):
        await task
    assert core.state == "down"
    assert str(core.healths[-1].detail).startswith("Telegram does not know this bot token: copy it again")


def test_waits_double_up_to_a_minute_and_begin_anew_only_after_one_that_went_well() -> None:
    clock = FakeClock()
    backoff = Backoff(clock, jitter=lambda: 1.0)
    assert [backoff.failed() for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]
    backoff.succeeded()
    assert backoff.failed() == 60
    backoff.succeeded()
    clock.advance(seconds=STEADY_S)
    backoff.succeeded()
    assert backoff.failed() == 1


@given(jitter=st.floats(0, 1, exclude_max=True), failures=st.integers(1, 2000))
def test_a_wait_is_at_least_half_of_the_one_without_chance(jitter: float, failures: int) -> None:
    backoff = Backoff(FakeClock(), jitter=lambda: jitter)
    plain = Backoff(FakeClock(), jitter=lambda: 1.0)
    for _ in range(failures):
        wait_s, plain_s = backoff.failed(), plain.failed()
        assert plain_s / 2 <= wait_s <= plain_s <= 60


async def test_a_poll_is_held_open_by_telegram_and_not_by_us(
    server: BotApi, core: Any, loop: Any, clock: FakeClock
) -> None:
    loop.start()
    await core.until(lambda: core.state == "ok")
    server.user(7).says("hello")
    await core.until(lambda: core.received)

    assert {call.params["timeout"] for call in server.called("getUpdates")} == {"0", "30"}
    assert clock.now() - FakeClock().now() == timedelta(0)

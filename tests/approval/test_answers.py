"""What one answer covers: this question, others that are shown, later ones, or never again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from myclaw_core.approval.types import Approval
from myclaw_core.errors import StoreError
from myclaw_core.events.types import ApprovalAnswered, GrantEnded, GrantGiven, NeverChanged
from myclaw_core.policy.never import NeverRefusedError
from myclaw_core.testing import FakeClock
from myclaw_core.types.effect import Effect


def outcomes(approvals: Sequence[Approval]) -> list[tuple[str, str]]:
    return [(approval.verdict, approval.scope) for approval in approvals]


async def test_each_line_is_answered_alone_and_the_rest_counts_as_no(desk: Any, channel: Any, turn: Any, kit) -> None:
    """A partial answer."""
    task, ids = await desk.put(channel, turn, *(kit.asking(kit.planned(turn, name=f"{n}.md")) for n in range(3)))
    desk.clock.advance(seconds=4)
    assert await desk.press(ids[1], granted=False) is None
    assert await desk.press(ids[0]) is None
    assert await desk.press(ids[2], granted=False) is None
    assert outcomes(await task) == [("granted", "once"), ("denied", "once"), ("denied", "once")]


async def test_an_answer_is_durable_before_the_others_are_given(
    desk: Any, channel: Any, turn: Any, kit, tmp_path: Path
) -> None:
    """Another process reads it at once."""
    _task, ids = await desk.put(channel, turn, *(kit.asking(kit.planned(turn, name=f"{n}.md")) for n in range(2)))
    desk.clock.advance(seconds=4)
    await desk.press(ids[0])
    async with kit.opened(tmp_path / "events.db", desk.clock) as other:
        (answered,) = await other.events(ApprovalAnswered)
    assert answered.approval.request_id == ids[0]
    _task.cancel()
    await asyncio.wait({_task})


async def test_all_covers_the_lines_that_were_visible_long_enough(desk: Any, channel: Any, turn: Any, kit) -> None:
    """One that joined a second ago is left open, and so is one that nobody meant."""
    first, ids = await desk.put(channel, turn, *(kit.asking(kit.planned(turn, name=f"{n}.md")) for n in range(3)))
    desk.clock.advance(seconds=4)
    second, (joined,) = await desk.put(channel, turn, kit.asking(kit.planned(turn, name="late.md")))
    desk.clock.advance(seconds=1)
    assert channel.rounds == 1
    assert await desk.press(ids[0], also=(ids[1], joined)) is None
    assert [channel.shown_cards.is_open(card) for card in channel.shown_cards] == [False, False, True, True]
    assert "read first" in await desk.press(joined)
    desk.clock.advance(seconds=2)
    assert await desk.press(joined) is None
    assert outcomes(await second) == [("granted", "once")]
    await desk.press(ids[2], granted=False)
    assert outcomes(await first) == [("granted", "once"), ("granted", "batch"), ("denied", "once")]


async def test_what_cannot_be_undone_is_never_answered_together_with_others(
    desk: Any, channel: Any, turn: Any, kit
) -> None:
    """Neither as the line that was pressed nor as one that was meant too."""
    final = kit.asking(kit.planned(turn, name="b.md", reversibility="irreversible"))
    lawful = kit.asking(kit.planned(turn, name="c.md"), grantable=False)
    task, ids = await desk.put(channel, turn, kit.asking(kit.planned(turn)), final, lawful)
    desk.clock.advance(seconds=4)
    for alone in ids[1:]:
        assert "answered alone" in await desk.press(alone, also=(ids[0],))
        assert "answered alone" in await desk.press(alone, reach="10_min")
    assert "asked each time" in await desk.press(ids[2], reach="always")
    assert await desk.press(ids[0], also=tuple(ids)) is None
    assert [channel.shown_cards.is_open(card) for card in channel.shown_cards] == [False, True, True]
    task.cancel()
    await asyncio.wait({task})


async def test_similar_ones_that_wait_are_answered_and_later_ones_run(desk: Any, channel: Any, turn: Any, kit) -> None:
    """The same actor and class of the same sender; what differs in any of them stays open."""
    elsewhere = kit.asking(kit.planned(turn, folder="/home/me/other"))
    other_actor = kit.asking(kit.planned(turn, tool="fs_edit"))
    like = kit.asking(kit.planned(turn, name="b.md"))
    task, ids = await desk.put(channel, turn, kit.asking(kit.planned(turn)), like, elsewhere, other_actor)
    desk.clock.advance(seconds=4)
    assert await desk.press(ids[0], reach="10_min") is None
    assert [channel.shown_cards.is_open(card) for card in channel.shown_cards] == [False, False, True, True]
    for left in ids[2:]:
        await desk.press(left, granted=False)
    assert outcomes(await task)[:2] == [("granted", "once"), ("granted", "batch")]
    later = kit.turn(desk.clock)
    assert await desk.act(kit.planned(later, name="c.md"))
    assert not await desk.act(kit.planned(later, folder="/home/me/other"))
    assert not await desk.act(kit.planned(later, tool="fs_edit"))
    assert not await desk.act(kit.planned(later, reversibility="irreversible"))
    assert not await desk.act(kit.planned(kit.turn(desk.clock, sender="test:you")))
    (grant,) = await desk.gateway.standing()
    assert grant.used == 2


@pytest.mark.parametrize(("reach", "minutes"), [("10_min", 10), ("30_min", 30)])
async def test_a_grant_for_a_time_ends_with_it(
    desk: Any, channel: Any, turn: Any, kit, reach: str, minutes: int
) -> None:
    """To the second."""
    _task, ids = await desk.put(channel, turn, kit.asking(kit.planned(turn)))
    desk.clock.advance(seconds=4)
    await desk.press(ids[0], reach=reach)
    desk.clock.advance(seconds=minutes * 60 - 1)
    assert await desk.act(kit.planned(turn))
    desk.clock.advance(seconds=1)
    assert not await desk.act(kit.planned(turn))
    assert await desk.gateway.standing() == []
    await _task


async def test_three_times_counts_the_one_that_was_asked_and_those_that_waited(
    desk: Any, channel: Any, turn: Any, kit
) -> None:
    """Three in all, then it asks again; the record says how the grant ended."""
    task, ids = await desk.put(channel, turn, *(kit.asking(kit.planned(turn, name=f"{n}.md")) for n in range(2)))
    desk.clock.advance(seconds=4)
    await desk.press(ids[0], reach="3_times")
    assert outcomes(await task) == [("granted", "once"), ("granted", "batch")]
    assert await desk.act(kit.planned(turn))
    assert not await desk.act(kit.planned(turn))
    assert [event.ending for event in await desk.events(GrantEnded)] == ["used up"]


async def test_three_times_covers_no_more_than_two_others(desk: Any, channel: Any, turn: Any, kit) -> None:
    """Where more of the kind wait, the rest is asked."""
    task, ids = await desk.put(channel, turn, *(kit.asking(kit.planned(turn, name=f"{n}.md")) for n in range(4)))
    desk.clock.advance(seconds=4)
    await desk.press(ids[0], reach="3_times")
    assert [channel.shown_cards.is_open(card) for card in channel.shown_cards] == [False, False, False, True]
    await desk.press(ids[3], granted=False)
    await task
    assert not await desk.act(kit.planned(turn))
    assert [type(event) for event in await desk.events(GrantGiven, GrantEnded)] == [GrantGiven, GrantEnded]


async def test_exactly_this_is_bound_to_tool_arguments_effects_and_folder(
    desk: Any, channel: Any, turn: Any, kit
) -> None:
    """It is the only grant that what cannot be undone can have."""
    push = {"reversibility": "irreversible", "kind": "shell_exec", "tool": "shell"}
    _task, ids = await desk.put(channel, turn, kit.asking(kit.planned(turn, **push)))
    desk.clock.advance(seconds=4)
    assert await desk.press(ids[0], reach="always") is None
    await _task
    later = kit.turn(desk.clock)
    desk.clock.advance(days=300)
    assert await desk.act(kit.planned(later, **push))
    assert not await desk.act(kit.planned(later, **push), cwd="/home/me")
    assert not await desk.act(kit.planned(later, "y", **push))
    assert not await desk.act(kit.planned(later, **(push | {"actor": "neuron:x"})))
    assert not await desk.act(kit.planned(later, **(push | {"tool": "shell2", "actor": "shell"})))
    assert not await desk.act(kit.planned(later, **(push | {"reversibility": "reversible_with_cost"})))
    assert not await desk.act(kit.planned(kit.turn(desk.clock, sender="cron:weekly"), **push))
    (grant,) = await desk.gateway.standing()
    assert (grant.used, grant.until, grant.left) == (1, None, None)


async def test_a_command_that_hides_what_it_runs_has_no_similar_ones(desk: Any, channel: Any, turn: Any, kit) -> None:
    """Its class says nothing."""
    from attrs import evolve

    action = kit.planned(turn, kind="shell_exec", tool="shell", reversibility="reversible_with_cost")
    opaque = evolve(action.effects[0], scope="opaque @ ~/notes")
    _task, ids = await desk.put(channel, turn, kit.asking(evolve(action, effects=(opaque,))))
    desk.clock.advance(seconds=4)
    assert "answered alone" in await desk.press(ids[0], reach="30_min")
    assert await desk.press(ids[0], reach="always") is None
    await _task


async def test_never_denies_what_waits_takes_back_what_was_not_used_and_lasts(
    desk: Any, channel: Any, turn: Any, kit, tmp_path: Path
) -> None:
    """Answer and list are one transaction; another process knows it, and an intent of it is refused."""
    task, ids = await desk.put(
        channel,
        turn,
        *(kit.asking(kit.planned(turn, name=f"{n}.md")) for n in range(3)),
        kit.asking(kit.planned(turn, folder="/home/me/other")),
    )
    desk.clock.advance(seconds=4)
    await desk.press(ids[0])
    assert await desk.press(ids[1], granted=False, reach="never") is None
    assert [channel.shown_cards.is_open(card) for card in channel.shown_cards] == [False, False, False, True]
    await desk.press(ids[3])
    assert outcomes(await task) == [
        ("granted", "once"),
        ("denied", "once"),
        ("denied", "batch"),
        ("granted", "once"),
    ]
    with pytest.raises(StoreError, match="not open any more"):
        async with desk.log.transaction() as tx:
            await desk.gateway.consume(tx, ids[0], kit.planned(turn, name="0.md").args_digest)
    effect_class = "fs_write:/home/me/notes/*"
    assert desk.never.check("test:me", "fs_write", effect_class) is not None
    assert [event.change for event in await desk.events(NeverChanged)] == ["added"]
    async with kit.opened(tmp_path / "events.db", desk.clock) as other:
        assert [entry.effect_class for entry in await other.gateway.forbidden("test:me")] == [effect_class]
        assert await other.gateway.forbidden("test:you") == []
        with pytest.raises(NeverRefusedError):
            async with other.log.transaction() as tx:
                await other.never.require(tx, "test:me", "fs_write", [effect_class])


async def test_never_needs_the_reading_pause_and_a_no(desk: Any, channel: Any, turn: Any, kit) -> None:
    """A plain no counts at once."""
    task, ids = await desk.put(channel, turn, kit.asking(kit.planned(turn)))
    assert "read first" in await desk.press(ids[0], granted=False, reach="never")
    desk.clock.advance(seconds=4)
    assert "no answer to this" in await desk.press(ids[0], granted=True, reach="never")
    assert "no answer to this" in await desk.press(ids[0], granted=False, reach="10_min")
    assert "no answer to this" in await desk.press(ids[0], granted=True, reach="always", also=(ids[0],))
    assert await desk.press(ids[0], granted=False) is None
    assert outcomes(await task) == [("denied", "once")]


async def test_a_card_that_is_shown_later_has_its_own_pause(desk: Any, channel: Any, turn: Any, kit) -> None:
    """A terminal shows one after another."""
    task, ids = await desk.put(channel, turn, *(kit.asking(kit.planned(turn, name=f"{n}.md")) for n in range(2)))
    desk.clock.advance(seconds=4)
    channel.shown_cards.shown(channel.shown_cards[1])
    desk.clock.advance(seconds=1)
    assert await desk.press(ids[0], also=(ids[1],)) is None
    assert "read first: a yes counts in 2.0 s" in await desk.press(ids[1])
    desk.clock.advance(seconds=2)
    assert await desk.press(ids[1]) is None
    await task


async def test_questions_of_a_later_moment_join_those_that_are_shown(desk: Any, channel: Any, turn: Any, kit) -> None:
    """However long those stay open: a question that waits for another one's answer could expire unseen."""
    first, ids = await desk.put(channel, turn, kit.asking(kit.planned(turn)))
    desk.clock.advance(seconds=600)
    second, (later,) = await desk.put(channel, turn, kit.asking(kit.planned(turn, name="b.md")))
    assert channel.rounds == 1
    desk.clock.advance(seconds=4)
    assert await desk.press(later) is None
    assert await desk.press(ids[0]) is None
    assert [*outcomes(await first), *outcomes(await second)] == [("granted", "once")] * 2


@pytest.mark.parametrize(
    "answer", [{"granted": True}, {"granted": False}, {"granted": False, "reach": "never"}], ids=str
)
async def test_no_answer_counts_for_a_question_that_was_not_shown(
    desk: Any, channel: Any, turn: Any, kit, answer: dict[str, Any]
) -> None:
    """However long it waits: the reading pause has not begun."""
    channel.hides = True
    task, (hidden,) = await desk.put(channel, turn, kit.asking(kit.planned(turn)))
    desk.clock.advance(seconds=60)
    assert await desk.press(hidden, **answer) == "read first: this question was not shown yet"
    channel.shown_cards.shown(channel.shown_cards[0])
    desk.clock.advance(seconds=4)
    assert await desk.press(hidden, **answer) is None
    await task


@pytest.mark.parametrize("reach", ["10_min", "30_min", "3_times", "always", "all"])
@pytest.mark.parametrize("seen_s", [None, 1.0], ids=["hidden", "in its reading pause"])
async def test_a_yes_to_one_question_answers_no_other_that_was_not_read(
    desk: Any, channel: Any, turn: Any, kit, reach: str, seen_s: float | None
) -> None:
    """It stays a question of its own, is answered by itself and runs only then."""
    first, (pressed,) = await desk.put(channel, turn, kit.asking(kit.planned(turn)))
    desk.clock.advance(seconds=4)
    channel.hides = True
    second, (other,) = await desk.put(channel, turn, kit.asking(kit.planned(turn)))
    if seen_s is not None:
        channel.shown_cards.shown(channel.shown_cards[1])
        desk.clock.advance(seconds=seen_s)
    meant = {"also": (other,)} if reach == "all" else {"reach": reach}
    assert await desk.press(pressed, **meant) is None
    assert channel.shown_cards.is_open(channel.shown_cards[1])
    channel.shown_cards.shown(channel.shown_cards[1])
    desk.clock.advance(seconds=4)
    assert await desk.press(other) is None
    assert [*outcomes(await first), *outcomes(await second)] == [("granted", "once")] * 2


async def test_never_also_ends_what_was_not_shown(desk: Any, channel: Any, turn: Any, kit) -> None:
    """It would be refused from now on, whatever the answer."""
    first, (pressed,) = await desk.put(channel, turn, kit.asking(kit.planned(turn)))
    desk.clock.advance(seconds=4)
    channel.hides = True
    second, _ids = await desk.put(channel, turn, kit.asking(kit.planned(turn, name="b.md")))
    assert await desk.press(pressed, granted=False, reach="never") is None
    assert [*outcomes(await first), *outcomes(await second)] == [("denied", "once"), ("denied", "batch")]


async def test_a_turn_that_ends_takes_its_questions_away_and_leaves_those_that_joined(
    desk: Any, channel: Any, turn: Any, kit
) -> None:
    """The display goes on for the others."""
    first, ids = await desk.put(channel, turn, kit.asking(kit.planned(turn)))
    second, (joined,) = await desk.put(channel, kit.turn(desk.clock), kit.asking(kit.planned(turn, name="b.md")))
    first.cancel()
    await asyncio.wait({first})
    desk.clock.advance(seconds=4)
    assert "not open any more" in await desk.press(ids[0])
    assert await desk.press(joined) is None
    assert outcomes(await second) == [("granted", "once")]


async def test_two_presses_at_once_are_one_answer(desk: Any, channel: Any, turn: Any, kit) -> None:
    """Whichever came first."""
    task, ids = await desk.put(channel, turn, kit.asking(kit.planned(turn)))
    desk.clock.advance(seconds=4)
    refusals = await asyncio.gather(*(desk.press(ids[0]) for _ in range(5)))
    assert refusals.count(None) == 1
    await task
    assert len(await desk.events(ApprovalAnswered)) == 1


async def test_a_late_answer_is_told_how_the_question_ended(
    desk: Any, channel: Any, turn: Any, kit, tmp_path: Path
) -> None:
    """To its sender; anybody else only learns that it is not open."""
    task, ids = await desk.put(channel, turn, *(kit.asking(kit.planned(turn, name=f"{n}.md")) for n in range(2)))
    await desk.press(ids[0], granted=False)
    assert "answered with no" in await desk.press(ids[0])
    assert await desk.press(ids[0], by="test:you") == "this question is not open any more"
    task.cancel()
    await asyncio.wait({task})
    async with desk.log.transaction() as tx:
        await desk.gateway.expire_dead(tx, turn.id, "restart")
    async with kit.opened(tmp_path / "events.db", desk.clock) as restarted:
        assert "started anew; send your message again" in await restarted.press(ids[1])
        desk.clock.advance(days=8)
        await restarted.gateway.recover()
        assert await restarted.press(ids[1]) == "this question is not open any more"


async def test_after_some_yeses_in_a_row_one_wants_the_name(
    tmp_path: Path, clock: FakeClock, channel: Any, turn: Any, kit
) -> None:
    """It is counted over restarts and across the lines of one question; a no begins anew."""

    async def tutor_flags(desk: Any, count: int, **answer: Any) -> list[bool]:
        folders = [f"/home/me/{number}" for number in range(count)]
        task, ids = await desk.put(channel, turn, *(kit.asking(kit.planned(turn, folder=folder)) for folder in folders))
        clock.advance(seconds=4)
        flags = [card.request.tutor for card in channel.shown_cards]
        for request_id, tutor, card in zip(ids, flags, list(channel.shown_cards), strict=True):
            name = {"typed": card.request.draft.action.targets[0]} if tutor else {}
            assert await desk.press(request_id, **(name | answer)) is None
        await task
        return flags

    async with kit.opened(tmp_path / "events.db", clock, tutor_every=3) as desk:
        assert await tutor_flags(desk, 2) == [False, False]
    async with kit.opened(tmp_path / "events.db", clock, tutor_every=3) as desk:
        assert await tutor_flags(desk, 4) == [False, True, False, False]
        assert await tutor_flags(desk, 1, granted=False) == [False]
        assert await tutor_flags(desk, 4) == [False, False, False, True]


async def test_similar_questions_count_once_for_the_check(
    tmp_path: Path, clock: FakeClock, channel: Any, turn: Any, kit: Any
) -> None:
    """One press may answer all of them, so that none of them stands in its way."""
    async with kit.opened(tmp_path / "events.db", clock, tutor_every=2) as desk:
        task, ids = await desk.put(channel, turn, *(kit.asking(kit.planned(turn, name=f"{n}.md")) for n in range(9)))
        clock.advance(seconds=4)
        assert not any(card.request.tutor for card in channel.shown_cards)
        await desk.press(ids[0], reach="10_min")
        await task
        for folder, tutor in (("b", False), ("c", True)):
            task, ids = await desk.put(channel, turn, kit.asking(kit.planned(turn, folder=folder)))
            assert channel.shown_cards[0].request.tutor is tutor
            clock.advance(seconds=4)
            await desk.press(ids[0], typed="a.md" if tutor else "")
            await task


async def test_a_question_that_must_be_checked_takes_only_the_name_and_only_alone(
    desk: Any, channel: Any, turn: Any, kit
) -> None:
    """Whoever demands it; the whole target or its last part."""
    task, ids = await desk.put(
        channel,
        turn,
        kit.asking(kit.planned(turn), tutor=True),
        kit.asking(kit.planned(turn, name="b.md"), tutor=True),
        kit.asking(kit.planned(turn, name="c.md")),
    )
    desk.clock.advance(seconds=4)
    for typed in ("", "yes", "b.md", "A.md"):
        assert "give the name" in await desk.press(ids[0], typed=typed)
    for more in ({"reach": "10_min"}, {"reach": "always"}, {"also": (ids[2],)}):
        assert "granted alone" in await desk.press(ids[0], typed="a.md", **more)
    assert await desk.press(ids[2], also=tuple(ids)) is None
    assert [channel.shown_cards.is_open(card) for card in channel.shown_cards] == [True, True, False]
    assert await desk.press(ids[0], typed="a.md") is None
    assert await desk.press(ids[1], typed="/home/me/notes/b.md") is None
    assert outcomes(await task) == [("granted", "once")] * 3


async def test_never_forbids_each_class_by_which_the_action_changes_something(
    desk: Any, channel: Any, turn: Any, kit
) -> None:
    """A command of two programs is not only the first of them; what it only reads stays allowed."""
    effects = tuple(
        Effect(kind=kind, scope=scope, target="t", reversibility="reversible")
        for kind, scope in (("shell_exec", "cd @ ~"), ("shell_exec", "rm @ ~"), ("fs_read", "~/*"))
    )
    task, ids = await desk.put(channel, turn, kit.asking(evolve(kit.planned(turn), effects=effects)))
    desk.clock.advance(seconds=4)
    assert await desk.press(ids[0], granted=False, reach="never") is None
    await task

    forbidden = [entry.effect_class for entry in await desk.gateway.forbidden("test:me")]
    assert forbidden == ["shell_exec:cd @ ~", "shell_exec:rm @ ~"]

"""Approvals on Telegram: what is read, who may press what, and that each press counts once or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from attrs import evolve
from bot_api import BotApi
from hypothesis import given
from hypothesis import strategies as st
from myclaw_telegram.api import Button
from myclaw_telegram.decoys import decoys
from myclaw_telegram.keyboard import Data
from talking import Talk, question, talking

from myclaw_core.events.types import ApprovalAnswered, StepIntended
from myclaw_core.policy.never import NEVER_KIND
from myclaw_core.runtime.channel import Status
from myclaw_core.types.text import Text


@pytest.fixture
async def talk(server: BotApi, tmp_path: Path) -> AsyncIterator[Talk]:
    """Ada's chat."""
    async with talking(server, tmp_path / "events.db") as talk:
        yield talk


async def test_a_card_says_what_would_happen_and_gets_its_buttons_after_the_reading_pause(talk: Talk) -> None:
    """There is nothing to press before."""
    asked = await talk.ask(question(talk.clock, diff="--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n"))
    for said in (
        "write /home/me/notes/a.md",
        "tool: fs_write (risk: low)",
        "to what: fs_write (reversible): /home/me/notes/a.md",
        "undo: yes",
        "cost: nothing",
        "record: nothing yet",
        "-old\n+new",
    ):
        assert said in talk.last.text
    assert talk.last.keyboard == []
    await talk.read()
    assert talk.labels() == ["yes", "no", "more…"]
    assert await talk.press("yes") == ""
    assert [approval.verdict for approval in await asked] == ["granted"]
    await talk.close()
    assert talk.last.text.endswith("→ yes")
    assert talk.last.keyboard == []


async def test_a_no_is_a_no(talk: Talk) -> None:
    """And the message says so."""
    asked = await talk.ask(question(talk.clock))
    await talk.read()
    await talk.press("no")
    assert [approval.verdict for approval in await asked] == ["denied"]
    await talk.close()
    assert talk.last.text.endswith("→ no")


async def test_a_press_after_half_a_second_changes_nothing(talk: Talk) -> None:
    """Even one that knows which question it is about."""
    asked = await talk.ask(question(talk.clock))
    request = (await talk.desk.gateway.pending())[0]
    await talk.pass_time(0.5)
    told = await talk.forge(Data("yes", request.id, talk.clock.token()).encoded())
    assert "read it again" in told
    assert len(await talk.desk.gateway.pending()) == 1
    await talk.read(2.5)
    await talk.press("no")
    await asked


async def test_two_racing_presses_count_once(talk: Talk) -> None:
    """Yes and no at the same moment: the first one."""
    asked = await talk.ask(question(talk.clock))
    await talk.read()
    first, second = talk.ada.presses(talk.last, "yes"), talk.ada.presses(talk.last, "no")
    await asyncio.gather(*map(talk.chats.pressed, await talk.presses()))
    assert [approval.verdict for approval in await asked] == ["granted"]
    assert len(talk.core.replies) == 0  # through the channel, once; nothing went the way of late presses
    await talk.server.until(lambda: {first, second} <= set(talk.server.press_answers))
    assert talk.server.press_answers[first] == ""
    assert talk.server.press_answers[second]


async def test_a_replayed_press_does_nothing_but_tell(talk: Talk) -> None:
    """Twice, after the answer."""
    asked = await talk.ask(question(talk.clock))
    await talk.read()
    message, data = talk.last, talk.last.button("yes")["callback_data"]
    await talk.press("yes")
    await asked
    for _ in range(2):
        assert "not open any more" in await talk.forge(data, message)
    answers = await talk.desk.events(ApprovalAnswered)
    assert [event.approval.verdict for event in answers] == ["granted"]
    await talk.close()
    assert message.text.endswith("→ yes")
    assert message.keyboard == []


async def test_somebody_else_in_the_chat_cannot_answer_and_uses_nothing_up(talk: Talk) -> None:
    """Nor does a renamed account: only the number counts."""
    talk.core.paired.add("telegram:8")
    asked = await talk.ask(question(talk.clock))
    await talk.read()
    talk.ada.presses(talk.last, "yes")
    (press,) = await talk.presses()
    await talk.chats.pressed(evolve(press, user_id=8))
    await talk.until(lambda: "only the person" in talk.server.press_answers.get(press.press_id, ""))
    assert talk.core.turned == [("telegram:8", "a button for somebody else")]
    assert not asked.done()
    await talk.press("yes")
    assert [approval.verdict for approval in await asked] == ["granted"]


async def test_a_forwarded_keyboard_or_one_of_another_message_does_nothing(talk: Talk) -> None:
    """A token is good for its chat and message, and for what its buttons say."""
    asked = await talk.ask(question(talk.clock))
    await talk.read()
    yes = Data.decoded(talk.last.button("yes")["callback_data"])
    assert yes is not None
    request_id = yes.id
    elsewhere = await talk.api.send(talk.ada.id, "another message")
    other = next(message for message in talk.server.messages if message.id == elsewhere)
    assert "nothing" in await talk.forge(yes.encoded(), other)
    assert "nothing" in await talk.forge(Data("always", request_id, yes.token).encoded(), talk.server.messages[0])
    assert "nothing" in await talk.forge(Data("yes", talk.clock.new_id(), yes.token).encoded(), talk.server.messages[0])
    assert "nothing" in await talk.forge("yes", talk.server.messages[0])
    assert [what for _sender, what in talk.core.turned] == ["a button of another message"] * 3 + [
        "a button that was never shown"
    ]
    assert not asked.done()
    await talk.press("no", talk.server.messages[0])
    await asked


async def test_changed_arguments_cannot_use_a_yes(talk: Talk) -> None:
    """The approval is for what was shown."""
    asked = await talk.ask(question(talk.clock))
    await talk.read()
    await talk.press("yes")
    (approval,) = await asked
    with pytest.raises(Exception, match="other arguments"):
        async with talk.desk.log.transaction() as tx:
            await talk.desk.gateway.consume(tx, approval.request_id, "0" * 64)
    assert await talk.desk.events(StepIntended) == []


NASTY = "a\u202egpj.exe\x1b[2J</b><a href='tg://x'>x</a>&lt;"


async def test_what_is_shown_steers_nothing(talk: Talk) -> None:
    """Direction marks, escape sequences and markup are spelled out."""
    asked = await talk.ask(question(talk.clock, name=NASTY, content=NASTY))
    assert "a\\u202egpj.exe" in talk.last.text
    assert "</b><a href='tg://x'>x</a>&lt;" in talk.last.text
    assert not {"\u202e", "\x1b"} & set(talk.last.text)
    await talk.read()
    await talk.press("no")
    await asked


async def test_long_arguments_are_cut_and_can_be_seen_whole(talk: Talk) -> None:
    """4,000 characters and a diff of 300 lines."""
    content = "".join(f"{n:04d}" for n in range(1000))
    diff = "--- a\n+++ b\n" + "".join(f"+line {n}\n" for n in range(300))
    asked = await talk.ask(question(talk.clock, content=content, diff=diff))
    card = talk.last
    assert "characters not shown" in card.text
    assert "more lines of the diff; show all shows all" in card.text
    await talk.read()
    await talk.press("more…", card)
    await talk.press("show all", card)
    await talk.until(lambda: "/revoke ends it" in talk.last.text)
    whole = "".join(message.text for message in talk.server.messages[1:])
    assert content in whole
    assert "+line 299" in whole
    assert "sha256" in whole
    await talk.press("no", card)
    await asked


@pytest.mark.parametrize("label", ["yes, similar ones for 10 min", "yes, similar ones 3 times"])
@pytest.mark.parametrize("after_s", [0.0, 30.0], ids=["at once", "much later"])
async def test_what_comes_while_more_is_read_has_a_message_of_its_own_and_no_grant_answers_it_unread(
    talk: Talk, label: str, after_s: float
) -> None:
    """It is answered by itself, however the grant reads."""
    first = await talk.ask(question(talk.clock))
    card = talk.last
    await talk.read()
    await talk.press("more…", card)
    await talk.until(lambda: "back" in talk.labels(card))
    await talk.pass_time(after_s)
    second = await talk.ask(question(talk.clock, name="b.md"))
    late = talk.last
    assert late is not card
    assert "back" in talk.labels(card)
    assert await talk.press(label, card) == ""
    assert [approval.verdict for approval in await first] == ["granted"]
    assert len(await talk.desk.gateway.pending()) == 1
    await talk.press("no", late)
    assert [approval.verdict for approval in await second] == ["denied"]
    await talk.close()
    assert late.text.endswith("→ no")


async def test_what_was_answered_stays_so_after_a_crash_while_another_question_is_open(talk: Talk) -> None:
    """Only the open one offers to ask again."""
    first = await talk.ask(question(talk.clock))
    card = talk.last
    await talk.pass_time(30)
    still = await talk.ask(question(talk.clock, name="b.md"))
    late = talk.last
    await talk.press("yes", card)
    await first
    await talk.until(lambda: card.text.endswith("→ yes") and card.keyboard == [])
    await talk.until(lambda: talk.core.kept["open messages"].count(b'"message"') == 1)
    await talk.restart()
    await talk.until(lambda: talk.labels(late) == ["ask again"])
    assert card.text.endswith("→ yes")
    still.cancel()


async def test_what_a_grant_answers_in_another_message_says_so_there(talk: Talk) -> None:
    """Both could be read."""
    first = await talk.ask(question(talk.clock))
    card = talk.last
    await talk.pass_time(30)
    second = await talk.ask(question(talk.clock, name="b.md"))
    late = talk.last
    await talk.read()
    await talk.press("more…", card)
    await talk.press("yes, similar ones for 10 min", card)
    assert [approval.verdict for approval in [*await first, *await second]] == ["granted"] * 2
    await talk.close()
    assert late.text.endswith("→ yes, by the answer to another question")
    assert late.keyboard == []


async def test_more_shows_every_answer_with_what_it_means(talk: Talk) -> None:
    """And back leads back."""
    asked = await talk.ask(question(talk.clock))
    await talk.read()
    await talk.press("more…")
    await talk.until(lambda: "back" in talk.labels())
    assert talk.labels() == [
        "yes",
        "no",
        "yes, similar ones for 10 min",
        "yes, similar ones for 30 min",
        "yes, similar ones 3 times",
        "no, never again",
        "yes, always exactly this",
        "show all",
        "back",
    ]
    assert (
        "similar ones run without a question for 10 minutes: fs_write doing fs_write:/home/me/notes/*" in talk.last.text
    )
    for button in talk.labels()[2:-2]:
        assert f"• {button}: " in talk.last.text
    await talk.press("back")
    await talk.press("more…")
    await talk.press("no, never again")
    assert [approval.verdict for approval in await asked] == ["denied"]
    assert await talk.desk.log.scan(NEVER_KIND)


async def test_eight_questions_are_one_message_and_one_press_answers_all(talk: Talk) -> None:
    """Each line can be denied before."""
    asked = await talk.ask(*(question(talk.clock, name=f"{n}.md") for n in range(1, 9)))
    assert len(talk.server.messages) == 1
    await talk.read()
    assert talk.last.text.startswith("8 actions need an answer:")
    await talk.press("3: no")
    await talk.press("yes to all these 7")
    verdicts = [approval.verdict for approval in await asked]
    assert verdicts == ["granted"] * 2 + ["denied"] + ["granted"] * 5
    assert [approval.scope for approval in await asked].count("once") == 2
    await talk.close()
    assert talk.last.text.count("→ yes") == 7
    assert talk.last.keyboard == []


async def test_twelve_cards_fit_and_a_thirteenth_gets_a_message_of_its_own(talk: Talk) -> None:
    """Whatever they hold."""
    hostile = [question(talk.clock, name=f"{'&<>' * 60}{n}.md", content="&" * 4000) for n in range(12)]
    asked = await talk.ask(*hostile, question(talk.clock, name="last.md"))
    await talk.until(lambda: len(talk.server.messages) == 2)
    first, second = talk.server.messages
    assert "12." in first.text
    assert "last.md" in second.text
    await talk.until(lambda: bool(first.keyboard and second.keyboard))
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    await talk.until(lambda: not first.keyboard and not second.keyboard)
    assert first.text.count("no answer, which counts as no") == 12


async def test_a_question_that_joins_has_a_pause_of_its_own(talk: Talk) -> None:
    """All covers only what could be read."""
    first = await talk.ask(question(talk.clock, name="1.md"))
    await talk.read()
    turn_task = asyncio.ensure_future(
        talk.desk.gateway.ask([question(talk.clock, name="2.md")], _turn(talk), talk.channel)
    )
    stale = talk.last.button("yes")["callback_data"]
    await talk.until(lambda: "2.md" in talk.last.text)
    assert len(talk.server.messages) == 1
    assert not any(label.startswith("2:") for label in talk.labels())
    assert not any("all these" in label for label in talk.labels())
    assert "read it again" in await talk.forge(stale)
    await talk.until(lambda: "yes to all these 2" in talk.labels())
    await talk.press("yes to all these 2")
    assert [approval.verdict for approval in (*await first, *await turn_task)] == ["granted", "granted"]


async def test_all_means_the_lines_it_was_shown_for(talk: Talk) -> None:
    """One that could be answered only since then is still open."""
    first = await talk.ask(question(talk.clock, name="1.md"), question(talk.clock, name="2.md"))
    await talk.read()
    asking = talk.desk.gateway.ask([question(talk.clock, name="3.md")], _turn(talk), talk.channel)
    third = asyncio.ensure_future(asking)
    await talk.until(lambda: "3.md" in talk.last.text)
    await talk.clock.asleep(1)
    talk.ada.presses(talk.last, "yes to all these 2")
    (press,) = await talk.presses()
    talk.clock.advance(seconds=4)  # the third could be answered now
    await talk.chats.pressed(press)
    assert [approval.verdict for approval in await first] == ["granted", "granted"]
    assert not third.done()
    await talk.press("3: no")
    assert [approval.verdict for approval in await third] == ["denied"]


async def test_irreversible_actions_are_answered_alone(talk: Talk) -> None:
    """No similar ones, not with all."""
    kinds = {"kind": "outbound_message", "reversibility": "irreversible", "tool": "mail"}
    asked = await talk.ask(
        question(talk.clock), question(talk.clock, name="b", **kinds), question(talk.clock, name="c")
    )
    await talk.read()
    assert "yes to all these 2" in talk.labels()
    await talk.press("yes to all these 2")
    await talk.until(lambda: talk.labels() == ["2: yes", "2: no", "2: more…"])
    await talk.press("2: more…")
    await talk.until(lambda: "back" in talk.labels())
    assert not any("similar" in label for label in talk.labels())
    await talk.press("no")
    assert [approval.verdict for approval in await asked] == ["granted", "denied", "granted"]


async def test_similar_ones_for_a_time_answer_the_others_too(talk: Talk) -> None:
    """And the message says by which."""
    asked = await talk.ask(question(talk.clock, name="1.md"), question(talk.clock, name="2.md"))
    await talk.read()
    await talk.press("1: more…")
    await talk.press("yes, similar ones for 10 min")
    assert [approval.verdict for approval in await asked] == ["granted", "granted"]
    await talk.close()
    assert "→ yes, similar ones for 10 min" in talk.last.text
    assert "→ answered together with 1" in talk.last.text


async def test_what_must_be_checked_is_granted_by_choosing_its_name(talk: Talk) -> None:
    """There is no yes; a wrong name grants nothing and costs another reading pause."""
    asked = await talk.ask(question(talk.clock, name="report-7.md", tutor=True), question(talk.clock, name="b.md"))
    await talk.read()
    names = [label.removeprefix("1: ") for label in talk.labels() if label.startswith("1: ")]
    assert names[-2:] == ["no", "more…"]
    assert sorted(names[:3]) == ["b.md", "report-7.md", "report-8.md"]
    assert not any("all these" in label for label in talk.labels())
    assert "has to be checked" in await talk.press("1: b.md")
    await talk.sees("2: yes", "2: no", "2: more…")
    await talk.press("1: report-7.md")
    await talk.press("2: no")
    assert [approval.verdict for approval in await asked] == ["granted", "denied"]


async def test_a_question_that_was_stopped_says_so(talk: Talk) -> None:
    """`/stop` while it is open."""
    asked = await talk.ask(question(talk.clock))
    await talk.read()
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    await talk.until(lambda: not talk.last.keyboard)
    assert "no answer, which counts as no" in talk.last.text


async def test_after_a_restart_the_message_is_edited_and_offers_to_ask_again(talk: Talk) -> None:
    """A press counts as one wish."""
    asked = await talk.ask(question(talk.clock))
    await talk.read()
    data = talk.last.button("yes")["callback_data"]
    request = (await talk.desk.gateway.pending())[0]
    asked.cancel()  # the process is gone: nothing of it may edit the message
    talk.chats.__init__(talk.api, talk.clock)  # type: ignore[misc]
    await asyncio.gather(asked, return_exceptions=True)
    await talk.restart()
    await talk.until(lambda: talk.labels() == ["ask again"])
    assert talk.last.text == "write /home/me/notes/a.md\n→ this question is not open any more"
    assert "not open any more" in await talk.forge(data)
    await talk.until(lambda: talk.labels() == ["ask again"])
    again = talk.last.button("ask again")["callback_data"]
    assert await talk.press("ask again") == ""
    assert "asked again already" in await talk.forge(again)
    assert talk.core.wishes == [(talk.sender, request.id, str(talk.last.chat_id))]
    await talk.until(lambda: not talk.last.keyboard)


async def test_a_person_who_blocked_the_bot_breaks_nothing(talk: Talk) -> None:
    """Nobody can read the question, so it is a no."""
    talk.ada.blocks()
    approvals = await talk.desk.gateway.ask([question(talk.clock)], _turn(talk), talk.channel)
    assert [approval.verdict for approval in approvals] == ["expired"]
    assert any("does not deliver" in trouble for trouble in talk.troubles)


def _turn(talk: Talk) -> object:
    from gateways import turn_of

    return turn_of(talk.clock, talk.sender)


@given(st.text(min_size=1), st.lists(st.text(), max_size=3))
def test_decoys_are_two_other_names_and_the_same_each_time(name: str, others: list[str]) -> None:
    """Whatever the name."""
    found = decoys(name, [name], others)
    assert found == decoys(name, [name], others)
    assert len({name, *found}) == 3
    assert all(found)


@given(st.uuids(), st.text(st.characters(codec="ascii"), max_size=30))
def test_data_of_a_button_is_read_as_it_was_written_or_not_at_all(request_id: object, noise: str) -> None:
    """And has at most 64 bytes."""
    data = Data("3 times", request_id, "token-0000000000000001")  # type: ignore[arg-type]
    assert len(data.encoded().encode()) <= 64
    assert Data.decoded(data.encoded()) == data
    found = Data.decoded(noise)
    assert found is None or found.encoded() == noise


SECRET = "sk-ant-" + "api03-" + "Zx9" * 31 + "AA"


async def test_no_secret_is_sent_wherever_it_stands(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a path, a diff, an answer, a status and the name of a file: what is sent lies on machines of others."""
    monkeypatch.setenv("SOME_PASSWORD", "correct horse battery")
    path = f"{SECRET}.md"
    card = question(
        talk.clock, f"write {path} " + "x" * 400, name=path, diff=f"--- a\n+++ b\n+{SECRET}\n" + "+x\n" * 900
    )
    asked = await talk.ask(card)
    await talk.read()
    await talk.press("more…")
    await talk.press("show all")
    talk.channel.status(Status(phase="tool", tool="fs_read", detail=path))
    talk.channel.text("word " * 50 + f"it is {SECRET} or correct horse battery " + "word " * 285)
    talk.channel.notice(Text(f"about {SECRET}"))
    talk.channel.show(f"and *{SECRET}*")
    await talk.until(lambda: any("and" in message.text for message in talk.server.messages))
    await talk.api.send(talk.ada.id, f"{SECRET} <b>", keyboard=[[Button(SECRET[:60], "y:1")]])
    await talk.press("no", talk.server.messages[0])
    await asked
    sent = "\n".join(str(call.params) for call in talk.server.calls)
    files = b"".join(message.file.content for message in talk.server.messages if message.file)
    assert SECRET[:40] not in sent
    assert "correct horse battery" not in sent
    assert SECRET.encode() not in files
    assert "«redacted:anthropic-key»" in talk.server.messages[0].text

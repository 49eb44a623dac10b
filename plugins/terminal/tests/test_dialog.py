"""Answers beyond yes and no, cards that join, and cards that another answer closes."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from myclaw_terminal.card import card_lines, detail_lines
from myclaw_terminal.dialog import Dialog
from myclaw_terminal.lines import Line, layout
from myclaw_terminal.screen import DumbScreen

from myclaw_core.approval.cards import Asked, Cards
from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.shown.offers import Offer, word
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text


class Table:
    """A person with fixed answers, and somebody who takes them and closes what they cover.

    Attributes:
        before: Called with the number of each question before it is answered.
    """

    def __init__(self, cards: Sequence[ApprovalCard], *answers: str) -> None:
        self.clock = FakeClock()
        self.asked = [Asked(card=card, cwd="/srv") for card in cards]
        self.cards = Cards(self.clock)
        self.cards.add(self.asked)
        self.replies: list[Reply] = []
        self.before: Callable[[int], None] = lambda number: None
        self._answers = list(answers)
        self._out = io.StringIO()
        self._questions = 0

    async def answer(self, question: str, counted: object = tuple, *, pasted: bool = False) -> str:
        """Return the next answer; without one, wait for ever."""
        self._out.write(question + "\n")
        self._questions += 1
        self.before(self._questions)
        if not self._answers:
            await asyncio.Event().wait()
        return self._answers.pop(0)

    async def submit(self, reply: Reply) -> Text | None:
        """Take an answer."""
        self.replies.append(reply)
        self.close(reply.request_id.int, *(other.int for other in reply.also))
        return None

    def close(self, *numbers: int) -> None:
        """Close requests."""
        self.cards.withdraw([asked for asked in self.asked if asked.request.id.int in numbers])

    def join(self, *cards: ApprovalCard) -> None:
        """Let cards join."""
        new = [Asked(card=card, cwd="/srv") for card in cards]
        self.asked += new
        self.cards.add(new)

    async def ask(self) -> str:
        """Put the cards and return what was shown."""
        await Dialog(DumbScreen(self._out), self, self.clock, self.cards, self.submit).ask()  # type: ignore[arg-type]
        return self._out.getvalue()


def text(lines: list[Line]) -> str:
    """Return the lines unwrapped."""
    return "\n".join(row for line in lines for row in layout(line, None))


@pytest.mark.parametrize(
    ("typed", "granted", "reach"),
    [
        ("10", True, "10_min"),
        ("10 min", True, "10_min"),
        ("30 MIN", True, "30_min"),
        ("3", True, "3_times"),
        ("10min", True, "10_min"),
        ("30min", True, "30_min"),
        ("3times", True, "3_times"),
        ("3x", True, "3_times"),
        ("3 times", True, "3_times"),
        ("always", True, "always"),
        ("never", False, "never"),
        ("yes", True, "once"),
        ("n", False, "once"),
    ],
)
async def test_each_answer_says_how_far_it_goes(build: Any, typed: str, granted: bool, reach: str) -> None:
    """By its word; the numbers may stand alone."""
    table = Table([build.card(batchable=True, standing=True)], typed)
    await table.ask()
    (reply,) = table.replies
    assert (reply.granted, reply.reach, reply.also) == (granted, reach, ())


@pytest.mark.parametrize("typed", ["always", "10", "30 min", "3 times", "all", "ne", "a", "1", "3x"])
async def test_what_a_card_does_not_offer_is_no_answer_to_it(build: Any, typed: str) -> None:
    """It is asked again."""
    table = Table([build.card()], typed, "no")
    shown = await table.ask()
    assert "type yes, no or details, or never\n" in shown
    assert [reply.granted for reply in table.replies] == [False]


async def test_the_hint_at_a_wrong_answer_lists_all_that_the_question_takes(build: Any) -> None:
    """One that must be checked says which name is wanted."""
    table = Table([build.card(batchable=True, standing=True)], "what", "no")
    assert "type yes, no or details, or never, always, 10 min, 30 min, 3 times" in await table.ask()
    mail = build.effect("mail:ada@example.org", kind="network_out")
    table = Table([build.card("Send", mail, tutor=True)], "yes", "ada@example.org")
    shown = await table.ask()
    assert "this one must be checked: type the address that it goes to, or no, details or never" in " ".join(
        shown.split()
    )
    assert [reply.typed for reply in table.replies] == ["ada@example.org"]


async def test_all_means_the_lines_that_were_shown_and_may_be_answered_together(build: Any) -> None:
    """What has to be answered alone is asked for itself."""
    together = [build.card(f"Write {n}", number=n, batchable=True) for n in (1, 2, 3)]
    alone = build.card("Send it", number=4)
    table = Table([*together, alone], "no", "all", "yes")
    shown = await table.ask()
    assert [(reply.request_id.int - 100, reply.granted) for reply in table.replies] == [
        (1, False),
        (2, True),
        (4, True),
    ]
    assert [each.int - 100 for each in table.replies[1].also] == [3]
    assert "that answers 1 other question, too" in shown
    assert "3 of 4" not in shown


async def test_cards_that_join_are_listed_before_they_are_asked(build: Any) -> None:
    """And their reading pause begins with that."""
    table = Table([build.card("Write one", number=1, batchable=True)], "yes", "all")

    def meanwhile(number: int) -> None:
        table.clock.advance(seconds=5)
        if number == 1:
            table.join(*(build.card(f"Write {n}", number=n, batchable=True) for n in (2, 3)))

    table.before = meanwhile
    shown = await table.ask()
    assert "2 more actions need an answer:" in shown
    assert "  3. Write 3" in shown
    assert table.asked[2].shown_s == 5.0
    assert [reply.request_id.int - 100 for reply in table.replies] == [1, 2]
    assert [each.int - 100 for each in table.replies[1].also] == [3]


@pytest.mark.parametrize("question", [2, 3])
async def test_a_draft_that_is_answered_elsewhere_while_its_revision_is_typed_is_left_alone(
    build: Any, question: int
) -> None:
    """Nothing is handed in; the next card is asked."""
    table = Table([build.card(revisable=True), build.card(number=2)], "revise", "spec", "other")
    table._answers = table._answers[: question - 1]

    def meanwhile(number: int) -> None:
        if number == question:
            table.close(101)
            table._answers = []
        if number == question + 1:
            table._answers = ["no"]

    table.before = meanwhile
    await table.ask()
    assert [(reply.request_id.int - 100, reply.revision) for reply in table.replies] == [(2, None)]


async def test_the_reading_pause_of_each_card_begins_when_it_is_shown(build: Any) -> None:
    """Not when all of them were asked."""
    table = Table([build.card(number=n) for n in (1, 2)], "yes", "yes")
    table.before = lambda number: table.clock.advance(seconds=7)
    await table.ask()
    assert [asked.shown_s for asked in table.asked] == [0.0, 7.0]


async def test_a_card_that_is_closed_meanwhile_is_not_waited_for(build: Any) -> None:
    """Another channel answered it, or its time ran out."""
    table = Table([build.card(number=n) for n in (1, 2, 3)], "yes")

    def meanwhile(number: int) -> None:
        if number == 2:
            table.close(102, 103)

    table.before = meanwhile
    await table.ask()
    assert [reply.request_id.int - 100 for reply in table.replies] == [1]


@pytest.mark.parametrize("typed", ["a.md", "/srv/notes/a.md"])
async def test_a_card_that_must_be_checked_hands_in_the_name(build: Any, typed: str) -> None:
    """As the target is called; it offers nothing beyond this once but never."""
    table = Table([build.card(tutor=True)], "yes", "always", typed)
    shown = await table.ask()
    (reply,) = table.replies
    assert (reply.granted, reply.reach, reply.typed) == (True, "once", typed)
    assert shown.count("this one must be checked") == 2
    assert "also       never\n" in shown


async def test_a_name_that_was_shown_inert_is_the_name_itself(build: Any) -> None:
    """Whatever stands in it."""
    table = Table([build.card("one", build.effect("/srv/a\u202eb"), tutor=True)], "a\\u202eb")
    await table.ask()
    assert table.replies[0].typed == "a\u202eb"


def test_a_card_says_in_short_what_may_be_answered_and_in_its_details_what_that_means(build: Any) -> None:
    """With the class that a grant would cover."""
    card = build.card(batchable=True, standing=True)
    offer = Offer(card, [build.card(number=2, batchable=True)])
    short = text(card_lines(offer, 1, 2))
    assert "  also       never / always / all\n" in short
    assert "10 min / 30 min / 3 times: similar ones too, fs_write doing fs_write:/srv/notes/*" in short
    whole = text(detail_lines(offer, card.request.created_at))
    for answer in offer.more:
        assert f"{word(answer)}: " in whole
    assert "no, and never again: fs_write doing fs_write:/srv/notes/*" in whole
    assert "yes to this and 1 other that is shown" in whole
    plain = text(card_lines(Offer(build.card()), 1, 1))
    assert "  also       never" in plain
    assert "similar" not in plain


def test_a_hostile_class_is_inert_among_the_answers(build: Any) -> None:
    """It stands beside what a person types."""
    effect = build.effect(scope="/srv/\x1b[2J\u202e\n  also       yes")
    offer = Offer(build.card("Write", effect, batchable=True, standing=True))
    for lines in (card_lines(offer, 1, 1), detail_lines(offer, offer.card.request.created_at)):
        shown = text(lines)
        assert not set(shown) & set("\x1b\u202e")
        assert sum(row.startswith("  also") for row in shown.splitlines()) == 1

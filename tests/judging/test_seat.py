"""Who is heard: measured with this model and these words, good enough, and not the author of what is judged."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging_fakes import Critic, Judge, Model, measured, says

from myclaw_core.errors import StoreError
from myclaw_core.events.log import EventLog
from myclaw_core.judging import records
from myclaw_core.judging.seat import CriticSeat, JudgeSeat, is_one_model
from myclaw_core.judging.types import Comparison, JudgedItem, Judgement
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

ITEM = JudgedItem(purpose="Adds.", capabilities=(), body="async def run(ctx, args):\n    return 1")


async def heard(log: EventLog, clock: FakeClock, model: str = "tiny", written_by: tuple[str, ...] = ()) -> str | None:
    """Return why the judge `rule` is not heard."""
    why = await JudgeSeat.of(says(0.9), log, clock).heard(model, written_by)
    return None if why is None else str(why)


async def booked(log: EventLog, clock: FakeClock, auc: float = 0.9, **other: Any) -> None:
    await records.book(log, measured(auc, **other), clock.new_id())


async def test_a_judge_is_heard_from_the_bar_on(log: EventLog, clock: FakeClock) -> None:
    """The newest measurement counts."""
    await booked(log, clock, 0.79)
    assert "told sound from unsound in 0.79 of the cases, below 0.80" in str(await heard(log, clock))

    await booked(log, clock, 0.8)
    assert await heard(log, clock) is None


@pytest.mark.parametrize(
    "other",
    [{"name": "another"}, {"rubric": "rule@2"}, {"model": "large"}, {"items": "0" * 64}, {"kind": "critic"}],
    ids=["name", "rubric", "model", "items", "kind"],
)
async def test_a_measurement_of_anything_else_does_not_count(
    log: EventLog, clock: FakeClock, other: dict[str, Any]
) -> None:
    """Neither of another model, nor of other words or items."""
    await booked(log, clock, **other)

    assert "was never measured with tiny" in str(await heard(log, clock))


@pytest.mark.parametrize("author", ["tiny", "llama:tiny", "TINY", " tiny "])
async def test_reported_problem_33_a_model_does_not_judge_what_it_wrote(
    log: EventLog, clock: FakeClock, author: str
) -> None:
    """However well it was measured, and the judge is not asked."""
    await booked(log, clock)
    judge = says(1.0)

    said = await JudgeSeat.of(judge, log, clock).judgement(ITEM, Model(), ("claude", author))

    assert "nobody judges their own work" in str(said)
    assert judge.asked == 0


def test_names_are_of_one_model_with_and_without_their_provider() -> None:
    assert is_one_model("openai:qwen:4b", "qwen:4b")
    assert is_one_model("llama:~/models/small.gguf", "/home/me/models/small.gguf")
    assert not is_one_model("~/models/small.gguf", "~/models/large.gguf")
    assert not is_one_model("qwen:4b", "qwen:14b")
    assert not is_one_model("large", "xlarge")


async def test_without_a_model_nobody_is_heard(log: EventLog, clock: FakeClock) -> None:
    await booked(log, clock)

    said = await JudgeSeat.of(says(1.0), log, clock).judgement(ITEM, None, ())

    assert said == await JudgeSeat.of(says(1.0), log, clock).heard("")
    assert "there is no model on this machine to ask" in str(said)


async def test_what_a_good_judge_says_is_returned_and_cannot_act_on_a_screen(log: EventLog, clock: FakeClock) -> None:
    """Three lines at most, with what is not seen written out."""
    await booked(log, clock)
    judge = says(0.4, "one\x1b[2J\n\ntwo\nthree\nfour", ("law.1", "law\u202e"))

    said = await JudgeSeat.of(judge, log, clock).judgement(ITEM, Model(), ("claude",))

    assert said == Judgement(score=0.4, reasoning="one\\x1b[2J\ntwo\nthree", laws=("law.1", "law\\u202e"))


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -0.1, 1.1, "0.9", None, True, 10**400, object()])
async def test_a_score_that_is_none_counts_as_not_judged(log: EventLog, clock: FakeClock, score: Any) -> None:
    await booked(log, clock)

    said = await JudgeSeat.of(says(score), log, clock).judgement(ITEM, Model(), ())

    assert isinstance(said, Text)
    assert "gave no score between 0 and 1" in str(said)


@pytest.mark.parametrize(
    "answer", [None, 0.9, {"score": 1.0}, says(0.9, laws=None), says(0.9, laws=(1,)), says(0.9, reasoning=object())]
)
async def test_an_answer_of_another_form_counts_as_not_judged(log: EventLog, clock: FakeClock, answer: Any) -> None:
    await booked(log, clock)
    judge = answer if isinstance(answer, Judge) else Judge(lambda _item: answer)

    assert isinstance(await JudgeSeat.of(judge, log, clock).judgement(ITEM, Model(), ()), Text)


@pytest.mark.parametrize("error", [ValueError("a\x1bb"), SystemExit(1), RecursionError(), StoreError("gone")])
async def test_a_judge_that_fails_counts_as_not_judged(log: EventLog, clock: FakeClock, error: BaseException) -> None:
    """It ends neither the turn nor the program."""
    await booked(log, clock)

    def fails(_item: JudgedItem) -> Judgement:
        raise error

    said = await JudgeSeat.of(Judge(fails), log, clock).judgement(ITEM, Model(), ())

    assert isinstance(said, Text)
    assert "the judge rule" in str(said)


@pytest.mark.parametrize("error", [ValueError("at once"), SystemExit(1)])
async def test_one_that_fails_before_it_can_be_awaited_counts_as_unavailable_too(
    log: EventLog, clock: FakeClock, error: BaseException
) -> None:
    """A method of a plugin may be no coroutine, whatever the contract says."""
    await booked(log, clock)
    await booked(log, clock, kind="critic")

    class Fails:
        name, rubric = "rule", "rule@1"

        def judge(self, *_args: Any) -> Any:
            raise error

        compare = judge

    assert "the judge rule" in str(await JudgeSeat.of(Fails(), log, clock).judgement(ITEM, Model(), ()))
    assert "the critic rule" in str(await CriticSeat.of(Fails(), log, clock).comparison("t", "a", "b", Model(), ()))


async def test_being_cancelled_passes_through(log: EventLog, clock: FakeClock) -> None:
    await booked(log, clock)
    begun = asyncio.Event()

    class Slow(Judge):
        async def judge(self, item: JudgedItem, local: object) -> Judgement:
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError

    asking = asyncio.create_task(JudgeSeat.of(Slow(lambda _item: None), log, clock).judgement(ITEM, Model(), ()))
    await begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_a_record_that_the_log_does_not_vouch_for_does_not_count(log: EventLog, clock: FakeClock) -> None:
    """Neither a better number written by hand, nor the record of another one in its place."""
    await booked(log, clock, 0.5)
    await booked(log, clock, 0.95, model="large")
    rows = dict(await log.scan(records.JUDGE_KIND))
    (own,) = [key for key, raw in rows.items() if b'"model":"tiny"' in raw.replace(b'": "', b'":"')]
    (other,) = set(rows) - {own}
    for forged in (rows[own].replace(b"0.5", b"0.9"), rows[other], b"", b"1", b"x\n{}", b"9" * 30 + b"\n{}"):
        async with log.transaction() as tx:
            await tx.put(records.JUDGE_KIND, own, forged)
        assert "was never measured" in str(await heard(log, clock))
        assert [each.model for each in await records.calibrations(log)] == ["large"]


@given(auc=st.floats(0, 1))
def test_only_those_at_the_bar_pass(auc: float) -> None:
    from myclaw_core.judging.seat import passes

    assert passes(measured(auc)) is (auc >= 0.8)


async def test_a_critic_below_the_bar_is_told_of_answers_not_of_drafts(log: EventLog, clock: FakeClock) -> None:
    await booked(log, clock, 0.79, kind="critic")

    why = await CriticSeat.of(Critic(lambda _l, _r: None), log, clock).heard("tiny")

    assert str(why) == "rule (rule@1) with tiny named the better answer in 0.79 of the cases, below 0.80"


async def test_a_critic_says_which_of_two_is_better_and_disagreement_with_itself_is_a_tie(
    log: EventLog, clock: FakeClock
) -> None:
    """It sees them in both orders, and never who gave them."""
    await booked(log, clock, kind="critic")
    fair = Critic(lambda left, _right: Comparison(winner="right" if left == "bad" else "left", reason="r"))
    biased = Critic(lambda _left, _right: Comparison(winner="right", reason="r"))
    tied = Critic(lambda _left, _right: Comparison(winner="tie", reason="r"))

    said = [
        await CriticSeat.of(critic, log, clock).comparison("task", "bad", "good", Model(), ("a", "b"))
        for critic in (fair, biased, tied)
    ]

    assert [each.winner for each in said if isinstance(each, Comparison)] == ["right", "tie", "tie"]
    assert fair.asked == [("bad", "good"), ("good", "bad")]
    assert tied.asked == [("bad", "good")]


@pytest.mark.parametrize("answer", [None, Comparison(winner="both", reason=""), "left"])  # type: ignore[arg-type]
async def test_a_critic_that_names_nobody_counts_as_unavailable(log: EventLog, clock: FakeClock, answer: Any) -> None:
    await booked(log, clock, kind="critic")

    said = await CriticSeat.of(Critic(lambda _l, _r: answer), log, clock).comparison("t", "a", "b", Model(), ())

    assert "named neither left, right nor tie" in str(said)
    own = await CriticSeat.of(Critic(lambda _l, _r: answer), log, clock).comparison("t", "a", "b", Model(), ("tiny",))
    assert "nobody judges their own work" in str(own)

"""The question about a neuron: it is left before it is put, answered anywhere, once, and never lost."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

import pytest
from drafted_neurons import report_of, version_of

from myclaw_core.agent import Agent
from myclaw_core.approval.types import ApprovalCard
from myclaw_core.events.types import DeferralEnded, TraceClosed
from myclaw_core.neurons import records
from myclaw_core.neurons.adopting import Adoption, Answered
from myclaw_core.neurons.dossier import dossier
from myclaw_core.runtime.deferred import offer
from myclaw_core.shown.card import facts, summary
from myclaw_core.shown.closing import closing
from myclaw_core.testing import FakeClock, RecordingChannel
from myclaw_core.trust.subject import invocation_of

OpenAgent = Callable[..., AbstractAsyncContextManager[Agent]]
GREEN = report_of("passed", "passed", "passed")
ME = "cli:me"


@pytest.fixture
async def agent(open_agent: OpenAgent) -> AsyncIterator[Agent]:
    async with open_agent() as opened:
        yield opened


@pytest.fixture
def quiet(clock: FakeClock) -> RecordingChannel:
    return RecordingChannel(clock, attended=False)


async def staged(agent: Agent, version: str = "1.0.0") -> Adoption:
    """Return an adoption whose tests were green."""
    adoption = Adoption(agent, version_of(version), "word_count", ME)
    await adoption.stage(GREEN)
    return adoption


def drafts_of(agent: Agent) -> list[str]:
    return sorted(path.name for path in agent.admission.drafts.folder.iterdir())


def callable_(agent: Agent) -> list[str]:
    return [name for name in agent.services.tools if name.startswith("neuron:")]


async def test_a_yes_at_once_adopts_it_and_nothing_of_the_question_is_left(
    agent: Agent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """The card shows the whole dossier; trust begins with R."""
    channel, adoption = RecordingChannel(clock), await staged(agent)
    answered = await adoption.ask(quiet, channel)

    assert answered == Answered(state="adopted")
    assert not quiet.cards
    (card,) = channel.cards
    assert "purpose: Count words." in card.diff
    assert "+++ body.py" in card.diff
    assert card.request.draft.action.effect_class == "neuron_spawn:word_count"
    assert not card.request.batchable
    assert not card.request.standing
    assert await agent.services.gateway.left() == []
    assert drafts_of(agent) == []
    await agent.services.neurons.refresh()
    assert callable_(agent) == ["neuron:word_count"]
    score = agent.book.view(invocation_of("word_count"), clock.now())
    record = await adoption.record()
    assert score is not None
    assert record is not None
    assert score.score == pytest.approx(record.reward, abs=0.005)
    assert score.state.n_samples == 1


async def test_a_no_ends_the_question_and_adopts_nothing(
    agent: Agent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """The draft goes with the next sweep."""
    adoption = await staged(agent)
    answered = await adoption.ask(quiet, RecordingChannel(clock, lambda _card: False))

    assert answered.state == "denied"
    assert await adoption.record() is None
    assert await agent.services.gateway.left() == []
    assert not any(agent.home.neurons.iterdir())


async def test_without_anybody_there_it_is_left_and_another_channel_answers(
    agent: Agent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """Asking for the same again leaves it once."""
    adoption = await staged(agent)
    answered = await adoption.ask(quiet, None)
    assert answered.state == "left"
    assert answered.until is not None
    assert await adoption.ask(quiet, None) == answered
    assert len(await agent.services.gateway.left()) == 1

    phone = RecordingChannel(clock)
    (trace,) = await offer(agent, phone, "telegram:7")
    assert (len(phone.cards), trace.outcome) == (1, "success")
    assert (await adoption.answered()).state == "adopted"
    assert await offer(agent, phone, "telegram:7") == []


async def test_a_restart_between_question_and_answer_loses_nothing(
    open_agent: OpenAgent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """The draft is the one that was asked about."""
    async with open_agent() as agent:
        await (await staged(agent)).ask(quiet, None)
    clock.advance(days=2)
    async with open_agent() as agent:
        assert len(drafts_of(agent)) == 1
        await offer(agent, RecordingChannel(clock), "telegram:7")
        record = await records.find(agent.log, "word_count")
        assert record is not None


async def test_a_terminal_that_is_closed_leaves_the_question(
    agent: Agent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """No answer is no answer, and the question goes on waiting."""
    adoption = await staged(agent)
    answered = await adoption.ask(quiet, RecordingChannel(clock, lambda _card: None))

    assert answered.state == "left"
    assert (await adoption.ask(quiet, RecordingChannel(clock))).state == "adopted"


async def test_a_question_that_nobody_answers_ends_and_its_draft_is_swept(
    open_agent: OpenAgent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """A yes comes too late then."""
    async with open_agent() as agent:
        adoption = await staged(agent)
        await adoption.ask(quiet, None)
        clock.advance(days=4)
        answered = await adoption.answered()
        assert (answered.state, str(answered.reason)) == ("failed", "nobody answered in time")
        assert await offer(agent, RecordingChannel(clock), "telegram:7") == []
    async with open_agent() as agent:
        assert drafts_of(agent) == []
        assert await records.find(agent.log, "word_count") is None


async def test_a_draft_that_changes_before_the_question_is_put_is_not_asked_about(
    agent: Agent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """One line says why."""
    adoption = await staged(agent)
    body = agent.admission.drafts.folder / adoption.digest / "body.py"
    body.write_bytes(body.read_bytes() + b"x = 1\n")
    channel = RecordingChannel(clock)

    answered = await adoption.ask(quiet, channel)
    assert (answered.state, channel.cards) == ("failed", [])
    assert "was changed" in str(answered.reason)


async def test_a_draft_that_changes_between_question_and_yes_is_not_adopted(
    agent: Agent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """The yes was for what the card showed."""
    adoption = await staged(agent)
    body = agent.admission.drafts.folder / adoption.digest / "body.py"

    def swap(_card: ApprovalCard) -> bool:
        body.write_bytes(body.read_bytes().replace(b"split", b"strip"))
        return True

    answered = await adoption.ask(quiet, RecordingChannel(clock, swap))
    assert answered.state == "failed"
    assert "was changed" in str(answered.reason)
    assert await adoption.record() is None
    assert not any(agent.home.neurons.iterdir())


async def test_the_card_says_once_what_a_yes_means_and_how_it_is_taken_back(
    agent: Agent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """One reason, no digest of 64 digits, no "cannot be undone" beside how it is removed; so too once it is done."""
    adoption, channel = await staged(agent), RecordingChannel(clock)
    await adoption.ask(quiet, channel)
    (card,), record = channel.cards, await adoption.record()
    assert record is not None
    assert record.trace_id is not None
    ((_, closed),) = await agent.log.events(record.trace_id, TraceClosed)
    assert isinstance(closed, TraceClosed)
    rows = [said.text for said in facts(card, whole=False, details="details")]

    assert summary(card) == "let the neuron word_count 1.0.0 in"
    assert "myclaw neurons remove word_count, or /neurons remove word_count in a conversation" in rows
    assert f'digest = "{adoption.digest[:12]}…"' in rows
    assert not any(word in row for row in rows for word in ("replaces", "undone", "irreversible", "begun", "level"))
    assert [str(each) for each in card.request.draft.policy_reasons] == [
        "it would change the system itself (word_count); that always needs your consent"
    ]
    assert [said.text for said in closing(closed.trace, "/undo") if said.label] == [
        "let the neuron word_count in (to remove it: /neurons remove word_count)"
    ]
    assert f'digest = "{adoption.digest}"' in [said.text for said in facts(card, whole=True, details="")]


async def test_a_question_that_waited_says_when_it_was_begun(
    agent: Agent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """Whoever answers it the next day may not remember."""
    channel = RecordingChannel(clock)
    await (await staged(agent)).ask(quiet, None)
    clock.advance(days=1)
    await offer(agent, channel, "telegram:7")

    assert str(channel.cards[0].request.draft.policy_reasons[-1]).startswith("this was begun on 20")


async def test_a_newer_version_is_asked_about_against_the_one_that_is_there(
    agent: Agent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """Once it is in, the same files again are no question."""
    await (await staged(agent)).ask(quiet, RecordingChannel(clock))
    channel, newer = RecordingChannel(clock), await staged(agent, "1.1.0")
    assert await newer.standing() is None
    assert (await newer.ask(quiet, channel)).state == "adopted"
    assert "it replaces the version 1.0.0" in channel.cards[0].diff
    standing = await Adoption(agent, version_of("1.1.0"), "word_count", ME).standing()
    assert standing is not None
    assert standing.version == "1.1.0"


async def test_a_newer_version_is_compared_with_the_other_neurons_only_and_another_one_with_it(
    agent: Agent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """The same purpose under the same name is no second neuron; under another name it lowers R and is named."""
    await (await staged(agent)).ask(quiet, RecordingChannel(clock))
    newer = await Adoption(agent, version_of("1.1.0"), "word_count", ME).stage(GREEN)
    twin = await Adoption(agent, version_of("1.0.0", name="words_count"), "words_count", ME).stage(GREEN)

    assert (newer.tested.reward.nearest, newer.tested.reward.similarity_penalty) == ("", 0.0)
    assert (twin.tested.reward.nearest, twin.tested.reward.similarity_penalty) == ("word_count", pytest.approx(1.0))
    assert twin.tested.reward.total == pytest.approx(newer.tested.reward.total - 0.10)
    shown = dossier(twin, agent.admission.around(twin.manifest))
    assert "nearest neuron: word_count (similarity penalty 1.00)" in shown
    assert not newer.tested.reward.judged


async def test_of_two_questions_about_two_versions_the_second_yes_finds_another_base(
    agent: Agent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """It says so, and nothing is half adopted."""
    one, two = await staged(agent), await staged(agent, "1.1.0")
    await one.ask(quiet, None)
    await two.ask(quiet, None)
    traces = await offer(agent, RecordingChannel(clock), "telegram:7")

    assert sorted(trace.outcome for trace in traces) == ["failed", "success"]
    (problem,) = [str(step.error.message) for trace in traces for step in trace.steps if step.error]
    assert "another version of word_count was adopted" in problem


async def test_a_question_about_another_version_ends_with_the_version_that_it_would_have_replaced(
    agent: Agent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """Whoever adopts is told; whoever still waits for the other one is told why, which is not that somebody said no."""
    one, two = await staged(agent), await staged(agent, "1.1.0")
    await two.ask(quiet, None)

    assert await one.ask(quiet, RecordingChannel(clock)) == Answered(state="adopted", ended=1)
    assert await agent.services.gateway.left() == []
    answered = await two.answered()
    assert answered.state == "failed"
    assert "another version was adopted or removed since this was asked" in str(answered.reason)
    events = [event for _, event in await agent.log.since(0) if isinstance(event, DeferralEnded)]
    assert [event.ending for event in events] == ["run", "outdated"]
    assert (await two.ask(quiet, RecordingChannel(clock))).state == "adopted"


async def test_a_question_about_the_version_that_is_adopted_still_waits_when_its_lost_folder_comes_back(
    agent: Agent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """What it would replace is what it was."""
    one, two = await staged(agent), await staged(agent, "1.1.0")
    await one.ask(quiet, RecordingChannel(clock))
    await two.ask(quiet, None)
    shutil.rmtree(agent.home.neurons / "word_count")

    again = await staged(agent)
    assert await again.ask(quiet, RecordingChannel(clock)) == Answered(state="adopted")
    assert (await two.answered()).state == "left"


async def test_removing_a_neuron_ends_the_questions_about_replacing_it(
    agent: Agent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    await (await staged(agent)).ask(quiet, RecordingChannel(clock))
    newer = await staged(agent, "1.1.0")
    await newer.ask(quiet, None)

    removed = await agent.neuron_orders.remove("word_count", ME)
    assert removed.ended == 1
    assert (await newer.answered()).state == "failed"


async def test_a_question_that_was_let_go_was_not_answered_with_no(agent: Agent, quiet: RecordingChannel) -> None:
    adoption = await staged(agent)
    await adoption.ask(quiet, None)
    await agent.services.gateway.drop_left()

    answered = await adoption.answered()
    assert (answered.state, str(answered.reason)) == ("failed", "the question was let go")


async def test_where_nothing_is_left_for_later_it_is_put_at_once_or_not_at_all(
    open_agent: OpenAgent, quiet: RecordingChannel, clock: FakeClock
) -> None:
    """With `[approval] defer_days = 0`."""
    async with open_agent(config="[approval]\ndefer_days = 0\n") as agent:
        adoption = await staged(agent)
        answered = await adoption.ask(quiet, None)
        assert answered.state == "failed"
        assert "nobody is there to answer" in str(answered.reason)
        denied = await adoption.ask(quiet, RecordingChannel(clock, lambda _card: False))
        assert denied.state == "denied"
        assert (await adoption.ask(quiet, RecordingChannel(clock))).state == "adopted"


async def test_no_level_adopts_without_a_question(agent: Agent, quiet: RecordingChannel, clock: FakeClock) -> None:
    """Law.2 asks at every level."""
    adoption = await staged(agent)
    await agent.services.levels.begin(ME, "full", timedelta(days=1), estimate_eur=None)
    channel = RecordingChannel(clock)
    await adoption.ask(quiet, channel)

    (card,) = channel.cards
    assert any("your consent" in str(reason) for reason in card.request.draft.policy_reasons)

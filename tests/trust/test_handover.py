"""Who acts is still the one that earned it: another body starts anew, another version or model halves the evidence."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from myclaw_core.testing import FakeClock
from myclaw_core.trust.handover import model_family
from myclaw_core.trust.promotion import Promotion, judge
from myclaw_core.trust.state import COMPONENTS, Handover
from myclaw_core.trust.types import EarnedBy

MINE = ("neuron:tidy", "fs_write:~/ws/notes/*")
SONNET = {"actor_version": "1.0", "model": "claude-sonnet-5-5"}


def practised(make: SimpleNamespace, clock: FakeClock, times: int, subject: Any = None, **by: str) -> Any:
    """Return a record with a good sample a day by `by`."""
    record = make.Record()
    more(make, record, clock, times, subject, **by)
    return record


def more(make: SimpleNamespace, record: Any, clock: FakeClock, times: int, subject: Any = None, **by: str) -> None:
    for _ in range(times):
        clock.advance(days=1)
        record.add_sample(make.ideal(subject or make.NOTES), clock.now(), **(by or SONNET))


def asked(make: SimpleNamespace, record: Any, clock: FakeClock, subject: Any = None, **by: str) -> Promotion:
    subject = subject or make.NOTES
    effect = make.effect(subject)
    action = make.action(effect, clock.now(), subject[0], **(SONNET | by))
    return judge(effect, action, record, make.threshold(), clock.now())


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-sonnet-5-5", "claude-sonnet"),
        ("claude-haiku-4-5", "claude-haiku"),
        ("anthropic/claude-sonnet-5.5", "claude-sonnet"),
        ("gpt-4o-mini", "gpt"),
        ("GPT-5", "gpt"),
        ("o3-mini", "o"),
        ("llama3.2", "llama"),
        ("qwen3:8b", "qwen"),
        ("mistral-large-2411", "mistral-large"),
        ("deepseek-r1", "deepseek"),
        ("scripted", "scripted"),
        ("42", "42"),
        ("", ""),
    ],
)
def test_a_model_belongs_to_the_family_that_its_name_begins_with(model: str, family: str) -> None:
    assert model_family(model) == family


@pytest.mark.parametrize(
    "by", [{"actor_version": "1.1"}, {"model": "llama3.2"}, {"actor_version": "2", "model": "gpt-5"}]
)
def test_a_changed_version_or_model_halves_the_evidence_before_its_first_sample(
    make: SimpleNamespace, clock: FakeClock, by: dict[str, str]
) -> None:
    record = practised(make, clock, 5)
    same, changed = asked(make, record, clock), asked(make, record, clock, **by)
    assert same.promoted
    assert changed.evidence.effective_count == pytest.approx(same.evidence.effective_count / 2)
    assert changed.evidence.parent_effective_count == pytest.approx(same.evidence.parent_effective_count / 2)
    assert str(changed.reason) == "2.6 of 3 samples still count, older ones have faded"
    assert changed.evidence.score == same.evidence.score


def test_enough_evidence_outlasts_a_change(make: SimpleNamespace, clock: FakeClock) -> None:
    record = practised(make, clock, 12)
    assert asked(make, record, clock, actor_version="1.1").promoted


def test_another_model_of_the_same_family_is_the_same(make: SimpleNamespace, clock: FakeClock) -> None:
    record = practised(make, clock, 3)
    assert asked(make, record, clock, model="claude-sonnet-6").promoted
    assert asked(make, record, clock, model="", actor_version="").promoted
    assert not asked(make, record, clock, model="claude-haiku-5-5").promoted


def test_the_first_sample_of_another_version_halves_every_mass_once(make: SimpleNamespace, clock: FakeClock) -> None:
    steady, changed = practised(make, clock, 5), make.Record()
    start = clock.now() - timedelta(days=4)
    for day in range(5):
        changed.add_sample(make.ideal(), start + timedelta(days=day), **SONNET)
    at = clock.now()
    changed.add_sample(make.ideal(), at, actor_version="1.1", model="claude-sonnet-5-5")
    steady.add_sample(make.ideal(), at, **SONNET)
    for name in COMPONENTS:
        before, after = getattr(steady.get(make.NOTES), name).mass, getattr(changed.get(make.NOTES), name).mass
        assert after - 1 == pytest.approx((before - 1) / 2)
    assert changed.get(make.NOTES).n_samples == 6
    masses = changed.get(make.NOTES).tool_success.mass
    changed.add_sample(make.ideal(), at, actor_version="1.1", model="claude-sonnet-5-5")
    assert changed.get(make.NOTES).tool_success.mass == pytest.approx(masses + 1)


def test_the_change_is_kept_so_that_a_digest_can_say_it(make: SimpleNamespace, clock: FakeClock) -> None:
    record = practised(make, clock, 2)
    assert record.get(make.NOTES).handover is None
    more(make, record, clock, 1, actor_version="1.1", model="claude-sonnet-5-5")
    told = Handover(at=clock.now(), what="version", before="1.0", after="1.1")
    assert record.get(make.NOTES).handover == told
    more(make, record, clock, 1, actor_version="1.1", model="gpt-5")
    told = Handover(at=clock.now(), what="model", before="claude-sonnet", after="gpt")
    assert record.get(make.NOTES).handover == told
    more(make, record, clock, 3, actor_version="1.1", model="gpt-5")
    assert record.get(make.NOTES).handover == told


def test_a_changed_body_of_a_neuron_starts_from_nothing_wherever_it_acts(
    make: SimpleNamespace, clock: FakeClock
) -> None:
    record = practised(make, clock, 20, MINE, actor_version="body 1", model="gpt-5")
    by = {"actor_version": "body 1", "model": "gpt-5"}
    assert asked(make, record, clock, MINE, **by).promoted
    answer = asked(make, record, clock, MINE, actor_version="body 2", model="gpt-5")
    assert (answer.promoted, answer.evidence.n_samples, answer.evidence.parent_n_samples) == (False, 0, 0)
    more(make, record, clock, 1, MINE, actor_version="body 2", model="gpt-5")
    state = record.get(MINE)
    assert (state.n_samples, state.days, state.handover.what) == (1, 1, "body")
    assert not asked(make, record, clock, MINE, actor_version="body 1", model="gpt-5").promoted


async def test_a_changed_body_restarts_at_the_score_of_its_birth(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    tidy = ("neuron:tidy", "invoke")
    book = await open_book()
    await book.record_birth("tidy", 0.66, body="body 1")
    for _ in range(5):
        clock.advance(days=1)
        await book.update(tidy, make.ideal(tidy), clock.now())
    await book.record_birth("tidy", 0.81, body="body 2")
    view = book.view(tidy, clock.now(), EarnedBy("body 2"))
    assert (round(view.score, 6), view.state.earned) == (0.81, 0)
    assert book.view(tidy, clock.now(), EarnedBy("body 3")).state.n_samples == 0


async def test_versions_of_traces_reach_the_rows_and_survive_a_restart(
    open_book: Any, clock: FakeClock, make: SimpleNamespace
) -> None:
    book = await open_book()
    for version in ("1.0", "1.0", "1.1"):
        clock.advance(days=1)
        trace = make.trace(clock.new_id(), clock.now(), steps=[make.step(make.NOTES, clock.now(), version)])
        await book.bulk_update_from_trace(trace, [make.ideal()])
    state = book.state(make.NOTES)
    assert (state.version, state.handover.before) == ("1.1", "1.0")
    await book.close()
    again = await open_book()
    assert again.state(make.NOTES) == state
    assert (await again.verify()).ok

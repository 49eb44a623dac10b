"""kill -9 at each point of a design: it goes on, nothing is let in twice or unasked, and one question waits at most."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from attrs import frozen
from designing import ME, REPORT, LaterClock, answering, configure, designing, known_report, request
from designs import NAME
from dying import THROUGH, deaths, desk_of
from sampling import sampled

from myclaw_core.agent import Agent
from myclaw_core.approval.types import Deferred
from myclaw_core.budget.book import holds
from myclaw_core.budget.prices import KNOWN_PRICES
from myclaw_core.budget.types import MICRO
from myclaw_core.events.types import (
    ApprovalAnswered,
    ApprovalAsked,
    DeferralEnded,
    NeuronBorn,
    QuestionDeferred,
    StepEnded,
    StepIntended,
    SynthesisEnded,
    SynthesisRequested,
)
from myclaw_core.neurons import records
from myclaw_core.neurons.folder import read_folder
from myclaw_core.neurons.signing import digest_of
from myclaw_core.paths import Home
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.synthesis import store, tests_stage
from myclaw_core.synthesis.pipeline import Synthesizer
from myclaw_core.synthesis.rests import REST_KIND
from myclaw_core.synthesis.types import Synthesis
from myclaw_core.testing import FakeClock
from myclaw_core.types.action import PlannedAction

DRIVER = Path(__file__).with_name("synthesis_until_killed.py")
ACTS = {
    "request": {"waits"},
    "yes": {"waits", "born"},
    "no": {"waits", "abandoned"},
    "revise": {"waits"},
    "direction": {"nothing", "waits to begin", "waits"},
    "direction-no": {"nothing", "waits to begin", "rejected_direction"},
}
STEP = {"request": sampled(17, 1), "direction": sampled(29, 1)}


@frozen(kw_only=True)
class Life:
    """What became of a home in which a process died."""

    agent: Agent
    home: Home
    where: str

    async def one(self) -> Synthesis | None:
        """Return the design where there is one; more there never are."""
        every = await store.standing(self.agent.log)
        assert len(every) <= 1, self.where
        return every[0] if every else None

    async def gone_on(self) -> Synthesis | None:
        """Go on with it as whoever serves does; doing so again changes nothing."""
        before = await self.one()
        if before is None:
            return None
        after = await self._go_on(before)
        newest = await self.agent.log.last()
        assert await self._go_on(after) == after, self.where
        assert await self.agent.log.last() == newest, f"{self.where}: it goes on for ever"
        return after

    async def _go_on(self, synthesis: Synthesis) -> Synthesis:
        return await Synthesizer(self.agent, QuietChannel(), None).go_on(synthesis)

    async def events(self) -> Sequence[Any]:
        return [event for _, event in await self.agent.log.since(0, 10_000)]

    async def left(self) -> Sequence[Deferred]:
        return await self.agent.services.gateway.left()


async def prepare(folder: Path, report: bytes, *, asked: bool) -> None:
    """Make a home, with a draft whose question waits where `asked`."""
    home = configure(folder)
    (folder / REPORT).write_bytes(report)
    async with Agent.open(home, clock=FakeClock()) as opened:
        if asked:
            begun = await Synthesizer(designing(opened), QuietChannel(), None).synthesize(request(), ME)
            assert begun.stage == "approval"


@pytest.mark.sampled
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("act", ACTS)
async def test_a_design_that_is_killed_at_any_point_goes_on_or_ends_cleanly(
    tmp_path: Path, birth_report: bytes, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """Whoever finds it goes on; then the person grants what still waits, and it is born once."""
    monkeypatch.setattr(tests_stage, "run_birth_tests", known_report(birth_report))
    await prepare(tmp_path / "0", birth_report, asked=act in {"yes", "no", "revise"})
    places = deaths(DRIVER, tmp_path, act, step=STEP.get(act, sampled(13, 1)))
    seen = {}
    for number, where in places.items():
        home = Home.at(tmp_path / str(number))
        async with Agent.open(home, clock=LaterClock()) as opened:
            life = Life(agent=designing(opened), home=home, where=f"{act}, point {number}, {where}")
            seen[number] = await outcome_of(life)
            await ends_well(life)
    assert set(seen.values()) <= ACTS[act]
    assert seen[max(seen)] in ACTS[act] - {"nothing"}
    assert places[max(places)] == THROUGH


async def outcome_of(life: Life) -> str:
    """Return how the design stands once it went on, checked against everything that is on record."""
    found = await life.gone_on()
    await nothing_is_open(life)
    events, left = await life.events(), await life.left()
    assert len(left) == (found is not None and found.stage != "ended"), life.where
    await costs_are_told(life, found)
    check_questions(events, life.where)
    check_end(events, found, life.where)
    if found is None:
        assert not any(isinstance(event, SynthesisRequested) for event in events), life.where
        return "nothing"
    revised = any(isinstance(event, ApprovalAnswered) and event.approval.revision is not None for event in events)
    assert (found.retries, found.vetoes) == (int(revised), 0), life.where
    if found.result is not None:
        assert bool(await life.agent.log.scan(REST_KIND)) == (found.result.outcome != "born"), life.where
        return found.result.outcome
    assert found.asked_in == left[0].origin.trace_id, life.where
    return "waits" if found.stage == "approval" else "waits to begin"


async def ends_well(life: Life) -> None:
    """Grant what waits until nothing does: what was not refused is born, once."""
    for _ in range(3):
        if not await life.left():
            break
        await desk_of(life.agent, answering(FakeClock(), "yes")).handle("/pending")
        await life.gone_on()
    found, events = await life.one(), await life.events()
    check_questions(events, life.where)
    check_end(events, found, life.where)
    await nothing_is_open(life)
    assert await life.left() == [], life.where
    if found is not None and found.result is not None and found.result.outcome == "born":
        await is_in_once(life, events)
    else:
        assert not any(isinstance(event, NeuronBorn) for event in events), life.where
        assert list(life.home.neurons.glob("*")) == [], life.where
    assert found is None or found.stage == "ended", life.where
    assert (await life.agent.log.verify()).ok, life.where
    assert (await life.agent.book.verify()).ok, life.where


async def is_in_once(life: Life, events: Sequence[Any]) -> None:
    """Check that exactly what was granted lies in place, once."""
    (born,) = (event for event in events if isinstance(event, NeuronBorn))
    record = await records.find(life.agent.log, NAME)
    assert record is not None
    asked = {event.request.id: event.request.draft.action.args_preview for event in events if is_asked(event)}
    granted = {each.approval.request_id for each in events if isinstance(each, ApprovalAnswered)}
    (used,) = (each.approval_id for each in events if isinstance(each, StepIntended) and each.trace_id == born.trace_id)
    assert used in granted, life.where
    agreed = asked[used]
    assert record.digest == agreed["digest"] == digest_of(read_folder(life.home.neurons / NAME).files), life.where
    assert [path.name for path in life.home.neurons.iterdir()] == [NAME], life.where


async def nothing_is_open(life: Life) -> None:
    """Check that no turn, no question that is put and no money set aside is open, and nothing half made is left."""
    agent, state = life.agent, life.home.state
    assert await agent.log.scan("turn") == [], life.where
    assert await agent.services.gateway.pending() == [], life.where
    assert await holds(agent.log) == [], life.where
    assert not [path for path in life.home.root.rglob("*") if path.name.endswith(".tmp")], life.where
    asked = {str(each.sealed.args.get("digest")) for each in await life.left()}
    assert {path.name for path in (state / "drafts").glob("*")} <= asked, life.where


async def costs_are_told(life: Life, found: Synthesis | None) -> None:
    """Check that a design knows what it cost, but for the one call that was under way."""
    services = life.agent.services
    spent_eur = (await services.ledger.standing()).spent_eur
    known_eur = found.cost_eur if found else 0.0
    worst_usd = KNOWN_PRICES[services.config.agent.model].output * services.config.synthesis.max_output_tokens / 1e6
    assert 0 <= known_eur <= spent_eur + 1 / MICRO, life.where
    assert spent_eur - known_eur <= 2 * worst_usd, life.where


def is_asked(event: Any) -> bool:
    return isinstance(event, ApprovalAsked)


def check_questions(events: Sequence[Any], where: str) -> None:
    """Never do two questions wait beside each other; another about the same follows only a yes that was cut off."""
    asked = {event.request.id: event.request.draft.action for event in events if is_asked(event)}
    followed = {event.trace_id for event in events if isinstance(event, StepEnded) and event.step.error is None}
    waiting: set[UUID] = set()
    over: set[tuple[str, Any]] = set()
    for event in events:
        if isinstance(event, QuestionDeferred):
            waiting.add(event.request_id)
            assert len(waiting) == 1, where
            assert about(asked[event.request_id]) not in over, f"{where}: asked again"
        elif isinstance(event, DeferralEnded):
            waiting.discard(event.request_id)
            if event.ending != "run" or event.by in followed:
                over.add(about(asked[event.request_id]))


def about(action: PlannedAction) -> tuple[str, Any]:
    return action.tool_name, action.args_preview.get("digest")


def check_end(events: Sequence[Any], found: Synthesis | None, where: str) -> None:
    """Check that what ended is told to have ended, once."""
    told = [event.result for event in events if isinstance(event, SynthesisEnded)]
    assert told == ([found.result] if found is not None and found.result is not None else []), where

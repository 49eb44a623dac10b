"""kill -9 at each point of a revision: its question still waits, or the answer is on record whole."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from drafted_neurons import report_of, version_of
from dying import THROUGH, deaths, desk_of

from myclaw_core.agent import Agent
from myclaw_core.approval.revisions import answer_about
from myclaw_core.events.types import ApprovalAnswered, DeferralEnded
from myclaw_core.neurons.adopting import Adoption
from myclaw_core.paths import Home
from myclaw_core.synthesis.types import Revision
from myclaw_core.testing import FakeClock, RecordingChannel

DRIVER = Path(__file__).with_name("killed_revisions.py")
SYNTHESIS = UUID(int=77)
FILES = version_of("1.0.0")


async def prepare(folder: Path) -> str:
    """Leave the question about a draft; return the digest of the draft."""
    home, clock = Home.at(folder), FakeClock()
    home.create()
    script = folder / "script.json"
    script.write_text("[]")
    home.config_file.write_text(f'[agent]\nprovider = "scripted"\n[scripted]\nfile = "{script}"\n')
    async with Agent.open(home, clock=clock) as agent:
        adoption = Adoption(agent, FILES, "word_count", "test:me", synthesis=SYNTHESIS)
        await adoption.stage(report_of("passed", "passed", "passed"))
        await adoption.ask(RecordingChannel(clock, attended=False), None)
        return adoption.digest


async def test_after_a_kill_at_any_point_a_revision_was_given_whole_or_not_at_all(tmp_path: Path) -> None:
    """Whoever goes on finds it by the request and the draft; where it was not given, it can be."""
    digest = await prepare(tmp_path / "0")
    places = deaths(DRIVER, tmp_path)
    given = [
        await check(Home.at(tmp_path / str(number)), digest, f"{number}, {where}") for number, where in places.items()
    ]
    assert len(given) > 6
    assert given == sorted(given)
    assert given[0] is False
    assert given[-1] is True
    assert list(places.values())[-1] == THROUGH


async def check(home: Home, digest: str, where: str) -> bool:
    """Return whether the answer was on record when the process died."""
    wanted = Revision(stage="draft", text="shorter")
    clock = FakeClock()
    for _ in range(2000):
        clock.new_id()  # ids of the processes before
    async with Agent.open(home, clock=clock) as agent:
        answer, left = await answer_about(agent.log, SYNTHESIS, digest), await agent.services.gateway.left()
        events = [event for _, event in await agent.log.since(0, 10_000)]
        revised = [each.approval for each in events if isinstance(each, ApprovalAnswered) and each.approval.revision]
        endings = [each.ending for each in events if isinstance(each, DeferralEnded)]
        if answer is None:
            assert (len(left), revised, endings) == (1, [], []), where
            await desk_of(agent).handle(f"/revise {digest[:8]} draft shorter")
            answer = await answer_about(agent.log, SYNTHESIS, digest)
        else:
            assert (len(left), len(revised), endings) == (0, 2, ["denied"]), where
        assert answer is not None, where
        assert (answer.verdict, answer.revision) == ("denied", wanted), where
        assert (await agent.log.verify()).ok, where
        assert not any(home.neurons.iterdir()), where
    return bool(revised)

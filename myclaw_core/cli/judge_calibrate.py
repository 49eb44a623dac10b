"""`myclaw judge calibrate`: judge and critic sit the exam, in a trace of its own, and what they reach is recorded."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import TYPE_CHECKING

from attrs import frozen

from myclaw_core.cli.judge import calibration_json, taken
from myclaw_core.cli.person import sender
from myclaw_core.cli.talk import stoppable, stopped
from myclaw_core.errors import UnavailableError
from myclaw_core.events.words import word
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, render, use_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from myclaw_core.agent import Agent
    from myclaw_core.judging.calibrating import Progress
    from myclaw_core.judging.seat import CriticSeat, JudgeSeat
    from myclaw_core.judging.types import Calibration
    from myclaw_core.runtime.recorder import TraceRecorder
    from myclaw_core.runtime.types import Turn
    from myclaw_core.types.text import Text

__all__ = ["run"]

_STOPPED = 130
_EVERY = 8


@frozen
class _Sitting:
    """Those that are measured in one run, and what a measurement is recorded with."""

    agent: Agent
    turn: Turn
    recorder: TraceRecorder


def run(args: argparse.Namespace) -> int:
    """Measure; 0 where all reach the bar, 1 where one does not, 3 where there is nobody or no model to ask."""
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.judging.seat import passes
    from myclaw_core.paths import Home

    if args.json:
        use_language("en")
    async with Agent.open(Home.find()) as agent:
        seats = _seats(agent, (args.who,) if args.who else ("judge", "critic"))
        try:
            found = await stoppable(_measured(agent, seats, as_json=args.json))
        except asyncio.CancelledError:
            stopped()
            return _STOPPED
    if args.json:
        print(json.dumps([*map(calibration_json, found)], ensure_ascii=False, indent=2))
    return 0 if all(map(passes, found)) else 1


def _seats(agent: Agent, kinds: Sequence[str]) -> Sequence[JudgeSeat | CriticSeat]:
    """Return who is measured; of an empty slot a line tells.

    Raises:
        UnavailableError: Nobody is there, or there is no model on this machine that can score.
    """
    from myclaw_core.runtime.local import LocalProvider
    from myclaw_core.runtime.scoring import first_that_scores

    seats, empty = [], []
    for kind in kinds:
        try:
            seats.append(taken(agent, kind))
        except UnavailableError as error:
            empty.append(error.text)
    if not seats:
        raise UnavailableError(empty[0])
    local = agent.services.local
    if not local or not isinstance(first_that_scores(local).provider, LocalProvider):
        raise UnavailableError(
            N_(
                "there is no model on this machine that can score; add one, such as llama:~/models/small.gguf, "
                "with 'myclaw models add'"
            )
        )
    for text in empty:
        _note(text)
    return seats


async def _measured(agent: Agent, seats: Sequence[JudgeSeat | CriticSeat], *, as_json: bool) -> Sequence[Calibration]:
    from myclaw_core.runtime.traces import new_trace

    turn = _turn(agent)
    recorder = agent.services.recorder(new_trace(turn, agent.services.plugins, agent.services.config.digest))
    sitting, found = _Sitting(agent, turn, recorder), []
    async with recorder.during(turn):
        for seat in seats:
            calibration = await _one(sitting, seat)
            found.append(calibration)
            if not as_json:
                print(visible(_told(calibration), keep="\n"), flush=True)
        recorder.trace.outcome = "success"
    return found


async def _one(sitting: _Sitting, seat: JudgeSeat | CriticSeat) -> Calibration:
    """Measure one, and record that."""
    from myclaw_core.cli.json_channel import JsonChannel
    from myclaw_core.judging import records
    from myclaw_core.judging.calibrating import calibrate_critic, calibrate_judge
    from myclaw_core.judging.seat import JudgeSeat
    from myclaw_core.runtime.scoring import LocalCaller

    agent = sitting.agent
    local = LocalCaller(agent.services, sitting.turn, sitting.recorder, JsonChannel(), seat.kind)
    progress = _progress(seat)
    if isinstance(seat, JudgeSeat):
        found = await calibrate_judge(seat.holder, local, agent.clock, progress)
    else:
        found = await calibrate_critic(seat.holder, local, agent.clock, progress)
    await records.book(agent.log, found, sitting.turn.id)
    return found


def _progress(seat: JudgeSeat | CriticSeat) -> Progress:
    """Return what tells every now and then how far an exam is, where no program reads."""

    def told(done: int, of: int) -> None:
        if done % _EVERY == 0:
            line = _("{kind} {name}: {done} of {n} …", kind=word(seat.kind), name=seat.name, done=done, n=of)
            print(visible(line), file=sys.stderr, flush=True)

    return told


def _told(found: Calibration) -> str:
    """Return how well one did, and whether it is heard from now on."""
    from myclaw_core.judging.seat import BAR, passes

    each = ", ".join(f"{language} {value:.2f}" for language, value in sorted(found.by_language.items()))
    first = _(
        "{kind} {name} ({rubric}) with {model}: AUC {auc:.2f} on {n} items ({each})",
        kind=word(found.kind),
        name=found.name,
        rubric=found.rubric,
        model=found.model,
        auc=found.auc,
        n=found.n,
        each=each,
    )
    heard = _("it is heard from now on") if passes(found) else _("it is not heard: below {bar:.2f}", bar=BAR)
    return f"{first}\n{heard}"


def _turn(agent: Agent) -> Turn:
    from myclaw_core.runtime.types import Turn

    return Turn(
        id=agent.clock.new_id(),
        session_id=str(agent.clock.new_id()),
        channel="cli",
        sender=sender(),
        autonomy="read_only",
        text="myclaw judge calibrate",
        received_at=agent.clock.now(),
        roots=(),
        cwd=str(agent.home.workspace),
        attended=False,
    )


def _note(text: Text) -> None:
    print(f"myclaw: {visible(render(text))}", file=sys.stderr)

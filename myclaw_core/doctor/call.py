"""One real turn, recorded and paid for like any other, to see whether the model answers."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from pathlib import Path

from myclaw_core.agent import Agent
from myclaw_core.approval.types import ApprovalCard
from myclaw_core.config.sections import AgentSection
from myclaw_core.desk import SessionDesk
from myclaw_core.doctor.diagnosis import Diagnosis, fail, ok
from myclaw_core.doctor.patient import Patient
from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.runtime.channel import Desk, Held, Status, Submit
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.types.text import Text, joined

__all__ = ["call_model", "model_words"]

_MESSAGE = "This is a test of the connection. Answer with one word and use no tool."


class _Quiet:
    """A channel that keeps the notices and shows nothing."""

    name = "doctor"
    attended = False

    def __init__(self) -> None:
        self.notices: list[Text] = []

    def status(self, status: Status) -> None:
        """Show nothing."""

    def text(self, chunk: str) -> None:
        """Show nothing."""

    def notice(self, text: Text) -> None:
        """Keep a notice."""
        self.notices.append(text)

    def show(self, markdown: str) -> None:
        """Show nothing."""

    def held(self, held: Sequence[Held]) -> None:
        """Show nothing: nothing is sent here."""

    async def file(self, path: Path, name: str) -> Text | None:
        """Deliver nothing."""
        return N_("files are not delivered here")

    async def ask(self, cards: Sequence[ApprovalCard], submit: Submit) -> None:
        """Ask nobody, which is no."""

    def end_turn(self, trace: ExecutionTrace) -> None:
        """Show nothing."""

    async def serve(self, desk: Desk) -> int:
        """Read nothing."""
        return 0


async def call_model(patient: Patient) -> Diagnosis:
    """Run one turn that may only read, and return whether the model answered."""
    channel = _Quiet()
    who = model_words(patient.config.agent)
    try:
        async with Agent.open(patient.home, clock=patient.clock, recover_turns=False) as agent:
            sender, cwd = f"cli:{getpass.getuser()}", str(patient.home.workspace)
            desk = SessionDesk(agent, channel, sender=sender, roots=(), cwd=cwd, level="read_only")
            trace = await desk.handle(_MESSAGE)
    except MyclawError as error:
        return fail("model", N_("{model}: {problem}", model=who, problem=error.text), N_("mend that and try again"))
    if trace is not None and trace.outcome == "success":
        cost_eur = sum(call.cost_eur for call in trace.model_calls)
        return ok("model", N_("{model} answered, for {cost_eur:.6f} EUR", model=who, cost_eur=cost_eur))
    problem = joined(channel.notices) if channel.notices else N_("it did not answer")
    return fail("model", N_("{model}: {problem}", model=who, problem=problem), N_("see 'myclaw audit show'"))


def model_words(section: AgentSection) -> Text:
    """Return which model is asked, and through whom."""
    return N_("{model} through {provider}", model=section.model, provider=section.provider)

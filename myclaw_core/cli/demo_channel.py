"""The channel of the demo: it prints what happens and answers as the story says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from myclaw_core.approval.cards import Cards
from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.messages import N_, _, render
from myclaw_core.runtime.channel import Desk, Held, Status, Submit
from myclaw_core.runtime.types import ActionStep, ExecutionTrace
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

__all__ = ["DemoChannel"]

READING_TIME_S = 5.0


class DemoChannel:
    """Prints a turn as plain lines; the person in it is scripted."""

    name = "demo"
    attended = True

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._yes = True

    def heading(self, title: str) -> None:
        """Print the title of a part."""
        print(f"\n--- {title}")

    def scene(self, number: int, title: str, says: str, *, yes: bool) -> None:
        """Begin a scene; `yes` is the answer to the next question."""
        self._yes = yes
        self.heading(f"{number}. {title} ({self._clock.now():%Y-%m-%d})")
        print(_("you: {words}", words=says))

    def status(self, status: Status) -> None:
        """Say which tool runs."""
        if status.phase == "tool":
            print(f"    [{status.tool}] {status.detail}")

    def text(self, chunk: str) -> None:
        """Print the answer as it comes."""
        print(chunk, end="", flush=True)

    def notice(self, text: Text) -> None:
        """Print one line beside the answer."""
        print(f"    ({render(text)})")

    def show(self, markdown: str) -> None:
        """Print the result of a slash command."""
        print("\n".join(f"    {line}" for line in markdown.replace("`", "").splitlines()))

    def held(self, held: Sequence[Held]) -> None:
        """Show nothing: nothing is sent in the demonstration."""

    async def file(self, path: Path, name: str) -> Text | None:
        """Deliver nothing."""
        return N_("files are not delivered here")

    async def ask(self, cards: Cards, submit: Submit) -> None:
        """Show each card, let the reading pause pass and answer as the story says."""
        for card in cards:
            self._show(card)
            cards.shown(card)
            await self._clock.sleep(READING_TIME_S)
            refused = await submit(Reply(request_id=card.request.id, granted=self._yes, by=card.request.sender))
            answer = _("you: {words}", words=_("yes") if self._yes else _("no"))
            print(f"    {answer}" + (f" ({render(refused)})" if refused else ""))

    def _show(self, card: ApprovalCard) -> None:
        draft = card.request.draft
        undo = {
            "reversible": _("yes"),
            "reversible_with_cost": _("only in part, or at a price"),
            "irreversible": _("no"),
        }[draft.action.reversibility]
        question = _("QUESTION")
        print(f"    {question}  {render(draft.summary)}")
        risk = {"low": _("low"), "medium": _("medium"), "high": _("high")}[draft.risk]
        print("      " + _("can be undone: {answer}; risk: {risk}", answer=undo, risk=risk))
        parts = {_("why asked:"): draft.policy_reasons, _("record so far:"): card.record}
        width = max(map(len, parts))
        for label, lines in parts.items():
            for number, line in enumerate(lines):
                print(f"      {'' if number else label:<{width}} {render(line)}")
        for row in card.diff.splitlines():
            print(f"        {row}")

    def end_turn(self, trace: ExecutionTrace) -> None:
        """Print how each step ended; steps done by themselves stand apart."""
        print()
        for step in trace.steps:
            print(f"    {_ending(step)}")

    async def serve(self, desk: Desk) -> int:
        """Do nothing: the story drives the desk."""
        return 0


def _ending(step: ActionStep) -> str:
    decision = step.decision
    name = step.effect_class
    if step.error is not None:
        told = f"{name} [{decision.via}]" if decision else name
        return _("NOT DONE {name}: {reason}", name=told, reason=step.error.message)
    if decision is not None and decision.via == "trust_promoted":
        return _("DONE BY ITSELF {name}: {reason}", name=name, reason=decision.reason)
    return _("done {name}", name=name)

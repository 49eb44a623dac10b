"""The channel of the demo: it prints what happens and answers as the story says."""

from __future__ import annotations

from collections.abc import Sequence

from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.messages import render
from myclaw_core.runtime.channel import Desk, Status, Submit
from myclaw_core.runtime.types import ActionStep, ExecutionTrace
from myclaw_core.testing import FakeClock
from myclaw_core.types.text import Text

__all__ = ["DemoChannel"]

READING_TIME_S = 5.0

_UNDO = {"reversible": "yes", "reversible_with_cost": "only in part, or at a price", "irreversible": "no"}


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
        self.heading(f"{number}. {title} ({self._clock.now():%a %d %b})")
        print(f"you: {says}")

    def status(self, status: Status) -> None:
        """Say which tool runs."""
        if status.phase == "tool":
            print(f"    [{status.tool}] {status.detail}")

    def text(self, chunk: str) -> None:
        """Print the answer as it comes."""
        print(chunk, end="", flush=True)

    def notice(self, text: Text) -> None:
        """Print one line beside the answer."""
        print(f"    ({text})")

    def show(self, markdown: str) -> None:
        """Print the result of a slash command."""
        print("\n".join(f"    {line}" for line in markdown.replace("`", "").splitlines()))

    async def ask(self, cards: Sequence[ApprovalCard], submit: Submit) -> None:
        """Show each card, let the reading pause pass and answer as the story says."""
        for card in cards:
            self._show(card)
            await self._clock.sleep(READING_TIME_S)
            refused = submit(Reply(request_id=card.request.id, granted=self._yes, by=card.request.sender))
            print(f"    you: {'yes' if self._yes else 'no'}" + (f" ({refused})" if refused else ""))

    def _show(self, card: ApprovalCard) -> None:
        draft = card.request.draft
        print(f"    QUESTION  {draft.summary}")
        print(f"      can be undone: {_UNDO[draft.action.reversibility]}; risk: {draft.risk}")
        for label, lines in (("why asked:", draft.policy_reasons), ("record so far:", card.record)):
            for number, line in enumerate(lines):
                print(f"      {'' if number else label:<14} {line}")
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
        check = f" [{decision.via}]" if decision else ""
        return f"NOT DONE {name}{check}: {render(step.error.message)}"
    if decision is not None and decision.via == "trust_promoted":
        return f"DONE BY ITSELF {name}: {decision.reason}"
    return f"done {name}"

"""Asks what should be otherwise about a draft: from where it is made anew, then a text of one line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from attrs import frozen

from myclaw_core.approval.revisions import MOST_CHARS, STAGES
from myclaw_core.approval.types import ApprovalCard
from myclaw_core.messages import _
from myclaw_core.synthesis.types import Revision
from myclaw_terminal.answers import folded, forms
from myclaw_terminal.lines import Line
from myclaw_terminal.reader import Interrupted
from myclaw_terminal.screen import Screen

__all__ = ["Revising"]


@frozen
class Revising:
    """The two questions after `revise`.

    Attributes:
        typed: Asks for a line; returns `None` where the card was closed meanwhile.
    """

    screen: Screen
    typed: Callable[[ApprovalCard, str], Awaitable[str | None]]

    async def ask(self, card: ApprovalCard) -> Revision | None:
        """Return what should be otherwise; `None` to go back to the card: nothing was typed, or Ctrl-C or Ctrl-D."""
        try:
            stage = await self._stage(card)
            return None if stage is None else await self._text(card, stage)
        except (EOFError, Interrupted):
            return None

    async def _stage(self, card: ApprovalCard) -> Literal["spec", "draft"] | None:
        spec, draft = _word("spec"), _word("draft")
        while typed := await self.typed(card, _("what is made anew: {spec} / {draft} > ", spec=spec, draft=draft)):
            meant = [stage for stage in STAGES if folded(typed) in forms(stage, _word(stage), letter=True)]
            if len(meant) == 1:
                return meant[0]
            hint = _("type {spec} or {draft}; enter alone goes back", spec=spec, draft=draft)
            self.screen.lines([Line(hint, "warn")])
        return None

    async def _text(self, card: ApprovalCard, stage: Literal["spec", "draft"]) -> Revision | None:
        while text := await self.typed(card, _("what should be otherwise, in one line > ")):
            if len(text) <= MOST_CHARS:
                return Revision(stage=stage, text=text)
            long = _("this text has {n} characters, at most {most} are taken", n=len(text), most=MOST_CHARS)
            self.screen.lines([Line(long, "warn")])
        return None


def _word(stage: Literal["spec", "draft"]) -> str:
    words = {"spec": _("spec"), "draft": _("draft")}
    return words[stage] or stage

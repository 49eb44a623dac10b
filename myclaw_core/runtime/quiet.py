"""A channel on which nothing is shown and nobody is asked, for what the core does of its own accord."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import define

from myclaw_core.approval.cards import Cards
from myclaw_core.messages import N_
from myclaw_core.runtime.channel import Desk, Held, Status, Submit
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.types.text import Text

__all__ = ["QuietChannel"]


@define(kw_only=True)
class QuietChannel:
    """Shows nothing.

    Attributes:
        name: The channel in whose place it stands.
    """

    name: str = "core"

    @property
    def attended(self) -> bool:
        """Return that nobody is there."""
        return False

    def status(self, status: Status) -> None:
        """Show nothing."""

    def text(self, chunk: str) -> None:
        """Show nothing."""

    def notice(self, text: Text) -> None:
        """Show nothing."""

    def show(self, markdown: str) -> None:
        """Show nothing."""

    def held(self, held: Sequence[Held]) -> None:
        """Show nothing."""

    async def file(self, path: Path, name: str) -> Text | None:
        """Deliver nothing."""
        return N_("files are not delivered here")

    async def ask(self, cards: Cards, submit: Submit) -> None:
        """Ask nobody."""

    def end_turn(self, trace: ExecutionTrace) -> None:
        """Show nothing."""

    async def serve(self, desk: Desk) -> int:
        """Read nothing."""
        return 0

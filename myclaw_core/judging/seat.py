"""The judge and the critic of the slots, and whether they are heard: measured, good enough, and not the author."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from attrs import evolve, frozen

from myclaw_core.clock import Clock
from myclaw_core.errors import MyclawError
from myclaw_core.events.log import EventLog
from myclaw_core.judging import records
from myclaw_core.judging.asking import asked_judge
from myclaw_core.judging.comparing import compared
from myclaw_core.judging.exam import items_digest, pairs_digest
from myclaw_core.judging.judge import Critic, Judge, LocalModel
from myclaw_core.judging.types import Calibration, Comparison, JudgedItem, Judgement
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = ["BAR", "NO_MODEL", "CriticSeat", "JudgeSeat", "Seat", "is_one_model", "passes"]

BAR = 0.8
"""AUC below which a judge or a critic counts as unavailable (synthesis.md, stage 5)."""
NO_MODEL = N_("there is no model on this machine to ask; add one with 'myclaw models add'")


@frozen(kw_only=True)
class Seat:
    """Who sits on a slot, and whether what it says counts; whatever goes wrong, it counts as unavailable.

    Attributes:
        name: Its name.
        rubric: What it asks, with the version of that.
    """

    kind: Literal["judge", "critic"]
    name: str
    rubric: str
    log: EventLog
    clock: Clock

    async def measured(self, model: str) -> Calibration | None:
        """Return how well it did with a model on the items that come along; `None` where that is not on record.

        Raises:
            StoreError: The log cannot be read.
        """
        items = items_digest() if self.kind == "judge" else pairs_digest()
        return await records.find(
            self.log, kind=self.kind, name=self.name, rubric=self.rubric, model=model, items=items
        )

    async def heard(self, model: str, written_by: Collection[str] = ()) -> Text | None:
        """Return why it is not heard with this model, or `None` where it is.

        Args:
            model: The model it asks; empty where there is none on this machine.
            written_by: The models that wrote what is judged: none of them may judge it.
        """
        if not model:
            return NO_MODEL
        if any(is_one_model(model, author) for author in written_by):
            return N_("the model {model} wrote it itself, and nobody judges their own work", model=model)
        try:
            found = await self.measured(model)
        except MyclawError as error:
            return N_("how good it is cannot be read: {problem}", problem=error.text)
        if found is None:
            return N_(
                "{name} ({rubric}) was never measured with {model}; 'myclaw judge calibrate' does that",
                name=self.name,
                rubric=self.rubric,
                model=model,
            )
        return None if passes(found) else _below(found)


@frozen(kw_only=True)
class JudgeSeat(Seat):
    """The judge of drafts."""

    holder: Judge

    @classmethod
    def of(cls, judge: Judge, log: EventLog, clock: Clock) -> JudgeSeat:
        """Return the seat of a judge."""
        return cls(kind="judge", name=judge.name, rubric=judge.rubric, log=log, clock=clock, holder=judge)

    async def judgement(
        self, item: JudgedItem, local: LocalModel | None, written_by: Collection[str]
    ) -> Judgement | Text:
        """Return what the judge says of a draft, or why nobody judged it.

        Args:
            local: The model it asks; `None` where there is none.
            written_by: The models that wrote the draft.

        Raises:
            asyncio.CancelledError: Whoever asks was cancelled; nothing else is raised.
        """
        try:
            if local is None:
                return NO_MODEL
            if why := await self.heard(local.model, written_by):
                return why
            return await asked_judge(self.holder, item, local, self.clock)
        except MyclawError as error:
            return error.text


@frozen(kw_only=True)
class CriticSeat(Seat):
    """The critic of answers."""

    holder: Critic

    @classmethod
    def of(cls, critic: Critic, log: EventLog, clock: Clock) -> CriticSeat:
        """Return the seat of a critic."""
        return cls(kind="critic", name=critic.name, rubric=critic.rubric, log=log, clock=clock, holder=critic)

    async def comparison(
        self, task: str, one: str, other: str, local: LocalModel | None, written_by: Collection[str]
    ) -> Comparison | Text:
        """Return which answer is better (`left` is `one`), or why nobody compared them; like `judgement`."""
        try:
            if local is None:
                return NO_MODEL
            if why := await self.heard(local.model, written_by):
                return why
            return await compared(self.holder, task, one, other, local, self.clock)
        except MyclawError as error:
            return error.text


def passes(calibration: Calibration) -> bool:
    """Return whether a measurement is good enough to be heard."""
    return calibration.auc >= BAR


def is_one_model(one: str, other: str) -> bool:
    """Return whether two names stand for the same model, in doubt that they do.

    Either may have the name of its provider before a colon, and the folder of a file may be written in any way.
    """
    left, right = (name.strip().casefold().rpartition("/")[2] for name in (one, other))
    return left == right or left.endswith(f":{right}") or right.endswith(f":{left}")


def _below(found: Calibration) -> Text:
    line = N_(
        "{name} ({rubric}) with {model} told sound from unsound in {auc:.2f} of the cases, below {bar:.2f}",
        name=found.name,
        rubric=found.rubric,
        model=found.model,
        auc=found.auc,
        bar=BAR,
    )
    if found.kind == "judge":
        return line
    told = N_("{name} ({rubric}) with {model} named the better answer in {auc:.2f} of the cases, below {bar:.2f}")
    return evolve(told, params=line.params)

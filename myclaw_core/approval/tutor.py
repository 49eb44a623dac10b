"""After a number of yeses in a row one question must be checked: it is granted only by the name of what it touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from myclaw_core import codec
from myclaw_core.events.log import LogTransaction
from myclaw_core.messages import N_
from myclaw_core.policy.shell import is_opaque
from myclaw_core.types.action import ApprovalRequestDraft, PlannedAction
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text

__all__ = ["TutorRecord", "count_answers", "names_of", "wanted_name", "who_is_checked"]

_KIND = "tutor"


@frozen(kw_only=True)
class TutorRecord:
    """How many questions in a row a sender granted since the last one that was checked or denied."""

    granted: int = 0
    unknown_fields: Mapping[str, Any] = field(factory=dict)


async def who_is_checked(
    tx: LogTransaction, sender: str, every: int, asked: Sequence[tuple[PlannedAction, bool]], waiting: int
) -> list[bool]:
    """Return which of several new questions must be checked.

    Similar ones count once: a single press may answer all of them.

    Args:
        every: How many grants in a row are followed by one that must be checked.
        asked: The actions, each with whether something else already wants it checked.
        waiting: How many earlier questions have no answer yet; each may still be granted.
    """
    granted = (await _read(tx, sender)).granted + waiting
    checked, seen = [], set()
    for action, demanded in asked:
        kind = (action.actor, action.effect_class)
        check = demanded or (granted >= every and kind not in seen)
        if check:
            granted = 0
        elif kind not in seen:
            granted += 1
        seen.add(kind)
        checked.append(check)
    return checked


async def count_answers(tx: LogTransaction, sender: str, *, granted: int, checked: bool) -> None:
    """Count an answer.

    Args:
        granted: How many questions it granted; 0 for a no, which was surely looked at.
        checked: Whether it was the answer to a question that had to be checked.
    """
    before = 0 if checked or not granted else (await _read(tx, sender)).granted
    await tx.put(_KIND, sender, codec.dumps(TutorRecord(granted=0 if checked else before + granted)))


def names_of(draft: ApprovalRequestDraft) -> tuple[str, ...]:
    """Return what grants a question that must be checked: the target as a whole, or its name alone, which comes last.

    The name of a path or URL is its last part, that of a command its program, and that of a mail its address, of which
    the part before the @ is enough. A neuron is called by its name with or without `neuron:`.
    """
    effect = _judged(draft)
    if effect is None:
        return (draft.action.tool_name,)
    target = effect.target
    if effect.kind == "shell_exec":
        program = target.split() if is_opaque(effect) else [effect.scope.partition(" @ ")[0]]
        names = [target, *program[:1]]
    elif _is_addressed(effect):
        address = target.partition(":")[2]
        names = [target, address.rpartition("@")[0], address]
    elif effect.kind == "neuron_invoke":
        names = [target, target.removeprefix("neuron:")]
    else:
        names = [target, target.rstrip("/").rpartition("/")[2]]
    return tuple(name for name in dict.fromkeys(names) if name)


def wanted_name(draft: ApprovalRequestDraft) -> Text:
    """Return what is to be typed where a question must be checked."""
    effect = _judged(draft)
    if effect is None:
        return N_("the name of the tool")
    if effect.kind == "shell_exec":
        return N_("the name of the program")
    if effect.kind == "neuron_invoke":
        return N_("the name of the neuron")
    if _is_addressed(effect):
        return N_("the address that it goes to")
    if "://" in effect.target:
        return N_("the last part of the web address, or all of it")
    return N_("the name of what it would touch")


def _judged(draft: ApprovalRequestDraft) -> Effect | None:
    """Return the effect that the question is about; `None` for an action without any."""
    effects = draft.action.effects
    return next((effect for effect in effects if effect.effect_class == draft.effect_class), next(iter(effects), None))


def _is_addressed(effect: Effect) -> bool:
    """Return whether the target is somebody or something to send to, such as `mail:ada@example.org`."""
    way, colon, _name = effect.target.partition(":")
    return effect.kind == "network_out" and bool(colon) and "/" not in way and "://" not in effect.target


async def _read(tx: LogTransaction, sender: str) -> TutorRecord:
    raw = await tx.get(_KIND, sender)
    return TutorRecord() if raw is None else codec.loads(TutorRecord, raw, N_("count of {sender}", sender=sender))

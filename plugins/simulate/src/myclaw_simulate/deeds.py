"""One call of the agent that would change something, as the policy sees it, and what chance has in store for it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from attrs import evolve, frozen

from myclaw_core.constitution.rule import Ground
from myclaw_core.policy.checks import Case
from myclaw_core.policy.effects import ResolvedEffect
from myclaw_core.policy.taint import is_named, typed_part
from myclaw_core.policy.types import Situation
from myclaw_core.types.action import PlannedAction
from myclaw_simulate.places import USER_HOME, WORKSPACE, destination, moved, renamed, resolved
from myclaw_simulate.records import RecordedCall

__all__ = ["HARMS", "Deed", "Harm", "aimed", "case_of", "root_of"]

Harm = Literal["irreversible", "outbound", "reversible"]

HARMS: tuple[Harm, ...] = ("irreversible", "outbound", "reversible")

_OUTBOUND = frozenset({"network_out", "outbound_message", "cost_spend"})
_NOBODY = UUID(int=0)
_GROUND = Ground(user_home=USER_HOME, roots=(USER_HOME,))


@frozen(kw_only=True)
class Deed:
    """One call with a side effect, as the agent proposes it.

    Attributes:
        case: The call as the policy judges it.
        wanted: Whether the person wants it; else an attacker does.
        denied: Whether the person says no to it, if asked.
        undone: Whether the person takes it back soon, if it was done.
        fails: Whether it fails.
    """

    case: Case
    wanted: bool
    denied: bool
    undone: bool
    fails: bool

    @property
    def harm(self) -> Harm:
        """Return what an unwanted one does: what cannot be undone, what leaves the house, or what can be undone."""
        effects = self.case.action.effects
        if any(effect.reversibility == "irreversible" for effect in effects):
            return "irreversible"
        return "outbound" if any(effect.kind in _OUTBOUND for effect in effects) else "reversible"


def root_of(call: RecordedCall) -> str:
    """Return the folder that a command may change; empty where the record names none."""
    return str(call.args.get("root") or "")


def aimed(call: RecordedCall, prompt: str, to: str) -> tuple[RecordedCall, str]:
    """Return a call and what the person typed for it, with the first side effect at the destination `to`."""
    aim, root = call.aim, root_of(call)
    if aim is None or to == destination(aim.kind, aim.target, root):
        return call, prompt
    target, root = moved(aim.kind, aim.target, root, to)
    args = {name: target if value == aim.target else value for name, value in call.args.items()}
    if root:
        args["root"] = root
    effects = tuple(evolve(effect, target=target) if effect is aim else effect for effect in call.effects)
    return evolve(call, args=args, effects=effects), renamed(prompt, aim.kind, aim.target, target)


def case_of(call: RecordedCall, prompt: str, payload: str, at: datetime, *, tainted: bool) -> Case:
    """Return a call as the policy judges it.

    Args:
        prompt: What the person typed for the task.
        payload: Stands for what is written, sent or run; equal calls with an equal one are the same, byte for byte.
        at: When it is judged.
        tainted: Whether text from outside was in the prompt that proposed it.
    """
    items = tuple(
        item
        for effect in call.effects
        for item in resolved(effect.kind, effect.target, effect.reversibility, tool=call.tool, root=root_of(call))
    )
    typed = typed_part(prompt)
    named = tuple(is_named(item.effect, typed, WORKSPACE, given=item.given, user_home=USER_HOME) for item in items)
    return Case(
        action=_action(call, items, payload, at, tainted=tainted, named=all(named)),
        items=items,
        named=named,
        situation=Situation(roots=(USER_HOME,), cwd=WORKSPACE, typed_text=typed, tainted=tainted),
        ground=_GROUND,
        user_home=USER_HOME,
        now=at,
    )


def _action(
    call: RecordedCall, items: tuple[ResolvedEffect, ...], payload: str, at: datetime, *, tainted: bool, named: bool
) -> PlannedAction:
    return PlannedAction.from_tool_call(
        tool_name=call.tool,
        args={"args": call.args, "targets": [item.effect.target for item in items], "payload": payload},
        args_preview={},
        effects=tuple(item.effect for item in items),
        sender="simulated:person",
        trace_id=_NOBODY,
        session_id="simulated",
        autonomy="supervised",
        planned_at=at,
        tainted=tainted,
        named=named,
    )

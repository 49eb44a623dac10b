"""Turns a tool call into a case that can be judged, or says why it cannot be one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from attrs import frozen

from myclaw_core.constitution.rule import Ground
from myclaw_core.constitution.rules import OUTBOUND_KINDS
from myclaw_core.errors import MyclawError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.policy.checks import Case
from myclaw_core.policy.effects import (
    ResolvedEffect,
    TargetRefusedError,
    estimated_cost_eur,
    resolve_call,
    undeclared_effect,
)
from myclaw_core.policy.ports import Recordable, Redact
from myclaw_core.policy.preview import preview_of
from myclaw_core.policy.taint import is_named
from myclaw_core.policy.types import Situation
from myclaw_core.runtime.tool import Tool
from myclaw_core.runtime.types import ExecutionTrace, ToolCall
from myclaw_core.types.action import Caller, PlannedAction
from myclaw_core.types.effect import Autonomy, Effect
from myclaw_core.types.strings import strings_in
from myclaw_core.types.text import Text

__all__ = ["CallRefusedError", "Intake", "Request"]

_MASK = "«redacted:"


@frozen(kw_only=True)
class Request:
    """One call with who asks for it, in what trace and when.

    Attributes:
        undoable: Whether an undo record can be made, as far as is known.
    """

    call: ToolCall
    trace: ExecutionTrace
    sender: str
    autonomy: Autonomy
    situation: Situation
    now: datetime
    undoable: bool


class CallRefusedError(MyclawError):
    """Raised when a call cannot be judged as it stands.

    Attributes:
        effect: What is known of its effect.
    """

    def __init__(self, reason: Text, effect: Effect) -> None:
        self.effect = effect
        super().__init__(reason)


class Intake:
    """Builds cases.

    Args:
        tools: The registry.
        redact: Masks secrets in the preview of the arguments.
        recordable: Says why nothing can be recorded now.
        home: This installation's files.
        user_home: Absolute folder that `~` stands for.
    """

    def __init__(
        self, tools: Mapping[str, Tool], redact: Redact, recordable: Recordable, home: Home, user_home: str
    ) -> None:
        self._tools = tools
        self._redact = redact
        self._recordable = recordable
        self._home = home
        self._user_home = user_home
        self._real_user_home = os.path.realpath(user_home)

    def case(self, request: Request) -> Case:
        """Return the case of `request`.

        Raises:
            CallRefusedError: The tool is unknown, or the arguments are not JSON, hold a mask, or name no clear target.
        """
        tool = self._tool(request.call.tool)
        args = _checked(request.call.args, tool.name)
        situation = request.situation
        items = self._resolved(tool, args, request)
        named = tuple(self._is_named(item, situation) for item in items)
        preview = self._preview(args, items)
        try:
            action = _action(
                request,
                args,
                preview=preview,
                effects=tuple(item.effect for item in items),
                est_cost_eur=estimated_cost_eur(tool, args),
                named=bool(named) and all(named),
                actor=_actor(tool, situation),
            )
        except (ValueError, TypeError) as error:
            reason = N_("{tool}: the arguments are not JSON: no NaN, no infinity, no broken characters", tool=tool.name)
            raise _unreadable(reason, tool.name) from error
        ground = Ground(user_home=self._real_user_home, roots=situation.roots, unrecordable=self._recordable())
        return Case(
            action=action,
            items=items,
            named=named,
            situation=situation,
            ground=ground,
            user_home=self._user_home,
            now=request.now,
        )

    def bare_action(self, request: Request, effect: Effect | None = None) -> PlannedAction:
        """Return an action for a call that could not be worked out; it never raises and shows no unmasked argument."""
        name = _name_of(request.call)
        effects = (effect or undeclared_effect(name),)
        try:
            args = dict(request.call.args)
            return _action(request, args, preview=preview_of(args, self._redact), effects=effects)
        except Exception:  # the arguments may be anything here
            return _action(request, {}, preview={}, effects=effects)

    def _tool(self, name: Any) -> Tool:
        if isinstance(name, str) and name in self._tools:
            return self._tools[name]
        from difflib import get_close_matches

        shown = _shown(name)
        offered = [each for each, tool in self._tools.items() if not tool.internal]
        near = get_close_matches(shown, offered, n=1, cutoff=0.0)
        reason = N_("there is no tool {tool}", tool=shown)
        if near:
            reason = N_("there is no tool {tool}; the nearest one is {near}", tool=shown, near=near[0])
        raise CallRefusedError(reason, undeclared_effect(shown))

    def _resolved(self, tool: Tool, args: Mapping[str, Any], request: Request) -> tuple[ResolvedEffect, ...]:
        try:
            return resolve_call(
                tool,
                args,
                cwd=request.situation.cwd,
                home=self._home,
                user_home=self._user_home,
                typed_text=request.situation.typed_text,
                undoable=request.undoable,
                roots=request.situation.roots,
            )
        except TargetRefusedError as refused:
            target = str(self._redact(refused.target))
            effect = Effect(kind=refused.kind, scope="unresolved", target=target, reversibility="irreversible")
            reason = N_("{tool}: {problem}", tool=tool.name, problem=refused.text)
            raise CallRefusedError(reason, effect) from refused

    def _preview(self, args: Mapping[str, Any], items: tuple[ResolvedEffect, ...]) -> Mapping[str, Any]:
        """Return the arguments for people; what would be sent out stays whole, since law.0 looks at all of it."""
        if any(item.effect.kind in OUTBOUND_KINDS for item in items):
            whole: Mapping[str, Any] = self._redact(dict(args))
            return whole
        return preview_of(args, self._redact)

    def _is_named(self, item: ResolvedEffect, situation: Situation) -> bool:
        if not situation.typed_text:
            return False
        return is_named(item.effect, situation.typed_text, situation.cwd, given=item.given, user_home=self._user_home)


def _checked(args: Any, tool_name: str) -> Mapping[str, Any]:
    """Return `args` if they are an object that holds no redaction mask."""
    if not isinstance(args, Mapping):
        raise _unreadable(N_("{tool}: the arguments are no JSON object", tool=tool_name), tool_name)
    try:
        masked = any(_MASK in text for text in strings_in(args))
    except RecursionError:
        raise _unreadable(N_("{tool}: the arguments are nested too deeply", tool=tool_name), tool_name) from None
    if masked:
        reason = N_("{tool}: an argument holds a redaction mask, which is never written back", tool=tool_name)
        raise _unreadable(reason, tool_name)
    return args


def _unreadable(reason: Text, tool_name: str) -> CallRefusedError:
    return CallRefusedError(reason, undeclared_effect(tool_name))


def _action(
    request: Request,
    args: Mapping[str, Any],
    *,
    preview: Mapping[str, Any],
    effects: tuple[Effect, ...],
    est_cost_eur: float = 0.0,
    named: bool = False,
    actor: Caller | None = None,
) -> PlannedAction:
    name = _name_of(request.call)
    callers = request.situation.callers
    actor = actor or (callers[-1] if callers else Caller(actor=name))
    return PlannedAction.from_tool_call(
        tool_name=name,
        args=args,
        args_preview=preview,
        effects=effects,
        sender=request.sender,
        trace_id=request.trace.id,
        session_id=request.trace.session_id,
        autonomy=request.autonomy,
        planned_at=request.now,
        est_cost_eur=est_cost_eur,
        tainted=request.situation.tainted,
        named=named,
        actor=actor.actor,
        actor_version=actor.version,
        model=request.situation.model,
        callers=callers,
    )


def _actor(tool: Tool, situation: Situation) -> Caller:
    """Return who would act: the neuron that calls a tool; a tool that nobody calls, and a neuron, do so themselves."""
    if tool.neuron is None and situation.callers:
        return situation.callers[-1]
    return Caller(actor=tool.name, version=tool.version)


def _name_of(call: ToolCall) -> str:
    return _shown(call.tool)


def _shown(name: Any) -> str:
    """Return a tool's name as it can be shown; what is no text may not even be turned into one."""
    return visible(name)[:80] if isinstance(name, str) else f"({type(name).__name__})"

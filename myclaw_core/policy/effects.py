"""Works out what a tool call would do: the core makes kind, scope, target and reversibility, never the tool.

An undeclared effect is `shell_exec` with the scope `undeclared:<tool>`: a side effect, irreversible, never promoted.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from myclaw_core.errors import MyclawError
from myclaw_core.files.resolve import PathRefusedError, ResolvedPath, file_scope, resolve_path
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.policy.addresses import mail_address
from myclaw_core.policy.hosts import literal_host, literal_url
from myclaw_core.policy.own import own_places
from myclaw_core.policy.shell import shell_call, shell_effects
from myclaw_core.policy.taint import names_host
from myclaw_core.runtime.tool import EffectSpec, ShellArgs, Tool
from myclaw_core.types.effect import BEST_REVERSIBILITY, REVERSIBILITIES, Effect, EffectKind
from myclaw_core.types.text import Text

__all__ = [
    "ResolvedEffect",
    "TargetRefusedError",
    "estimated_cost_eur",
    "resolve_call",
    "resolve_effects",
    "undeclared_effect",
]

_FILE_KINDS = frozenset({"fs_read", "fs_write", "fs_delete"})
_NETWORK_KINDS = frozenset({"network_out", "network_in"})
_UNDO_KINDS = frozenset({"fs_write", "fs_delete", "memory_write", "memory_delete", "config_change"})
_MEMORY_KINDS = frozenset({"memory_write", "memory_delete"})
_MAX_NAME_CHARS = 512


class TargetRefusedError(MyclawError):
    """Raised when an argument does not name a target clearly enough to judge it.

    Attributes:
        kind: Kind of the effect that was being worked out.
        target: The argument, with invisible characters written out.
    """

    def __init__(self, kind: EffectKind, target: str, reason: Text | str) -> None:
        self.kind = kind
        self.target = target
        super().__init__(reason)


@frozen(kw_only=True)
class ResolvedEffect:
    """One effect with what it was made from.

    Attributes:
        given: The target as the call spelled it.
        place: Where it lies; `None` for anything but a file.
    """

    effect: Effect
    given: str
    place: ResolvedPath | None = None


def resolve_effects(
    tool: Tool,
    args: Mapping[str, Any],
    *,
    cwd: str,
    home: Home,
    user_home: str,
    typed_text: str = "",
    undoable: bool = True,
    roots: Sequence[str] = (),
) -> tuple[Effect, ...]:
    """Return every effect of one call, in the order the tool declares them; see `resolve_call`."""
    resolved = resolve_call(
        tool, args, cwd=cwd, home=home, user_home=user_home, typed_text=typed_text, undoable=undoable, roots=roots
    )
    return tuple(item.effect for item in resolved)


def resolve_call(
    tool: Tool,
    args: Mapping[str, Any],
    *,
    cwd: str,
    home: Home,
    user_home: str,
    typed_text: str = "",
    undoable: bool = True,
    roots: Sequence[str] = (),
) -> tuple[ResolvedEffect, ...]:
    """Return every effect of one call with what it was made from; `()` for a pure tool.

    Args:
        cwd: Absolute folder against which relative paths are read.
        user_home: Absolute folder that `~` stands for.
        typed_text: What the user typed this turn; only a URL on a host named there is read as `network_in`.
        undoable: Whether an undo record can be made, as far as is known.
        roots: Real paths of the open folders: what a command in the sandbox reads.

    Raises:
        TargetRefusedError: An argument names no clear target.
    """
    if tool.effects is None:
        return (ResolvedEffect(effect=undeclared_effect(tool.name), given=tool.name),)
    if tool.neuron is not None:
        return (ResolvedEffect(effect=_invocation(tool.name), given=tool.name),)
    maker = _Maker(
        tool=tool,
        cwd=cwd,
        home=home,
        user_home=user_home,
        typed_text=typed_text,
        undoable=undoable and tool.plan is not None,
        handled=undoable and tool.undo is not None,
        recallable=undoable and tool.outbox is not None,
    )
    declared = tuple(maker.make(spec, given) for spec in tool.effects for given in _given(spec, args))
    return declared if tool.shell is None else (*declared, *maker.command(tool.shell, args, roots, undoable=undoable))


def undeclared_effect(tool_name: str) -> Effect:
    """Return the effect of a tool that declares none: anything, for good."""
    name = visible(tool_name)
    return Effect(kind="shell_exec", scope=f"undeclared:{name}", target=name, reversibility="irreversible")


def _invocation(neuron: str) -> Effect:
    """Return the one effect of calling a neuron; no argument of it has a say."""
    return Effect(kind="neuron_invoke", scope="", target=neuron, reversibility=BEST_REVERSIBILITY["neuron_invoke"])


def estimated_cost_eur(tool: Tool, args: Mapping[str, Any]) -> float:
    """Return what the call itself would spend in EUR: the numbers in the arguments of its `cost_spend` effects.

    A missing amount, or one that is not a finite number from 0 on, makes it infinite: no budget covers the unknown.
    """
    given = [args.get(spec.arg) for spec in tool.effects or () if spec.kind == "cost_spend"]
    amounts = [item for value in given for item in (value if isinstance(value, list | tuple) else (value,))]
    return sum(map(_amount, amounts), 0.0)


@frozen(kw_only=True)
class _Maker:
    """Makes the effects of one call."""

    tool: Tool
    cwd: str
    home: Home
    user_home: str
    typed_text: str
    undoable: bool
    handled: bool
    recallable: bool

    def make(self, spec: EffectSpec, given: str) -> ResolvedEffect:
        try:
            if spec.kind in _FILE_KINDS:
                return self._file(spec, given)
            if spec.kind in _NETWORK_KINDS:
                return self._network(spec, given)
            return self._named(spec, given)
        except (PathRefusedError, ValueError) as error:
            raise TargetRefusedError(spec.kind, visible(given), _text_of(error)) from error

    def command(
        self, names: ShellArgs, args: Mapping[str, Any], roots: Sequence[str], *, undoable: bool
    ) -> tuple[ResolvedEffect, ...]:
        """Return what a command in the sandbox can do; one that may change the system itself is of that kind."""
        try:
            call = shell_call(names, args, roots=roots, cwd=self.cwd, user_home=self.user_home)
        except (MyclawError, ValueError) as error:
            given = visible(str(args.get(names.command)))[:80]
            raise TargetRefusedError("shell_exec", given, _text_of(error)) from error
        found = shell_effects(call, user_home=self.user_home, undoable=undoable)
        kind = call.root and own_places(self.home, self.user_home).kind_of(call.root.real, whole=False)
        return tuple(
            ResolvedEffect(
                effect=evolve(effect, kind=kind, reversibility="irreversible") if kind else effect,
                given=given,
                place=place,
            )
            for effect, given, place in found
        )

    def _file(self, spec: EffectSpec, given: str) -> ResolvedEffect:
        deletes = spec.kind == "fs_delete"
        place = resolve_path(given, self.cwd, self.user_home, follow_last=not deletes)
        kind = spec.kind
        if kind != "fs_read":
            own = own_places(self.home, self.user_home)
            kind = own.kind_of(place.real, whole=deletes or place.kind in ("dir", "absent")) or kind
        scope = file_scope(place, kind == "fs_read", self.user_home)
        return ResolvedEffect(effect=self._effect(kind, spec, scope, place.real), given=given, place=place)

    def _network(self, spec: EffectSpec, given: str) -> ResolvedEffect:
        host, target = literal_host(given), literal_url(given)
        kind = spec.kind
        if kind == "network_in" and not names_host(host, self.typed_text):
            effect = Effect(kind="network_out", scope=host, target=target, reversibility="reversible_with_cost")
        else:
            effect = self._effect(kind, spec, host, target)
        return ResolvedEffect(effect=effect, given=given)

    def _named(self, spec: EffectSpec, given: str) -> ResolvedEffect:
        name = unicodedata.normalize("NFC", given)
        if not name.strip() or len(name) > _MAX_NAME_CHARS or visible(name) != name:
            reason = N_("argument {arg} must be a short name without invisible characters", arg=spec.arg)
            raise TargetRefusedError(spec.kind, visible(given), reason)
        if self.tool.outbox is not None:
            name = self._recipient(name, mail=self.tool.outbox.address == "mail")
        scope = {"cost_spend": self.tool.name, "shell_exec": "opaque"}.get(spec.kind, name)
        return ResolvedEffect(effect=self._effect(spec.kind, spec, scope, name), given=given)

    def _recipient(self, name: str, *, mail: bool) -> str:
        """Return a recipient with the way to it in front: the same recipient is always spelled alike."""
        return f"mail:{mail_address(name)}" if mail else f"{self.tool.plugin or self.tool.name}:{name}"

    def _effect(self, kind: EffectKind, spec: EffectSpec, scope: str, target: str) -> Effect:
        best = BEST_REVERSIBILITY.get(kind, "irreversible")
        if kind in _UNDO_KINDS and not (self.undoable or (self.handled and kind in _MEMORY_KINDS)):
            best = "irreversible"
        elif kind == "outbound_message" and self.recallable:
            best = "reversible_with_cost"
        claim = spec.reversibility
        if claim is None:
            claim = "irreversible" if kind == "network_out" else best
        return Effect(kind=kind, scope=scope, target=target, reversibility=max(best, claim, key=REVERSIBILITIES.index))


def _given(spec: EffectSpec, args: Mapping[str, Any]) -> Iterator[str]:
    value = args.get(spec.arg)
    if value is None:
        value = spec.default
    values = value if isinstance(value, list | tuple) else () if value is None else (value,)
    for item in values:
        if isinstance(item, str):
            yield item
        elif spec.kind == "cost_spend" and _is_number(item):
            yield f"{item} EUR"
        else:
            reason = N_("argument {arg} must be a text", arg=spec.arg)
            raise TargetRefusedError(spec.kind, visible(repr(item))[:80], reason)


def _text_of(error: MyclawError | ValueError) -> Text | str:
    return error.text if isinstance(error, MyclawError) else str(error)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _amount(value: Any) -> float:
    """Return an amount of EUR, infinite where `value` is none."""
    if not _is_number(value):
        return math.inf
    try:
        amount = float(value)
    except OverflowError:
        return math.inf
    return amount if math.isfinite(amount) and amount >= 0 else math.inf

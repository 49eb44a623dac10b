"""What a neuron declares and what it uses must agree, both ways."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from myclaw_core.messages import N_
from myclaw_core.neurons.analysis.context import Use
from myclaw_core.neurons.analysis.found import Finder
from myclaw_core.neurons.analysis.strings import KnownText
from myclaw_core.neurons.capabilities import Capability, needed_to_call
from myclaw_core.neurons.patterns import PathPattern, covers_url, may_cover_url

__all__ = ["check_coherence", "covers"]


def check_coherence(
    uses: Sequence[Use],
    capabilities: Sequence[Capability],
    may_call: Collection[str],
    finder: Finder,
    *,
    repeatable_chance: bool,
    programs: Collection[str] = (),
) -> None:
    """Refuse what is used without being declared, and what is declared without being used.

    Args:
        repeatable_chance: Whether the file draws numbers from a seed, for which `random` may be declared or not.
        programs: The programs that the configuration lets neurons run.
    """
    used = {Capability("random")} if repeatable_chance else set()
    for use in uses:
        if use.kind == "call":
            used |= _check_call(use, capabilities, may_call, finder)
        else:
            used |= _check(use, capabilities, finder)
    for capability in capabilities:
        if capability.kind == "shell" and capability.pattern not in programs:
            finder.add(0, "capability", N_("{what} is not allowed by the configuration", what=str(capability)))
        elif capability not in used and not (capability.kind == "call" and capability.pattern in may_call):
            finder.add(0, "unused", N_("{what} is declared, but not used", what=str(capability)))
    called = {text.start for use in uses if use.kind == "call" for text in use.texts}
    for name in sorted(set(may_call) - called):
        finder.add(0, "unused", N_("{what} is declared, but not used", what=f"may_call: {name}"))


def _check(use: Use, capabilities: Sequence[Capability], finder: Finder) -> set[Capability]:
    """Refuse a use that nothing covers; return what covers it."""
    used = set[Capability]()
    for text in use.texts or (KnownText(""),):
        fitting = {each for each in capabilities if each.kind == use.kind and covers(each, text)}
        used |= fitting
        if not fitting:
            finder.add(use.line, "undeclared", N_("{what} is used, but not declared", what=_told(use.kind, text)))
    return used


def _check_call(
    use: Use, capabilities: Sequence[Capability], may_call: Collection[str], finder: Finder
) -> set[Capability]:
    name = use.texts[0].start
    if name not in may_call:
        finder.add(use.line, "undeclared", N_("{what} is used, but not declared", what=f"may_call: {name}"))
    kind = needed_to_call(name)
    fitting = {each for each in capabilities if each.kind == kind}
    if kind is not None and not fitting:
        finder.add(use.line, "undeclared", N_("{what} is used, but not declared", what=kind))
    return fitting


def covers(capability: Capability, text: KnownText) -> bool:
    """Return whether a capability may cover a path or a URL; what is not known of it is decided at the call."""
    pattern, start = capability.pattern, text.start
    if not pattern:
        return True
    if capability.kind == "network":
        return covers_url(pattern, start) if text.whole else may_cover_url(pattern, start)
    if text.whole:
        return PathPattern.of(pattern).covers(start.rstrip("/") or "/")
    fixed = pattern.partition("*")[0]
    return start.startswith(fixed) or fixed.startswith(start)


def _told(kind: str, text: KnownText) -> str:
    if not text.start and text.whole:
        return kind
    return f"{kind}:{text.start}" + ("" if text.whole else "*")

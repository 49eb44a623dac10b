"""What a person reads before they let a neuron in: what it is, may do and is worth, its tests and its code."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from attrs import frozen

from myclaw_core.files.visible import visible
from myclaw_core.messages import _, n_, render
from myclaw_core.neurons.birth_report import BirthTest
from myclaw_core.neurons.dossier_reward import about_reward
from myclaw_core.neurons.drafts import Draft
from myclaw_core.neurons.normal import NEURON_FILES
from myclaw_core.neurons.types import NeuronManifest, VerifiedNeuron
from myclaw_core.shown.inert import cut
from myclaw_core.synthesis.types import Making
from myclaw_core.undo.diff import text_diff

__all__ = ["Surroundings", "compare_versions", "dossier", "rights_of"]

_NUMBERS = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-(.*))?")
_MIB = 1 << 20
_FIRST, _LAST = 3, 3
_MOST_CHARACTERS = 1_000


@frozen(kw_only=True)
class Surroundings:
    """What a draft is compared with.

    Attributes:
        before: The version of it that is adopted; `None` where there is none.
        known: What neurons of this machine may do already, as `rights_of` gives it.
        gate: What R of a draft that a model wrote must reach.
    """

    before: VerifiedNeuron | None
    known: Collection[str]
    gate: float


def rights_of(manifest: NeuronManifest) -> tuple[str, ...]:
    """Return what a manifest declares: its capabilities, and what it calls as `call:<name>`, each once."""
    return tuple(dict.fromkeys((*manifest.capabilities, *(f"call:{name}" for name in manifest.may_call))))


def compare_versions(one: str, other: str) -> int:
    """Return -1, 0 or 1 as `one` is older than, as new as or newer than `other` (Semantic Versioning 2.0.0, 11)."""
    left, right = _key(one), _key(other)
    return (left > right) - (left < right)


def dossier(draft: Draft, around: Surroundings) -> str:
    """Return everything about a draft in the person's language; nothing in it acts on a screen."""
    tested = draft.tested
    making = _making(tested.making) if tested.making else ()
    reward = about_reward(tested.reward, around.gate)
    return "\n".join((*_about(draft, around), *making, *reward, *_tests(draft), "", *_code(draft, around)))


def _about(draft: Draft, around: Surroundings) -> Iterator[str]:
    manifest = draft.manifest
    yield _line(_("{name} {version}", name=manifest.name, version=manifest.version))
    if around.before is not None:
        yield _line(_against(manifest.version, around.before.manifest.version))
    yield _line(_("purpose: {purpose}", purpose=" ".join(manifest.purpose.split())))
    yield _line(_("origin: {origin}", origin=manifest.origin))
    yield from _rights(manifest, around.known)
    yield _(
        "after a yes: it is signed and can be called like a tool; "
        "what it does is still asked about, each time, until it has earned trust"
    )


def _against(new: str, old: str) -> str:
    order = compare_versions(new, old)
    if order > 0:
        return _("it replaces the version {old}", old=old)
    if order == 0:
        return _("OTHER FILES under the same version {old} that is adopted; they would be replaced", old=old)
    return _("OLDER than the version {old} that is adopted and would be replaced", old=old)


def _rights(manifest: NeuronManifest, known: Collection[str]) -> Iterator[str]:
    rights = rights_of(manifest)
    if not rights:
        yield _("may: nothing but compute on what it is given")
        return
    yield _("may, at most:")
    for right in sorted(rights, key=lambda each: each in known):
        new = _("  {right} (NEW: no neuron here may do that so far)", right=right)
        yield _line(f"  {right}" if right in known else new)


def _making(making: Making) -> Iterator[str]:
    yield _line(_("made for: {goal}", goal=_whole(making.goal)))
    if making.story:
        yield _line(_("what went wrong (trace {trace}):", trace=str(making.trace_id)[:13]))
        yield from (_line(f"  {_whole(step)}") for step in _collapsed(making.story))
    yield _line(_("why: {rationale}", rationale=_whole(making.rationale)))
    yield _line(
        _(
            "attempt {n}, {cost:.2f} EUR so far, written by {models}",
            n=making.attempt,
            cost=making.cost_eur,
            models=_whole(", ".join(making.models)),
        )
    )


def _collapsed(story: Sequence[str]) -> Sequence[str]:
    """Return the first and the last lines, and how many lie between them."""
    between = len(story) - _FIRST - _LAST
    if between <= 1:
        return story
    gap = n_("… {n} more line", "… {n} more lines", between)
    return (*story[:_FIRST], gap, *story[-_LAST:])


def _tests(draft: Draft) -> Iterator[str]:
    report = draft.tested.report
    yield _("tests in the sandbox:")
    for test in report.tests:
        yield _line(f"  {_test(test)}")
    for problem in (*report.problems, *filter(None, [report.weakness])):
        yield _line(f"  {render(problem)}")
    if report.survivors:
        yield _("small changes of its code that no test noticed:")
        yield from (_line(f"  {render(survivor)}") for survivor in report.survivors)


def _test(test: BirthTest) -> str:
    if test.outcome == "passed":
        return _(
            "{name}: passed, {seconds:.2f} s, {mib:.1f} MiB",
            name=test.name,
            seconds=test.wall_ms / 1000,
            mib=test.peak_memory_bytes / _MIB,
        )
    return _("{name}: FAILED: {reason}", name=test.name, reason=render(test.reason))


def _code(draft: Draft, around: Surroundings) -> Iterator[str]:
    before: Mapping[str, bytes] = around.before.files if around.before else {}
    for name in NEURON_FILES:
        old = before[name].decode("utf-8", "replace") if name in before else None
        yield from text_diff(old, draft.files[name].decode("utf-8", "replace"), name)


def _whole(text: str) -> str:
    """Return words of others as one line, bounded."""
    return cut(" ".join(text.split()), _MOST_CHARACTERS)


def _line(text: str) -> str:
    return visible(text)


def _key(version: str) -> tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]:
    match = _NUMBERS.fullmatch(version)
    if match is None:
        return 0, 0, 0, False, ()
    before = match[4]
    parts = () if before is None else tuple(map(_part, before.split(".")))
    return int(match[1]), int(match[2]), int(match[3]), before is None, parts


def _part(text: str) -> tuple[bool, int, str]:
    """Return an identifier as it is compared: numbers come before words."""
    return (False, int(text), "") if text.isdecimal() else (True, 0, text)

"""Says what the prompts of stages 2 and 3 are made from, bounded so that a prompt stays within what any model reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from myclaw_core.files.visible import visible
from myclaw_core.neurons.manifest import MANIFEST_FILE
from myclaw_core.neurons.normal import NEURON_FILES
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.runtime.prompt import outside_block
from myclaw_core.synthesis.answers import write_spec
from myclaw_core.synthesis.author import DraftBrief, SpecBrief
from myclaw_core.synthesis.materials import Example, Materials
from myclaw_core.synthesis.types import NeuronSpec, Synthesis
from myclaw_core.types.text import Text

__all__ = ["DRAFT_CHARS", "SPEC_CHARS", "Materials", "draft_brief", "spec_brief", "spec_of"]

SPEC_CHARS = 48_000
DRAFT_CHARS = 36_000
"""What a brief holds at most; its prompt adds the rules, those of a draft being the longer ones."""
_MOST_GOAL = 4_000
_MOST_STORY = 12_000
_MOST_FILE = 14_000
_MOST_SPEC = 18_000
_MOST_CALL = 3_000
_MOST_LINES = 60
_MOST_FEEDBACK = 20
_LINE_CHARS = 200
_FEEDBACK_CHARS = 600
_LOOKED_AT = 4
"""So many times what is kept of a text is looked at, since blanks go away."""
_ESCAPED_CHARS = 3
"""So much longer `<` becomes where it is escaped."""


def spec_brief(synthesis: Synthesis, materials: Materials) -> SpecBrief:
    """Return what the spec is made from; what does not fit is cut or left out, the least needed first."""
    request, room = synthesis.request, _Room(SPEC_CHARS)
    feedback = room.feedback(synthesis.feedback)
    goal = room.cut(visible(request.goal[: _MOST_GOAL * _LOOKED_AT], keep="\n"), _MOST_GOAL)
    before = room.cut(write_spec(synthesis.spec), _MOST_SPEC) if synthesis.spec else ""
    story = room.cut("\n".join(materials.story), _MOST_STORY)
    hint = tuple(room.lines(request.capability_hint))
    programs = tuple(room.lines(materials.programs))
    tools = room.words({name: _first_line(tool.description) for name, tool in materials.tools.items()})
    purposes = {f"neuron:{each.manifest.name}": each.manifest.purpose for each in materials.active}
    neurons = room.words(purposes)
    patches = room.files(materials.files_of(synthesis.patches))
    examples = (write_spec(spec_of(each.manifest)) for each in materials.examples(hint, synthesis.patches))
    return SpecBrief(
        goal=goal,
        story=outside_block("trace", story) if story else "",
        tools=tools,
        neurons=neurons,
        programs=programs,
        hint=hint,
        examples=tuple(example for example in examples if room.takes(example)),
        patches=patches,
        before=before,
        feedback=feedback,
    )


def draft_brief(synthesis: Synthesis, materials: Materials, version: str) -> DraftBrief:
    """Return what the three files are made from; what does not fit is cut or left out, the least needed first.

    Args:
        version: That the manifest must have.

    Raises:
        ValueError: The synthesis has no spec.
    """
    spec, room = synthesis.spec, _Room(DRAFT_CHARS)
    if spec is None:
        raise ValueError("a draft is made from a spec")
    room.takes(write_spec(spec))
    calls = materials.called(spec.may_call)
    wanted = (*spec.capabilities_requested, *("call" for _ in spec.may_call))
    return DraftBrief(
        spec=spec,
        version=version,
        trace_id=str(synthesis.request.trace_id),
        feedback=room.feedback(synthesis.feedback),
        calls={name: room.cut(told, _MOST_CALL) for name, told in calls.items()},
        before=room.files(synthesis.files),
        patches=room.files(materials.files_of(synthesis.patches)),
        examples=tuple(_whole(room, materials.examples(wanted, synthesis.patches))),
    )


def spec_of(manifest: NeuronManifest) -> NeuronSpec:
    """Return the spec that a neuron could have been made from."""
    capabilities = tuple(each for each in manifest.capabilities if not each.startswith("call:"))
    return NeuronSpec(
        proposed_name=manifest.name,
        purpose=manifest.purpose,
        input_schema=manifest.input_schema,
        output_schema=manifest.output_schema,
        capabilities_requested=capabilities,
        rationale="No tool did this.",
        may_call=manifest.may_call,
    )


def _whole(room: _Room, examples: Sequence[Example]) -> Iterator[Mapping[str, str]]:
    for example in examples:
        if room.takes(*example.files.values()):
            yield example.files


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


class _Room:
    """What is left of the characters of a brief.

    Args:
        chars: What there is to begin with.
    """

    def __init__(self, chars: int) -> None:
        self._left = chars

    def takes(self, *texts: str) -> bool:
        """Return whether texts fit as a whole; they count then."""
        weight = sum(map(_weight, texts))
        if weight > self._left:
            return False
        self._left -= weight
        return True

    def cut(self, text: str, most: int) -> str:
        """Return a text as far as it fits, at most so many characters."""
        kept = text[: min(most, self._left)]
        while kept and _weight(kept) > self._left:
            kept = kept[: len(kept) * 3 // 4]
        self._left -= _weight(kept)
        return kept if kept == text else f"{kept}\n… (the rest is not shown)"

    def files(self, files: Mapping[str, str]) -> Mapping[str, str]:
        """Return files as far as they fit; the manifest, which is short, first."""
        names = sorted(files.keys() & set(NEURON_FILES), key=lambda name: (name != MANIFEST_FILE, name))
        kept = {name: self.cut(files[name], _MOST_FILE) for name in names}
        return {name: kept[name] for name in NEURON_FILES if name in kept}

    def words(self, words: Mapping[str, str]) -> Mapping[str, str]:
        """Return names with a line each as far as they fit."""
        lines = {_line(name): _line(text) for name, text in list(words.items())[:_MOST_LINES]}
        return {name: text for name, text in lines.items() if self.takes(name, text)}

    def lines(self, lines: Sequence[str]) -> Iterator[str]:
        """Yield lines as far as they fit."""
        return (line for line in map(_line, lines[:_MOST_LINES]) if self.takes(line))

    def feedback(self, feedback: Sequence[Text]) -> tuple[str, ...]:
        """Return sentences as far as they fit."""
        told = (_line(str(each), _FEEDBACK_CHARS) for each in feedback[:_MOST_FEEDBACK])
        return tuple(line for line in told if self.takes(line))


def _line(text: str, most: int = _LINE_CHARS) -> str:
    """Return a text as one line, cut where it is long."""
    line = visible(" ".join(text[: most * _LOOKED_AT].split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _weight(text: str) -> int:
    return len(text) + _ESCAPED_CHARS * text.count("<")

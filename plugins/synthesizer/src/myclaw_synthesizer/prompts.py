"""Words what a model is asked for: the rules stand in the system prompt, which stays the same, the data after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from myclaw_core.runtime.prompt import outside_block
from myclaw_core.synthesis.answers import write_files, write_spec
from myclaw_core.synthesis.author import DraftBrief, Prompt, SpecBrief
from myclaw_synthesizer.rules import coding_rules
from myclaw_synthesizer.templates import fill, text_of

__all__ = ["PromptAuthor"]


class PromptAuthor:
    """The author of prompts that comes along; all that it puts in from elsewhere is marked as outside text."""

    name = "synthesizer"

    def spec_prompt(self, brief: SpecBrief) -> Prompt:
        """Return what asks for a spec."""
        values = {
            "goal": outside_block("goal", brief.goal),
            "story": brief.story,
            "tools": _listed("tools", brief.tools),
            "neurons": _listed("neurons", brief.neurons),
            "programs": ", ".join(brief.programs) or "none",
            "hint": _lines("hint", brief.hint),
            "patches": _files("neuron", brief.patches),
            "examples": "\n".join(outside_block("example", example) for example in brief.examples),
            "before": outside_block("last attempt", brief.before) if brief.before else "",
            "feedback": _lines("feedback", brief.feedback),
        }
        return Prompt(system=text_of("spec_rules"), text=fill(text_of("spec"), values))

    def draft_prompt(self, brief: DraftBrief) -> Prompt:
        """Return what asks for the three files."""
        values = {
            "spec": outside_block("spec", write_spec(brief.spec)),
            "version": brief.version,
            "trace_id": brief.trace_id,
            "calls": _listed("calls", brief.calls),
            "patches": _files("neuron", brief.patches),
            "examples": "\n".join(_files("example", example) for example in brief.examples),
            "before": _files("last attempt", brief.before),
            "feedback": _lines("feedback", brief.feedback),
        }
        rules = coding_rules() | {"skeleton": text_of("skeleton")}
        return Prompt(system=fill(text_of("draft_rules"), rules), text=fill(text_of("draft"), values))


def _listed(source: str, words: Mapping[str, str]) -> str:
    return _lines(source, [f"{name}: {text}" for name, text in words.items()])


def _lines(source: str, lines: Sequence[str]) -> str:
    return outside_block(source, "\n".join(f"- {line}" for line in lines)) if lines else ""


def _files(source: str, files: Mapping[str, str]) -> str:
    return outside_block(source, write_files(files)) if files else ""

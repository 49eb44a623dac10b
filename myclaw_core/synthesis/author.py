"""Who words what a model is asked for in stages 2 and 3: the contract that a synthesizer plugin fills.

The plugin writes prompts and nothing else. The core makes the calls, pays for them, reads the answers and decides what
becomes of them, so that no plugin spends, retries or lets in anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from attrs import frozen

from myclaw_core.synthesis.types import NeuronSpec

__all__ = ["Author", "DraftBrief", "Prompt", "SpecBrief"]


@frozen(kw_only=True)
class SpecBrief:
    """What a spec is made from.

    Attributes:
        goal: What the person wanted, in their words.
        story: The trace that failed, one line a step, marked as outside text where it is; empty where there is none.
        tools: The tools there are, name and one line each.
        neurons: The neurons there are, name and purpose each.
        programs: What may be declared as `shell:<program>`.
        hint: Capabilities that it will probably need.
        examples: Specs of neurons that are fit, as JSON.
        patches: The files of the neuron that is to become better; empty where a new one is wanted.
        before: The last spec as JSON; empty at the first attempt.
        feedback: What was wrong with the last attempt, one sentence each.
    """

    goal: str
    story: str
    tools: Mapping[str, str]
    neurons: Mapping[str, str]
    programs: tuple[str, ...]
    hint: tuple[str, ...]
    examples: tuple[str, ...]
    patches: Mapping[str, str]
    before: str
    feedback: tuple[str, ...]


@frozen(kw_only=True)
class DraftBrief:
    """What the three files are made from.

    Attributes:
        version: That the manifest must have.
        trace_id: That the manifest must have; empty where there is none.
        calls: The tools and neurons that it calls, by name: description, arguments and output as JSON.
        examples: The files of neurons that are fit.
        patches: The files of the neuron that is to become better; empty where it is a new one.
        before: The files of the last attempt; empty at the first.
        feedback: What was wrong with the last attempt, one sentence each.
    """

    spec: NeuronSpec
    version: str
    trace_id: str
    calls: Mapping[str, str]
    examples: tuple[Mapping[str, str], ...]
    patches: Mapping[str, str]
    before: Mapping[str, str]
    feedback: tuple[str, ...]


@frozen(kw_only=True)
class Prompt:
    """What a model is asked; how its answer must look the core appends itself (`answers.py`)."""

    system: str
    text: str


class Author(Protocol):
    """Words what a model is asked for; pure text in, pure text out."""

    name: str

    def spec_prompt(self, brief: SpecBrief) -> Prompt:
        """Return what asks for a spec (purpose `design-neuron-spec`)."""
        ...

    def draft_prompt(self, brief: DraftBrief) -> Prompt:
        """Return what asks for the three files (purpose `write-neuron-code`)."""
        ...

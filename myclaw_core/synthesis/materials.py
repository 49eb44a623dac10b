"""What a neuron is designed from: what there is already, neurons that are fit to be examples, and what failed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from myclaw_core.errors import UsageError
from myclaw_core.events.log import EventLog
from myclaw_core.neurons.drafts import read_source
from myclaw_core.neurons.manifest import MANIFEST_FILE, read_manifest
from myclaw_core.neurons.shipped import shipped_folder, shipped_names
from myclaw_core.neurons.types import NeuronEntry, NeuronManifest, VerifiedNeuron
from myclaw_core.runtime.tool import Tool
from myclaw_core.runtime.undoing import find_trace
from myclaw_core.synthesis.story import story_of
from myclaw_core.synthesis.types import Synthesis

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["Example", "Materials"]

_MOST_EXAMPLES = 3


@frozen(kw_only=True)
class Example:
    """A neuron as a model is shown it.

    Attributes:
        files: What its files hold, by name.
    """

    manifest: NeuronManifest
    files: Mapping[str, str]

    @property
    def chars(self) -> int:
        """Return how long it is."""
        return sum(map(len, self.files.values()))

    @property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of what it may do."""
        return _kinds((*self.manifest.capabilities, *("call" for _ in self.manifest.may_call)))


@frozen(kw_only=True)
class Materials:
    """What the briefs of one run are made from; gathered once.

    Attributes:
        story: The trace that failed, one line a step; empty where there is none, or its record was erased.
        tools: The tools that a neuron can call, by name; no neurons among them.
        active: The neurons that can be called, that with the best recorded R first.
        shipped: The neurons that come along and are not among these.
        programs: What may be declared as `shell:<program>`.
    """

    story: tuple[str, ...]
    tools: Mapping[str, Tool]
    active: tuple[Example, ...]
    shipped: tuple[Example, ...]
    programs: tuple[str, ...]

    @classmethod
    async def of(cls, agent: Agent, synthesis: Synthesis) -> Materials:
        """Gather them as they are now.

        Raises:
            MyclawError: The folder of neurons cannot be looked at, or the log cannot be read.
        """
        services = agent.services
        entries = sorted(await services.neurons.entries(), key=_fittest)
        called = (each.neuron for each in entries if each.state == "active")
        active = tuple(_of_neuron(neuron) for neuron in called if neuron is not None)
        known = {each.manifest.name for each in active}
        return cls(
            story=await _story(agent.log, synthesis),
            tools={name: tool for name, tool in services.tools.items() if not (tool.internal or tool.neuron)},
            active=active,
            shipped=tuple(_of_folder(shipped_folder() / name) for name in shipped_names() if name not in known),
            programs=services.config.neurons.programs,
        )

    def version_of(self, name: str) -> str:
        """Return the version of an active neuron; empty where there is none of that name."""
        return next((each.manifest.version for each in self.active if each.manifest.name == name), "")

    def files_of(self, name: str) -> Mapping[str, str]:
        """Return the files of an active neuron; none where there is none of that name."""
        return next((each.files for each in self.active if each.manifest.name == name), {})

    def called(self, names: Collection[str]) -> Mapping[str, str]:
        """Return what must be known to call these tools and neurons, as JSON by name; what there is not is left out."""
        neurons = {f"neuron:{each.manifest.name}": each.manifest for each in self.active}
        told: dict[str, Mapping[str, Any]] = {
            name: {"description": tool.description, "arguments": tool.schema} for name, tool in self.tools.items()
        }
        for name, manifest in neurons.items():
            schemas = {"arguments": manifest.input_schema, "output": manifest.output_schema}
            told[name] = {"description": manifest.purpose, **schemas}
        return {name: json.dumps(told[name], ensure_ascii=False) for name in names if name in told}

    def examples(self, wanted: Collection[str], but: str) -> tuple[Example, ...]:
        """Return neurons to learn from: active ones by R, then shipped ones, those of the wanted kinds and short first.

        Args:
            wanted: Capabilities that the new neuron will have.
            but: The neuron that is not an example, since it is to become better.
        """
        kinds = _kinds(wanted)
        shipped = sorted(self.shipped, key=lambda each: (-len(each.kinds & kinds), each.chars, each.manifest.name))
        fit = (each for each in (*self.active, *shipped) if each.manifest.name != but)
        return tuple(fit)[:_MOST_EXAMPLES]


def _kinds(capabilities: Collection[str]) -> frozenset[str]:
    return frozenset(text.partition(":")[0] for text in capabilities)


def _fittest(entry: NeuronEntry) -> tuple[float, str]:
    return -(entry.record.reward if entry.record else 0.0), entry.name


def _of_neuron(neuron: VerifiedNeuron) -> Example:
    files = {name: data.decode("utf-8", "replace") for name, data in neuron.files.items()}
    return Example(manifest=neuron.manifest, files=files)


def _of_folder(folder: Path) -> Example:
    files = read_source(folder)
    return Example(
        manifest=read_manifest(files[MANIFEST_FILE], folder.name),
        files={name: data.decode("utf-8") for name, data in files.items()},
    )


async def _story(log: EventLog, synthesis: Synthesis) -> tuple[str, ...]:
    try:
        return story_of(await find_trace(log, str(synthesis.request.trace_id)))
    except UsageError:
        return ()

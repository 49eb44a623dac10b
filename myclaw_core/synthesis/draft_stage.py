"""Stages 3 and 4: a model writes the three files, and their text is analysed; nothing of them is executed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from uuid import UUID

from myclaw_core.errors import UnavailableError, UsageError
from myclaw_core.judging.item import item_of
from myclaw_core.messages import N_
from myclaw_core.neurons.checking import check_neuron
from myclaw_core.neurons.manifest import MANIFEST_FILE, ManifestError, read_manifest
from myclaw_core.neurons.normal import normalized
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.synthesis.answers import DRAFT_FORMAT, AnswerError, read_files
from myclaw_core.synthesis.briefs import draft_brief
from myclaw_core.synthesis.errors import StaticAnalysisError
from myclaw_core.synthesis.materials import Materials
from myclaw_core.synthesis.moves import Move, onward
from myclaw_core.synthesis.run import DesignRun
from myclaw_core.synthesis.types import NeuronSpec, Synthesis
from myclaw_core.synthesis.wording import worded
from myclaw_core.types.text import Text

__all__ = ["ORIGIN", "analyse", "bytes_of", "write_draft"]

ORIGIN = "synthesis"
_PURPOSE = "write-neuron-code"
_MOST_FINDINGS = 12
_FIRST_VERSION = "1.0.0"


async def write_draft(run: DesignRun, synthesis: Synthesis, materials: Materials) -> Move:
    """Return the move to the analysis, with the three files in their normal form (stage 3).

    Raises:
        StaticAnalysisError: The answer holds no three files, or its manifest gets round what the core wrote in it; it
            costs a retry.
        BudgetExceededError: It would cost too much.
        PausedError: No model can be had now.
        UnavailableError: Nobody words the prompt.
    """
    agent = run.agent
    version = next_version(materials.version_of(synthesis.patches))
    author, brief = agent.author(), draft_brief(synthesis, materials, version)
    prompt = worded(agent.services.config.slots.synthesizer, lambda: author.draft_prompt(brief))
    answer = await run.ask(_PURPOSE, prompt, DRAFT_FORMAT)
    if answer.is_cut:
        raise StaticAnalysisError([N_("the answer was too long and was cut; write less code")])
    try:
        files = read_files(answer.text)
    except AnswerError as error:
        raise StaticAnalysisError([error.text]) from error
    manifest = settled_manifest(files[MANIFEST_FILE], version, synthesis.request.trace_id)
    _require_settled(manifest, version, synthesis.request.trace_id)
    files = {**files, MANIFEST_FILE: manifest}
    size = sum(map(len, files.values()))
    return onward(
        synthesis,
        "analysis",
        N_("draft: three files, {n} bytes", n=size),
        agent.clock.now(),
        files={name: data.decode("utf-8") for name, data in files.items()},
        feedback=(),
        models=tuple(dict.fromkeys((*synthesis.models, *answer.models))),
    )


def analyse(run: DesignRun, synthesis: Synthesis) -> Move:
    """Return the move to the tests of a draft in which nothing is found (stage 4).

    Raises:
        StaticAnalysisError: Something is; it costs a retry.
    """
    agent, spec, files = run.agent, _spec_of(synthesis), bytes_of(synthesis)
    programs = agent.services.config.neurons.programs
    found = check_neuron(files, spec.proposed_name, agent.dispatcher.analyze, programs=programs)
    if found:
        more = len(found) - _MOST_FINDINGS
        told = [each.told for each in found[:_MOST_FINDINGS]]
        raise StaticAnalysisError([*told, N_("and further findings: {n}", n=more)] if more > 0 else told)
    manifest = read_manifest(files[MANIFEST_FILE])
    if differences := tuple(_differences(spec, manifest)):
        raise StaticAnalysisError(differences)
    _require_judgeable(manifest, files)
    return onward(synthesis, "tests", N_("analysis: nothing found"), agent.clock.now())


def _require_judgeable(manifest: NeuronManifest, files: Mapping[str, bytes]) -> None:
    """Check that a judge could be shown all of a draft: none gets round one by its length."""
    try:
        item_of(manifest, files)
    except UnavailableError as error:
        raise StaticAnalysisError([error.text]) from error


def bytes_of(synthesis: Synthesis) -> Mapping[str, bytes]:
    """Return the files of the last draft."""
    return {name: text.encode("utf-8") for name, text in synthesis.files.items()}


def next_version(of: str) -> str:
    """Return the version after one: a better version of a neuron counts its middle number up."""
    if not of:
        return _FIRST_VERSION
    major, minor, _rest = of.split(".", 2)
    return f"{major}.{int(minor) + 1}.0"


def settled_manifest(data: bytes, version: str, trace_id: UUID) -> bytes:
    """Return a manifest with the version and the origin that the core knows better than a model: no attempt is lost."""
    text = data.decode("utf-8")
    for key, value in {"version": version, "origin": ORIGIN, "trace_id": str(trace_id)}.items():
        line = f'{key}: "{value}"'
        text, n = re.subn(rf"^{key}[ \t]*:.*$", line, text, count=1, flags=re.MULTILINE)
        text = text if n else f"{text.rstrip()}\n{line}\n"
    return normalized(text.encode("utf-8"))


def _require_settled(data: bytes, version: str, trace_id: UUID) -> None:
    """Check that a manifest means what was written in it; one that cannot be read is left to the analysis."""
    try:
        manifest = read_manifest(data)
    except ManifestError:
        return
    if (manifest.version, manifest.origin, manifest.trace_id) != (version, ORIGIN, trace_id):
        told = N_("write {keys} in the manifest as plain keys, each alone on a line", keys="version, origin, trace_id")
        raise StaticAnalysisError([told])


def _differences(spec: NeuronSpec, manifest: NeuronManifest) -> Iterator[Text]:
    """Yield what the manifest declares otherwise than the spec: not more, not less, and for what the spec says."""
    if manifest.purpose.split() != spec.purpose.split():  # it is compared with those of other neurons, and judged by
        yield N_(
            "the purpose in the manifest must be that of the spec: {purpose}", purpose=" ".join(spec.purpose.split())
        )
    yield from _between("capabilities", spec.capabilities_requested, manifest.capabilities)
    yield from _between("may_call", spec.may_call, manifest.may_call)


def _between(key: str, wanted: tuple[str, ...], given: tuple[str, ...]) -> Iterator[Text]:
    for extra in sorted(set(given) - set(wanted)):
        yield N_("the manifest declares {name} in {key}, which the spec does not have", name=extra, key=key)
    for lacking in sorted(set(wanted) - set(given)):
        yield N_("the manifest lacks {name} in {key}, which the spec has", name=lacking, key=key)


def _spec_of(synthesis: Synthesis) -> NeuronSpec:
    if synthesis.spec is None:
        raise UsageError(N_("the synthesis {id} has no spec at this stage", id=str(synthesis.id)))
    return synthesis.spec

"""Stage 2: a model says what the neuron shall be, before any of its code exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, frozen

from myclaw_core.messages import N_
from myclaw_core.neurons.records import NEURON_KIND
from myclaw_core.neurons.verified import neuron_names
from myclaw_core.synthesis.answers import SPEC_FORMAT, SPEC_SCHEMA, AnswerError, read_spec
from myclaw_core.synthesis.briefs import spec_brief
from myclaw_core.synthesis.errors import PolicyVetoError, SpecError
from myclaw_core.synthesis.materials import Materials
from myclaw_core.synthesis.moves import Move, onward
from myclaw_core.synthesis.prechecks import Surroundings, fit_problems, vetoes
from myclaw_core.synthesis.run import DesignRun
from myclaw_core.synthesis.similar import nearest_purpose
from myclaw_core.synthesis.types import NeuronSpec, Synthesis
from myclaw_core.synthesis.wording import worded

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["PATCH_FROM", "design_spec"]

PATCH_FROM = 0.9
"""So near to another neuron (share of the way from "about the same" to "the same") it becomes a version of that one."""
_PURPOSE = "design-neuron-spec"


async def design_spec(run: DesignRun, synthesis: Synthesis, materials: Materials) -> Move:
    """Return the move to the draft, with a spec that passed its checks.

    Raises:
        SpecError: It is none, or does not fit; it costs a retry.
        PolicyVetoError: It asks for what is forbidden.
        BudgetExceededError: It would cost too much.
        PausedError: No model can be had now.
        UnavailableError: Nobody words the prompt.
    """
    agent = run.agent
    author, brief = agent.author(), spec_brief(synthesis, materials)
    prompt = worded(agent.services.config.slots.synthesizer, lambda: author.spec_prompt(brief))
    answer = await run.ask(_PURPOSE, prompt, SPEC_FORMAT, SPEC_SCHEMA)
    if answer.is_cut:
        raise SpecError([N_("the answer was too long and was cut; answer with the JSON alone")])
    try:
        spec = read_spec(answer.text)
    except AnswerError as error:
        raise SpecError([error.text]) from error
    chosen = await _new_or_better(agent, synthesis, spec)
    around = await _around(agent, chosen.patches)
    if forbidden := vetoes(chosen.spec, around):
        raise PolicyVetoError(forbidden)
    if problems := fit_problems(chosen.spec, around):
        raise SpecError(problems)
    note = N_("spec: {name}: {purpose}", name=chosen.spec.proposed_name, purpose=" ".join(chosen.spec.purpose.split()))
    if chosen.patches:
        note = N_("spec: a better version of {name}, which does about the same already", name=chosen.patches)
    return onward(
        synthesis,
        "draft",
        note,
        agent.clock.now(),
        spec=chosen.spec,
        patches=chosen.patches,
        feedback=(),
        files={},
        models=answer.models,
    )


@frozen(kw_only=True)
class _Chosen:
    """A spec, and the neuron of which it makes a new version; that is empty for a new neuron."""

    spec: NeuronSpec
    patches: str


async def _new_or_better(agent: Agent, synthesis: Synthesis, spec: NeuronSpec) -> _Chosen:
    """Return the spec of a new neuron, or of a better version of one that does about the same (stage 5)."""
    nearest = await nearest_purpose(agent, spec.purpose, but="")
    if nearest is None or nearest.way < PATCH_FROM:
        return _Chosen(spec=spec, patches="")
    return _Chosen(spec=evolve(spec, proposed_name=nearest.name), patches=nearest.name)


async def _around(agent: Agent, patches: str) -> Surroundings:
    services = agent.services
    on_record = [name for name, _raw in await agent.log.scan(NEURON_KIND)]
    tools = [name for name, tool in services.tools.items() if not tool.internal]
    return Surroundings(
        tools=frozenset(tools),
        taken=frozenset({*on_record, *neuron_names(agent.home.neurons)}),
        programs=services.config.neurons.programs,
        forbidden_path=services.forbidden,
        forbidden_host=services.forbidden_host,
        patches=patches,
    )

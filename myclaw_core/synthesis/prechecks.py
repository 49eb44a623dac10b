"""What is checked of a spec before any code is written for it (synthesis.md, stage 2)."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from attrs import field, frozen

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_
from myclaw_core.neurons.analysis.limits import is_hidden
from myclaw_core.neurons.capabilities import Capability, parse_capability
from myclaw_core.neurons.manifest import NAME_TOLD, NEURON_NAME
from myclaw_core.neurons.patterns import PathPattern
from myclaw_core.neurons.schemas import has_references, validator
from myclaw_core.runtime.shelf import RESERVED_TOOLS
from myclaw_core.synthesis.types import NeuronSpec
from myclaw_core.types.text import Text

__all__ = ["Surroundings", "fit_problems", "vetoes"]

_MOST_PURPOSE_CHARS = 600


@frozen(kw_only=True)
class Surroundings:
    """What a spec is checked against.

    Attributes:
        tools: The names of the tools and neurons (`neuron:<name>`) that may be called.
        taken: The names of neurons that are on record or lie in the folder; a new one takes none of them.
        programs: The programs that the configuration lets neurons run.
        forbidden_path: Whether a real path may never be touched.
        forbidden_host: Whether a host may never be reached.
        patches: The neuron of which a new version is wanted; empty where a new one is.
    """

    tools: Collection[str]
    taken: Collection[str]
    programs: Collection[str]
    forbidden_path: Callable[[str], bool]
    forbidden_host: Callable[[str], bool]
    patches: str = ""
    user_home: str = field(factory=lambda: os.path.expanduser("~"))  # noqa: PTH111 - a text, as patterns are


def vetoes(spec: NeuronSpec, around: Surroundings) -> tuple[Text, ...]:
    """Return what the policy would forbid whatever the code does; such a spec is refused at once and costs no retry."""
    return tuple(filter(None, (_veto(each, around) for each in _known(spec.capabilities_requested))))


def fit_problems(spec: NeuronSpec, around: Surroundings) -> tuple[Text, ...]:
    """Return what is wrong with a spec, one sentence each."""
    return tuple(_problems(spec, around))


def _known(texts: Collection[str]) -> Iterator[Capability]:
    for text in texts:
        try:
            yield parse_capability(text)
        except UsageError:
            continue


def _veto(capability: Capability, around: Surroundings) -> Text | None:
    pattern = capability.pattern
    match capability.kind:
        case "shell" if pattern not in around.programs:
            return N_("{capability} is forbidden: [neurons] programs does not name it", capability=str(capability))
        case "fs-read" | "fs-write" if around.forbidden_path(_folder(pattern, around.user_home)):
            return N_("{capability} is forbidden: no tool may touch that place", capability=str(capability))
        case "network" if around.forbidden_host(_host(pattern)):
            return N_("{capability} is forbidden: that host may not be reached", capability=str(capability))
    return None


def _folder(pattern: str, user_home: str) -> str:
    fixed = PathPattern.of(pattern).folder or "/"
    absolute = user_home + fixed[1:] if fixed == "~" or fixed.startswith("~/") else fixed
    return os.path.realpath(absolute)


def _host(pattern: str) -> str:
    return pattern.partition("://")[2].partition("/")[0] if "://" in pattern else pattern.partition("/")[0]


def _problems(spec: NeuronSpec, around: Surroundings) -> Iterator[Text]:
    yield from _name_problems(spec.proposed_name, around)
    yield from _purpose_problems(spec.purpose.strip())
    for key, schema in (("input_schema", spec.input_schema), ("output_schema", spec.output_schema)):
        if (problem := _schema_problem(key, schema)) is not None:
            yield problem
    if spec.input_schema.get("type") != "object":
        yield N_("the input_schema must describe an object")
    for text in spec.capabilities_requested:
        try:
            if parse_capability(text).kind == "call":
                yield N_("{name} belongs in may_call, not in the capabilities", name=text[:80])
        except UsageError as error:
            yield error.text
    for name in spec.may_call:
        if name not in around.tools:
            yield N_("there is no tool {name} that it could call", name=name[:80])


def _name_problems(name: str, around: Surroundings) -> Iterator[Text]:
    if not NEURON_NAME.fullmatch(name):
        yield N_("the name {name} must be {form}", name=name[:80], form=NAME_TOLD)
    elif around.patches and name != around.patches:
        yield N_("the name must be that of the neuron it makes better, {name}", name=around.patches)
    elif not around.patches and name in around.taken:
        yield N_("the name {name} is taken by another neuron; choose another", name=name)
    if name in around.tools or f"neuron_{name}" in {*around.tools, *RESERVED_TOOLS}:
        yield N_("the name {name} is that of a tool; choose another", name=name[:80])


def _purpose_problems(purpose: str) -> Iterator[Text]:
    if not purpose or len(purpose) > _MOST_PURPOSE_CHARS:
        yield N_("the purpose must be 1 to 4 sentences, at most {n} characters", n=_MOST_PURPOSE_CHARS)
    if hidden := next((char for char in purpose if char != "\n" and is_hidden(char)), None):
        yield N_("the purpose holds the invisible character {code}; leave it out", code=f"U+{ord(hidden):04X}")


def _schema_problem(key: str, schema: Mapping[str, Any]) -> Text | None:
    if has_references(dict(schema)):
        return N_("the {key} must hold no $ref", key=key)
    try:
        validator(schema)
    except ValueError as error:
        return N_("the {key} is no JSON Schema: {problem}", key=key, problem=str(error).partition("\n")[0][:200])
    return None

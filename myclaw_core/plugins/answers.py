"""Checks what plugins answer: a value of the wrong form never gets past the dispatcher.

Every function here runs contained, because looking at an object of a plugin can run code of that plugin. Readers take
the answer and the name of the plugin, and raise `PluginError` for an answer that cannot be used at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve, frozen

from myclaw_core.cli.command import Command
from myclaw_core.config.load import value_problem
from myclaw_core.config.schema import ConfigKey, ConfigSchema
from myclaw_core.config.sections import CORE_SECTIONS
from myclaw_core.messages import N_
from myclaw_core.neurons.types import CodeFinding
from myclaw_core.plugins.contain import PluginError, printable
from myclaw_core.policy.types import Finding
from myclaw_core.runtime.shelf import RESERVED_TOOLS
from myclaw_core.runtime.tool import EffectSpec, Outboxed, ShellArgs, Tool, ToolUndo
from myclaw_core.synthesis.reward import RewardPart
from myclaw_core.types.effect import AUTONOMY_LEVELS, EFFECT_KINDS, REVERSIBILITIES
from myclaw_core.types.text import Text, as_text
from myclaw_core.types.trust import TrustThreshold
from myclaw_core.undo.handler import CORE_HANDLERS

__all__ = [
    "STORE_READERS",
    "Offers",
    "channel_problem",
    "command_problem",
    "model_problem",
    "read_author",
    "read_code_findings",
    "read_critic",
    "read_embedder",
    "read_estimator",
    "read_finding",
    "read_judge",
    "read_lines",
    "read_offers",
    "read_reward_parts",
    "read_sandbox",
    "read_schema",
    "read_signals",
    "read_threshold",
    "tool_problem",
]

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_COMMAND = re.compile(r"[a-z][a-z0-9-]*")
_MODEL_METHODS = ("missing", "complete", "close")
_CHANNEL_METHODS = ("status", "text", "notice", "show", "held", "file", "ask", "end_turn", "serve")
_MESSENGER_METHODS = ("missing", "channel", "serve")
_UNDO_METHODS = ("revert",)
_STORE_METHODS = ("open", "close", "transaction")
_JOURNAL_METHODS = ("append", "newest")
_ESTIMATOR_METHODS = ("initial", "born", "update", "score", "effective_count")
_VECTOR_METHODS = ("read", "write")
_EMBEDDER_METHODS = ("missing", "embed_queries", "embed_passages", "close")
_SANDBOX_METHODS = ("missing", "run", "missing_for_code", "start")
_MOST_LABEL_CHARS = 200
_PART = re.compile(r"[a-z][a-z0-9_]{0,40}")
_MOST_PARTS = 32
"""Each is a row of the table that a person reads before a draft is let in."""


@frozen(kw_only=True)
class Offers:
    """The named things one plugin offers.

    Attributes:
        good: Name and thing.
        problems: One line on each that was refused, for the record.
    """

    good: tuple[tuple[str, Any], ...]
    problems: tuple[str, ...]


def read_offers(answer: Any, problem_of: Callable[[Any], str | None]) -> Offers:
    """Return the things in `answer`, those with a problem left out."""
    if answer is None:
        return Offers(good=(), problems=())
    judged = [(thing, problem_of(thing)) for thing in _items(answer)]
    return Offers(
        good=tuple((thing.name, thing) for thing, problem in judged if problem is None),
        problems=tuple(problem for _, problem in judged if problem is not None),
    )


def tool_problem(tool: Any) -> str | None:
    """Return why `tool` cannot be offered to a model, or `None`."""
    if not isinstance(tool, Tool):
        return f"offered {_kind(tool)} instead of a Tool"
    return _tool_form_problem(tool) or _tool_schema_problem(tool)


def _tool_form_problem(tool: Any) -> str | None:
    if not isinstance(tool.name, str) or not _NAME.fullmatch(tool.name):
        return f"offered a tool named {tool.name!r:.60}; names look like fs_read"
    if tool.name in RESERVED_TOOLS or tool.neuron is not None or tool.internal:
        return f"offered the tool {tool.name}, which is the core's own: by its name, as internal or as a neuron"
    if (
        not isinstance(tool.description, str)
        or not (callable(tool.run) or (tool.run is None and tool.outbox is not None))
        or not (tool.plan is None or callable(tool.plan))
    ):
        return f"offered the tool {tool.name} with a description, run or plan of the wrong type"
    if not _is_number(tool.timeout_s) or not 0 < tool.timeout_s < math.inf:
        return f"offered the tool {tool.name} with a timeout_s that is not a positive number"
    if not (tool.effects is None or (isinstance(tool.effects, tuple) and all(map(_is_effect, tool.effects)))):
        return f"offered the tool {tool.name} with effects that are not a tuple of EffectSpec of known kinds"
    if tool.shell is not None and not (isinstance(tool.shell, ShellArgs) and tool.plan is None):
        return f"offered the tool {tool.name} with a shell that is no ShellArgs, or with a plan besides it"
    if not isinstance(tool.schema, Mapping):
        return f"offered the tool {tool.name} with a schema that is not a mapping"
    return (None if tool.outbox is None else _outbox_problem(tool)) or (
        None if tool.undo is None else _undo_problem(tool)
    )


def _outbox_problem(tool: Any) -> str | None:
    """Return why what a tool sends cannot wait in the outbox, or `None`."""
    outbox = tool.outbox
    if not (isinstance(outbox, Outboxed) and callable(outbox.deliver) and callable(outbox.missing)):
        return f"offered the tool {tool.name} with an outbox that is no Outboxed with deliver and missing"
    if tool.run is not None or tool.plan is not None or tool.shell is not None:
        return f"offered the tool {tool.name} with an outbox and a run, plan or shell besides it"
    if not tool.effects or any(spec.kind != "outbound_message" for spec in tool.effects):
        return f"offered the tool {tool.name} with an outbox and effects that are not all outbound_message"
    return None


def _undo_problem(tool: Any) -> str | None:
    """Return why the core cannot make undo records of a tool, or `None`."""
    undo = tool.undo
    if not (isinstance(undo, ToolUndo) and isinstance(undo.handler, str) and callable(undo.data)):
        return f"offered the tool {tool.name} with an undo that is no ToolUndo with handler and data"
    if tool.plan is not None or tool.shell is not None or tool.outbox is not None:
        return f"offered the tool {tool.name} with an undo and a plan, shell or outbox besides it"
    return None


def _tool_schema_problem(tool: Tool) -> str | None:
    from myclaw_core.runtime.validation import SchemaRefusedError, compile_schema

    try:
        compile_schema(tool)
    except SchemaRefusedError as error:
        return str(error)
    return None


def model_problem(model: Any) -> str | None:
    """Return why `model` is no model provider, or `None`."""
    if not isinstance(getattr(model, "free", None), bool):
        return f"offered {_kind(model)} as a model provider, but it does not say whether it is free"
    return _object_problem(model, "model provider", _MODEL_METHODS)


def channel_problem(channel: Any) -> str | None:
    """Return why `channel` is no channel, or `None`."""
    return _object_problem(channel, "channel", _CHANNEL_METHODS)


def messenger_problem(messenger: Any) -> str | None:
    """Return why `messenger` is no messenger, or `None`."""
    return _object_problem(messenger, "messenger", _MESSENGER_METHODS)


def undo_problem(handler: Any) -> str | None:
    """Return why `handler` takes nothing back, or `None`."""
    if getattr(handler, "name", None) in CORE_HANDLERS:
        return f"offered the undo handler {handler.name}, which is the core's"
    return _object_problem(handler, "undo handler", _UNDO_METHODS)


def command_problem(command: Any) -> str | None:
    """Return why `command` cannot be typed, or `None`."""
    if not isinstance(command, Command):
        return f"offered {_kind(command)} instead of a Command"
    return _command_form_problem(command)


def _command_form_problem(command: Any) -> str | None:
    if not isinstance(command.name, str) or not _COMMAND.fullmatch(command.name):
        return f"offered a command named {command.name!r:.60}; names look like simulate"
    if not isinstance(command.about, Text) or not callable(command.add_arguments) or not callable(command.run):
        return f"offered the command {command.name} with about, add_arguments or run of the wrong type"
    return None


def read_store(answer: Any, _plugin: str) -> Any:
    """Return a store, or `None` where the plugin has none of that kind."""
    return _store(answer, _STORE_METHODS)


def read_journals(answer: Any, _plugin: str) -> Any:
    """Return a store of journals, or `None` where the plugin has none."""
    return _store(answer, _JOURNAL_METHODS)


def read_vectors(answer: Any, _plugin: str) -> Any:
    """Return a store of vectors, or `None` where the plugin has none."""
    return _store(answer, _VECTOR_METHODS)


STORE_READERS = {"events": read_store, "trust": read_store, "journals": read_journals, "vectors": read_vectors}
"""What reads the answer for each kind of store."""


def _store(answer: Any, methods: tuple[str, ...]) -> Any:
    lacking = [] if answer is None else _lacking(answer, methods)
    if lacking:
        problem = N_("answered a value of type {type}, a store without {method}", type=_type(answer), method=lacking[0])
        raise PluginError(problem)
    return answer


def read_sandbox(answer: Any, _plugin: str) -> Any:
    """Return a sandbox."""
    lacking = _lacking(answer, _SANDBOX_METHODS)
    if lacking:
        raise PluginError(
            N_("answered a value of type {type}, a sandbox without {method}", type=_type(answer), method=lacking[0])
        )
    return answer


def read_embedder(answer: Any, _plugin: str) -> Any:
    """Return an embedder that says what its vectors are."""
    lacking = _lacking(answer, _EMBEDDER_METHODS, texts=("name", "model"))
    dimension = getattr(answer, "dimension", None)
    if not isinstance(dimension, int) or isinstance(dimension, bool) or dimension < 1:
        lacking.append("dimension")
    if not _is_share(getattr(answer, "similar_from", None)) or answer.similar_from == 1:
        lacking.append("similar_from")
    if lacking:
        raise PluginError(
            N_("answered a value of type {type}, an embedder without {method}", type=_type(answer), method=lacking[0])
        )
    return answer


def read_judge(answer: Any, _plugin: str) -> Any:
    """Return a judge that says what it asks."""
    lacking = _lacking(answer, ("judge",), texts=("name", "rubric"))
    if lacking:
        raise PluginError(
            N_("answered a value of type {type}, a judge without {method}", type=_type(answer), method=lacking[0])
        )
    return answer


def read_critic(answer: Any, _plugin: str) -> Any:
    """Return a critic that says what it asks."""
    lacking = _lacking(answer, ("compare",), texts=("name", "rubric"))
    if lacking:
        raise PluginError(
            N_("answered a value of type {type}, a critic without {method}", type=_type(answer), method=lacking[0])
        )
    return answer


def read_author(answer: Any, _plugin: str) -> Any:
    """Return an author of prompts."""
    lacking = _lacking(answer, ("spec_prompt", "draft_prompt"), texts=("name",))
    if lacking:
        raise PluginError(
            N_(
                "answered a value of type {type}, an author of prompts without {method}",
                type=_type(answer),
                method=lacking[0],
            )
        )
    return answer


def read_reward_parts(answer: Any, _plugin: str) -> tuple[RewardPart, ...]:
    """Return parts of R, each in [0, 1]."""
    if not isinstance(answer, list | tuple):
        raise _instead(answer, "list")
    if len(answer) > _MOST_PARTS:
        raise PluginError(N_("gave more than {n} parts of the reward", n=_MOST_PARTS))
    for part in answer:
        if not isinstance(part, RewardPart):
            raise _instead(part, "RewardPart")
        if not isinstance(part.name, str) or not _PART.fullmatch(part.name):
            raise PluginError(N_("gave a part of the reward with the name {name!r}", name=str(part.name)[:80]))
        if not _is_share(part.value):
            raise PluginError(N_("gave {name} a value that is not between 0 and 1", name=part.name))
        if not isinstance(part.feedback, Text | str):
            raise PluginError(N_("gave {name} feedback of type {type}", name=part.name, type=_type(part.feedback)))
        str(part.feedback)  # raises here, contained, rather than where it is shown
    return tuple(evolve(part, value=float(part.value), feedback=as_text(part.feedback)) for part in answer)


def read_schema(answer: Any, plugin: str) -> ConfigSchema:
    """Return the description of the plugin's section, which bears its name, so that none can take another's."""
    if not isinstance(answer, ConfigSchema):
        raise _instead(answer, "ConfigSchema")
    if answer.section != plugin:
        raise PluginError(
            N_("describes the section [{section}]; it must be [{plugin}]", section=answer.section, plugin=plugin)
        )
    if plugin in CORE_SECTIONS:
        raise PluginError(N_("describes [{section}], which belongs to the core", section=plugin))
    if not all(isinstance(key, ConfigKey) for key in answer.keys):
        raise PluginError(N_("describes a key that is not a ConfigKey"))
    names = [key.name for key in answer.keys]
    if len(set(names)) < len(names):
        raise PluginError(N_("describes a key twice"))
    for key in answer.keys:
        problem = None if key.default is None else value_problem(key, key.default)
        if problem:
            raise PluginError(N_("describes a default that does not fit: {problem}", problem=problem))
    return answer


def read_signals(answer: Any, _plugin: str) -> Mapping[str, float]:
    """Return the values by name; one wrong value spoils the answer."""
    if not isinstance(answer, Mapping):
        raise _instead(answer, "Mapping")
    values = dict(answer)
    for name, value in values.items():
        if not isinstance(name, str) or not name:
            raise PluginError(N_("gave a signal a name that is not text"))
        if not _is_share(value):
            raise PluginError(N_("gave the signal {signal} a value that is not in [0, 1]", signal=name))
    return {name: float(value) for name, value in values.items()}


def read_threshold(answer: Any, _plugin: str) -> TrustThreshold | None:
    """Return the threshold, or `None` for no answer."""
    if answer is None:
        return None
    if not isinstance(answer, TrustThreshold):
        raise _instead(answer, "TrustThreshold")
    if not _is_share(answer.min_score) or not isinstance(answer.min_samples, int) or answer.min_samples < 0:
        raise PluginError(N_("answered a threshold with min_score outside [0, 1] or a negative min_samples"))
    if answer.cap_autonomy not in AUTONOMY_LEVELS:
        problem = N_(
            "answered a threshold with an unknown cap_autonomy; known: {levels}", levels=", ".join(AUTONOMY_LEVELS)
        )
        raise PluginError(problem)
    return answer


def read_estimator(answer: Any, _plugin: str) -> Any:
    """Return an estimator, or `None` where the plugin has none."""
    if answer is None:
        return None
    lacking = _lacking(answer, _ESTIMATOR_METHODS)
    if lacking:
        raise PluginError(
            N_("answered a value of type {type}, an estimator without {method}", type=_type(answer), method=lacking[0])
        )
    for name in ("name", "id"):
        if not isinstance(getattr(answer, name, None), str) or not getattr(answer, name):
            raise PluginError(N_("answered an estimator without {method}", method=name))
    return answer


def read_finding(answer: Any, plugin: str) -> Finding | None:
    """Return the finding under the plugin's own name, or `None`; nothing else is an answer, so nothing can loosen."""
    if answer is None:
        return None
    if not isinstance(answer, Finding) or not isinstance(answer.text, Text):
        raise PluginError(
            N_("answered a value of type {type} instead of a Finding with a Text, or None", type=_type(answer))
        )
    if answer.verdict not in ("approve_required", "deny"):
        raise PluginError(N_("answered a finding whose verdict is neither approve_required nor deny"))
    str(answer.text)  # raises here, contained, rather than where it is shown
    return Finding(verdict=answer.verdict, text=answer.text, source=plugin)


def read_code_findings(answer: Any, plugin: str) -> tuple[CodeFinding, ...]:
    """Return findings on code, their rules under the plugin's name; `None` is no answer, so nothing can be left out."""
    if answer is None or isinstance(answer, str):
        raise _instead(answer, "list")
    found = _items(answer)
    for each in found:
        if not isinstance(each, CodeFinding) or not isinstance(each.message, Text):
            raise PluginError(N_("answered a value of type {type} instead of a CodeFinding", type=_type(each)))
        if not (isinstance(each.file, str) and isinstance(each.line, int) and isinstance(each.rule, str)):
            raise PluginError(N_("answered a finding whose file, line or rule is of the wrong type"))
        str(each.message)  # raises here, contained, rather than where it is shown
    return tuple(evolve(each, file=printable(each.file), rule=f"{plugin}:{printable(each.rule)}") for each in found)


def read_lines(answer: Any, _plugin: str) -> tuple[Text, ...]:
    """Return lines for people; what cannot be printed is written out."""
    if answer is None or isinstance(answer, str):
        raise _instead(answer, "list")
    lines = _items(answer)
    for line in lines:
        if not isinstance(line, Text | str):
            raise PluginError(N_("answered a line of type {type} instead of a Text", type=_type(line)))
        str(line)  # raises here, contained, rather than where it is shown
    return tuple(line if isinstance(line, Text) else as_text(printable(line)) for line in lines)


def _items(answer: Any) -> tuple[Any, ...]:
    try:
        return tuple(answer)
    except TypeError:
        raise _instead(answer, "list") from None


def _object_problem(thing: Any, kind: str, methods: tuple[str, ...]) -> str | None:
    name = getattr(thing, "name", None)
    if not isinstance(name, str) or not name:
        return f"offered {_kind(thing)} as a {kind}, but it has no name"
    lacking = _lacking(thing, methods)
    return f"offered the {kind} {name} without {lacking[0]}" if lacking else None


def _lacking(thing: Any, methods: tuple[str, ...], texts: tuple[str, ...] = ()) -> list[str]:
    """Return what `thing` lacks: methods, then texts of one line that can be shown and recorded."""
    unfit = [name for name in texts if not _is_label(getattr(thing, name, None))]
    return [*(method for method in methods if not callable(getattr(thing, method, None))), *unfit]


def _is_label(value: Any) -> bool:
    return type(value) is str and 0 < len(value) <= _MOST_LABEL_CHARS and value.isprintable()


def _is_effect(effect: Any) -> bool:
    return (
        isinstance(effect, EffectSpec)
        and effect.kind in EFFECT_KINDS
        and (effect.reversibility is None or effect.reversibility in REVERSIBILITIES)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _instead(answer: Any, wanted: str) -> PluginError:
    return PluginError(N_("answered a value of type {type} instead of a {wanted}", type=_type(answer), wanted=wanted))


def _kind(thing: Any) -> str:
    return f"a value of type {_type(thing)}"


def _type(thing: Any) -> str:
    return printable(type(thing).__name__)

"""`myclaw policy check`: tool calls as JSON lines in, decisions as JSON lines out; nothing is run."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from myclaw_core.cli.jsonl import numbered_lines, parse_line
from myclaw_core.errors import UsageError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, render
from myclaw_core.types.effect import AUTONOMY_LEVELS, Autonomy

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.policy.types import PolicyDecision, Situation
    from myclaw_core.runtime.types import ExecutionTrace, Turn
    from myclaw_core.types.text import Text

__all__ = ["run"]

_KEYS = frozenset({"tool", "args", "sender", "autonomy", "text", "tainted", "cwd"})
_FORM = '{"tool": NAME, "args": {…}, "sender": …, "autonomy": …}'


def run(args: argparse.Namespace) -> int:
    """Judge every line of stdin; 1 where a line could not be read."""
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.cli.talk import open_roots
    from myclaw_core.paths import Home

    roots = open_roots(args.root)
    bad = 0
    async with Agent.open(Home.find(), recover_turns=False) as agent:
        await agent.record_check.ready()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # reading blocks the loop, whose own handler waits
        if sys.stdin.isatty():
            told = _("reading tool calls from the terminal: a line is {form}; Ctrl-D ends", form=_FORM)
            print(told, file=sys.stderr)
        level = args.level or await agent.services.levels.now()
        for number, raw in numbered_lines(sys.stdin.buffer):
            try:
                decision = await _judge(agent, _read(raw), roots, level)
            except UsageError as error:
                bad += 1
                answer = _refusal(number, error, as_text=args.explain)
            else:
                answer = _answer(number, decision, as_text=args.explain)
            print(answer, flush=True)
    return 1 if bad else 0


def _answer(number: int, decision: PolicyDecision, *, as_text: bool) -> str:
    from myclaw_core.policy.report import decision_json, explain

    if as_text:
        return _("line {number}: {decision}", number=number, decision=explain(decision))
    return json.dumps({"line": number} | decision_json(decision), ensure_ascii=False)


def _refusal(number: int, error: UsageError, *, as_text: bool) -> str:
    """Return the answer to a line that is no tool call; whoever reads only verdicts reads a denial."""
    if as_text:
        problem = visible(render(error))
        return _("line {number}: deny (not a tool call): {problem}", number=number, problem=problem)
    return json.dumps({"line": number, "verdict": "deny", "error": str(error)}, ensure_ascii=False)


def _read(raw: bytes) -> Mapping[str, Any]:
    """Return one line as an object.

    Raises:
        UsageError: It is none, or holds a key that is not known.
    """
    value = parse_line(raw)
    if not isinstance(value, dict):
        raise UsageError(N_("not a JSON object; a line is {form}", form=_FORM))
    if unknown := sorted(set(value) - _KEYS):
        names, known = ", ".join(unknown), ", ".join(sorted(_KEYS))
        raise UsageError(N_("unknown keys {names}; known are {known}", names=names, known=known))
    if not isinstance(value.get("tool"), str) or not isinstance(value.get("args", {}), dict):
        raise UsageError(N_("a line is {form}", form=_FORM))
    return value


async def _judge(agent: Agent, line: Mapping[str, Any], roots: tuple[str, ...], level: str) -> PolicyDecision:
    from myclaw_core.policy.types import Situation
    from myclaw_core.runtime.planning import Planner
    from myclaw_core.runtime.types import ExecutionTrace, ToolCall

    call = ToolCall(id="check", tool=line["tool"], args=line.get("args", {}))
    if (problem := agent.services.validator.problem(call)) is not None:
        raise UsageError(problem)
    autonomy = _autonomy(line.get("autonomy", level))
    sender = _text(line, "sender", "cli:me")
    trace = ExecutionTrace(
        id=agent.clock.new_id(),
        session_id="check",
        channel=sender.partition(":")[0],
        sender=sender,
        autonomy=autonomy,
        started_at=agent.clock.now(),
    )
    situation = Situation(
        roots=(*agent.standing_roots, *roots),
        cwd=_text(line, "cwd", roots[0] if roots else str(agent.home.workspace)),
        typed_text=_text(line, "text", ""),
        tainted=_flag(line, "tainted"),
    )

    async def evaluate(irreversible: Text | None) -> PolicyDecision:
        policy = agent.services.policy
        return await policy.evaluate(call, trace, sender, autonomy, situation, irreversible=irreversible)

    planner = Planner(agent.services, _turn(trace, situation), shown=False)
    return (await planner.decide(call, evaluate)).decision


def _turn(trace: ExecutionTrace, situation: Situation) -> Turn:
    """Return the turn in which a call would be planned."""
    from myclaw_core.runtime.types import Turn

    return Turn(
        id=trace.id,
        session_id=trace.session_id,
        channel=trace.channel,
        sender=trace.sender,
        autonomy=trace.autonomy,
        text=situation.typed_text,
        received_at=trace.started_at,
        roots=situation.roots,
        cwd=situation.cwd,
    )


def _autonomy(value: object) -> Autonomy:
    for level in AUTONOMY_LEVELS:
        if value == level:
            return level
    raise UsageError(N_("autonomy is one of {levels}", levels=", ".join(AUTONOMY_LEVELS)))


def _text(line: Mapping[str, Any], key: str, default: str) -> str:
    value = line.get(key, default)
    if not isinstance(value, str):
        raise UsageError(N_("{key} must be text", key=key))
    return value


def _flag(line: Mapping[str, Any], key: str) -> bool:
    value = line.get(key, False)
    if not isinstance(value, bool):
        raise UsageError(N_("{key} must be true or false", key=key))
    return value

"""`myclaw neurons run`: an adopted neuron as a turn of its own, without a model; its output is printed as JSON."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from myclaw_core.cli.jsonl import LINE_LIMIT_BYTES, parse_line
from myclaw_core.cli.neurons_arguments import problem_with
from myclaw_core.cli.person import sender
from myclaw_core.cli.talk import exit_code, open_roots, stoppable, stopped
from myclaw_core.errors import UsageError
from myclaw_core.messages import N_, render

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.runtime.channel import Channel
    from myclaw_core.runtime.single_call import SingleCall
    from myclaw_core.runtime.types import Turn
    from myclaw_core.types.text import Text

__all__ = ["run"]

_EXAMPLE = '{"path": "notes.md"}'


def run(args: argparse.Namespace) -> int:
    """Run the neuron; 0 where it gave something and nothing was denied, else 1."""
    name = args.name.removeprefix("neuron:")
    is_piped = args.args == "-"
    given = sys.stdin.buffer.read(LINE_LIMIT_BYTES + 1) if is_piped else os.fsencode(args.args)
    typed = f"neuron:{name} {'' if is_piped else args.args}".strip()
    return asyncio.run(_run(args, name, _arguments(given), typed))


def _arguments(given: bytes) -> dict[str, Any]:
    """Return the arguments of a neuron.

    Raises:
        UsageError: They are no JSON object.
    """
    try:
        value = parse_line(given) if given.strip() else {}
    except UsageError as error:
        raise UsageError(
            N_(
                "the arguments cannot be read: {problem}; write them such as {example}",
                problem=error.text,
                example=_EXAMPLE,
            )
        ) from None
    if not isinstance(value, dict):
        raise UsageError(N_("the arguments must be a JSON object, such as {example}", example=_EXAMPLE))
    return value


async def _run(args: argparse.Namespace, name: str, given: dict[str, Any], typed: str) -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.cli.holds import STOPPED, see_off
    from myclaw_core.paths import Home
    from myclaw_core.runtime.single_call import SingleCall
    from myclaw_core.runtime.types import ToolCall

    tool, roots = f"neuron:{name}", open_roots(args.root)
    async with Agent.open(Home.find()) as agent:
        channel = _channel(agent)
        for notice in agent.notices:
            channel.notice(notice)
        if tool not in agent.services.tools:
            raise UsageError(await _why_not(agent, name))
        if problem := problem_with(agent.services.tools[tool], given):
            raise UsageError(problem)
        turn = await _turn(agent, args, channel, roots, typed)
        call = SingleCall(agent.services, turn, channel, ToolCall(id="typed", tool=tool, args=given))
        try:
            await stoppable(agent.run(call))
        except asyncio.CancelledError:
            stopped()
            return await see_off(agent.services.outbox, agent.clock, STOPPED)
        return await see_off(agent.services.outbox, agent.clock, _told(call, channel))


async def _why_not(agent: Agent, name: str) -> Text:
    """Return why a neuron cannot be called, and what to do."""
    from myclaw_core.neurons.shipped import shipped_names

    for entry in await agent.services.neurons.entries():
        if entry.name == name:
            return N_(
                "the neuron {name} cannot be called: {reason}; 'myclaw neurons show {name}' says more",
                name=name,
                reason=entry.reason,
            )
    if name in shipped_names():
        return N_(
            "the neuron {name} comes along but is not adopted; 'myclaw neurons adopt {name}' does that", name=name
        )
    return N_("there is no neuron {name} that can be called; see 'myclaw neurons'", name=name)


async def _turn(agent: Agent, args: argparse.Namespace, channel: Channel, roots: tuple[str, ...], typed: str) -> Turn:
    from myclaw_core.policy.grants import checked_class
    from myclaw_core.runtime.types import Turn

    return Turn(
        id=agent.clock.new_id(),
        session_id=str(agent.clock.new_id()),
        channel=channel.name,
        sender=sender(),
        autonomy=args.level or await agent.services.levels.begin_turn(),
        text=typed,
        received_at=agent.clock.now(),
        roots=(*agent.standing_roots, *roots),
        cwd=roots[0] if roots else str(agent.home.workspace),
        attended=channel.attended,
        yes_to=tuple(checked_class(text) for text in args.yes_to),
        dry_run=args.dry_run,
        level_stands=args.level is None,
    )


def _channel(agent: Agent) -> Channel:
    """Return where questions are put: the terminal where somebody reads and types there, else nowhere."""
    from myclaw_core.cli.json_channel import JsonChannel

    terminal = agent.channels.get("terminal")
    return terminal if terminal is not None and terminal.attended else JsonChannel()


def _told(call: SingleCall, channel: Channel) -> int:
    """Print what the neuron gave, or why nothing, and return the exit code."""
    step = call.step
    if step is None:  # pragma: no cover - a call that was run has a step
        raise AssertionError("nothing was judged")
    if channel.attended:
        channel.end_turn(call.trace)  # it tells of an error, too
    if step.error is not None and not channel.attended:
        print("myclaw:", render(step.error.message), file=sys.stderr)
    elif step.exec_result is not None:
        print(json.dumps(step.exec_result.data.get("output"), ensure_ascii=False, indent=2))
    return exit_code(call.trace)

"""Neurons written for a test, adopted in an opened agent, and what a turn's trace says of them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from adopted_neurons import in_agent
from signed_neurons import neuron_files

from myclaw_core.agent import Agent
from myclaw_core.runtime.types import ActionStep, ExecutionTrace
from myclaw_core.testing import calls

__all__ = ["COPY", "FILES", "adopt", "called", "inner", "manifest"]

COPY = """\
async def run(ctx, args):
    with ctx.open(args["from"]) as file:
        text = file.read()
    with ctx.open(args["to"], "w") as file:
        file.write(text.upper())
    return {"chars": len(text)}
"""
"""A body that reads one file and writes another."""

FILES = ("fs-read:{workspace}/*", "fs-write:{workspace}/*")
"""What a manifest declares that may use every file of the workspace."""


def manifest(name: str, capabilities: Sequence[str] = (), may_call: Sequence[str] = (), **quotas: float) -> bytes:
    """Return a manifest whose arguments and output may be anything."""
    return f"""\
schema_version: "1.0"
name: {name}
version: 1.0.0
purpose: Test.
input_schema: {{type: object}}
output_schema: {{}}
capabilities: {json.dumps(list(capabilities))}
may_call: {json.dumps(list(may_call))}
quotas: {json.dumps(quotas)}
""".encode()


async def adopt(agent: Agent, name: str, body: str, capabilities: Sequence[str] = (), **declared: Any) -> None:
    """Sign a neuron and book that it was approved."""
    places = {"workspace": agent.home.workspace, "root": agent.home.root}
    real = {name: os.path.realpath(place) for name, place in places.items()}  # noqa: ASYNC240 - a test may wait
    placed = [each.format(**real) for each in capabilities]
    files = neuron_files(name, body=body.encode(), manifest=manifest(name, placed, **declared))
    await in_agent(agent).adopt(name, files)


def called(name: str, **args: Any) -> dict[str, Any]:
    """Return the reply of a model that calls a neuron, named as on a provider's wire."""
    return calls((f"neuron_{name}", args))


def inner(trace: ExecutionTrace) -> list[ActionStep]:
    """Return the steps that neurons made."""
    return [step for step in trace.steps if step.callers]

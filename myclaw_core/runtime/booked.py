"""What belongs to every model call: a bound for what is set aside, its entry in the record, one line on its failure."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from uuid import UUID

from myclaw_core.budget.purposes import tier_of
from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.runtime.model import ModelRequest
from myclaw_core.runtime.received import received_error
from myclaw_core.runtime.types import CANCELLED, ModelCall, Usage
from myclaw_core.types.text import Text

__all__ = ["PROVIDER_OVERHEAD_TOKENS", "begun", "failure_line", "provider_told", "token_bound"]

PROVIDER_OVERHEAD_TOKENS = 2000
"""What a provider adds to a prompt by itself, such as its own instructions for tools; a generous bound."""


def begun(call_id: UUID, provider: str, model: str, purpose: str, at: datetime) -> ModelCall:
    """Return the entry of a call that begins now and has cost nothing so far."""
    return ModelCall(
        id=call_id,
        provider=provider,
        model=model,
        purpose=purpose,
        tier=tier_of(purpose),
        usage=Usage(),
        cost_usd=0.0,
        cost_eur=0.0,
        started_at=at,
        wall_time_ms=0,
    )


def provider_told(provider: str) -> Text:
    """Return what a provider is called where something of it fails."""
    return N_("the model provider '{provider}'", provider=provider)


def failure_line(error: BaseException, provider: str, too_late: Text) -> Text:
    """Return one line on why a call failed.

    Args:
        too_late: What is said where it took longer than it may.
    """
    if isinstance(error, asyncio.CancelledError):
        return CANCELLED
    if isinstance(error, TimeoutError):
        return too_late
    if isinstance(error, MyclawError):
        return received_error(error)
    return N_("the model provider '{provider}' failed: {error}", provider=provider, error=received_error(error))


def token_bound(request: ModelRequest) -> int:
    """Return a number of tokens that the prompt cannot pass: a token is at least one byte."""
    size = len(request.system.encode("utf-8", "replace")) + PROVIDER_OVERHEAD_TOKENS
    size += sum(len(json.dumps([tool.name, tool.description, dict(tool.schema)])) for tool in request.tools)
    for message in request.messages:
        size += len(message.text.encode("utf-8", errors="replace"))
        size += sum(
            len(json.dumps([call.tool, dict(call.args)], ensure_ascii=False).encode("utf-8", "replace"))
            for call in message.tool_calls
        )
    return size

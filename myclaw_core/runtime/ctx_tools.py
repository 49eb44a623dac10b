"""What `ctx` offers a running neuron besides other tools: internal tools, judged, asked about and recorded like any."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from myclaw_core.errors import ToolFailure
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_
from myclaw_core.neurons.world import CtxError
from myclaw_core.redact import redact_text
from myclaw_core.runtime.tool import EffectSpec, Handed, PlannedChange, Tool, ToolContext
from myclaw_core.runtime.types import ToolResult

__all__ = ["CTX_LLM", "CTX_READ", "CTX_WRITE", "ctx_tools", "write_args"]

CTX_READ = "ctx_read"
CTX_WRITE = "ctx_write"
CTX_LLM = "ctx_llm"

_MOST_BYTES = 32 << 20
_WHOLE_DAY_S = 86_400.0
"""A model call has limits of its own, and waits for the person's word on the budget."""


def ctx_tools() -> Sequence[Tool]:
    """Return the tools behind `ctx.open` and `ctx.llm`; the record of a read holds a digest, not the content."""
    path = {"type": "string", "minLength": 1}
    text = {"type": "string"}
    return (
        Tool(
            name=CTX_READ,
            description="Read a file for a neuron.",
            schema=_object({"path": path}, required=["path"]),
            effects=(EffectSpec(kind="fs_read", arg="path"),),
            run=_read,
            internal=True,
        ),
        Tool(
            name=CTX_WRITE,
            description="Write a file for a neuron.",
            schema=_object({"path": path, "content": text, "content_base64": text}, required=["path"]),
            effects=(EffectSpec(kind="fs_write", arg="path"),),
            plan=_plan_write,
            run=_write,
            internal=True,
        ),
        Tool(
            name=CTX_LLM,
            description="Ask a model for a neuron.",
            schema=_object({"prompt": text}, required=["prompt"]),
            effects=(),
            run=_ask,
            internal=True,
            timeout_s=_WHOLE_DAY_S,
        ),
    )


def write_args(path: str, content: bytes) -> dict[str, Any]:
    """Return the arguments that let a file hold `content`; what is text stays legible for whoever is asked."""
    try:
        return {"path": path, "content": content.decode()}
    except UnicodeDecodeError:
        return {"path": path, "content_base64": base64.b64encode(content).decode()}


def _object(properties: Mapping[str, Any], required: Sequence[str]) -> Mapping[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _read(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    handed, path = _handed(context), args["path"]
    if context.files.kind(path) == "absent":
        handed.failed_as = "missing"
        raise ToolFailure(N_("there is no file {path}", path=visible(path)))
    content = context.files.read_bytes(path, _MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ToolFailure(N_("{path} has more than {n} bytes", path=visible(path), n=_MOST_BYTES))
    handed.content = content
    return _told(content)


def _plan_write(args: Mapping[str, Any], context: ToolContext) -> tuple[PlannedChange, ...]:
    path = args["path"]
    if context.files.kind(path) not in ("absent", "file"):
        raise ToolFailure(N_("{path} is no ordinary file", path=visible(path)))
    return (PlannedChange(path=path, content=_content(args)),)


def _content(args: Mapping[str, Any]) -> bytes:
    try:
        if "content_base64" in args:
            return base64.b64decode(args["content_base64"], validate=True)
        return str(args.get("content", "")).encode()
    except (binascii.Error, ValueError) as error:
        raise ToolFailure(N_("the content of {path} cannot be written", path=visible(args["path"]))) from error


def _write(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    for change in context.plan:
        context.files.apply(change)
    return _told(_content(args))


async def _ask(args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Ask a model; secrets do not go out to it."""
    handed = _handed(context)
    if handed.ask is None:
        raise ToolFailure(N_("no model can be asked here"))
    try:
        return ToolResult(text=await handed.ask(redact_text(args["prompt"])))
    except CtxError as error:
        handed.failed_as = error.kind
        raise ToolFailure(error.text) from error


def _handed(context: ToolContext) -> Handed:
    if context.handed is None:
        raise ToolFailure(N_("only a running neuron calls this"))
    return context.handed


def _told(content: bytes) -> ToolResult:
    digest = sha256(content).hexdigest()
    return ToolResult(text=f"{len(content)} bytes", data={"bytes": len(content), "sha256": digest})

"""Hook implementations; their bodies are imported at first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from myclaw_core import hookimpl

if TYPE_CHECKING:
    from myclaw_core.config import ConfigSchema
    from myclaw_core.host import Host
    from myclaw_core.runtime.model import ModelProvider

__all__ = ["myclaw_config", "myclaw_models"]


@hookimpl
def myclaw_config() -> ConfigSchema:
    """Describe `[llama]`."""
    from myclaw_llama.config import SCHEMA

    return SCHEMA


@hookimpl
def myclaw_models(host: Host) -> Sequence[ModelProvider]:
    """Offer the models of GGUF files."""
    from myclaw_llama.provider import LlamaProvider

    return [LlamaProvider(clock=host.clock, **host.config)]

"""Runs inside the sandbox: the modules that code of a neuron finds there, and is."""

from __future__ import annotations

import sys

from myclaw_core.neurons.inside.channel import UndeclaredSynapseError
from myclaw_core.neurons.inside.context import NeuronContext

TYPE_CHECKING = False  # that of `typing`, which is slow to import
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

__all__ = ["line_of", "new_module", "provide_runtime", "source_of"]


def provide_runtime() -> None:
    """Let `myclaw.runtime` be imported."""
    new_module("myclaw")
    new_module("myclaw.runtime", NeuronContext=NeuronContext, UndeclaredSynapseError=UndeclaredSynapseError)


def new_module(name: str, **names: Any) -> ModuleType:
    """Return a module that can be imported from now on.

    Args:
        name: Its own.
        names: What it holds.
    """
    module = sys.modules[name] = type(sys)(name)
    module.__dict__.update(names)
    return module


def source_of(file: str) -> bytes:
    """Return what was handed in as a file."""
    with open(f"/n/{file}", "rb") as handle:  # noqa: PTH123 - pathlib is slow to import
        return handle.read()


def line_of(error: BaseException, file: str) -> int:
    """Return the innermost line of a file that an error came from; 0 where it came from elsewhere."""
    line = error.lineno or 0 if isinstance(error, SyntaxError) else 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line

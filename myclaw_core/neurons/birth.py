"""Runs the birth tests of a neuron: a neuron whose tests are not green, or could not be red, is not born."""

from __future__ import annotations

from collections.abc import Mapping

from myclaw_core.clock import Clock
from myclaw_core.neurons.birth_report import BirthReport, BirthTest
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.sandbox.sandbox import Sandbox

__all__ = ["BirthReport", "BirthTest", "run_birth_tests"]


async def run_birth_tests(
    sandbox: Sandbox, files: Mapping[str, bytes], manifest: NeuronManifest, clock: Clock
) -> BirthReport:
    """Run `test_birth.py` against `body.py`, then once more against emptied bodies.

    Args:
        files: The bytes of a neuron that passed the static analysis, by name of the file.

    Raises:
        UnavailableError: The sandbox is missing or failed; nothing is known about the neuron then.
    """
    raise NotImplementedError

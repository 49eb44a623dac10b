"""What the runtime asks of whoever keeps the neurons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from myclaw_core.neurons.types import Invocation, NeuronEntry, VerifiedNeuron
from myclaw_core.types.text import Text

__all__ = ["Neurons"]


class Neurons(Protocol):
    """Keeps the tool shelf in step with the folder of neurons and notes how their runs ended."""

    async def refresh(self) -> None:
        """Look whether anything in the folder has changed and admit, replace or put aside accordingly.

        It costs a few file states where nothing has changed; the runtime calls it before each model call and before
        each run of a neuron.
        """
        ...

    async def entries(self) -> Sequence[NeuronEntry]:
        """Return every neuron on record and every other folder there, by name, as it stands now.

        Raises:
            MyclawError: The folder of neurons is not one that can be looked at.
        """
        ...

    async def ran(self, neuron: VerifiedNeuron, invocation: Invocation, error: Text | None = None) -> None:
        """Write a run into the neuron's journal, and count strikes: the third in a row puts it aside at once.

        A strike is a failure of its body or its sandbox: an outcome other than `ok`, `denied`, `refused` and
        `cancelled`; `ok` resets them. It never raises for a journal that cannot be written; that is told to the log.

        Args:
            error: Why the run gave nothing.
        """
        ...

"""The third strike of a neuron, in processes that kill themselves, one at each statement of SQL."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from adopted_neurons import opened_neurons, run_of
from dying import Points, die_everywhere

from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock


async def strike(folder: Path, points: Points) -> None:
    real = sqlite3.connect

    def traced(*args: object, **more: object) -> sqlite3.Connection:
        connection = real(*args, **more)  # type: ignore[call-overload]
        connection.set_trace_callback(lambda _statement: points.reach("a statement"))
        return connection  # type: ignore[no-any-return]

    async with opened_neurons(Home.at(folder), FakeClock()) as neurons:
        await neurons.book.refresh()
        neuron = neurons.neuron()
        await neurons.log.close()
        sqlite3.connect = traced  # type: ignore[assignment]
        await neurons.log.open()
        await neurons.book.ran(neuron, run_of("timeout"))
        sqlite3.connect = real


if __name__ == "__main__":
    die_everywhere(strike)

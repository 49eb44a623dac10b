"""2,000 looks while a thread swaps `body.py`: only the bytes that were approved last are ever on the shelf."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adopted_neurons import opened_neurons
from signed_neurons import BODY, neuron_files, write_neuron

from myclaw_core.neurons.signing import neuron_key
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock

LOOKS = 2000
OLD = BODY + b"# old\n"
EVIL = BODY + b"# bad\n"
NEW = BODY + b"# new\n"


@contextmanager
def swapping(folder: Path, key: bytes) -> Iterator[list[int]]:
    """Swap versions in the folder as fast as that goes, in place and by renames, until the block ends."""
    rounds, stop = [0], threading.Event()

    def swap() -> None:
        versions = (OLD, EVIL, NEW)
        while not stop.is_set():
            body = versions[rounds[0] % 3]
            if rounds[0] % 2:
                (folder / "body.py").write_bytes(body)
            else:
                fresh = folder.parent.parent / "fresh.py"
                fresh.write_bytes(body)
                fresh.rename(folder / "body.py")
            if rounds[0] % 7 == 0:  # the older version as a whole, signed
                write_neuron(folder, neuron_files(body=OLD), key)
            if rounds[0] % 11 == 0:
                write_neuron(folder, neuron_files(body=NEW), key)
            rounds[0] += 1

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield rounds
    finally:
        stop.set()
        thread.join()


async def test_no_unsigned_and_no_older_byte_is_ever_on_the_shelf(home: Home, clock: FakeClock) -> None:
    """Once the thread stops the approved version is back without a restart."""
    seen = set()
    async with opened_neurons(home, clock) as neurons:
        await neurons.adopt(files=neuron_files(body=OLD))
        folder = await neurons.adopt(files=neuron_files(body=NEW))
        key = neuron_key(home.keys)
        with swapping(folder, key) as rounds:
            for _ in range(LOOKS):
                await neurons.book.refresh()
                tool = neurons.shelf.get("neuron:word_count")
                seen.add(tool.neuron.files["body.py"] if tool is not None and tool.neuron is not None else None)
        assert rounds[0] > LOOKS / 10
        assert seen == {NEW, None}
        write_neuron(folder, neuron_files(body=NEW), key)

        assert await neurons.refreshed() == ["word_count"]
        assert (await neurons.record()).status == "active"

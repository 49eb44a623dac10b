"""Two processes spend from one budget, and one of them dies."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from myclaw_core.budget.ledger import Ledger
from myclaw_core.process import is_alive, this_process


def spender(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("spend.py")
    return subprocess.Popen(
        [sys.executable, script, folder, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def reserved_by(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


async def test_two_processes_at_once_never_pass_the_hard_cap(tmp_path: Path, ledger: Ledger, till: Any) -> None:
    await till.pay(ledger, 485)
    processes = [spender(tmp_path), spender(tmp_path)]
    counts = await asyncio.gather(*(asyncio.to_thread(reserved_by, process) for process in processes))
    assert sum(counts) == 15
    standing = await ledger.standing()
    assert (standing.spent_eur, standing.reserved_eur) == (4.85, 0.15)
    assert await ledger.recover() == 0, "both still run"
    for process in processes:
        await asyncio.to_thread(process.communicate, "\n")
    assert await ledger.recover() == 15
    standing = await ledger.standing()
    assert (standing.spent_eur, standing.reserved_eur) == (5.0, 0.0)


async def test_what_a_killed_process_reserved_is_booked_even_before_it_is_reaped(
    tmp_path: Path, ledger: Ledger
) -> None:
    process = spender(tmp_path, "dies")
    assert await asyncio.to_thread(reserved_by, process) == 20
    await asyncio.to_thread(os.waitid, os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert await ledger.recover() == 20
    assert (await ledger.standing()).spent_eur == 0.2
    await asyncio.to_thread(process.communicate)


def test_a_process_is_told_from_a_later_one_with_its_pid() -> None:
    boot, pid, start = this_process().split(":")
    assert is_alive(f"{boot}:{pid}:{start}")
    assert not is_alive(f"{boot}:{pid}:{int(start) - 1}")
    assert not is_alive(f"other:{pid}:{start}")
    assert not is_alive(f"{boot}:0:{start}")
    assert not is_alive("")

"""Two processes spend from one budget, and one of them dies."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from myclaw_core.budget.account import Account
from myclaw_core.budget.ledger import Ledger
from myclaw_core.process import is_alive, this_process


def spender(folder: Path, *words: str) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("spend.py")
    return subprocess.Popen(
        [sys.executable, script, folder, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def told_by(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


async def spend_twice(folder: Path, *words: str) -> tuple[list[subprocess.Popen[str]], list[Any]]:
    processes = [spender(folder, *words), spender(folder, *words)]
    return processes, await asyncio.gather(*(asyncio.to_thread(told_by, process) for process in processes))


async def ended(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        await asyncio.to_thread(process.communicate, "\n")


@pytest.mark.parametrize(("spent_cents", "fit"), [(485, 15), (499, 1), (500, 0)])
async def test_two_processes_at_once_never_pass_the_hard_cap(
    tmp_path: Path, ledger: Ledger, till: Any, spent_cents: int, fit: int
) -> None:
    """Each makes 20 calls of a cent at once; what was under way is booked once they are gone."""
    await till.pay(ledger, spent_cents)
    processes, told = await spend_twice(tmp_path)
    assert sum(each["made"] for each in told) == fit
    standing = await ledger.standing()
    assert (standing.spent_eur, standing.reserved_eur) == (spent_cents / 100, fit / 100)
    assert await ledger.recover() == 0, "both still run"
    await ended(processes)
    assert await ledger.recover() == fit
    standing = await ledger.standing()
    assert (standing.spent_eur, standing.reserved_eur) == (5.0, 0.0)


async def test_two_processes_at_once_never_pass_the_ceiling_of_heartbeats(tmp_path: Path, ledger: Ledger) -> None:
    """Where there is still a lot of room below the caps."""
    processes, told = await spend_twice(tmp_path, "heartbeat", "pays")
    assert sum(each["made"] for each in told) == 25
    await ended(processes)
    standing = await ledger.standing()
    assert (standing.spent_eur, standing.reserved_eur) == (0.25, 0.0)


async def test_what_two_processes_booked_adds_up_by_account(tmp_path: Path, ledger: Ledger, till: Any) -> None:
    """No booking of the one replaces a booking of the other."""
    await till.pay(ledger, 30)
    processes, _ = await spend_twice(tmp_path, "pays")
    await ended(processes)
    (book,) = await ledger.books(1)
    assert {(entry.account.level, entry.calls, entry.spent) for entry in book.entries} == {
        ("", 1, 300_000),
        ("full", 40, 400_000),
    }
    assert book.spent == 700_000


async def test_two_processes_give_each_notice_once_between_them(tmp_path: Path, ledger: Ledger, till: Any) -> None:
    """Both pass 80 % of the soft cap together; a restart does not tell it again."""
    await till.pay(ledger, 159)
    processes, told = await spend_twice(tmp_path, "pays")
    await ended(processes)
    assert [line.partition(" of ")[2] for each in told for line in each["notices"]] == [
        "the soft cap of 2.00 € a day are spent"
    ]
    assert (await till.pay(ledger, 1)).notices == ()


async def test_what_a_killed_process_reserved_is_booked_even_before_it_is_reaped(
    tmp_path: Path, ledger: Ledger
) -> None:
    """On the account for which it was reserved."""
    process = spender(tmp_path, "nightly", "dies")
    assert (await asyncio.to_thread(told_by, process))["made"] == 20
    await asyncio.to_thread(os.waitid, os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert await ledger.recover() == 20
    assert (await ledger.standing()).spent_eur == 0.2
    (book,) = await ledger.books(1)
    (entry,) = book.entries
    assert entry.account == Account(tier="frontier", purpose="answer", activity="nightly", level="full", model="euro")
    await asyncio.to_thread(process.communicate)


def test_a_process_is_told_from_a_later_one_with_its_pid() -> None:
    """Boot and start belong to its name."""
    boot, pid, start = this_process().split(":")
    assert is_alive(f"{boot}:{pid}:{start}")
    assert not is_alive(f"{boot}:{pid}:{int(start) - 1}")
    assert not is_alive(f"other:{pid}:{start}")
    assert not is_alive(f"{boot}:0:{start}")
    assert not is_alive("")

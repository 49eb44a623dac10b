"""The engine against an oracle that was written from the specification alone, on random histories.

2,000 of them in the plain run, 10,000 in the thorough one; `MYCLAW_HISTORIES=100000` runs more, and
`MYCLAW_HISTORIES_FROM=SEED` starts elsewhere: one history is replayed by its seed and a count of 1.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from differential import run
from histories import draw
from household import Household
from myclaw_sqlite.event_store import SqliteEventStore
from myclaw_sqlite.trust_store import TrustStoreDb
from sampling import sampled
from side_by_side import compare
from stores import DatabaseStores, MemoryStores

from myclaw_core.budget.ledger import Ledger
from myclaw_core.constitution.engine import Constitution
from myclaw_core.events.log import EventLog
from myclaw_core.policy import checks, engine
from myclaw_core.policy.forbidden import ForbiddenPlaces
from myclaw_core.policy.grants import RunGrants
from myclaw_core.policy.never import NeverList
from myclaw_core.policy.ports import Granted
from myclaw_core.policy.rates import RateBook
from myclaw_core.testing import FakeClock
from myclaw_core.trust import promotion, weighing
from myclaw_core.trust.book import TrustBook
from myclaw_core.types.text import Text

COUNT = int(os.environ.get("MYCLAW_HISTORIES", sampled(2_000, 10_000)))
FIRST = int(os.environ.get("MYCLAW_HISTORIES_FROM", "0"))
IN_DATABASES = 25
ENOUGH = 1_000

REACHED = {
    "allow": {"pure", "autonomy", "autonomy_full", "grant", "trust_promoted"},
    "approve_required": {"constitution", "finding", "budget", "autonomy", "trust"},
    "deny": {"resolve", "constitution", "finding", "forbidden", "never", "rate", "budget", "autonomy"},
}


@pytest.mark.sampled
@pytest.mark.timeout(1_800)
def test_engine_and_specification_agree_on_random_histories() -> None:
    """Verdict, deciding check, broken law and worst effect of every call; and every check decides often."""
    result = run(FIRST, COUNT)
    assert not result.difference, result.difference
    if COUNT >= ENOUGH:
        for verdict, checks_ in REACHED.items():
            for via in checks_:
                assert result.seen[f"{verdict} {via}"] > COUNT / 200, f"{verdict} via {via} is hardly tried"
        assert result.seen["dead heat"] < COUNT / 50


async def test_they_agree_over_real_databases_too(tmp_path: Path) -> None:
    """The rows of the stores give what the arithmetic in memory gives."""
    household = Household(tmp_path)
    for seed in range(IN_DATABASES):
        folder = tmp_path / str(seed)
        folder.mkdir()
        log = EventLog(SqliteEventStore(folder / "events.db"), bytes(32), FakeClock())
        book = TrustBook(TrustStoreDb(folder / "trust.db"), bytes(32), FakeClock(), anchor=folder / "trust.head")
        await log.open()
        await book.open()
        try:
            assert await compare(draw(seed), household, DatabaseStores(log, book)) is None
        finally:
            await book.close()
            await log.close()


def always(answer: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: answer


FORGETFUL: dict[str, tuple[Any, str, Any]] = {
    "the laws": (Constitution, "check", always(None)),
    "the plugins": (engine, "check_findings", always(())),
    "forbidden paths": (ForbiddenPlaces, "path", always(None)),
    "forbidden hosts": (ForbiddenPlaces, "host", always(None)),
    "the never-list": (NeverList, "check", always(None)),
    "the rates": (RateBook, "check", always(None)),
    "the budget": (Ledger, "objection", always(None)),
    "that others granted nothing": (RunGrants, "__call__", always(Granted(Text("granted")))),
    "hard links and hidden names": (checks, "why_not_covered", always(None)),
    "where a folder ends": (checks, "root_of", always("/")),
    "outside text": (checks.Case, "is_tainted_outbound", always(False)),
    "the highest level of a threshold": (promotion, "autonomy_le", always(True)),
    "that trust fades": (weighing, "share_left", always(1.0)),
    "the last three times": (promotion, "_went_wrong", always(None)),
    "how often it was done": (promotion, "lacking", always(None)),
    "the floors": (promotion, "_below_floor", always(None)),
    "whether the destination is known": (promotion, "_unknown_destination", always(None)),
    "what the person ordered": (promotion, "_ordered", always(None)),
    "to let one in 25 be checked": (promotion, "CHECKED_EVERY", 10**9),
}


@pytest.mark.parametrize("what", FORGETFUL)
async def test_an_engine_that_forgets_something_is_found_out(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison is worth something: every rule that is taken out shows."""
    owner, name, forgetful = FORGETFUL[what]
    monkeypatch.setattr(owner, name, forgetful)
    household = Household(tmp_path)
    for seed in range(5_000):
        if await compare(draw(seed), household, MemoryStores()) is not None:
            return
    pytest.fail(f"an engine that forgets {what} passes for the real one")

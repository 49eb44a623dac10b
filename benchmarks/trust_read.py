"""What reading one subject's trust costs, beside a look-up in a dict."""

from __future__ import annotations

from functools import partial

from benchmarks.timing import Comparison, Effort, compare, times
from benchmarks.world import folder, opened_agent, with_subjects

__all__ = ["run"]

_SUBJECT = ("fs_write", "fs_write:~/folder-0/*")
_READS = 100


async def run(effort: Effort) -> list[Comparison]:
    """Time the read that the policy makes, with few and with many subjects."""
    rows = []
    for subjects in filter(None, effort.subjects):
        with folder() as root:
            async with opened_agent(root / "home") as agent:
                await with_subjects(agent, subjects)
                known = dict.fromkeys(await agent.book.snapshot(), 1.0)
                rows.append(
                    await compare(
                        "trust_read",
                        f"trust in one of {subjects:,} subjects",
                        times(_READS, partial(agent.book.view, _SUBJECT, agent.clock.now())),
                        "a look-up in a dict",
                        times(_READS, partial(known.get, _SUBJECT)),
                        rounds=effort.rounds,
                        calls=_READS,
                    )
                )
    return rows

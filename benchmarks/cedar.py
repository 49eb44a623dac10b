"""What one policy decision costs, beside Cedar judging the same call by an equivalent small set of policies.

Cedar is given what the engine has to find out first: the real path, whether a root holds it, the effect, the figures of
trust. It returns allow or deny; the engine returns every check's reason besides, and the draft of a question.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from benchmarks.decision import decisions
from benchmarks.timing import Comparison, Effort, compare
from benchmarks.world import folder, opened_agent, with_subjects

__all__ = ["run"]

_POLICIES = """
forbid (principal, action, resource) when {
    context.path like "*/.ssh/*" || context.path like "*/.gnupg/*" || context.path like "*/.aws/*"
    || context.path like "/proc/*" || context.path like "/sys/*" || context.path like "/dev/*"
    || context.path == "/etc/shadow" || context.path like "*/workspace/state/*" || context.path like "*/.audit/*"
};
forbid (principal, action, resource) unless { context.in_root };
forbid (principal, action, resource) when { context.level == "read_only" && action != Action::"fs_read" };
forbid (principal, action, resource) when { context.minute >= 60 || context.day >= 2000 };
permit (principal, action == Action::"fs_read", resource);
permit (principal, action == Action::"fs_write", resource) when {
    context.reversible && principal.score >= 60 && principal.samples >= 3 && principal.days >= 2 && principal.known
};
"""


async def run(effort: Effort) -> list[Comparison]:
    """Time decisions on a read and a small write with few and with many subjects."""
    rows = []
    for subjects in effort.subjects:
        with folder() as root:
            async with opened_agent(root / "home") as agent:
                await with_subjects(agent, subjects)
                rows += [
                    await compare(
                        "cedar",
                        f"{tool}, {subjects:,} subjects",
                        decisions(agent, size),
                        "Cedar on facts made ready",
                        _cedar(tool, str(agent.home.workspace / "notes/list.md"), subjects),
                        rounds=effort.rounds,
                    )
                    for tool, size in (("fs_read", 0), ("fs_write", 100))
                ]
    return rows


def _cedar(tool: str, path: str, subjects: int) -> Callable[[], Any]:
    """Return what lets Cedar judge one call; policies and entities are parsed before."""
    import cedarpy

    policies = cedarpy.PolicySet.from_str(_POLICIES)
    entities = cedarpy.Entities.from_json_str(json.dumps([_subject(index) for index in range(max(subjects, 1))]))
    request = {
        "principal": {"type": "Subject", "id": "fs_write fs_write:~/folder-0/*"},
        "action": {"type": "Action", "id": tool},
        "resource": {"type": "File", "id": path},
        "context": {
            "path": path,
            "in_root": True,
            "level": "supervised",
            "reversible": True,
            "minute": 1,
            "day": 1,
        },
    }

    def judge() -> None:
        answer = cedarpy.is_authorized(request, policies, entities)
        if answer.diagnostics.errors or answer.allowed is not (tool == "fs_read"):
            raise RuntimeError(f"Cedar answered otherwise than the engine: {answer.decision}")

    return judge


def _subject(index: int) -> dict[str, Any]:
    """Return one subject as an entity, with the one sample that `with_subjects` gives it."""
    return {
        "uid": {"type": "Subject", "id": f"fs_write fs_write:~/folder-{index}/*"},
        "attrs": {"score": 90, "samples": 1, "days": 1, "known": True},
        "parents": [],
    }

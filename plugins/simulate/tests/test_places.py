"""A destination is what trust knows a target by; a call that is aimed elsewhere keeps everything else."""

from __future__ import annotations

import pytest
from myclaw_simulate.places import destination, moved, renamed, resolved, unseen

from myclaw_core.types.effect import EffectKind

CASES: list[tuple[EffectKind, str, str, str]] = [
    ("fs_write", "notes/a.md", "", "notes"),
    ("fs_delete", "~/Photos/2026/b.jpg", "", "~/Photos/2026"),
    ("fs_write", "a.md", "", ""),
    ("network_out", "https://weather.example/turin?day=1", "", "weather.example"),
    ("network_out", "weather.example/turin", "", "weather.example"),
    ("outbound_message", "mail:anna@friends.example", "", "mail:anna@friends.example"),
    ("shell_exec", "make html", "~/Projects/site", "~/Projects/site"),
    ("memory_write", "diet", "", "diet"),
    ("cost_spend", "24.50 EUR", "", "24.50 EUR"),
]


def scope(kind: EffectKind, target: str, root: str) -> str:
    (item,) = resolved(kind, target, "reversible", tool="tool", root=root)
    return item.effect.scope


@pytest.mark.parametrize(("kind", "target", "root", "place"), CASES)
def test_a_target_moves_to_another_place_and_back(kind: EffectKind, target: str, root: str, place: str) -> None:
    assert destination(kind, target, root) == place
    there = unseen(kind, target, root, "new-1")
    assert there != place
    assert destination(kind, *moved(kind, target, root, there)) == there
    assert destination(kind, *moved(kind, *moved(kind, target, root, there), place)) == place


@pytest.mark.parametrize(("kind", "target", "root", "place"), [case for case in CASES if case[0] != "cost_spend"])
def test_a_place_that_nobody_has_seen_is_another_scope_for_the_core(
    kind: EffectKind, target: str, root: str, place: str
) -> None:
    there = moved(kind, target, root, unseen(kind, target, root, "new-1"))
    assert scope(kind, *there) != scope(kind, target, root)
    assert "new-1" in scope(kind, *there)


def test_scopes_are_those_of_the_core() -> None:
    assert scope("fs_write", "notes/a.md", "") == "~/.local/share/myclaw/workspace/notes/*"
    assert scope("fs_write", "~/Calendar/a.ics", "") == "~/Calendar/*"
    assert scope("network_out", "https://WEATHER.example:443/x", "") == "weather.example"
    assert "make" in scope("shell_exec", "make html", "~/Projects/site")
    assert "~/Projects/site" in scope("shell_exec", "make html", "~/Projects/site")


def test_a_change_of_the_agent_itself_keeps_the_kind_that_the_core_gives_it() -> None:
    (item,) = resolved("fs_write", "neurons/sorter/body.py", "reversible", tool="fs_write", root="")
    assert item.effect.kind == "self_modify"


def test_a_prompt_names_the_new_target_where_it_named_the_old_one() -> None:
    assert renamed("Write notes/a.md now", "fs_write", "notes/a.md", "new/a.md") == "Write new/a.md now"
    assert renamed("Ask a.example", "network_out", "https://a.example/x", "https://b.example/x") == "Ask b.example"
    assert renamed("Tell anna@x.example", "outbound_message", "mail:anna@x.example", "mail:new-1") == "Tell new-1"
    assert renamed("Write it", "fs_write", "notes/a.md", "new/a.md") == "Write it"

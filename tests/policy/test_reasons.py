"""Every reason is a message that the catalogues hold, whichever check gives it."""

from __future__ import annotations

import os
from typing import Any

import pytest
from spoken import untranslatable

from myclaw_core.constitution.engine import Constitution
from myclaw_core.constitution.rule import Rule
from myclaw_core.errors import ConfigError, UsageError
from myclaw_core.policy.grants import RunGrants, checked_class
from myclaw_core.policy.summary import summary_of
from myclaw_core.policy.types import Finding, PolicyDecision
from myclaw_core.types.effect import EFFECT_KINDS, Effect
from myclaw_core.types.text import Text

UNREADABLE: tuple[tuple[Any, Any], ...] = (
    ("fs_wrte", {}),
    ("fs_write", []),
    ("note", {"x": float("nan")}),
    ("fs_write", {"path": "a", "content": "«redacted:token»"}),
    ("fs_write", {"path": ""}),
    ("fs_write", {"path": 7}),
    ("fs_write", {"path": "a\u202eb"}),
    ("fs_write", {"path": "x" * 300}),
    ("fs_write", {"path": "x" * 5000}),
    ("send", {"to": " "}),
    ("get", {"url": "file:///etc/passwd"}),
    ("get", {"url": "https://ok.org@evil.com/"}),
    ("get", {"url": "http://"}),
    ("get", {"url": "http://a b/"}),
    ("get", {"url": "http://a:b/"}),
    ("get", {"url": "http://[fe80::1%25eth0]/"}),
    ("get", {"url": "http://straße.de/"}),
    ("get", {"url": "http://a..b/"}),
    ("get", {"url": "http://1.2.3.4.5/"}),
    ("get", {"url": "http://256.1/"}),
)
JUDGED: tuple[tuple[str, Any], ...] = (
    ("note", {}),
    ("mystery", {}),
    ("fs_read", {"path": "a.md"}),
    ("fs_read", {"path": "~/plan.md"}),
    ("fs_write", {"path": "~/plan.md"}),
    ("fs_write", {"path": "a.md"}),
    ("fs_write", {"path": "~/.ssh/id"}),
    ("fs_write", {"path": ".git/config"}),
    ("fs_write", {"path": "twin"}),
    ("fs_read", {"path": "pipe"}),
    ("fs_delete", {"path": "."}),
    ("fs_delete", {"path": "~/.local"}),
    ("fs_wipe", {"path": "a.md"}),
    ("fs_move", {"src": "a.md", "dst": "b.md"}),
    ("fs_scribble", {"path": "backup/a.md"}),
    ("fs_scribble", {"path": "/dev/sda"}),
    ("copy", {"src": "a.md", "dst": "b.md"}),
    ("get", {"url": "http://169.254.169.254/"}),
    ("get", {"url": "http://localhost/"}),
    ("send", {"to": "telegram:42"}),
    ("setting", {"key": "x"}),
    ("spend", {"eur": 1.0}),
    ("spend", {"eur": -1.0}),
)


def told(decision: PolicyDecision) -> list[Text]:
    """Return everything a decision says."""
    draft = decision.draft
    asked = [draft.summary, *draft.policy_reasons] if draft else []
    return [decision.reason, *(reason.text for reason in decision.reasons), *asked]


def left_english(decision: PolicyDecision) -> list[str]:
    """Return what has no entry in the catalogues; trust speaks for itself."""
    return [one for text in told(decision) if str(text) != "trust spoke" for one in untranslatable(text)]


@pytest.mark.parametrize(("tool", "args"), UNREADABLE)
async def test_why_a_call_cannot_be_judged(world: Any, tool: str, args: Any) -> None:
    decision = await world.judge(tool, args)
    assert decision.via == "resolve"
    assert left_english(decision) == []


@pytest.mark.parametrize("level", ["read_only", "supervised", "full"])
@pytest.mark.parametrize("trusted", [False, True])
async def test_what_the_checks_say(world: Any, level: str, trusted: bool) -> None:
    (world.workspace / "a.md").write_text("a")
    (world.workspace / "a.md").with_name("one").write_text("1")
    os.link(world.workspace / "one", world.workspace / "twin")
    os.mkfifo(world.workspace / "pipe")
    world.promoted, world.tainted = trusted, trusted
    for tool, args in JUDGED:
        assert left_english(await world.judge(tool, args, level=level)) == [], (tool, args)


async def test_what_the_lists_and_the_limits_say(world: Any) -> None:
    grants = RunGrants()
    world.overrides["grants"] = grants
    with grants.during(world.trace().id, ["fs_write"]):
        assert left_english(await world.judge("fs_write", {"path": "a.md"})) == []
    world.findings = [Finding(verdict="deny", text=Text("a plugin's own words"), source="lint")]
    assert left_english(await world.judge("note")) == ["a plugin's own words"] * 2
    world.findings = ()
    world.never.add("cli:me", "fs_write", "fs_write:*", world.clock.now())
    assert left_english(await world.judge("fs_write", {"path": "a.md"})) == []
    world.overrides["constitution"] = None
    assert left_english(await world.judge("note")) == []


def test_what_an_action_would_do() -> None:
    effects = [Effect(kind=kind, scope="s", target="x" * 500, reversibility="reversible") for kind in EFFECT_KINDS]
    for effect in effects:
        assert untranslatable(summary_of("t", [effect], "/home/me")) == []
        assert untranslatable(summary_of("t", [effect, effect], "/home/me")) == []
    assert untranslatable(summary_of("t", (), "/home/me")) == []


def test_what_is_given_wrong() -> None:
    with pytest.raises(UsageError, match="'nonsense' is no effect; known are fs_read,") as unknown:
        checked_class("nonsense:x")
    assert untranslatable(unknown.value.text) == []
    with pytest.raises(ConfigError, match="named 'no_formatting'") as twice:
        Constitution([Rule("no_formatting", "law.1", lambda action, ground: None)])
    assert untranslatable(twice.value.text) == []

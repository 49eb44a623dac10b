"""Each built-in rule: a call that breaks it and one that barely does not."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from attrs import evolve

from myclaw_core.constitution.engine import Constitution, verdict_of
from myclaw_core.constitution.rule import Ground, Rule
from myclaw_core.constitution.rules import BUILTIN_RULES
from myclaw_core.errors import ConfigError
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Effect, EffectKind, Reversibility
from myclaw_core.types.text import Text

GROUND = Ground(user_home="/home/me", roots=("/home/me/work", "/srv/box"))


def effect(kind: EffectKind, target: str, reversibility: Reversibility = "reversible") -> Effect:
    return Effect(kind=kind, scope="s", target=target, reversibility=reversibility)


def action(*effects: Effect, args: Any = None, **fields: Any) -> PlannedAction:
    args = args or {}
    made = PlannedAction.from_tool_call(
        tool_name="t",
        args=args,
        args_preview=args,
        effects=effects,
        sender="cli:me",
        trace_id=UUID(int=7),
        session_id="s",
        autonomy="full",
        planned_at=datetime(2026, 1, 5, tzinfo=UTC),
    )
    return evolve(made, **fields)


def broken(planned: PlannedAction, ground: Ground = GROUND) -> str | None:
    report = Constitution().check(planned, ground)
    return None if report is None else f"{report.law} {report.rule}"


def test_no_secret_goes_out() -> None:
    secret = {"body": ["key", {"token": "«redacted:token»"}]}
    for kind in ("network_out", "outbound_message"):
        assert broken(action(effect(kind, "x"), args=secret)) == "law.0 no_secrets_out"
    assert broken(action(effect("network_out", "x"), args={"body": ["key"]})) is None
    assert broken(action(effect("fs_write", "/home/me/work/a"), args=secret)) is None


@pytest.mark.parametrize("target", ["/", "/home", "/home/me", "/home/me/work", "/srv", "/srv/box", "/proc"])
def test_nothing_is_deleted_as_a_whole(target: str) -> None:
    assert broken(action(effect("fs_delete", target))) == "law.1 no_mass_deletion"
    assert broken(action(effect("self_modify", target))) == "law.1 no_mass_deletion"


@pytest.mark.parametrize("target", ["/home/me/work/a", "/home/me/wor", "/srv/box2", "/home/me/work2"])
def test_a_folder_inside_a_root_may_be_deleted(target: str) -> None:
    assert broken(action(effect("fs_delete", target))) is None
    assert broken(action(effect("fs_write", "/home/me/work"))) is None


def test_a_deletion_needs_an_undo_record() -> None:
    assert broken(action(effect("fs_delete", "/srv/box/a", "irreversible"))) == "law.1 no_irrecoverable_deletion"
    assert broken(action(effect("fs_delete", "/srv/box/a", "reversible_with_cost"))) is None


def test_no_device_is_written_to() -> None:
    assert broken(action(effect("fs_write", "/dev/sda"))) == "law.1 no_formatting"
    assert broken(action(effect("fs_write", "/devices/sda"))) is None
    assert broken(action(effect("fs_read", "/dev/sda"))) is None


@pytest.mark.parametrize("target", ["/srv/box/a.bak", "/srv/box/Backups/x", "/srv/box/backup", "/x/.snapshots/1/y"])
def test_backups_are_not_changed_for_good(target: str) -> None:
    assert broken(action(effect("fs_write", target, "irreversible"))) == "law.1 no_killing_of_backups"
    assert broken(action(effect("fs_write", target, "reversible"))) is None
    assert broken(action(effect("fs_write", "/srv/box/backupper", "irreversible"))) is None


@pytest.mark.parametrize("kind", ["neuron_spawn", "neuron_promote", "self_modify", "config_change"])
def test_changing_oneself_needs_consent(kind: EffectKind) -> None:
    assert broken(action(effect(kind, "x"))) == "law.2 consent_to_change_oneself"
    assert broken(action(effect("neuron_invoke", "x"))) is None


def test_what_cannot_be_recorded_is_not_done() -> None:
    plain = action(effect("fs_read", "/srv/box/a"))
    assert broken(plain) is None
    assert broken(plain, Ground(unrecordable=Text("disk full"))) == "law.3 nothing_unrecorded"
    for fields in ({"trace_id": UUID(int=0)}, {"session_id": ""}, {"sender": ""}):
        assert broken(evolve(plain, **fields)) == "law.3 nothing_unrecorded"


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -float("inf"), -0.01])
def test_a_cost_must_be_countable(cost: float) -> None:
    assert broken(action(effect("cost_spend", "x"), est_cost_eur=cost)) == "law.4 only_countable_costs"
    assert broken(action(effect("cost_spend", "x"), est_cost_eur=0.0)) is None


def test_a_law_that_denies_goes_before_one_that_asks() -> None:
    both = action(effect("self_modify", "x"), session_id="")
    assert broken(both) == "law.3 nothing_unrecorded"
    assert broken(action(effect("self_modify", "/dev/x"), session_id="")) == "law.1 no_formatting"


def test_only_law_2_can_be_agreed_to() -> None:
    assert [verdict_of(law) for law in ("law.0", "law.1", "law.2", "law.3", "law.4")] == [
        "deny",
        "deny",
        "approve_required",
        "deny",
        "deny",
    ]


def test_a_report_says_which_action_broke_it(tmp_path: Path) -> None:
    planned = action(effect("neuron_spawn", "x"))
    report = Constitution().check(planned)
    assert report is not None
    assert (report.action_digest, report.at) == (planned.args_digest, planned.planned_at)


def test_plugins_add_rules_and_take_none_away() -> None:
    mine = Rule("no_tuesdays", "law.1", lambda action, ground: Text("it is Tuesday"))
    constitution = Constitution([*BUILTIN_RULES, mine])
    assert constitution.check(action()).rule == "no_tuesdays"
    assert set(BUILTIN_RULES) <= set(Constitution([mine]).rules)
    assert set(BUILTIN_RULES) <= set(Constitution([]).rules)


@pytest.mark.parametrize("rule", BUILTIN_RULES)
def test_a_built_in_rule_cannot_be_shadowed(rule: Rule) -> None:
    with pytest.raises(ConfigError, match=rule.name):
        Constitution([Rule(rule.name, rule.law, lambda action, ground: None)])

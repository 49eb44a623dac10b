"""The seven checks, one after the other, over real folders."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from myclaw_core import codec
from myclaw_core.constitution.engine import Constitution
from myclaw_core.constitution.rule import Rule
from myclaw_core.policy.ports import Granted
from myclaw_core.policy.rates import RateRecord, RateWindow
from myclaw_core.policy.types import Finding, PolicyDecision
from myclaw_core.types.text import Text

CHECKS = ["constitution", "forbidden", "never", "rate", "budget", "autonomy", "trust"]


def raising(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError("broken part")


async def test_every_check_leaves_one_reason_in_order(world: Any) -> None:
    decision = await world.judge("fs_write", {"path": "a.md"})
    assert [reason.check for reason in decision.reasons] == CHECKS


async def test_a_denial_ends_the_run_at_its_check(world: Any) -> None:
    world.never.add("cli:me", "fs_write", "fs_write:~/.local/share/myclaw/workspace/*", world.clock.now())
    decision = await world.judge("fs_write", {"path": "a.md"})
    assert (decision.verdict, decision.via) == ("deny", "never")
    assert [reason.check for reason in decision.reasons] == CHECKS[:3]


# resolve


async def test_an_unknown_tool_is_denied_and_the_nearest_one_is_named(world: Any) -> None:
    decision = await world.judge("fs_wrte", {"path": "a"})
    assert (decision.verdict, decision.via) == ("deny", "resolve")
    assert "fs_write" in str(decision.reason)
    assert decision.reasons[0].check == "resolve"


async def test_a_redaction_mask_is_never_written_back(world: Any) -> None:
    decision = await world.judge("fs_write", {"path": "a.md", "content": "key «redacted:token»"})
    assert (decision.verdict, decision.via) == ("deny", "resolve")


@pytest.mark.parametrize("path", ["", "a\x00b", "a\u202eb", "x" * 5000, 7, {"a": 1}, "\ud800"])
async def test_an_unclear_path_is_denied(world: Any, path: Any) -> None:
    decision = await world.judge("fs_write", {"path": path})
    assert (decision.verdict, decision.via) == ("deny", "resolve")


@pytest.mark.parametrize(
    "args", [{"path": float("nan")}, {"path": "a", "n": float("inf")}, [], "x", 3, {"path": {1, 2}}]
)
async def test_arguments_that_are_not_json_are_denied(world: Any, args: Any) -> None:
    assert (await world.judge("fs_write", args)).verdict == "deny"


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "https://ok.org@evil.com/", "http://", "http://a b/", "https://a.com\\@b.com"]
)
async def test_an_unclear_url_is_denied(world: Any, url: str) -> None:
    assert (await world.judge("get", {"url": url})).via == "resolve"


# 0 constitution and findings


async def test_a_law_that_denies_ends_the_run(world: Any) -> None:
    decision = await world.judge("fs_wipe", {"path": "a.md"})
    assert (decision.verdict, decision.via) == ("deny", "constitution")
    assert decision.violation is not None
    assert decision.violation.law == "law.1"


@pytest.mark.parametrize("tool", ["spawn", "promote"])
@pytest.mark.parametrize("level", ["supervised", "full"])
async def test_law_2_asks_at_every_level_and_is_never_promoted(world: Any, tool: str, level: str) -> None:
    world.promoted = True
    decision = await world.judge(tool, {"name": "sorter"}, level=level)
    assert (decision.verdict, decision.via) == ("approve_required", "constitution")
    assert decision.violation is not None
    assert decision.violation.law == "law.2"


async def test_a_reversible_config_change_still_needs_consent(world: Any) -> None:
    world.promoted = True
    decision = await world.judge("setting", {"key": "policy.roots"}, level="full")
    assert decision.effects[0].reversibility == "reversible"
    assert (decision.verdict, decision.via) == ("approve_required", "constitution")


async def test_law_2_is_not_lifted_by_a_grant(world: Any) -> None:
    world.overrides["grants"] = lambda *call: Granted(Text("always"))
    assert (await world.judge("setting", {"key": "x"})).verdict == "approve_required"


async def test_what_cannot_be_recorded_is_denied(world: Any) -> None:
    world.unrecordable = Text("the log cannot be written")
    decision = await world.judge("fs_read", {"path": "a.md"})
    assert (decision.verdict, decision.violation.law) == ("deny", "law.3")


async def test_the_strictest_finding_counts_and_is_not_lifted(world: Any) -> None:
    world.promoted = True
    world.findings = [Finding(verdict="approve_required", text=Text("look"), source="lint")]
    asked = await world.judge("fs_write", {"path": "a.md"}, level="full")
    assert (asked.verdict, asked.via, str(asked.reason)) == ("approve_required", "finding", "lint: look")
    world.findings = [*world.findings, Finding(verdict="deny", text=Text("no"), source="lint")]
    denied = await world.judge("fs_write", {"path": "a.md"}, level="full")
    assert (denied.verdict, denied.via) == ("deny", "finding")


async def test_a_raising_gate_denies_even_a_pure_tool(world: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def gates(action: Any, trace: Any) -> Any:
        raise RuntimeError("plugin bug")

    world.overrides["gates"] = gates
    decision = await world.judge("note")
    assert (decision.verdict, decision.via) == ("deny", "fault")
    assert caplog.records[-1].levelno == logging.CRITICAL
    assert caplog.records[-1].name == "myclaw.policy"


async def test_a_gate_that_ran_out_of_time_denies(world: Any) -> None:
    async def gates(action: Any, trace: Any) -> Any:
        raise TimeoutError

    world.overrides["gates"] = gates
    assert (await world.judge("fs_read", {"path": "a.md"})).verdict == "deny"


async def test_a_gate_that_answers_nonsense_denies(world: Any) -> None:
    world.findings = [Finding(verdict="allow", text=Text("fine"))]  # type: ignore[arg-type]
    assert (await world.judge("fs_read", {"path": "a.md"})).verdict == "deny"


async def test_a_raising_rule_denies(world: Any) -> None:
    world.overrides["constitution"] = Constitution([Rule("broken", "law.2", raising)])
    assert (await world.judge("fs_read", {"path": "a.md"})).verdict == "deny"


# 1 forbidden


@pytest.mark.parametrize("level", ["supervised", "full"])
@pytest.mark.parametrize("tool", ["fs_read", "fs_write", "fs_delete"])
async def test_keys_are_out_of_reach_even_inside_a_root(world: Any, tool: str, level: str) -> None:
    world.promoted = True
    world.extra_roots = (str(world.user_home),)
    decision = await world.judge(tool, {"path": "~/.ssh/authorized_keys"}, level=level)
    assert (decision.verdict, decision.via) == ("deny", "forbidden")


async def test_a_link_into_a_forbidden_folder_is_judged_by_where_it_leads(world: Any) -> None:
    keys = world.user_home / ".ssh"
    keys.mkdir()
    (world.workspace / "notes").symlink_to(keys)
    decision = await world.judge("fs_write", {"path": "notes/authorized_keys"}, level="full")
    assert (decision.verdict, decision.via) == ("deny", "forbidden")
    assert decision.action.targets == (str(keys / "authorized_keys"),)


@pytest.mark.parametrize("name", ["state/events.db", ".audit/2026-01-05.jsonl"])
async def test_state_and_audit_are_never_in_a_root(world: Any, name: str) -> None:
    world.extra_roots = (str(world.home.state), str(world.home.audit))
    assert (await world.judge("fs_read", {"path": name}, level="full")).via == "forbidden"


async def test_a_folder_that_holds_a_forbidden_one_is_not_deleted_as_a_whole(world: Any) -> None:
    (world.user_home / ".config/systemd/user").mkdir(parents=True)
    world.extra_roots = (str(world.user_home),)
    decision = await world.judge("fs_delete", {"path": "~/.config"}, level="full")
    assert decision.verdict == "deny"


async def test_a_private_address_is_denied_before_anything_is_looked_up(world: Any) -> None:
    assert (await world.judge("get", {"url": "http://0x7f.1/"}, level="full")).via == "forbidden"


# 3 rate


async def test_too_many_actions_are_denied_with_the_second_of_the_next_try(world: Any) -> None:
    window = RateWindow(start=world.clock.now(), count=120)
    full = codec.dumps(RateRecord(minute=window, day=window))
    world.rates.load([("class/fs_write:~/.local/share/myclaw/workspace/*", full)])
    decision = await world.judge("fs_write", {"path": "a.md"}, level="full")
    assert (decision.verdict, decision.via) == ("deny", "rate")
    assert "2026-01-05T09:01:01Z" in str(decision.reason)
    world.clock.advance(seconds=61)
    assert (await world.judge("fs_write", {"path": "a.md"}, level="full")).verdict == "allow"


# 4 budget


async def test_the_soft_cap_asks_and_no_trust_lifts_it(world: Any) -> None:
    world.promoted = True
    world.budget.answer = ("approve_required", Text("past the soft cap"))
    decision = await world.judge("spend", {"eur": 1.0}, level="full")
    assert (decision.verdict, decision.via) == ("approve_required", "budget")
    assert str(decision.draft.policy_reasons[0]) == "past the soft cap"


async def test_the_hard_cap_denies_what_spends_and_nothing_else(world: Any) -> None:
    world.budget.answer = ("deny", Text("past the hard cap"))
    assert (await world.judge("spend", {"eur": 1.0})).via == "budget"
    assert (await world.judge("fs_write", {"path": "a.md"}, level="full")).verdict == "allow"


@pytest.mark.parametrize("args", [{"eur": "a lot"}, {"eur": -1}, {"eur": "2.50"}, {}])
async def test_an_amount_that_nobody_can_count_breaks_law_4_and_can_be_recorded(world: Any, args: Any) -> None:
    decision = await world.judge("spend", args, level="full")
    assert (decision.verdict, decision.violation and decision.violation.law) == ("deny", "law.4")
    assert codec.loads(PolicyDecision, codec.dumps(decision), "decision") == decision


async def test_a_negative_amount_breaks_law_4(world: Any) -> None:
    decision = await world.judge("spend", {"eur": -1.0})
    assert (decision.verdict, decision.violation.law) == ("deny", "law.4")


# 5 autonomy


async def test_reading_inside_the_roots_is_allowed_at_every_level(world: Any) -> None:
    for level in ("read_only", "supervised", "full"):
        decision = await world.judge("fs_read", {"path": "a.md"}, level=level)
        assert (decision.verdict, decision.via) == ("allow", "autonomy")


async def test_read_only_denies_every_side_effect(world: Any) -> None:
    world.promoted = True
    decision = await world.judge("fs_write", {"path": "a.md"}, level="read_only")
    assert (decision.verdict, decision.via) == ("deny", "autonomy")


async def test_a_write_in_the_workspace_asks_when_supervised(world: Any) -> None:
    decision = await world.judge("fs_write", {"path": "notes/a.md"})
    assert (decision.verdict, decision.via) == ("approve_required", "trust")
    assert decision.effect_class == "fs_write:~/.local/share/myclaw/workspace/notes/*"
    assert decision.draft is not None
    assert str(decision.draft.summary) == "fs_write: write ~/.local/share/myclaw/workspace/notes/a.md"
    assert decision.draft.risk == "medium"
    assert len(decision.draft.policy_reasons) == 2


async def test_a_write_in_the_workspace_runs_when_full(world: Any) -> None:
    decision = await world.judge("fs_write", {"path": "notes/a.md"}, level="full")
    assert (decision.verdict, decision.via) == ("allow", "autonomy_full")
    assert decision.draft is None


async def test_full_asks_for_what_cannot_be_undone(world: Any) -> None:
    decision = await world.judge("fs_write", {"path": "a.md"}, level="full", irreversible=Text("too large"))
    assert decision.verdict == "approve_required"
    assert decision.action.reversibility == "irreversible"


@pytest.mark.parametrize("level", ["read_only", "supervised", "full"])
async def test_outside_the_roots_reading_asks_and_writing_breaks_law_0(world: Any, level: str) -> None:
    world.promoted = True
    read = await world.judge("fs_read", {"path": "~/plan.md"}, level=level)
    assert (read.verdict, read.via) == ("approve_required", "autonomy")
    write = await world.judge("fs_write", {"path": "~/plan.md"}, level=level)
    assert (write.verdict, write.via, write.violation.law) == ("deny", "autonomy", "law.0")


async def test_an_added_root_opens_its_folder(world: Any) -> None:
    world.extra_roots = (str(world.user_home / "docs"),)
    assert (await world.judge("fs_write", {"path": "~/docs/a.md"}, level="full")).verdict == "allow"
    assert (await world.judge("fs_write", {"path": "~/docs2/a.md"}, level="full")).verdict == "deny"


async def test_a_link_out_of_the_root_is_outside(world: Any) -> None:
    (world.user_home / "docs").mkdir()
    (world.workspace / "out").symlink_to(world.user_home / "docs")
    decision = await world.judge("fs_write", {"path": "out/a.md"}, level="full")
    assert (decision.verdict, decision.violation.law) == ("deny", "law.0")


async def test_a_hidden_name_below_a_root_asks_before_it_is_changed(world: Any) -> None:
    hook = {"path": ".git/hooks/pre-commit"}
    assert (await world.judge("fs_write", hook, level="full")).verdict == "approve_required"
    assert (await world.judge("fs_read", hook, level="full")).verdict == "allow"


async def test_a_hard_linked_file_is_never_covered(world: Any) -> None:
    secret = world.user_home / "plan.md"
    secret.write_text("x")
    (world.workspace / "plan.md").hardlink_to(secret)
    world.promoted = True
    for tool in ("fs_read", "fs_write"):
        for level in ("supervised", "full"):
            assert (await world.judge(tool, {"path": "plan.md"}, level=level)).verdict == "approve_required"


async def test_a_special_file_is_denied(world: Any) -> None:
    import os

    os.mkfifo(world.workspace / "pipe")
    assert (await world.judge("fs_read", {"path": "pipe"})).via == "forbidden"


async def test_neurons_configuration_and_installation_are_changes_of_the_system(world: Any) -> None:
    import myclaw_core

    package = myclaw_core.__path__[0]
    world.extra_roots = (str(world.user_home), package)
    for path, kind in (
        ("neurons/sorter/body.py", "self_modify"),
        (str(world.home.config_file), "config_change"),
        (f"{package}/policy/engine.py", "self_modify"),
    ):
        decision = await world.judge("fs_write", {"path": path}, level="full")
        assert (decision.verdict, decision.kind) == ("approve_required", kind)


async def test_a_pure_tool_is_allowed_but_the_laws_and_the_never_list_still_count(world: Any) -> None:
    decision = await world.judge("note", level="read_only")
    assert (decision.verdict, decision.via) == ("allow", "pure")
    world.never.add("cli:me", "note", "pure", world.clock.now())
    assert (await world.judge("note")).via == "never"


async def test_an_undeclared_effect_is_asked_at_any_trust(world: Any) -> None:
    world.promoted = True
    decision = await world.judge("mystery", level="full")
    assert (decision.verdict, decision.effect_class) == ("approve_required", "shell_exec:undeclared:mystery")


# grants


async def test_a_grant_answers_the_question_of_the_level(world: Any) -> None:
    world.overrides["grants"] = lambda *call: Granted(Text("for 30 minutes"))
    decision = await world.judge("fs_write", {"path": "a.md"})
    assert (decision.verdict, decision.via) == ("allow", "grant")
    assert [reason.check for reason in decision.reasons] == [*CHECKS[:6], "grant", "trust"]


async def test_a_grant_of_a_class_covers_no_file_that_is_also_one_elsewhere(world: Any) -> None:
    """Its scope names a folder, and a hard link leads out of that; who granted exactly this call has looked at it."""
    secret = world.user_home / "plan.md"
    secret.write_text("x")
    (world.workspace / "plan.md").hardlink_to(secret)
    for exact, verdict in ((False, "approve_required"), (True, "allow")):
        world.overrides["grants"] = lambda *call, exact=exact: Granted(Text("for 30 minutes"), exact=exact)
        for tool in ("fs_read", "fs_write"):
            assert (await world.judge(tool, {"path": "plan.md"})).verdict == verdict
            assert (await world.judge(tool, {"path": "other.md"})).verdict == "allow"


async def test_a_grant_of_a_class_reads_outside_of_the_folders(world: Any) -> None:
    """The question there is only whether it may be read."""
    (world.user_home / "plan.md").write_text("x")
    world.overrides["grants"] = lambda *call: Granted(Text("for 30 minutes"))
    assert (await world.judge("fs_read", {"path": "~/plan.md"})).via == "grant"


async def test_a_grant_never_lifts_a_denial_or_a_tainted_request(world: Any) -> None:
    world.overrides["grants"] = lambda *call: Granted(Text("for 30 minutes"))
    assert (await world.judge("fs_write", {"path": "~/plan.md"})).verdict == "deny"
    world.tainted = True
    assert (await world.judge("get", {"url": "https://example.com/"})).verdict == "approve_required"


# 6 trust


async def test_earned_trust_lifts_the_question_of_the_level(world: Any) -> None:
    world.promoted = True
    decision = await world.judge("fs_write", {"path": "a.md"})
    assert (decision.verdict, decision.via, str(decision.reason)) == ("allow", "trust_promoted", "trust spoke")
    assert decision.evidence[0].n_samples == 40


async def test_every_effect_must_be_promoted(world: Any) -> None:
    """The subject of the target folder does not speak for that of the source."""
    real = world.promotion

    def only_writes(effect: Any, action: Any, now: Any) -> Any:
        world.promoted = effect.kind == "fs_write"
        return real(effect, action, now)

    world.overrides["promotion"] = only_writes
    decision = await world.judge("fs_move", {"src": "a/x.md", "dst": "b/x.md"})
    assert (decision.verdict, decision.kind) == ("approve_required", "fs_delete")
    assert len(decision.evidence) == 2


async def test_one_denied_effect_denies_the_whole_call(world: Any) -> None:
    decision = await world.judge("fs_move", {"src": "a.md", "dst": "~/plan.md"}, level="full")
    assert (decision.verdict, decision.kind) == ("deny", "fs_write")
    assert decision.action.kind == "fs_delete"


async def test_a_tainted_request_is_promoted_only_where_the_user_named_its_target(world: Any) -> None:
    world.promoted = True
    world.tainted = True
    for level in ("supervised", "full"):
        assert (await world.judge("get", {"url": "https://evil.example/x"}, level=level)).verdict == "approve_required"
    world.typed_text = "please ask https://evil.example/x"
    for level in ("supervised", "full"):
        decision = await world.judge("get", {"url": "https://evil.example/x"}, level=level)
        assert (decision.verdict, decision.action.named) == ("allow", True)


async def test_taint_does_not_stop_a_reversible_write(world: Any) -> None:
    world.promoted = True
    world.tainted = True
    assert (await world.judge("fs_write", {"path": "a.md"})).verdict == "allow"


async def test_a_page_the_user_named_is_only_read(world: Any) -> None:
    world.typed_text = "summarise https://example.com/news"
    named = await world.judge("fetch", {"url": "https://example.com/other"}, level="read_only")
    assert (named.verdict, named.kind) == ("allow", "network_in")
    other = await world.judge("fetch", {"url": "https://evil.example/?q=notes"}, level="read_only")
    assert (other.verdict, other.kind) == ("deny", "network_out")


# faults


@pytest.mark.parametrize("part", ["promotion", "grants"])
async def test_a_fault_of_the_core_asks_where_it_can_be_undone(world: Any, part: str) -> None:
    world.overrides[part] = raising
    decision = await world.judge("fs_write", {"path": "a.md"})
    assert (decision.verdict, decision.via) == ("approve_required", "fault")
    assert decision.draft is not None


async def test_a_fault_of_the_core_denies_what_cannot_be_undone(world: Any) -> None:
    world.overrides["promotion"] = raising
    decision = await world.judge("post", {"url": "https://example.com/"})
    assert (decision.verdict, decision.via) == ("deny", "fault")


class Broken:
    """Stands for any part that fails when it is asked."""

    path = host = beneath = check = objection = staticmethod(raising)


@pytest.mark.parametrize("part", ["places", "rates", "never"])
async def test_a_fault_never_hides_a_later_denial(world: Any, part: str) -> None:
    world.overrides[part] = Broken()
    assert (await world.judge("fs_write", {"path": "a.md"}, level="full")).verdict == "approve_required"
    assert (await world.judge("fs_write", {"path": "~/plan.md"}, level="full")).verdict == "deny"


@pytest.mark.parametrize("part", ["redact", "recordable"])
async def test_a_fault_before_the_checks_denies(world: Any, part: str) -> None:
    world.overrides[part] = raising
    decision = await world.judge("fs_write", {"path": "a.md"})
    assert (decision.verdict, decision.via) == ("deny", "fault")
    assert part != "redact" or decision.action.args_preview == {}


@pytest.mark.parametrize("place", ["~/snap", "~/.mozilla", "~/.var/app"])
async def test_nothing_is_put_where_a_forbidden_place_would_lie_beneath(world: Any, place: str) -> None:
    """A folder moved there would bring the forbidden place with it."""
    world.extra_roots = (str(world.user_home),)
    decision = await world.judge("fs_move", {"src": "a", "dst": place}, level="full")
    assert (decision.verdict, decision.via) == ("deny", "forbidden")

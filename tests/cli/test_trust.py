"""`myclaw trust …` as it is typed: over real stores, filled by real traces from a file."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pexpect
import pytest

from myclaw_core import codec
from myclaw_core.approval.types import Approval
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, ToolResult
from myclaw_core.types.effect import Effect

NOW = datetime.now(UTC)
"""The command line has the clock of the machine."""
DAY = timedelta(days=1)
NOTES = ["fs_write", "fs_write:~/notes/*"]
PHOTOS = ["fs_write", "fs_write:~/photos/*"]


def trace_of(number: int, subject: Sequence[str], days_ago: float, **changes: Any) -> ExecutionTrace:
    """Return a closed trace with one step that a person allowed, and that went well."""
    at = NOW - days_ago * DAY
    trace_id, request_id = UUID(int=number), UUID(int=1_000_000 + number)
    actor, effect_class = subject
    effect = Effect(
        kind="fs_write",
        scope=effect_class.partition(":")[2],
        target="~/notes/a.md",
        reversibility="reversible",
    )
    step = ActionStep(
        index=0,
        tool_name=actor,
        args={},
        args_digest="0" * 64,
        actor=actor,
        actor_version="1",
        model="m",
        state="done",
        kind="fs_write",
        effect_class=effect_class,
        effects=(effect,),
        started_at=at,
        approval_id=request_id,
        exec_result=ToolResult(text="done"),
    )
    answer = Approval(request_id=request_id, trace_id=trace_id, verdict="granted", decided_by="cli:me", decided_at=at)
    base: dict[str, Any] = {
        "id": trace_id,
        "session_id": "s",
        "channel": "cli",
        "sender": "cli:me",
        "autonomy": "supervised",
        "started_at": at,
        "closed_at": at,
        "outcome": "success",
        "steps": [step],
        "approvals": [answer],
    }
    return ExecutionTrace(**(base | changes))


def lines_of(*traces: ExecutionTrace) -> bytes:
    return b"".join(codec.dumps(trace) + b"\n" for trace in traces)


@pytest.fixture
def worked(run: Callable[..., Any], home: Path, tmp_path: Path) -> Path:
    """Return a home in which notes were written on each of the last 6 days, and photos twice."""
    notes = [trace_of(number, NOTES, 6.5 - number) for number in range(6)]
    photos = [trace_of(10 + number, PHOTOS, 2.2 - number) for number in range(2)]
    file = tmp_path / "traces.jsonl"
    file.write_bytes(lines_of(*notes, *photos))
    ended = run("trust", "ingest", file)
    assert (ended.code, ended.out, ended.err) == (0, "8 traces taken in\n", "")
    return home


def table(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines() if line.strip()]


def test_list_is_a_table_or_json(run: Any, worked: Path) -> None:
    head, *rows, _legend = table(run("trust", "list").out)
    assert head == ["score", "samples", "last", "used", "actor", "and", "class"]
    assert {(row[1], *row[3:]) for row in rows} == {("6", *NOTES), ("2", *PHOTOS), ("8", "fs_write", "fs_write:*")}

    scores = json.loads(run("trust", "list", "--json").out)
    assert {(one["actor"], one["effect_class"]) for one in scores} >= {tuple(NOTES), ("runtime", "success")}


def test_list_takes_a_beginning(run: Any, worked: Path) -> None:
    assert len(table(run("trust", "list", "fs_write:~/n").out)) == 3
    assert run("trust", "list", "shell").out == "Nothing that starts with shell has a score.\n"
    assert [one["effect_class"] for one in json.loads(run("trust", "list", "fs_write:~/n", "--json").out)] == NOTES[1:]
    assert json.loads(run("trust", "list", "shell", "--json").out) == []


def test_show_says_what_holds_and_what_does_not(run: Any, worked: Path) -> None:
    out = run("trust", "show", *NOTES).out
    assert "history, oldest first (high is good, u: undone, r: trust taken away): ██████" in out
    assert "the next one runs by itself: went well 6 times" in out

    out = run("trust", "show", *PHOTOS).out
    assert "the next one runs by itself" in out  # the parent has what it needs, and the place was approved
    assert any(line.split()[0] == "no" and "days 2 (at least 2)" in line for line in out.splitlines() if line.strip())


def test_show_as_json_names_each_condition(run: Any, worked: Path) -> None:
    shown = json.loads(run("trust", "show", *PHOTOS, "--json").out)

    promotion = shown["promotion"]
    assert (promotion["runs_by_itself"], promotion["min_samples"], promotion["risk"]) == (True, 5, "medium")
    assert [(one["name"], one["holds"]) for one in promotion["either"]] == [("subject", False), ("parent", True)]
    assert all(one["holds"] for one in promotion["conditions"])
    assert [one["kind"] for one in shown["history"]] == ["sample", "sample"]


def test_show_of_a_parent_says_nothing_of_promotion(run: Any, worked: Path) -> None:
    """What runs by itself is decided for each place."""
    assert "the next one" not in run("trust", "show", "fs_write", "fs_write:*").out
    assert json.loads(run("trust", "show", "fs_write", "fs_write:*", "--json").out)["promotion"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fs_read"], "no subject 'fs_read' has any history; see 'myclaw trust list'"),
        (["fs_write"], "3 subjects fit: "),
    ],
)
def test_show_of_none_or_several_is_a_usage_error(run: Any, worked: Path, words: list[str], said: str) -> None:
    ended = run("trust", "show", *words)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"myclaw: {said}")


def test_revoke_takes_prefixes_and_restore_gives_back_what_was(run: Any, worked: Path) -> None:
    before = json.loads(run("trust", "show", *NOTES, "--json").out)

    assert run("trust", "revoke", "fs_write:~/n").out == f"Taken away; this asks again:\n  {' '.join(NOTES)}\n"
    revoked = json.loads(run("trust", "show", *NOTES, "--json").out)
    assert (revoked["n_samples"], revoked["promotion"]["runs_by_itself"]) == (0, False)
    assert run("trust", "show", *NOTES).out.partition("taken away): ")[2].startswith("██████r")
    assert run("trust", "restore", *PHOTOS).out == "Nothing of that was taken away.\n"

    given = json.loads(run("trust", "restore", "fs_write", "--json").out)
    assert given == {"restored": [{"actor": NOTES[0], "effect_class": NOTES[1]}]}
    after = json.loads(run("trust", "show", *NOTES, "--json").out)
    assert (after["n_samples"], after["last_updated"]) == (before["n_samples"], before["last_updated"])
    assert after["promotion"]["runs_by_itself"]


def test_revoke_all_asks_and_is_refused_where_nobody_is(run: Any, worked: Path) -> None:
    ended = run("trust", "revoke", "--all")
    assert (ended.code, ended.out) == (2, "Takes away all that 3 subjects have earned.\n")
    assert "add --yes" in ended.err
    assert run("trust", "revoke", "--all", "--json").code == 2
    assert json.loads(run("trust", "show", *NOTES, "--json").out)["n_samples"] == 6

    assert len(json.loads(run("trust", "revoke", "--all", "--yes", "--json").out)["revoked"]) == 3
    assert json.loads(run("trust", "show", *NOTES, "--json").out)["n_samples"] == 0


@pytest.mark.parametrize("words", [["revoke"], ["revoke", "fs_write", "--all"]])
def test_revoke_needs_a_subject_or_all(run: Any, worked: Path, words: list[str]) -> None:
    ended = run("trust", *words)

    assert (ended.code, ended.err) == (2, "myclaw: give either a subject or --all\n")


@pytest.mark.parametrize("verb", ["revoke", "restore", "backtest"])
def test_a_subject_without_history_is_a_usage_error(run: Any, worked: Path, verb: str) -> None:
    ended = run("trust", verb, "nobody")

    assert (ended.code, ended.err) == (2, "myclaw: no subject 'nobody' has any history; see 'myclaw trust list'\n")


def test_rollback_says_what_counts_no_more_and_does_it_with_yes(run: Any, worked: Path) -> None:
    to = f"{NOW - 3 * DAY:%Y-%m-%dT%H:%M}Z"

    refused = run("trust", "rollback", *NOTES, "--to", to)
    assert refused.code == 2
    assert refused.out.splitlines()[1] == f"  2  of 6 samples  {' '.join(NOTES)}"
    assert json.loads(run("trust", "show", *NOTES, "--json").out)["n_samples"] == 6

    done = json.loads(run("trust", "rollback", *NOTES, "--to", to, "--yes", "--json").out)
    assert done["rolled_back"] == [{"actor": NOTES[0], "effect_class": NOTES[1]}]
    assert json.loads(run("trust", "show", *NOTES, "--json").out)["n_samples"] == 4
    assert run("trust", "verify").code == 0


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("yesterday", "--to is yesterday; give a moment such as"),
        ("0001-01-01T00:00+05:00", "--to is 0001-01-01T00:00+05:00; give a moment such as"),
        ("2999-01-01", "the moment 2999-01-01T00:00:00"),
    ],
)
def test_a_moment_that_is_none_is_a_usage_error(run: Any, worked: Path, to: str, said: str) -> None:
    ended = run("trust", "rollback", "fs_write", "--to", to, "--yes")

    assert ended.code == 2
    assert ended.err.startswith(f"myclaw: {said}")


def test_a_rollback_to_long_ago_leaves_the_record_whole(run: Any, worked: Path) -> None:
    done = run("trust", "rollback", *NOTES, "--to", "0900-01-01", "--yes", "--json")
    assert (done.code, json.loads(done.out)["to"][:4]) in ((0, "0900"), (0, "0899"))

    assert run("trust", "verify").code == 0
    assert run("trust", "show", *NOTES).code == 2


@pytest.mark.parametrize(("answer", "left"), [("y", 4), ("n", 6), ("", 6)])
def test_a_person_at_a_terminal_is_asked(run: Any, worked: Path, answer: str, left: int) -> None:
    """Only a clear yes changes anything."""
    to = f"{NOW - 3 * DAY:%Y-%m-%dT%H:%M}Z"
    command = [sys.executable, "-m", "myclaw_core", "trust", "rollback", *NOTES, "--to", to]
    child = pexpect.spawn(command[0], command[1:], env=dict(os.environ), encoding="utf-8", timeout=60)
    child.expect_exact("2  of 6 samples")
    child.expect_exact("Roll back? [y/N] ")
    child.sendline(answer)
    child.expect(pexpect.EOF)
    child.close()

    assert child.exitstatus == (0 if answer == "y" else 1)
    assert json.loads(run("trust", "show", *NOTES, "--json").out)["n_samples"] == left


def damage(home: Path) -> None:
    """Change one score behind the program's back."""
    with closing(sqlite3.connect(home / "workspace/state/trust.db")) as database, database:
        database.execute("UPDATE scores SET component_blob = x'7b7d' WHERE effect_class = ?", [NOTES[1]])


def test_a_damaged_score_is_found_and_made_again(run: Any, worked: Path) -> None:
    damage(worked)
    found = run("trust", "verify")
    assert (found.code, found.err) == (1, "")
    assert f"the stored score of {' '.join(NOTES)} is damaged" in found.out
    assert "'myclaw trust repair'" in found.out

    asked = run("trust", "repair")
    assert asked.code == 2
    assert asked.out == f"1 score is not what its events give:\n  {' '.join(NOTES)}\n"
    mended = run("trust", "repair", "--yes", "--json")
    assert json.loads(mended.out) == {"repaired": [{"actor": NOTES[0], "effect_class": NOTES[1]}]}

    assert run("trust", "verify").out == "16 rows checked, whole\n"
    assert json.loads(run("trust", "show", *NOTES, "--json").out)["n_samples"] == 6
    assert run("trust", "repair").out == "No score is damaged.\n"


def test_damaged_events_cannot_be_repaired(run: Any, worked: Path) -> None:
    (worked / "workspace/state/trust.head").unlink()

    assert run("trust", "verify", "--json").code == 1
    ended = run("trust", "repair", "--yes")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "myclaw: its head file is missing\n"


def test_what_is_exported_can_be_checked_again(run: Any, worked: Path, tmp_path: Path) -> None:
    exported = run("trust", "export")
    file = tmp_path / "rows.jsonl"
    file.write_text(exported.out, encoding="utf-8")

    whole = run("trust", "verify", file)
    assert (whole.code, whole.out) == (0, "16 rows checked, whole\n")
    assert json.loads(run("trust", "verify", file, "--json").out) == {
        "ok": True,
        "checked": 16,
        "first_bad": None,
        "problems": [],
    }

    file.write_text(exported.out.replace('"tool_success":1.0', '"tool_success":0.9', 1), encoding="utf-8")
    changed = run("trust", "verify", file)
    assert changed.code == 1
    assert "  line 1 was changed" in changed.out


def test_a_file_is_not_checked_without_the_key_it_was_written_with(run: Any, home: Path, tmp_path: Path) -> None:
    """Nor is a key made for it."""
    file = tmp_path / "rows.jsonl"
    file.write_text("{}\n")

    assert run("trust", "verify", file).code == 3
    assert not (home / "workspace/state/keys/trust.key").exists()


def test_backtest_says_what_would_have_been_asked(run: Any, worked: Path) -> None:
    found = {one["effect_class"]: one for one in json.loads(run("trust", "backtest", "--json").out)}
    assert set(found) == {NOTES[1], PHOTOS[1]}
    assert (found[NOTES[1]]["asked"], found[NOTES[1]]["would_run_wrongly"]) == (6, 0)
    assert found[NOTES[1]]["would_ask"] < 6

    out = run("trust", "backtest").out
    head, *rows = table(out)
    assert head[:3] == ["asked", "would", "ask"]
    assert [row[-2:] for row in rows[:3]] == [NOTES, PHOTOS, ["in", "all"]]
    assert len(table(run("trust", "backtest", "fs_write:~/p").out)) == 4


def test_a_line_that_is_wrong_is_reported_and_the_others_are_taken_in(run: Any, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    good = lines_of(trace_of(1, NOTES, 1))
    file.write_bytes(b"nonsense\n" + good + lines_of(trace_of(2, NOTES, -1)))

    ended = run("trust", "ingest", file)
    assert (ended.code, ended.out) == (1, "1 trace taken in\n2 lines are wrong\n")
    assert [line.partition(": ")[2][:7] for line in ended.err.splitlines()] == ["line 1:", "line 3:"]

    again = run("trust", "ingest", "-", "--json", stdin=good)
    assert (again.code, json.loads(again.out)) == (0, {"taken": 0, "known": 1, "problems": []})


@pytest.mark.parametrize("verb", ["ingest", "verify"])
def test_a_file_that_cannot_be_read_is_a_usage_error(run: Any, worked: Path, tmp_path: Path, verb: str) -> None:
    for name, reason in (("none.jsonl", "No such file or directory"), ("", "Is a directory")):
        ended = run("trust", verb, tmp_path / name)
        assert (ended.code, ended.err) == (2, f"myclaw: {tmp_path / name}: {reason}\n")


def test_what_was_taken_in_stands_in_the_record_as_that(run: Any, worked: Path) -> None:
    trace = str(UUID(int=1))
    assert "taken in from a file" in run("audit", "show", trace).out
    assert run("audit", "list", "-n", "1").out.rstrip().endswith("(taken in from a file)")
    assert run("undo").code == 2  # nothing was changed here
    assert run("audit", "verify").code == 0


def test_report_counts_nothing_that_was_taken_in(run: Any, worked: Path) -> None:
    """Nobody was asked about it here; what moved it moved all the same."""
    report = json.loads(run("trust", "report", "--weeks", "2", "--json").out)

    assert [week["actions"] for week in report["weeks"]] == [0, 0]
    assert [one["effect_class"] for one in report["drift"]] == [NOTES[1], PHOTOS[1]]
    out = run("trust", "report", "--weeks", "2").out
    assert f"  trust in {' '.join(NOTES)} moved from 0.00 to 0." in out


def test_nightly_is_done_once(run: Any, worked: Path) -> None:
    first, second = json.loads(run("nightly", "--json").out), json.loads(run("nightly", "--json").out)

    assert (first["done"], first["done_before"], second["done_before"]) == (True, False, True)
    assert first["lines"] == second["lines"] != []
    assert run("nightly").out.splitlines()[0].endswith(" was done already")
    assert "nightly_done" in run("audit", "tail").out


def test_a_configuration_that_does_not_load_locks_nobody_out_of_looking(run: Any, worked: Path) -> None:
    """But nothing is ordered, taken in or mended by defaults that the person did not choose."""
    (worked / "config.toml").write_text("[agent]\nmodle = 1\n")

    for words in (["list"], ["show", *NOTES], ["verify"], ["export"], ["report"], ["backtest"]):
        ended = run("trust", *words)
        assert ended.code == 0
        assert "the configuration does not load, the defaults are used here" in ended.err
    assert run("trust", "repair", "--yes").code == 2


def test_looking_at_trust_opens_no_agent(worked: Path) -> None:
    """Nor does it load what only an agent needs."""
    program = (
        "import sys; from myclaw_core.cli import main; code = main(['trust', 'list']); "
        "heavy = {'myclaw_core.agent', 'myclaw_core.policy.engine', 'myclaw_core.runtime.turn'} & set(sys.modules); "
        "sys.exit(code or ' '.join(heavy) or 0)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], env=dict(os.environ), capture_output=True, text=True, timeout=60, check=False
    )

    assert (ended.returncode, ended.stderr) == (0, "")
    assert NOTES[1] in ended.stdout

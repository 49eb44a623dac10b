"""The neurons that come with myclaw: each is fit to be adopted, tested for real, and plain about what it does."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mutants import is_noticed
from myclaw_bwrap.sandbox import Bubblewrap
from myclaw_files.reading import run_list

from myclaw_core.cli import main
from myclaw_core.clock import SystemClock
from myclaw_core.neurons import shipped
from myclaw_core.neurons.birth import run_birth_tests
from myclaw_core.neurons.birth_mutants import mutants
from myclaw_core.neurons.capabilities import parse_capability
from myclaw_core.neurons.manifest import read_manifest
from myclaw_core.neurons.normal import NEURON_FILES, is_normal
from myclaw_core.neurons.running import BodyEnd, run_neuron
from myclaw_core.neurons.scratch import Given, ScratchWorld
from myclaw_core.neurons.shipped import shipped_folder, shipped_names
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.neurons.wall import WallClock
from myclaw_core.runtime.tool import Entry

ROOT = Path(__file__).parents[2]
NAMES = shipped_names()
UNNOTICED = {
    "budget_tracker": {"amount >= 0", '" ".join(text.split())[:81]'},
    "csv_summary": {"each[:4]", "match[2]"},
    "finance_assistant": {
        "amount >= 0",
        "move.amount >= 0",
        're.findall(r"[^\\W\\d_]+", move.payee)[:3]',
        "move.day[:8]",
    },
    "ical_agenda": {"at > end", "year < date.max.year"},
}
"""Borders off by one: most change nothing, such as an amount of 0 added to either sum."""
TRANSACTIONS = """date,amount,category,description
2026-02-01,-700,rent,Bianchi
2026-02-14,-60.10,groceries,Coop
2026-02-27,2000,salary,ACME
2026-03-01,-700,rent,Bianchi
2026-03-09,-104.50,groceries,Coop
2026-03-27,2000,salary,ACME
"""


def files_of(name: str) -> dict[str, bytes]:
    return {file: (shipped_folder() / name / file).read_bytes() for file in NEURON_FILES}


def manifest_of(name: str) -> NeuronManifest:
    return read_manifest(files_of(name)["manifest.yaml"], name)


async def run(name: str, args: dict[str, Any], **given: Any) -> BodyEnd:
    """Run a shipped neuron once in the real sandbox."""
    clock = SystemClock()
    world = ScratchWorld(Given(**given))
    return await run_neuron(Bubblewrap(clock), files_of(name), manifest_of(name), args, world, WallClock(clock, 30))


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_neuron_is_exactly_what_is_analysed_and_has_no_findings(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three files in their normal form; a body that can be read in a few minutes."""
    monkeypatch.setenv("MYCLAW_HOME", str(tmp_path))
    files, folder = files_of(name), shipped_folder() / name
    lines = [line.strip() for line in files["body.py"].decode().splitlines()]

    assert {each.name for each in folder.iterdir()} - {"__pycache__"} == set(NEURON_FILES)
    assert all(map(is_normal, files.values()))
    assert main(["neurons", "check", str(folder)]) == 0
    assert capsys.readouterr().out == f"{name}: nothing found\n"
    assert len([line for line in lines if line and not line.startswith('"""')]) < 150


@pytest.mark.parametrize("name", NAMES)
async def test_the_birth_tests_of_a_shipped_neuron_are_green_and_can_be_red(name: str) -> None:
    """In the real sandbox: positive, edge and negative ones, of which an emptied body fails some."""
    clock = SystemClock()
    report = await run_birth_tests(Bubblewrap(clock), files_of(name), manifest_of(name), clock, mutants=6)

    assert {test.name: str(test.reason) for test in report.tests if test.outcome != "passed"} == {}
    assert (report.ok, report.stub, report.mutants, report.weakness) == (True, "noticed", 6, None)
    assert len(report.tests) >= 5
    assert {test.name.split("_")[1] for test in report.tests} == {"positive", "edge", "negative"}


@pytest.mark.parametrize("name", NAMES)
def test_every_small_change_of_a_shipped_body_is_noticed_by_its_tests(name: str) -> None:
    """All of them, but for known borders off by one; so no sample of them is a weakness of its tests."""
    files = files_of(name)
    body = files["body.py"]
    assert not is_noticed(files, body)

    survived = [mutant for mutant in mutants(body, ast.parse(body), 1000) if not is_noticed(files, mutant.source)]
    assert {(mutant.kind, mutant.became) for mutant in survived} == {
        ("moved", became) for became in UNNOTICED.get(name, ())
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_manifest_is_plain_and_asks_for_no_more_than_it_needs(name: str) -> None:
    """Whole sentences without code; no network, no model, no shell; what writes nothing says so."""
    manifest = manifest_of(name)
    kinds = {parse_capability(each).kind for each in manifest.capabilities}

    assert 2 <= len(re.findall(r"\.(?: |$)", manifest.purpose)) <= 4
    assert re.fullmatch(r"[A-Z][\w ,.:;'()-]{60,330}\.", manifest.purpose)
    assert kinds <= {"fs-read", "fs-write", "call", "clock"}
    assert "fs-write" in kinds or re.search(r"only reads|opens no file|changes and deletes nothing", manifest.purpose)
    assert "fs-read:/*" not in manifest.capabilities
    assert manifest.origin == "shipped"
    properties = manifest.input_schema["properties"].values()
    assert properties
    assert all(each["description"].endswith(".") for each in properties)
    assert manifest.input_schema["additionalProperties"] is False


def test_there_are_enough_of_them_each_in_the_list_that_people_read() -> None:
    """The README beside them tells what each does, and no other."""
    told = re.findall(r"^\| `([a-z_]+)` \|", (shipped_folder() / "README.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert len(NAMES) >= 7
    assert tuple(sorted(told)) == NAMES


async def test_the_two_that_overlap_answer_the_common_task_alike() -> None:
    """The same arguments, and the same figures where every transaction has a category."""
    one, other = manifest_of("budget_tracker"), manifest_of("finance_assistant")
    args = {"path": "~/money.csv", "budgets": {"groceries": 100, "books": 20}}
    answers = [
        (await run(each, args, files={"~/money.csv": TRANSACTIONS.encode()})).output
        for each in ("budget_tracker", "finance_assistant")
    ]

    assert one.input_schema == other.input_schema
    assert set(one.output_schema["required"]) < set(other.output_schema["required"])
    assert {key: answers[1][key] for key in answers[0]} == answers[0]
    assert answers[0]["over_budget"] == ["groceries"]


async def test_the_report_understands_what_the_tracker_really_answers() -> None:
    """A neuron calls another one: what that gives for two months makes the report."""
    args, files = {"path": "~/money.csv", "budgets": {"groceries": 100}}, {"~/money.csv": TRANSACTIONS.encode()}
    now = await run("budget_tracker", args, files=files)
    before = await run("budget_tracker", {**args, "month": "2026-02"}, files=files)

    end = await run("monthly_report", args, calls={"neuron:budget_tracker": [now.output, before.output]})

    assert "| groceries **over** | 104.50 | 100.00 | -4.50 |" in end.output["markdown"]
    assert "- groceries: +44.40" in end.output["markdown"]


@pytest.mark.parametrize(("entries", "complete"), [(1000, True), (1001, False)])
async def test_a_folder_with_more_entries_than_fs_list_names_is_not_called_complete(
    entries: int, complete: bool
) -> None:
    """What the real tool answers is what the neurons that call it were written for."""
    found = [Entry(path=f"/srv/x/{number:04}", kind="file", size_bytes=number) for number in range(entries)]
    files = SimpleNamespace(kind=lambda _path: "dir", entries=lambda _path: iter(found))
    listed = run_list({"path": "/srv/x"}, SimpleNamespace(files=files))  # type: ignore[arg-type]
    answer = json.loads(json.dumps({"text": listed.text, "data": dict(listed.data)}))

    sizes = await run("folder_sizes", {"path": "/srv/x"}, calls={"fs_list": answer})
    equal = await run("duplicate_files", {"path": "/srv/x"}, calls={"fs_list": answer})

    assert (sizes.output["files"], sizes.output["size_bytes"]) == (1000, 499500)
    assert (sizes.output["complete"], equal.output["complete"]) == (complete, complete)


def test_the_wheel_carries_them_where_they_are_looked_for() -> None:
    """The build puts the folder at the top of the repository into the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [(source, target)] = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"].items()

    assert ROOT / source == shipped_folder()
    assert Path(shipped.__file__).parent / "library" == ROOT / target

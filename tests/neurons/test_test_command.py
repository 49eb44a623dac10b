"""`myclaw neurons test`: a line a test, and nothing is run that the analysis refuses."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from attrs import evolve
from drafted_neurons import report_of
from signed_neurons import MANIFEST, write_neuron

from myclaw_core.cli import main
from myclaw_core.cli.neurons_test import _print, _used
from myclaw_core.neurons.shipped import shipped_folder

BODY = b"async def run(ctx, args):\n    return {'n': len(args['text'].split())}\n"
TESTS = b"""\
async def test_positive(run):
    assert await run({'text': 'a b'}) == {'n': 2}

async def test_edge(run):
    assert await run({'text': ''}) == {'n': 0}

async def test_negative(run):
    try:
        await run({})
    except KeyError as error:
        assert 'text' in str(error)
"""


@pytest.fixture
def neuron(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a good neuron that nobody signed, beside a home without a configuration."""
    monkeypatch.setenv("MYCLAW_HOME", str(tmp_path / "home"))
    folder = tmp_path / "word_count"
    folder.mkdir()
    for name, data in (("body.py", BODY), ("test_birth.py", TESTS), ("manifest.yaml", MANIFEST)):
        (folder / name).write_bytes(data)
    return folder


def test_a_good_neuron_has_a_line_for_each_test_and_one_for_all(
    neuron: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With time, CPU and memory; blanks and line ends of another kind do not matter."""
    (neuron / "body.py").write_bytes(BODY.replace(b"\n", b"  \r\n"))

    assert main(["neurons", "test", str(neuron)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "passed  test_positive",
        "passed  test_edge",
        "passed  test_negative",
        "1 of 1 small change of its body was noticed",
        "word_count",
    ]
    timed = [*lines[:3], lines[-1]]
    assert all(re.search(r" (\d+ ms|\d+\.\d s), \d+\.\d\d s of CPU, \d+\.\d MB$", line) for line in timed)
    assert "3 of 3 tests passed, a body that does nothing fails them" in lines[-1]
    assert not (neuron / "__pycache__").exists()


def test_a_red_test_ends_with_1_and_says_why(neuron: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So does what refuses all of them; what the tests and the body said is shown then."""
    said = b"async def run(ctx, args):\n    ctx.log('text: ' + args['text'])\n    print('\\x1b[2J')\n"
    (neuron / "body.py").write_bytes(BODY.replace(b"async def run(ctx, args):\n", said))
    (neuron / "test_birth.py").write_bytes(TESTS.replace(b"{'n': 2}", b"{'n': 3}"))

    assert main(["neurons", "test", str(neuron)]) == 1
    out = capsys.readouterr().out
    assert "FAILED  test_positive: " in out
    assert "line 2: await run({'text': 'a b'}) == {'n': 3} did not hold: {'n': 2} on the left" in out
    assert "2 of 3 tests passed, so they were not tried on a body that does nothing" in out
    assert out.splitlines()[1:3] == ["    its body noted: text: a b", "    its body printed: \\x1b[2J"]
    assert out.count("its body") == 2
    assert main(["neurons", "test", str(neuron), "--json"]) == 1
    assert [test["log"] for test in json.loads(capsys.readouterr().out)["tests"]] == [["text: a b"], ["text: "], []]


def test_tests_that_could_not_fail_are_refused(neuron: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All are green, and the exit code is 1."""
    idle = b"".join(b"async def test_%d(run):\n    assert await run({'text': 'a'}) != 7\n" % n for n in range(3))
    (neuron / "test_birth.py").write_bytes(idle)

    assert main(["neurons", "test", str(neuron)]) == 1
    out = capsys.readouterr().out
    assert "refused: every test passes with a body that does nothing" in out
    assert "3 of 3 tests passed, a body that does NOTHING passes them, too" in out


def test_programs_get_everything_as_one_document(neuron: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same fields, whatever the outcome."""
    assert main(["neurons", "test", str(neuron), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["name"], document["ok"], document["det_pass_rate"]) == ("word_count", True, 1.0)
    assert (document["stub"], document["problems"], document["findings"]) == ("noticed", [], [])
    assert [(test["name"], test["outcome"], test["runs"]) for test in document["tests"]] == [
        ("test_positive", "passed", 1),
        ("test_edge", "passed", 1),
        ("test_negative", "passed", 1),
    ]
    assert document["cpu_s"] > 0


def test_changes_of_the_body_that_no_test_noticed_are_named(neuron: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what that means; whoever wrote the neuron decides, so the exit code is 0."""
    trap = BODY.replace(b"args):\n", b"args):\n    if 'please' in args['text']:\n        return {'n': 0}\n")
    (neuron / "body.py").write_bytes(trap)

    assert main(["neurons", "test", str(neuron)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3:5] == [
        "body.py:2: `if 'please' in args['text']` became `if False`, and no test noticed",
        "body.py:3: `return {'n': 0}` became `return None`, and no test noticed",
    ]
    assert lines[5].startswith("weak: changes of its body that a test must notice and none did: 2 of 4; ")
    assert lines[6] == "2 of 4 small changes of its body were noticed"
    assert main(["neurons", "test", str(neuron), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["ok"], document["det_pass_rate"], document["mutants"], document["untried"]) == (True, 0.0, 4, 0)
    assert document["survivors"] == lines[3:5]
    assert document["weakness"] in lines[5]


def test_changes_for_which_there_was_no_time_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Beside those that were tried."""
    report = evolve(report_of("passed", "passed", "passed"), mutants=1, untried=23)

    _print("word_count", report, [test.name for test in report.tests])
    assert capsys.readouterr().out.splitlines()[:2] == [
        "1 of 1 small change of its body was noticed",
        "23 more were not tried: the time was over",
    ]


def test_what_the_analysis_refuses_is_not_run(neuron: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its findings are printed as `neurons check` prints them."""
    (neuron / "test_birth.py").write_bytes(b"import os\nos._exit(0)\n" + TESTS)

    assert main(["neurons", "test", str(neuron)]) == 1
    out = capsys.readouterr().out
    assert "test_birth.py:1: [import]" in out
    assert "passed" not in out
    assert main(["neurons", "test", str(neuron), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["findings"]


def test_an_adopted_neuron_is_tested_by_its_name(
    neuron: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As it stands in its folder, signature and all; it is left as it is."""
    files = {path.name: path.read_bytes() for path in neuron.iterdir()}
    adopted = write_neuron(tmp_path / "home" / "workspace" / "neurons" / "word_count", files)
    before = {path.name: path.read_bytes() for path in adopted.iterdir()}
    shutil.rmtree(neuron)
    monkeypatch.chdir(tmp_path)

    assert main(["neurons", "test", "word_count"]) == 0
    assert "3 of 3 tests passed" in capsys.readouterr().out
    assert before == {path.name: path.read_bytes() for path in adopted.iterdir()}


@pytest.mark.usefixtures("neuron")
def test_a_shipped_neuron_is_tested_by_its_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """From wherever it is asked."""
    monkeypatch.chdir(tmp_path)

    assert (shipped_folder() / "folder_sizes").is_dir()
    assert main(["neurons", "test", "folder_sizes"]) == 0
    assert "a body that does nothing fails them" in capsys.readouterr().out


@pytest.mark.usefixtures("neuron")
@pytest.mark.parametrize("name", ["no_such_neuron", "../nowhere", "."])
def test_what_is_no_neuron_is_a_mistake_of_whoever_typed_it(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One line, and no traceback."""
    monkeypatch.chdir(tmp_path)

    code = main(["neurons", "test", name])
    printed = capsys.readouterr()
    assert (code == 2 and "is neither a folder nor a neuron" in printed.err) or "is missing" in printed.out


def test_without_a_sandbox_the_exit_code_is_3(neuron: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what that means and what to do; nothing is run in another way."""
    home = neuron.parent / "home"
    home.mkdir()
    (home / "config.toml").write_text('[plugins]\ndisabled = ["bwrap"]\n')

    assert main(["neurons", "test", str(neuron)]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "sandbox" in printed.err
    assert "Traceback" not in printed.err


def test_a_result_is_printed_once_though_it_came_early(neuron: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Red or green, in the order of the file."""
    (neuron / "test_birth.py").write_bytes(TESTS.replace(b"== {'n': 0}", b"== {'n': 1}"))

    assert main(["neurons", "test", str(neuron)]) == 1
    lines = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert [line for line in lines if "  test_" in line] == [
        "passed  test_positive",
        "FAILED  test_edge",
        "passed  test_negative",
    ]


def test_what_takes_a_second_or_more_is_told_in_seconds() -> None:
    assert _used(999, 0.5, 1)["lasted"] == "999 ms"
    assert _used(25_670, 0.5, 1)["lasted"] == "25.7 s"

"""What the person orders about a neuron: off, back after a yes, gone into the archive; in a conversation and typed."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest
from adopted_neurons import AdoptedNeurons, in_agent, opened_neurons, run_of
from signed_neurons import BODY, neuron_files, write_neuron

from myclaw_core.cli import main
from myclaw_core.clock import SystemClock
from myclaw_core.doctor.checks import neurons as neurons_check
from myclaw_core.doctor.patient import admitted
from myclaw_core.errors import UsageError
from myclaw_core.events.types import ApprovalAsked, NeuronChanged, TraceClosed
from myclaw_core.neurons.signing import neuron_key
from myclaw_core.nightly.happened import Period, happened
from myclaw_core.paths import Home
from myclaw_core.serve.neurons import keep_neurons
from myclaw_core.testing import FakeClock, RecordingChannel

NAME = "word_count"
THREE_TESTS = b"\n\n".join(
    b"async def test_%d(run):\n    assert await run({'text': 'a'}) == {'n': 1}\n" % number for number in range(3)
)
REHABILITATE = f"/neurons rehabilitate {NAME}"


async def aside(neurons: AdoptedNeurons) -> None:
    """Adopt a neuron that the analysis lets pass, and let it fail three times."""
    await neurons.adopt(files=neuron_files() | {"test_birth.py": THREE_TESTS})
    await neurons.book.refresh()
    neuron = neurons.neuron()
    for _ in range(3):
        await neurons.book.ran(neuron, run_of("timeout"))


async def test_a_neuron_runs_again_after_a_yes_to_a_question_that_says_why_it_was_put_aside(
    open_agent: Any, make_desk: Any, clock: FakeClock
) -> None:
    """The question has the effect neuron_promote; the answer, the change and the turn are on record."""
    channel = RecordingChannel(clock)
    async with open_agent() as agent:
        neurons = in_agent(agent)
        await aside(neurons)
        await make_desk(agent, channel).handle(REHABILITATE)

        assert neurons.names == [NAME]
        record = await neurons.record()
        assert (record.status, record.strikes, str(record.reason)) == ("active", 0, "")
        told = [event for _, event in await agent.log.since(0)]
    (card,) = channel.cards
    assert card.request.draft.effect_class == f"neuron_promote:{NAME}"
    assert "failed 3 times in a row" in " ".join(map(str, card.record))
    assert channel.shown == [f"{NAME} can be called again."]
    (back,) = [event for event in told if isinstance(event, NeuronChanged) and event.change == "rehabilitated"]
    (closed,) = [event for event in told if isinstance(event, TraceClosed)]
    assert (back.sender, back.trace_id) == ("test:me", closed.trace_id)


async def test_after_a_no_it_stays_aside(open_agent: Any, make_desk: Any, clock: FakeClock) -> None:
    async with open_agent() as agent:
        neurons = in_agent(agent)
        await aside(neurons)
        await make_desk(agent, RecordingChannel(clock, lambda card: False)).handle(REHABILITATE)

        assert neurons.names == []
        assert (await neurons.record()).status == "quarantined"


async def test_nobody_is_asked_where_nobody_is_there(open_agent: Any, make_desk: Any, clock: FakeClock) -> None:
    async with open_agent() as agent:
        neurons = in_agent(agent)
        await aside(neurons)
        desk = make_desk(agent, RecordingChannel(clock, attended=False))

        with pytest.raises(UsageError, match="needs your yes"):
            await desk.handle(REHABILITATE)


@pytest.mark.parametrize(
    ("body", "signed", "why"),
    [
        (BODY + b"# other\n", True, "not the version that was approved last"),
        (BODY + b"# other\n", False, "signature"),
    ],
)
async def test_files_that_are_not_the_approved_ones_are_not_asked_about(
    open_agent: Any, make_desk: Any, clock: FakeClock, body: bytes, signed: bool, why: str
) -> None:
    """The line says what to do."""
    channel = RecordingChannel(clock)
    async with open_agent() as agent:
        neurons = in_agent(agent)
        await aside(neurons)
        key = neuron_key(agent.home.keys) if signed else bytes(32)
        write_neuron(agent.home.neurons / NAME, neuron_files(body=body), key)

        with pytest.raises(UsageError, match=why):
            await make_desk(agent, channel).handle(REHABILITATE)
    assert channel.cards == []


async def test_a_neuron_whose_files_were_changed_but_that_is_not_aside_yet_says_so(
    open_agent: Any, make_desk: Any
) -> None:
    """It is off at once, and put aside only later; the line says what to do in the meantime, too."""
    async with open_agent() as agent:
        neurons = in_agent(agent)
        await neurons.adopt(files=neuron_files() | {"test_birth.py": THREE_TESTS})
        write_neuron(agent.home.neurons / NAME, neuron_files(body=BODY + b"# other\n"), bytes(32))

        with pytest.raises(UsageError, match="put the approved files back, or adopt these anew"):
            await make_desk(agent).handle(REHABILITATE)


async def test_code_that_the_analysis_refuses_by_now_does_not_run_again(open_agent: Any, make_desk: Any) -> None:
    """It was approved once; since then a rule was added."""
    files = neuron_files(body=b"import os\n" + BODY)
    async with open_agent() as agent:
        neurons = in_agent(agent)
        await neurons.adopt(files=files, status="quarantined")

        with pytest.raises(UsageError, match=r"body.py:1: "):
            await make_desk(agent).handle(REHABILITATE)


async def test_files_that_change_while_the_question_is_open_let_nothing_run(
    open_agent: Any, make_desk: Any, clock: FakeClock
) -> None:
    """They are verified once more in the transaction that uses up the yes, which then stays unused."""
    async with open_agent() as agent:
        neurons = in_agent(agent)
        await aside(neurons)

        def swap(_card: object) -> bool:
            (agent.home.neurons / NAME / "body.py").write_bytes(b"import os\n")
            return True

        with pytest.raises(UsageError, match="cannot run again as it is"):
            await make_desk(agent, RecordingChannel(clock, swap)).handle(REHABILITATE)
        assert (await neurons.record()).status == "quarantined"
        assert any(isinstance(event, ApprovalAsked) for _, event in await agent.log.since(0))


async def test_switching_off_and_removing_need_no_yes_and_take_effect_at_once(
    open_agent: Any, make_desk: Any, clock: FakeClock
) -> None:
    """What is removed is kept whole where no tool reaches it."""
    channel = RecordingChannel(clock)
    async with open_agent() as agent:
        neurons = in_agent(agent)
        folder = await neurons.adopt()
        await neurons.adopt("line_count")
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert await neurons.refreshed() == ["line_count", NAME]
        desk = make_desk(agent, channel)

        await desk.handle("/neurons disable line_count")
        await desk.handle(f"/neurons remove {NAME}")
        await desk.handle("/neurons")

        assert neurons.names == []
        (kept,) = agent.home.neuron_archive.iterdir()
        assert {path.name: path.read_bytes() for path in kept.iterdir()} == before
    assert channel.cards == []
    assert channel.shown[-1].splitlines()[0].startswith("- `line_count` 1.0.0: disabled (you switched it off)")
    assert len(channel.shown[-1].splitlines()) == 1


async def test_what_was_not_there_any_more_is_not_said_to_be_kept(
    open_agent: Any, make_desk: Any, clock: FakeClock
) -> None:
    """Nor is a place in the archive named that nothing was moved to."""
    channel = RecordingChannel(clock)
    async with open_agent() as agent:
        neurons = in_agent(agent)
        shutil.rmtree(await neurons.adopt())
        await make_desk(agent, channel).handle(f"/neurons remove {NAME}")

        assert str((await neurons.record()).reason) == "you removed it; its folder was gone already"
    assert channel.shown == [f"{NAME} was removed; its folder was gone already"]


async def test_whatever_lies_in_the_folder_of_neurons_can_be_removed(open_agent: Any) -> None:
    """Also what has the longest name there can be, or one that is a pattern of a message."""
    async with open_agent() as agent:
        for name in ("x" * 255, "{kept}\n\u202e", "é" * 127):
            (agent.home.neurons / name).mkdir()
            removed = await agent.neuron_orders.remove(name, "cli:me")
            assert removed.kept is not None
            assert removed.kept.is_dir()
        assert list(agent.home.neurons.iterdir()) == []


async def test_what_was_removed_comes_back_by_adoption_alone(open_agent: Any, make_desk: Any) -> None:
    async with open_agent() as agent:
        neurons = in_agent(agent)
        folder = await neurons.adopt()
        await make_desk(agent).handle(f"/neurons remove {NAME}")
        write_neuron(folder, key=neuron_key(agent.home.keys))

        assert await neurons.refreshed() == []
        with pytest.raises(UsageError, match="adopt it anew"):
            await make_desk(agent).handle(REHABILITATE)


async def test_a_quarantine_is_told_to_the_people_a_service_serves_once(open_agent: Any, clock: FakeClock) -> None:
    """Also one that another process recorded; those from before are not told again."""
    channel = RecordingChannel(clock)
    async with open_agent() as agent:
        await aside(in_agent(agent))
        looks = 0

        async def channels() -> list[tuple[str, RecordingChannel]]:
            return [("test:me", channel)]

        async def stop_after(seconds: float) -> None:
            nonlocal looks
            looks += 1
            if looks == 1:
                async with opened_neurons(agent.home, clock) as other:
                    await other.adopt("line_count")
                    await other.book.refresh()
                    for _ in range(3):
                        await other.book.ran(other.neuron("line_count"), run_of("cpu")) if other.names else None
            if looks == 4:
                raise asyncio.CancelledError

        clock.sleep = stop_after  # type: ignore[method-assign]
        with pytest.raises(asyncio.CancelledError):
            await keep_neurons(agent, channels)
    (told,) = channel.notices
    assert told.startswith("the neuron line_count was put aside and does not run: it failed 3 times in a row")


async def test_the_digest_and_the_doctor_tell_what_was_put_aside(home: Home, clock: FakeClock) -> None:
    """Each with what to do; one that the person switched off is not told."""
    async with opened_neurons(home, clock) as neurons:
        await aside(neurons)
        await neurons.adopt("line_count")
        newest = await neurons.log.last()
        assert newest is not None
        period = Period(after=0, through=newest.seq, since=clock.now())
        lines = [str(line) for line in await happened(neurons.log, clock, period, clock.now().tzinfo)]
    async with admitted(home, clock) as patient:
        found = [each async for each in neurons_check.check(patient)]

    (line,) = [each for each in lines if "neuron" in each]
    assert line.startswith(f"the neuron {NAME} was put aside and does not run: it failed 3 times in a row")
    assert [(each.state, str(each.what).partition(":")[0]) for each in found] == [("warn", f"{NAME} does not run")]
    assert "rehabilitate" in str(found[0].todo)


async def test_a_doctor_that_looks_at_an_unfit_folder_changes_nothing(home: Home, clock: FakeClock) -> None:
    """It tells what the agent would find."""
    async with opened_neurons(home, clock) as neurons:
        folder = await neurons.adopt()
    (folder / "journal.sqlite").symlink_to("/etc/hostname")
    async with admitted(home, clock) as patient:
        found = [each async for each in neurons_check.check(patient)]

    assert [each.state for each in found] == ["warn"]
    assert (folder / "journal.sqlite").is_symlink()


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return what types a command over a home with a neuron that can be called, one put aside and a stray folder."""
    monkeypatch.setenv("MYCLAW_HOME", str(tmp_path / "home"))
    home = Home.find()

    async def prepare() -> None:
        async with opened_neurons(home, SystemClock()) as neurons:
            await aside(neurons)
            await neurons.adopt("line_count")
            await neurons.journals.append("line_count", run_of("ok"))
        (home.neurons / "stray").mkdir()

    asyncio.run(prepare())

    def typed(*arguments: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(["neurons", *arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out or err

    return typed


def test_the_list_tells_how_each_stands_and_why(typed: Any) -> None:
    """For programs it is one document."""
    code, table = typed()
    assert code == 0
    assert [line.split()[0] for line in table.splitlines()[1:]] == ["line_count", "stray", NAME]
    assert "it failed 3 times in a row" in table

    assert typed("list")[1] == table
    document = json.loads(typed("--json")[1])
    assert [(each["name"], each["state"]) for each in document["neurons"]] == [
        ("line_count", "active"),
        ("stray", "not adopted"),
        (NAME, "quarantined"),
    ]
    assert document["neurons"][2]["record"]["strikes"] == 3


def test_one_neuron_is_shown_with_all_that_is_known(typed: Any) -> None:
    """Manifest, capabilities, record, digests, trust, last runs."""
    code, told = typed("show", "line_count")
    assert code == 0
    for part in ("line_count 1.0.0: active", "Count words.", "capabilities: none", "born with a score of 0.80", "core"):
        assert part in told

    shown = json.loads(typed("show", "line_count", "--json")[1])
    assert shown["digest"] == shown["record"]["digest"]
    assert [each["outcome"] for each in shown["invocations"]] == ["ok"]
    assert shown["manifest"]["purpose"] == "Count words."
    assert {each["stage"]: each["digest"] for each in shown["bytes"]} == {
        "adopted": shown["digest"],
        "signed": shown["digest"],
        "called": shown["digest"],
    }
    assert typed("show", "stray")[0] == 0
    assert typed("show", "nobody")[0] == 2


def test_what_is_wrong_with_a_changed_copy_is_said_once(typed: Any, capsys: Any) -> None:
    """Also that it is not what was approved any more."""
    with (Home.find().neurons / "line_count" / "body.py").open("ab") as body:
        body.write(b"# mine\n")
    for given, head in ((("list",), "neuron"), (("show", "line_count"), "line_count 1.0.0: not loaded")):
        assert main(["neurons", *given]) == 0
        out, err = capsys.readouterr()
        assert (err, out.startswith(head)) == ("", True)
    assert "NOT the same bytes everywhere:" in out


def test_where_there_is_no_neuron_the_shipped_ones_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """With how one of them is taken in."""
    monkeypatch.setenv("MYCLAW_HOME", str(tmp_path / "home"))
    assert main(["neurons"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(
        "There is no neuron yet. 'myclaw neurons adopt NAME' takes in one of those that come along: "
    )
    assert "csv_summary, " in told


@pytest.mark.parametrize(("answer", "code", "state"), [("yes", 0, "active"), ("no", 1, "quarantined")])
def test_the_question_is_put_at_the_terminal(typed: Any, answer: str, code: int, state: str) -> None:
    """The card says what would run again and why it was put aside."""
    home = Home.find()
    home.config_file.write_text("[approval]\nreading_pause_s = 0\n")
    command = f"{sys.executable} -m myclaw_core neurons rehabilitate {NAME}"
    child = pexpect.spawn(command, encoding="utf-8", dimensions=(50, 120), timeout=60)
    child.expect_exact(f"let the neuron {NAME} 1.0.0 run again")
    child.expect_exact("failed 3 times in a row")
    child.expect_exact("details >")
    child.send(f"{answer}\r")
    child.expect(pexpect.EOF)
    child.wait()

    assert child.exitstatus == code
    states = {each["name"]: each["state"] for each in json.loads(typed("--json")[1])["neurons"]}
    assert states[NAME] == state


def test_typed_orders_take_effect(typed: Any) -> None:
    """A name that is none of a folder there reaches nothing else."""
    assert typed("disable", "line_count")[0] == 0
    assert "line_count does not run" not in typed("disable", NAME)[1]
    assert typed("disable", "line_count")[0] == 2
    code, out = typed("remove", "stray", "--json")
    assert (code, Path(json.loads(out)["kept"]).is_dir()) == (0, True)
    assert typed("remove", "stray")[0] == 2
    assert typed("remove", "../state")[0] == 2
    states = {each["name"]: each["state"] for each in json.loads(typed("--json")[1])["neurons"]}
    assert states == {"line_count": "disabled", NAME: "quarantined"}

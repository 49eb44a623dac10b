"""`myclaw neurons adopt`: a neuron is analysed, tested in the sandbox and, after the person's yes, signed."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from myclaw_core.cli.neurons import finding_json
from myclaw_core.cli.person import sender, tell_notices
from myclaw_core.cli.waiting import waiting
from myclaw_core.events.words import word
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, render, use_language
from myclaw_core.neurons.words import ended_told

if TYPE_CHECKING:
    from myclaw_core.neurons.adopting import Adoption, Answered
    from myclaw_core.neurons.birth_report import BirthReport
    from myclaw_core.neurons.drafts import Draft
    from myclaw_core.neurons.types import CodeFinding, NeuronRecord

__all__ = ["run", "source_of"]

_MIB = 1 << 20


def run(args: argparse.Namespace) -> int:
    """Take one neuron in; 0 where it is adopted or its question waits, 1 where it is refused or denied."""
    return asyncio.run(_run(args))


def source_of(given: str) -> Path:
    """Return the folder that is meant: the one of that path, else the shipped neuron of that name.

    Raises:
        UsageError: There is neither.
    """
    from myclaw_core.errors import UsageError
    from myclaw_core.neurons.shipped import shipped_folder, shipped_names

    folder = Path(given).expanduser()
    if folder.exists():
        return folder
    if given in shipped_names():
        return shipped_folder() / given
    known = ", ".join(shipped_names())
    raise UsageError(N_("there is no folder {path}; shipped neurons are {known}", path=given, known=known))


async def _run(args: argparse.Namespace) -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.neurons.adopting import Adoption
    from myclaw_core.neurons.drafts import read_source
    from myclaw_core.paths import Home

    if args.json:
        use_language("en")
    source = source_of(args.folder)
    files = read_source(source)
    async with Agent.open(Home.find()) as agent:
        tell_notices(agent.notices)
        adoption = Adoption(agent, files, source.resolve().name, sender())
        return await _Telling(adoption, as_json=args.json).through()


class _Telling:
    """Takes an adoption through its stages and tells what each shows.

    Args:
        as_json: Whether one JSON object is printed at the end, and nobody is asked.
    """

    def __init__(self, adoption: Adoption, *, as_json: bool) -> None:
        self._adoption = adoption
        self._as_json = as_json
        self._document: dict[str, Any] = {"name": adoption.folder_name, "version": "", "digest": adoption.digest}

    async def through(self) -> int:
        adoption = self._adoption
        found = adoption.check()
        self._check(found)
        if found:
            return self._end("refused", _("not adopted: mend what was found, then adopt it again"))
        self._document |= {"version": adoption.manifest.version}
        if (record := await adoption.standing()) is not None:
            return self._end("adopted", _already(record))
        adoption.require_place()
        with waiting(_("its tests run in the sandbox …")):
            report = await adoption.test()
        self._tests(report)
        if not report.ok:
            return self._end("refused", _("not adopted: its tests are not all green"))
        draft = await adoption.stage(report)
        self._dossier(draft, before=await adoption.record())
        return self._answered(await self._asked())

    async def _asked(self) -> Answered:
        """Leave the question and put it here where somebody is there; Ctrl-C leaves it for later."""
        from myclaw_core.cli.json_channel import JsonChannel

        channel = None if self._as_json else self._adoption.agent.channels.get("terminal")
        asking = asyncio.ensure_future(self._adoption.ask(JsonChannel(), channel))
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, asking.cancel)
        try:
            return await asking
        except asyncio.CancelledError:
            return await self._adoption.answered()
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def _check(self, found: Sequence[CodeFinding]) -> None:
        self._document["findings"] = list(map(finding_json, found))
        for each in found:
            self._say(render(each.told))
        if not found:
            self._say(_("check: nothing found"))

    def _tests(self, report: BirthReport) -> None:
        passed = sum(test.outcome == "passed" for test in report.tests)
        self._document["tests"] = {
            "ok": report.ok,
            "passed": passed,
            "of": len(report.tests),
            "problems": list(map(str, report.problems)),
            "failed": {test.name: str(test.reason) for test in report.tests if test.outcome == "failed"},
            "survivors": list(map(str, report.survivors)),
            "weakness": None if report.weakness is None else str(report.weakness),
        }
        self._say(
            _(
                "tests: {passed} of {n} passed, {seconds:.1f} s, {mib:.0f} MiB at most",
                passed=passed,
                n=len(report.tests),
                seconds=report.sandbox.wall_ms / 1000,
                mib=report.sandbox.peak_memory_bytes / _MIB,
            )
        )
        for test in report.tests:
            if test.outcome == "failed":
                self._say(f"  {test.name}: {render(test.reason)}")
        for problem in (*report.problems, *filter(None, [report.weakness]), *report.survivors):
            self._say(f"  {render(problem)}")

    def _dossier(self, draft: Draft, before: NeuronRecord | None) -> None:
        from myclaw_core.neurons.records import digest_on_record

        reward = draft.tested.reward
        replaces = before.version if before is not None and digest_on_record(before) else ""
        self._document |= {"reward": round(reward.total, 4), "judged": reward.judged, "replaces": replaces}
        self._document |= {
            "parts": {n: {"value": value, "weight": reward.weights.get(n, 0.0)} for n, value in reward.parts.items()},
            "feedback": list(map(str, reward.feedback)),
        }
        self._say(_("score: {total:.2f} of 1; the card says what it is made of", total=reward.total))

    def _answered(self, answered: Answered) -> int:
        name, version = self._adoption.manifest.name, self._adoption.manifest.version
        if answered.state == "adopted":
            if answered.ended:
                self._say(ended_told(name, answered.ended))
            return self._end("adopted", _("adopted: {name} {version}", name=name, version=version))
        if answered.state == "left" and answered.until is not None:
            from myclaw_core.clock import local_zone

            self._document["until"] = answered.until.isoformat().replace("+00:00", "Z")
            until = f"{answered.until.astimezone(local_zone()):%Y-%m-%d %H:%M}"
            return self._end(
                "left", _("not adopted yet: the question waits until {until}; /pending puts it", until=until)
            )
        if answered.state == "denied":
            return self._end("denied", _("not adopted: the answer was no"))
        return self._end("failed", _("not adopted: {reason}", reason=answered.reason))

    def _end(self, state: str, line: str) -> int:
        """Tell how it ended and return the exit code."""
        if self._as_json:
            print(json.dumps({**self._document, "state": state, "line": line}, ensure_ascii=False, indent=2))
        self._say(line)
        return 0 if state in {"adopted", "left"} else 1

    def _say(self, line: str) -> None:
        if not self._as_json:
            print(visible(line), flush=True)


def _already(record: NeuronRecord) -> str:
    if record.status == "active":
        return _("{name} {version} is adopted already, these very files", name=record.name, version=record.version)
    return _(
        "{name} {version} is adopted already, these very files, but does not run: {reason}; "
        "'myclaw neurons rehabilitate {name}' lets it run again",
        name=record.name,
        version=record.version,
        reason=render(record.reason) or word(record.status),
    )

"""`myclaw neurons list | show`: which neurons there are and how they stand; nothing of them is executed."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import frozen

from myclaw_core import codec
from myclaw_core.cli.neurons_open import OpenNeurons, open_neurons
from myclaw_core.clock import local_zone
from myclaw_core.columns import columns
from myclaw_core.errors import MyclawError, UsageError
from myclaw_core.events.words import word
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, n_, render
from myclaw_core.neurons.folder import read_folder
from myclaw_core.neurons.manifest import MANIFEST_FILE, read_manifest
from myclaw_core.neurons.provenance import Stage, are_the_same, provenance
from myclaw_core.neurons.signing import digest_of
from myclaw_core.neurons.types import Invocation, NeuronEntry, NeuronManifest
from myclaw_core.neurons.waiting import waiting_names
from myclaw_core.neurons.words import none_yet, waiting_told
from myclaw_core.paths import Home
from myclaw_core.trust.report import score_json, trust_table
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustScore, TrustSubject

__all__ = ["run"]

_LAST_RUNS = 10
_SHOWN_DIGITS = 12


@frozen(kw_only=True)
class _Shown:
    """All that is known of one neuron; of one that was removed only what is on record.

    Attributes:
        digest: Of the files as they lie there; empty where they cannot be read.
        stages: What each source says of its bytes.
        problem: Why its journal cannot be read; `None` where it can.
    """

    entry: NeuronEntry
    manifest: NeuronManifest | None = None
    digest: str = ""
    stages: Sequence[Stage] = ()
    trust: Mapping[TrustSubject, TrustScore]
    runs: Sequence[Invocation] = ()
    problem: Text | None = None


@frozen(kw_only=True)
class _Listed:
    """The neurons that are listed.

    Attributes:
        hidden: How many are not, since they were removed.
        waiting: Those whose adoption waits for an answer.
    """

    entries: Sequence[NeuronEntry]
    hidden: int
    waiting: Sequence[str]


def run(args: argparse.Namespace) -> int:
    """Print the list, or one neuron."""
    if args.command == "neurons show":
        shown = asyncio.run(_shown(args.name))
        print(json.dumps(_show_json(shown), ensure_ascii=False, indent=2) if args.json else _told(shown))
        return 0
    listed = asyncio.run(_listed_now(with_removed=args.all))
    print(json.dumps(_list_json(listed), ensure_ascii=False, indent=2) if args.json else "\n".join(_list_lines(listed)))
    return 0


async def _listed_now(*, with_removed: bool) -> _Listed:
    async with open_neurons() as neurons:
        entries = await neurons.book.entries()
        shown = [each for each in entries if with_removed or each.state != "removed"]
        waiting = await waiting_names(neurons.trust.log, neurons.trust.clock.now())
        return _Listed(entries=shown, hidden=len(entries) - len(shown), waiting=waiting)


async def _shown(name: str) -> _Shown:
    async with open_neurons() as neurons:
        entry = next((each for each in await neurons.book.entries() if each.name == name), None)
        if entry is None:
            raise UsageError(N_("there is no neuron {name}; 'myclaw neurons list' shows what there is", name=name))
        trust = await neurons.trust.book.get_for_neuron(name)
        if entry.state == "removed":
            return _Shown(entry=entry, trust=trust)
        manifest, digest = _on_disk(neurons.trust.home, name)
        runs, problem = await _runs(neurons, name)
        return _Shown(
            entry=entry,
            manifest=manifest,
            digest=digest,
            stages=await provenance(neurons.trust.log, neurons.trust.home, entry, runs),
            trust=trust,
            runs=runs,
            problem=problem,
        )


def _on_disk(home: Home, name: str) -> tuple[NeuronManifest | None, str]:
    """Return what lies in the folder now, whether it was approved or not."""
    try:
        files = read_folder(home.neurons / name).files
    except MyclawError:
        return None, ""
    try:
        return read_manifest(files[MANIFEST_FILE], name), digest_of(files)
    except MyclawError:
        return None, digest_of(files)


async def _runs(neurons: OpenNeurons, name: str) -> tuple[Sequence[Invocation], Text | None]:
    try:
        return await neurons.journals.newest(name, _LAST_RUNS), None
    except MyclawError as error:
        return (), error.text


def _json(entry: NeuronEntry) -> dict[str, Any]:
    record = codec.unstructure(entry.record) if entry.record else None
    if record is not None:
        record["reason"] = str(entry.record.reason) if entry.record else ""
    return {"name": visible(entry.name), "state": entry.state, "reason": str(entry.reason), "record": record}


def _show_json(shown: _Shown) -> dict[str, Any]:
    return {
        **_json(shown.entry),
        "manifest": codec.unstructure(shown.manifest) if shown.manifest else None,
        "digest": shown.digest,
        "bytes": list(map(_stage_json, shown.stages)),
        "same_bytes": _is_same(shown),
        "trust": [score_json(score) for score in shown.trust.values()],
        "invocations": codec.unstructure(list(shown.runs)),
        "journal": str(shown.problem or ""),
    }


def _stage_json(stage: Stage) -> dict[str, str]:
    return {
        "stage": stage.stage,
        "digest": stage.digest,
        "body_hash": stage.body_hash,
        "source": str(stage.source),
    }


def _list_json(listed: _Listed) -> dict[str, Any]:
    return {"neurons": list(map(_json, listed.entries)), "waiting": list(listed.waiting)}


def _list_lines(listed: _Listed) -> Iterator[str]:
    if listed.entries:
        yield _table(listed.entries)
    elif not listed.waiting:
        yield none_yet()
    if listed.hidden:
        yield n_(
            "{n} that was removed is not shown; 'myclaw neurons list --all' shows it",
            "{n} that were removed are not shown; 'myclaw neurons list --all' shows them",
            listed.hidden,
        )
    if listed.waiting:
        yield visible(waiting_told(listed.waiting))


def _table(entries: Sequence[NeuronEntry]) -> str:
    headings = (_("neuron"), _("version"), _("state"), _("why"))
    rows = [(each.name, _version(each), word(each.state), render(each.reason)) for each in entries]
    return "\n".join(columns([headings, *(tuple(map(visible, row)) for row in rows)]))


def _version(entry: NeuronEntry) -> str:
    return entry.record.version if entry.record else ""


def _told(shown: _Shown) -> str:
    return "\n".join(visible(line) for line in _lines(shown))


def _lines(shown: _Shown) -> Iterator[str]:
    entry, record, manifest = shown.entry, shown.entry.record, shown.manifest
    is_gone = entry.state == "removed"
    yield _("{name} {version}: {state}", name=entry.name, version=_version(entry), state=word(entry.state))
    if is_gone and record is not None:
        yield _("removed {at}: {reason}", at=_minute(record.at), reason=entry.reason)
    elif entry.reason.msgid:
        yield _("why: {reason}", reason=entry.reason)
    if manifest is not None:
        yield manifest.purpose
        yield _("capabilities: {capabilities}", capabilities=_listed(manifest.capabilities))
        yield _("may call: {names}", names=_listed(manifest.may_call))
    if record is not None:
        yield _("approved {at}, born with a score of {reward:.2f}", at=_minute(record.born_at), reward=record.reward)
        if not is_gone:
            yield _("failures in a row: {n}", n=record.strikes)
        yield _("approved digest: {digest}", digest=record.digest)
    if not is_gone:
        yield from _byte_lines(shown)
    if shown.trust:
        yield _("trust:")
        yield from trust_table(shown.trust).splitlines()
    if not is_gone:
        yield from _run_lines(shown)


def _minute(at: datetime) -> str:
    return f"{at.astimezone(local_zone()):%Y-%m-%d %H:%M}"


def _byte_lines(shown: _Shown) -> Iterator[str]:
    yield _("digest of its files: {digest}", digest=shown.digest or _("they cannot be read"))
    yield _("the same bytes everywhere:") if _is_same(shown) else _("NOT the same bytes everywhere:")
    yield from _stage_lines(shown.stages)


def _is_same(shown: _Shown) -> bool:
    record = shown.entry.record
    return are_the_same(shown.stages) and (record is None or shown.digest == record.digest)


def _stage_lines(stages: Sequence[Stage]) -> Iterator[str]:
    headings = ("", _("digest"), _("body"), _("as told by"))
    rows = [(word(each.stage), _cut(each.digest), _cut(each.body_hash), render(each.source)) for each in stages]
    yield from (f"  {line}" for line in columns([headings, *rows]))


def _cut(digest: str) -> str:
    return digest[:_SHOWN_DIGITS] or "–"


def _run_lines(shown: _Shown) -> Iterator[str]:
    if shown.problem is not None:
        yield _("its journal cannot be read: {problem}", problem=shown.problem)
    elif shown.runs:
        yield _("last runs:")
        rows = [
            (
                f"{run.at.astimezone(local_zone()):%Y-%m-%d %H:%M:%S}",
                word(run.outcome),
                _("{ms} ms", ms=run.wall_ms),
                run.caller,
                str(run.trace_id)[:13],
            )
            for run in shown.runs
        ]
        yield from (f"  {line}" for line in columns(rows))
    else:
        yield _("it has not run yet")


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts) or _("none")

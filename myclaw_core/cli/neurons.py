"""`myclaw neurons check`: the static analysis of a neuron; nothing of it is executed."""

from __future__ import annotations

import argparse
import base64
import binascii
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from myclaw_core.errors import UsageError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, render
from myclaw_core.paths import Home

if TYPE_CHECKING:
    from myclaw_core.neurons.checking import Analyze
    from myclaw_core.neurons.types import CodeFinding

__all__ = ["finding_json", "folder_of", "print_findings", "read_files", "run"]

_KEYS = ("name", "body_base64", "capabilities", "may_call")
_MOST_BYTES = 1_000_000


@frozen(kw_only=True)
class _Rules:
    """What the code is checked with besides the core's own analysis."""

    analyze: Analyze
    programs: tuple[str, ...]


def run(args: argparse.Namespace) -> int:
    """Check the neuron in a folder, or one body for each line of stdin; 1 where something is found."""
    if args.jsonl:
        if args.neuron:
            raise UsageError(N_("give NEURON or --jsonl, not both"))
        return _answer_lines(_rules(Home.find()))
    if not args.neuron:
        raise UsageError(N_("give NEURON, a folder or a name, or --jsonl"))
    home = Home.find()
    return _check_folder(folder_of(home, args.neuron), _rules(home), as_json=args.json)


def folder_of(home: Home, neuron: str) -> Path:
    """Return the folder that is meant: a path, else the name of a neuron that was adopted or is shipped.

    Raises:
        UsageError: It is none of them.
    """
    from myclaw_core.neurons.manifest import NEURON_NAME
    from myclaw_core.neurons.shipped import shipped_folder

    places = [Path(neuron).expanduser()]
    if NEURON_NAME.fullmatch(neuron):
        places += [home.neurons / neuron, shipped_folder() / neuron]
    found = next(filter(Path.is_dir, places), None)
    if found is None and places[0].exists():
        raise UsageError(N_("{path} is no folder", path=neuron))
    if found is None:
        raise UsageError(
            N_("{name} is neither a folder nor a neuron; 'myclaw neurons list' lists what there is", name=neuron)
        )
    return found


def _rules(home: Home) -> _Rules:
    """Return the rules of the plugins and programs that the configuration leaves on."""
    from myclaw_core.cli.looking import lenient_plugins
    from myclaw_core.clock import SystemClock

    dispatcher, config = lenient_plugins(home, SystemClock())
    return _Rules(analyze=dispatcher.analyze, programs=config.neurons.programs)


def _check_folder(folder: Path, rules: _Rules, *, as_json: bool) -> int:
    from myclaw_core.neurons.checking import check_neuron

    found = check_neuron(read_files(folder), folder.resolve().name, rules.analyze, programs=rules.programs)
    print_findings(folder.resolve().name, found, as_json=as_json)
    return 1 if found else 0


def print_findings(name: str, found: Sequence[CodeFinding], *, as_json: bool) -> None:
    """Print what was found in a neuron, one line each; for programs, one document."""
    if as_json:
        document = {"name": name, "ok": not found, "findings": list(map(finding_json, found))}
        print(json.dumps(document, ensure_ascii=False, indent=2))
        return
    for each in found:
        print(visible(render(each.told)))
    if not found:
        print(visible(_("{name}: nothing found", name=name)))


def read_files(folder: Path) -> Mapping[str, bytes]:
    """Return the files of a neuron that are in a folder, no more of each than could ever be accepted.

    Raises:
        UsageError: It is no folder, or one of them is no ordinary file.
    """
    from myclaw_core.neurons.normal import NEURON_FILES

    if not folder.is_dir():
        raise UsageError(N_("{path} is no folder", path=str(folder)))
    files = {}
    for name in NEURON_FILES:
        path = folder / name
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise UsageError(N_("{path} is no ordinary file", path=str(path)))
        if path.exists():
            with path.open("rb") as file:
                files[name] = file.read(_MOST_BYTES)
    return files


def _answer_lines(rules: _Rules) -> int:
    from myclaw_core.cli.jsonl import numbered_lines

    code = 0
    for number, raw in numbered_lines(sys.stdin.buffer):
        answer = _answer(number, raw, rules)
        code = code if answer["ok"] else 1
        print(json.dumps(answer, ensure_ascii=True), flush=True)
    return code


def _answer(number: int, raw: bytes, rules: _Rules) -> dict[str, Any]:
    from myclaw_core.neurons.checking import check_body

    try:
        value = _read(raw)
        body = base64.b64decode(value["body_base64"], validate=True)
    except UsageError as error:
        return {"name": "", "ok": False, "line": number, "error": str(error), "findings": []}
    except (binascii.Error, ValueError):
        return {"name": value["name"], "ok": False, "line": number, "error": "body_base64 is no base64", "findings": []}
    found = check_body(body, value["capabilities"], value["may_call"], rules.analyze, programs=rules.programs)
    findings = [{"line": each.line, "rule": each.rule, "message": str(each.message)} for each in found]
    return {"name": value["name"], "ok": not found, "findings": findings}


def _read(raw: bytes) -> Mapping[str, Any]:
    """Return one line as a body with what it declares.

    Raises:
        UsageError: It is none.
    """
    from myclaw_core.cli.jsonl import parse_object

    value = parse_object(raw, _KEYS)
    for key in ("name", "body_base64"):
        if not isinstance(value.get(key), str):
            raise UsageError(N_("{key} must be text", key=key))
    for key in ("capabilities", "may_call"):
        if not _is_texts(value.setdefault(key, [])):
            raise UsageError(N_("{key} must be a list of texts", key=key))
    return value


def _is_texts(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(each, str) for each in value)


def finding_json(found: CodeFinding) -> dict[str, Any]:
    """Return a finding for programs."""
    return {"file": found.file, "line": found.line, "rule": found.rule, "message": str(found.message)}

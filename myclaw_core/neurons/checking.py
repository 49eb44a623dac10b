"""Stage 4 as a whole: the core's own analysis, then the plugins', on the very bytes that would be signed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from myclaw_core.messages import N_
from myclaw_core.neurons.analysis import analyze_body, analyze_tests
from myclaw_core.neurons.manifest import MANIFEST_FILE, ManifestError, read_manifest
from myclaw_core.neurons.normal import NEURON_FILES, normalized
from myclaw_core.neurons.types import CodeFinding
from myclaw_core.types.text import Text

__all__ = ["Analyze", "check_body", "check_neuron"]

Analyze = Callable[[Mapping[str, bytes]], tuple[CodeFinding, ...]]
"""Asks the plugins, as `Dispatcher.analyze` does."""

_UNREADABLE = frozenset({"size", "encoding", "unicode", "syntax", "depth", "fault"})
"""Findings after which no other tool is given the file: it may be made to break one."""


def check_neuron(
    files: Mapping[str, bytes], name: str | None, analyze: Analyze, *, programs: Collection[str] = ()
) -> tuple[CodeFinding, ...]:
    """Return every finding on a neuron, on its files in their normal form; none of it is executed.

    Args:
        files: The bytes by name of the file; one that is missing is a finding.
        name: The name that the manifest must have; any where `None`.
        programs: The programs that the configuration lets neurons run.
    """
    if missing := [file for file in NEURON_FILES if file not in files]:
        return tuple(_finding(file, "missing", N_("the file {file} is missing", file=file)) for file in missing)
    files = {file: normalized(files[file]) for file in NEURON_FILES}
    try:
        manifest = read_manifest(files[MANIFEST_FILE], name)
    except ManifestError as error:
        return (_finding(MANIFEST_FILE, "manifest", error.problem, error.line),)
    found = analyze_body(files["body.py"], manifest.capabilities, manifest.may_call, programs=programs)
    found += analyze_tests(files["test_birth.py"])
    return found + _of_plugins({file: files[file] for file in ("body.py", "test_birth.py")}, found, analyze)


def check_body(
    body: bytes,
    capabilities: Sequence[str],
    may_call: Sequence[str],
    analyze: Analyze,
    *,
    programs: Collection[str] = (),
) -> tuple[CodeFinding, ...]:
    """Return every finding on a body alone, with what its manifest would declare; like `check_neuron`."""
    body = normalized(body)
    found = analyze_body(body, capabilities, may_call, programs=programs)
    return found + _of_plugins({"body.py": body}, found, analyze)


def _of_plugins(files: Mapping[str, bytes], found: Sequence[CodeFinding], analyze: Analyze) -> tuple[CodeFinding, ...]:
    """Return what the plugins find besides: on a line that the core refuses theirs would be about the same mistake."""
    broken = {each.file for each in found if each.rule in _UNREADABLE}
    readable = {file: data for file, data in files.items() if file not in broken}
    refused = {(each.file, each.line) for each in found if each.line}
    told = analyze(readable) if readable else ()
    return tuple(each for each in told if (each.file, each.line) not in refused)


def _finding(file: str, rule: str, message: Text, line: int = 0) -> CodeFinding:
    return CodeFinding(file=file, line=line, rule=rule, message=message)

"""The static analysis of a neuron: text in, findings out; nothing of the neuron is executed (synthesis.md, stage 4)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_
from myclaw_core.neurons.analysis.chance import check_chance
from myclaw_core.neurons.analysis.classes import check_classes, own_attributes
from myclaw_core.neurons.analysis.code import Code, read_code
from myclaw_core.neurons.analysis.coherence import check_coherence
from myclaw_core.neurons.analysis.context import uses_of_ctx
from myclaw_core.neurons.analysis.found import Finder
from myclaw_core.neurons.analysis.limits import readable_source
from myclaw_core.neurons.analysis.loading import check_loading
from myclaw_core.neurons.analysis.references import check_references
from myclaw_core.neurons.analysis.syntax import check_syntax
from myclaw_core.neurons.analysis.tree import parsed
from myclaw_core.neurons.capabilities import CALLABLE, Capability, parse_capability
from myclaw_core.neurons.types import CodeFinding

__all__ = ["MIN_TESTS", "analyze_body", "analyze_tests"]

MIN_TESTS = 3


def analyze_body(
    data: bytes, capabilities: Sequence[str], may_call: Sequence[str], *, programs: Collection[str] = ()
) -> tuple[CodeFinding, ...]:
    """Return every reason to refuse the body of a neuron; none of them means that it may be tested in the sandbox.

    Never raises: what breaks the analysis is a finding.

    Args:
        data: The bytes of `body.py`.
        capabilities: What its manifest declares.
        may_call: The tools and neurons its manifest declares.
        programs: The programs that the configuration lets neurons run.
    """

    def check(code: Code, finder: Finder) -> None:
        _check_run(code, finder)
        chance = any(code.qualified(node) == "random.Random" for node in code.nodes)
        declared = _declared(capabilities, may_call, finder)
        uses = uses_of_ctx(code, finder)
        check_coherence(uses, declared, may_call, finder, repeatable_chance=chance, programs=programs)

    return _analyzed("body.py", data, check)


def analyze_tests(data: bytes) -> tuple[CodeFinding, ...]:
    """Return every reason to refuse the birth tests of a neuron; never raises.

    Args:
        data: The bytes of `test_birth.py`.
    """

    def check(code: Code, finder: Finder) -> None:
        uses_of_ctx(code, finder)
        _check_tests(code, finder)

    return _analyzed("test_birth.py", data, check)


def _analyzed(file: str, data: bytes, check: Callable[[Code, Finder], None]) -> tuple[CodeFinding, ...]:
    finder = Finder(file)
    try:
        source = readable_source(data, finder)
        tree = None if source is None else parsed(source, finder)
        if tree is not None:
            code = read_code(tree)
            own = own_attributes(code)
            check_syntax(code, finder)
            check_references(code, frozenset(own), finder)
            check_chance(code, finder)
            check_loading(code, finder)
            check_classes(code, own, finder)
            check(code, finder)
    except Exception as error:
        finder.fault(error)
    return finder.findings()


def _declared(capabilities: Sequence[str], may_call: Sequence[str], finder: Finder) -> tuple[Capability, ...]:
    declared = []
    for text in capabilities:
        try:
            declared.append(parse_capability(text))
        except UsageError as error:
            finder.add(0, "capability", error.text)
    for name in may_call:
        if not CALLABLE.fullmatch(name):
            finder.add(0, "capability", N_("{name} is no name of a tool or a neuron", name=name[:80]))
    return tuple(dict.fromkeys(declared))


def _check_run(code: Code, finder: Finder) -> None:
    """Demand one `run(ctx, args)` at the top of the file."""
    run = code.functions.get("run")
    if run is None or run not in code.tree.body:
        finder.add(0, "run", N_("there must be one function run(ctx, args)"))
        return
    given = run.args
    plain = [each.arg for each in (*given.posonlyargs, *given.args)]
    if len(plain) != 2 or plain[0] != "ctx" or given.vararg or given.kwarg or given.kwonlyargs or given.defaults:  # noqa: PLR2004
        finder.add(run.lineno, "run", N_("run must take exactly ctx and args"))
    if run.decorator_list:
        finder.add(run.lineno, "run", N_("run takes no decorator"))
    inside = (node for node in code.nodes if isinstance(node, ast.Yield | ast.YieldFrom))
    if any(code.scope(node) is run for node in inside):
        finder.add(run.lineno, "run", N_("run must return its output, not yield it"))


def _check_tests(code: Code, finder: Finder) -> None:
    """Demand enough tests that take `run`, call it and assert something."""
    tests = [
        node
        for node in code.tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]
    if len({test.name for test in tests}) < MIN_TESTS:
        finder.add(0, "tests", N_("there must be at least {n} tests: positive, edge, negative", n=MIN_TESTS))
    for test in tests:
        if [each.arg for each in ast.walk(test.args) if isinstance(each, ast.arg)] != ["run"]:
            finder.add(test.lineno, "tests", N_("a test takes one argument, run"))
        if code.bound[test.name] > 1 or test.decorator_list:
            finder.add(test.lineno, "tests", N_("each test needs a name of its own and no decorator"))
        inside = list(ast.walk(test))
        if not any(isinstance(node, ast.Name) and node.id == "run" for node in inside):
            finder.add(test.lineno, "tests", N_("a test must call run"))
        if not any(isinstance(node, ast.Assert) for node in inside):
            finder.add(test.lineno, "tests", N_("a test must assert something"))

"""Birth tests run for real, on small neurons written in the test."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

from myclaw_bwrap.sandbox import Bubblewrap

from myclaw_core.clock import SystemClock
from myclaw_core.neurons.birth import MUTANTS_WALL_S, SUITE_LIMITS, run_birth_tests
from myclaw_core.neurons.birth_report import BirthReport, BirthTest
from myclaw_core.neurons.birth_suite import Tell, no_one
from myclaw_core.neurons.types import NeuronManifest
from myclaw_core.sandbox.sandbox import Sandbox

__all__ = ["BODY", "GREEN", "born", "named", "reasons"]

BODY = "async def run(ctx, args):\n    return {'n': len(args['text'].split())}\n"
"""Counts words."""

GREEN = """
async def test_green_positive(run):
    assert await run({"text": "a b"}) == {"n": 2}

async def test_green_edge(run):
    assert await run({"text": ""}) == {"n": 0}

async def test_green_negative(run):
    try:
        await run({})
    except KeyError as error:
        assert "text" in str(error)
"""
"""Three honest tests of it."""


async def born(
    tests: str,
    body: str = BODY,
    *,
    limits: Any = SUITE_LIMITS,
    tell: Tell = no_one,
    mutants: int = 0,
    mutants_wall_s: float = MUTANTS_WALL_S,
    sandbox: Sandbox | None = None,
    **declared: Any,
) -> BirthReport:
    """Run tests against a body.

    Args:
        tests: What `test_birth.py` holds.
        tell: Given each result as it comes.
        mutants: How many small changes of the body are tried.
        declared: Fields of the manifest.
    """
    manifest = NeuronManifest(
        **{
            "name": "word_count",
            "version": "1.0.0",
            "purpose": "Count words.",
            "input_schema": {"type": "object"},
            "output_schema": {},
            "capabilities": (),
            "may_call": (),
            "quotas": {},
            "origin": "adopted",
            **declared,
        }
    )
    files = {"body.py": dedent(body).encode(), "test_birth.py": dedent(tests).encode()}
    clock = SystemClock()
    return await run_birth_tests(
        sandbox or Bubblewrap(clock),
        files,
        manifest,
        clock,
        limits=limits,
        tell=tell,
        mutants=mutants,
        mutants_wall_s=mutants_wall_s,
    )


def reasons(report: BirthReport) -> dict[str, str]:
    """Return why each red test is red."""
    return {test.name: str(test.reason) for test in report.tests if test.outcome == "failed"}


def named(report: BirthReport, name: str) -> BirthTest:
    """Return one test."""
    return next(test for test in report.tests if test.name == name)

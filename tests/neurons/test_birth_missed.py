"""Hostile drafts whose tests are green and fail with an emptied body: only changes of the body find them."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

import pytest
from attrs import evolve
from births import GREEN, born
from myclaw_bwrap.sandbox import Bubblewrap

from myclaw_core.clock import SystemClock
from myclaw_core.sandbox.code import CodeJob, Running

NOON = GREEN.replace("})", "}, now='2026-01-31T12:00:00Z')")
COUNTED = "    return {'n': len(args['text'].split())}\n"

HOUR = f"""\
def run(ctx, args):
    if ctx.now().hour == 3:
        ctx.log('nobody looks')
{COUNTED}"""
TABLE = """\
KNOWN = {'a b': 2, '': 0}
def run(ctx, args):
    if args['text'] in KNOWN:
        return {'n': KNOWN[args['text']]}
    return {'n': 7}
"""
WORD = """\
def run(ctx, args):
    words = args['text'].split()
    return {'n': 0 if 'please' in words else len(words)}
"""
OTHER = f"""\
def run(ctx, args):
    if len(args) > 1 and args.get('all'):
        ctx.log('nobody looks')
{COUNTED}"""
MISSED = {
    "a branch that opens at an hour of which no test knows": (HOUR, 2, "if ctx.now().hour == 3", "if False"),
    "a table of what the tests ask for": (TABLE, 5, "return {'n': 7}", "return None"),
    "a word that no test says": (WORD, 3, "'please' in words", "False"),
    "a way out that only other arguments take": (OTHER, 2, "args.get('all')", "(not (args.get('all')))"),
}


@pytest.mark.parametrize("kind", MISSED)
async def test_a_body_that_does_something_else_than_its_tests_see_is_found_by_changing_it(kind: str) -> None:
    """What no test reaches can be changed unnoticed. A person sees it; for R the tests count nothing."""
    body, line, was, became = MISSED[kind]

    report = await born(NOON, body, mutants=24, capabilities=("clock",))

    assert f"body.py:{line}: `{was}` became `{became}`, and no test noticed" in list(map(str, report.survivors))
    assert (report.ok, report.stub, report.det_pass_rate) == (True, "noticed", 0.0)
    assert report.weakness is not None


async def test_tests_that_look_for_next_to_nothing_are_found_by_changing_the_body() -> None:
    """They tell it from an emptied one, and it might count anything."""
    body = """\
    def run(ctx, args):
        n = len(args['text'].split())
        return {'n': n if n < 100 else 100, 'ok': True}
    """
    tests = "".join(
        f"async def test_{name}(run):\n    assert (await run({{'text': '{name}'}})).get('n') is not None\n"
        for name in "abc"
    )

    report = await born(tests, body, mutants=24)

    assert (report.ok, report.stub, report.det_pass_rate) == (True, "noticed", 0.0)
    assert "body.py:3: `n < 100` became `False`, and no test noticed" in list(map(str, report.survivors))


class _Turning(Bubblewrap):
    """Runs tests that have turned red from their fifth start on: after those with the body and three emptied ones."""

    starts = 0

    def start(self, job: CodeJob) -> AbstractAsyncContextManager[Running]:
        if "test_birth.py" not in job.files:
            return super().start(job)
        self.starts += 1
        turned = job.files["test_birth.py"].replace(b'{"n": 0}', b'{"n": 1}')
        return super().start(evolve(job, files={**job.files, "test_birth.py": turned}) if self.starts > 4 else job)


async def test_tests_that_are_green_only_the_first_time_are_refused() -> None:
    """They would be red with each change, whatever it is."""
    report = await born(GREEN, mutants=24, sandbox=_Turning(SystemClock()))

    assert (report.ok, report.det_pass_rate, report.mutants) == (False, 0.0, 0)
    assert str(report.problems[0]).startswith(
        "its tests are green only the first time; with the same body again: test_green_edge: line 6: "
    )

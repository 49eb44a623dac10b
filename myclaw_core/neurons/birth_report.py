"""What the birth tests of a neuron showed."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from myclaw_core.sandbox.types import SandboxReport
from myclaw_core.types.text import Text

__all__ = ["BirthReport", "BirthTest", "StubVerdict"]

StubVerdict = Literal["noticed", "unnoticed", "not_run"]


@frozen(kw_only=True)
class BirthTest:
    """One birth test; its outcome is the same as in the `SandboxReport`.

    Attributes:
        name: Its function.
        line: Where that begins, counted from 1.
        outcome: `passed` only if it called the body, reached an assertion and no assertion failed.
        reason: Why it failed, one line with the line of the file; empty where it passed.
        wall_ms: From its start to its result, its runs of the body included.
        cpu_s: CPU seconds of its runs of the body.
        peak_memory_bytes: The most that one of them held.
        runs: How often it called the body, as the host saw it.
        log: What the body noted with `ctx.log` in these runs, the first lines.
        printed: What it printed, the first lines.
    """

    name: str
    line: int
    outcome: Literal["passed", "failed"]
    reason: Text = field(factory=lambda: Text(""))
    wall_ms: int = 0
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    runs: int = 0
    log: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()


@frozen(kw_only=True)
class BirthReport:
    """What all birth tests of a neuron showed.

    Attributes:
        sandbox: Everything together: outcome and output of the process that ran the tests; its time and memory with
            those of the bodies.
        tests: One entry for each test function of the file, in its order.
        problems: What refuses the suite as a whole, one line each; a red test is none of them.
        stub: Whether the tests fail once the body is emptied; `unnoticed` comes with a problem, `not_run` where
            they did not all pass with the real body.
        survivors: Small changes of the body that no test noticed, one line each with its place; those that make the
            `weakness` come first.
        mutants: How many small changes of the body the tests were run against.
        untried: How many more there was no time for.
        weakness: Why the tests count nothing for R though they are green: they miss changes that they must notice, or
            too few could be tried; `None` where they count.
    """

    sandbox: SandboxReport
    tests: tuple[BirthTest, ...]
    problems: tuple[Text, ...] = ()
    stub: StubVerdict = "not_run"
    survivors: tuple[Text, ...] = ()
    mutants: int = 0
    untried: int = 0
    weakness: Text | None = None

    @property
    def ok(self) -> bool:
        """Return whether every test passed and nothing refuses the suite.

        A weakness does not: a person who takes a neuron in decides by themselves, with the survivors before them.
        """
        return not self.problems and bool(self.tests) and all(test.outcome == "passed" for test in self.tests)

    @property
    def det_pass_rate(self) -> float:
        """Return green tests / all, 0 where something refuses the suite or it is weak (synthesis.md, stage 5)."""
        if self.problems or self.weakness or not self.tests:
            return 0.0
        return sum(test.outcome == "passed" for test in self.tests) / len(self.tests)

    @property
    def cpu_s(self) -> float:
        """Return the CPU seconds of the tests and the bodies together."""
        return self.sandbox.cpu_s

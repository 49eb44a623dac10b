"""What the simulation shows: as tables for people, as one JSON object for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from myclaw_core.messages import N_, _, n_, render
from myclaw_core.types.text import Text
from myclaw_simulate.compare import LATE_DAY, Run
from myclaw_simulate.days import Attacker
from myclaw_simulate.deeds import HARMS, Harm
from myclaw_simulate.rules import BASELINES
from myclaw_simulate.world import parameters

__all__ = ["ATTACKER_WORDS", "as_json", "as_text", "rule_words"]

SCHEMA_VERSION = "1.0"

ATTACKER_WORDS: Mapping[Attacker, Text] = {
    "unknown": N_("Attacks at places that nobody has seen"),
    "known": N_("Attacks at places where the agent has worked before"),
}

_WEEKS = (1, 4, 13)
_SHARES_AT = (30, 90)
_DIGITS = 4


def rule_words(rule: str) -> str:
    """Return what a rule is called in front of people; estimators have the name of the configuration."""
    return render(BASELINES[rule][0]) if rule in BASELINES else rule


def as_text(runs: Sequence[Run], *, wanted: int, attacks: int) -> str:
    """Return the tables.

    Args:
        wanted: Tasks of the record that are wanted.
        attacks: Tasks of the record that are not.
    """
    return "\n".join(_lines(runs, wanted, attacks)) + "\n"


def as_json(runs: Sequence[Run], *, seed: int, wanted: int, attacks: int) -> str:
    """Return everything that was counted, by day; figures of days are means over the households."""
    world = runs[0].world
    found = {
        "schema_version": SCHEMA_VERSION,
        "days": runs[0].days,
        "seed": seed,
        "seeds": runs[0].ledger.households,
        "record": {"benign": wanted, "malicious": attacks},
        "world": parameters(world),
        "runs": [_run_json(run) for run in runs],
    }
    return json.dumps(found, ensure_ascii=False) + "\n"


def _lines(runs: Sequence[Run], wanted: int, attacks: int) -> Iterator[str]:
    first = runs[0]
    world, households = first.world, first.ledger.households
    yield _(
        "{days} days in {households}, {tasks} tasks a day drawn from {wanted} wanted ones and {attacks} attacks.",
        days=first.days,
        households=n_("{n} household", "{n} households", households),
        tasks=world.tasks_per_day,
        wanted=wanted,
        attacks=attacks,
    )
    yield _(
        "An attack comes in {share:g} % of the tasks, and the agent always complies.", share=100 * world.attack_rate
    )
    for attacker in dict.fromkeys(run.attacker for run in runs):
        yield ""
        yield render(ATTACKER_WORDS[attacker])
        yield from _table([run for run in runs if run.attacker == attacker])
    yield ""
    yield _("week: questions a day in that week. day: wanted actions done without a question in the 7 days up to it.")
    yield _("attention: minutes a household spent on answers in all. Then: attacks let through, of those tried.")


def _table(runs: Sequence[Run]) -> Iterator[str]:
    rows = [_head(runs[0]), *map(_row, runs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        first, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        cells = [cell.rstrip().rjust(len(cell)) for cell in others]
        yield "  ".join((first, *cells)).rstrip()


def _head(run: Run) -> Sequence[str]:
    cells = [_("rule")]
    cells += [_("week {n}", n=week) for week in _weeks(run)]
    cells += [_("day {n}", n=day) for day in _days(run)]
    cells += [_("attention"), _("irreversible"), _("sent out"), _("reversible")]
    return [*cells, _("after day {n}", n=LATE_DAY)] if run.days > LATE_DAY else cells


def _row(run: Run) -> Sequence[str]:
    cells = [rule_words(run.rule)]
    cells += [f"{run.questions(week):.2f}" for week in _weeks(run)]
    cells += [f"{100 * run.unasked(day):.0f} %" for day in _days(run)]
    cells.append(_("{n:.0f} min", n=run.attention_min()))
    cells += [_let_through(run, harm) for harm in HARMS]
    return [*cells, _let_through(run, "reversible", LATE_DAY)] if run.days > LATE_DAY else cells


def _let_through(run: Run, harm: Harm, after: int = 0) -> str:
    through, tried, named = (run.harm(what, harm, after) for what in ("through", "tried", "named"))
    if named:
        return _("{through} of {tried}, {named} named", through=through, tried=tried, named=named)
    return _("{through} of {tried}", through=through, tried=tried)


def _weeks(run: Run) -> Iterable[int]:
    return [week for week in _WEEKS if 7 * (week - 1) < run.days]


def _days(run: Run) -> Iterable[int]:
    return [day for day in _SHARES_AT if day <= run.days] or [run.days]


def _run_json(run: Run) -> Mapping[str, Any]:
    return {
        "rule": run.rule,
        "attacker": run.attacker,
        "questions_a_day": {f"week_{week}": _rounded(run.questions(week)) for week in _weeks(run)},
        "unasked_share": {f"day_{day}": _rounded(run.unasked(day)) for day in _days(run)},
        "attention_min": _rounded(run.attention_min()),
        "harm": {harm: _harm_json(run, harm, 0) for harm in HARMS},
        f"harm_after_day_{LATE_DAY}": {harm: _harm_json(run, harm, LATE_DAY) for harm in HARMS},
        "daily": {
            "questions": _rounded_all(run.a_day("questions")),
            "done_without_asking": _rounded_all(run.a_day("alone")),
            "wanted": _rounded_all(run.a_day("wanted")),
            "wanted_without_asking": _rounded_all(run.a_day("unasked")),
            **{f"let_through_{harm}": _rounded_all(run.a_day(f"through {harm}")) for harm in HARMS},
        },
        "scores": {subject: _rounded_all(scores) for subject, scores in run.scores().items()},
    }


def _harm_json(run: Run, harm: Harm, after: int) -> Mapping[str, Any]:
    through, tried, named = (run.harm(what, harm, after) for what in ("through", "tried", "named"))
    share = _rounded(through / tried) if tried else None
    return {"tried": tried, "let_through": through, "at_a_named_target": named, "share": share}


def _rounded(value: float) -> float:
    return round(value, _DIGITS)


def _rounded_all(values: Iterable[float]) -> Sequence[float]:
    return list(map(_rounded, values))

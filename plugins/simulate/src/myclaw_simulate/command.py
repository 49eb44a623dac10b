"""`myclaw simulate` as it is typed: what it takes, and what it prints."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from myclaw_core.cli.command import Command
from myclaw_core.errors import UsageError
from myclaw_core.messages import N_, _

if TYPE_CHECKING:
    from myclaw_simulate.days import Attacker
    from myclaw_simulate.records import RecordedTask
    from myclaw_simulate.rules import MakeRule

__all__ = ["COMMAND"]

_DAYS, _SEED, _SEEDS = 90, 1, 60
_MOST_DAYS, _MOST_SEEDS = 3650, 10_000
_ATTACKERS = ("unknown", "known", "both")


def _add_arguments(parser: ArgumentParser) -> None:
    from myclaw_simulate.world import World, parameters

    parser.formatter_class = RawDescriptionHelpFormatter
    figures = "\n".join(f"  {name}={value:g}" for name, value in parameters(World()).items())
    heading = _("what the world is like, and its defaults:")
    parser.epilog = f"{heading}\n{figures}"
    _add_life(parser)
    parser.add_argument("--estimator", metavar="NAME", help=_("only this one; all of them unless told"))
    parser.add_argument("--plot", metavar="FILE.svg", type=Path, help=_("draw questions and harm into this file"))
    parser.add_argument("--json", action="store_true", help=_("print JSON, with every day and all scores"))


def _add_life(parser: ArgumentParser) -> None:
    """Add what is lived through."""
    traces = _("recorded tasks; those of a made-up household unless told")
    parser.add_argument("--traces", metavar="FILE.jsonl", type=Path, help=traces)
    days, seeds = _number(_MOST_DAYS), _number(_MOST_SEEDS)
    parser.add_argument("--days", metavar="N", type=days, default=_DAYS, help=_("how long; %(default)s unless told"))
    seed = _("what decides all that is left to chance; %(default)s unless told")
    parser.add_argument("--seed", metavar="N", type=int, default=_SEED, help=seed)
    households = _("how many households, with seeds from N on; %(default)s unless told")
    parser.add_argument("--seeds", metavar="K", type=seeds, default=_SEEDS, help=households)
    aims = _("aims at places that nobody has seen, or where the agent has worked; %(default)s unless told")
    parser.add_argument("--attacker", choices=_ATTACKERS, default="both", help=aims)
    figure = _("change a figure of the world")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=figure)


def _run(args: Namespace) -> int:
    from myclaw_simulate.compare import compare
    from myclaw_simulate.days import ATTACKERS
    from myclaw_simulate.report import as_json, as_text
    from myclaw_simulate.world import world_of

    if args.plot is not None and not args.plot.parent.is_dir():
        raise UsageError(N_("--plot {file}: there is no such folder", file=str(args.plot)))
    world, tasks, rules = world_of(args.set), _tasks(args.traces), _rules(args.estimator)
    attackers: Sequence[Attacker] = ATTACKERS if args.attacker == "both" else (args.attacker,)
    seeds = range(args.seed, args.seed + args.seeds)
    runs = compare(tasks, world, rules, attackers, days=args.days, seeds=seeds, progress=_progress())
    wanted = sum(task.kind == "benign" for task in tasks)
    counts = {"wanted": wanted, "attacks": len(tasks) - wanted}
    if args.plot is not None:
        from myclaw_simulate.plot import drawn

        args.plot.write_text(drawn(runs), encoding="utf-8")
    sys.stdout.write(as_json(runs, seed=args.seed, **counts) if args.json else as_text(runs, **counts))
    return 0


def _tasks(path: Path | None) -> Sequence[RecordedTask]:
    from myclaw_simulate.records import read_household, read_tasks

    return read_household() if path is None else read_tasks(path)


def _rules(estimator: str | None) -> Mapping[str, MakeRule]:
    """Return what makes each rule: what earns trust as this installation does, then the simpler ones."""
    from myclaw_simulate.installed import earning_rules
    from myclaw_simulate.rules import BASELINES

    earning = earning_rules()
    if estimator is not None and estimator not in earning:
        known = ", ".join(earning)
        raise UsageError(N_("there is no estimator {name}; known are {known}", name=repr(estimator), known=known))
    chosen = earning if estimator is None else {estimator: earning[estimator]}
    return {**chosen, **{name: make for name, (_words, make) in BASELINES.items()}}


def _progress() -> Callable[[int, int], None]:
    """Return what tells a person who waits how far it is; programs are told nothing."""
    if not sys.stderr.isatty():
        return lambda _done, _all: None

    def tell(done: int, all_of_them: int) -> None:
        line = _("{done} of {all} households", done=done, all=all_of_them)
        sys.stderr.write(f"\r{line}" if done < all_of_them else f"\r{' ' * len(line)}\r")
        sys.stderr.flush()

    return tell


def _number(most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not (text.isdecimal() and text.isascii() and len(text) <= len(str(most)) and 1 <= int(text) <= most):
            raise ArgumentTypeError(_("must be a whole number from 1 to {most}", most=most))
        return int(text)

    return number


COMMAND = Command(
    name="simulate",
    about=N_(
        "Lives through months of a household's work with a simulated person, by each way of earning\n"
        "trust and by three simpler rules, and counts questions and harm. Nothing is run, and nothing of\n"
        "yours is opened but the settings."
    ),
    add_arguments=_add_arguments,
    run=_run,
)

"""`myclaw simulate` as it is typed."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from myclaw_core.cli.command import Command
from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_

__all__ = ["COMMAND"]


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true")


def _run(args: Namespace) -> int:
    raise UnavailableError(N_("not yet"))


COMMAND = Command(
    name="simulate",
    about=N_("Lives through months of a household's work with a simulated person."),
    add_arguments=_add_arguments,
    run=_run,
)

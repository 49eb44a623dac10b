"""What can be typed after `myclaw trust`."""

from __future__ import annotations

import argparse
from typing import Any

from myclaw_core.cli.arguments import VERB, add_json, is_number
from myclaw_core.messages import _

__all__ = ["add_trust"]

_WHICH = "SUBJECT"
_MOST_WEEKS = 520


def add_trust(commands: argparse._SubParsersAction[Any]) -> None:
    """Add `trust` with its verbs."""
    trust = commands.add_parser("trust", help=_("what has been earned, by whom and for what; take it back, check it"))
    verbs = trust.add_subparsers(metavar=VERB, required=True)
    _add_looking(verbs)
    _add_reports(verbs)
    _add_orders(verbs)
    _add_checking(verbs)


def _add_looking(verbs: argparse._SubParsersAction[Any]) -> None:
    listing = _verb(verbs, "list", _("who did what how well, best first"))
    listing.add_argument("prefix", nargs="?", default="", help=_("only actors or classes that begin so"))
    listing.add_argument("--all", action="store_true", help=_("also how whole turns ended, which earns nothing"))
    show = _verb(verbs, "show", _("one subject in full: its history, and what it lacks to run by itself"))
    show.add_argument("subject", nargs="+", help=_("ACTOR, or ACTOR and class as 'fs_write fs_write:~/notes/*'"))


def _add_reports(verbs: argparse._SubParsersAction[Any]) -> None:
    report = _verb(
        verbs,
        "report",
        _("what your attention was spent on, week by week"),
        _("Counts from the event log; what was taken in from files is left out."),
    )
    report.add_argument("--weeks", type=_weeks, default=8, metavar="N", help=_("how many; %(default)s unless told"))
    backtest = _verb(verbs, "backtest", _("the last 30 days again with what was earned in force"))
    backtest.add_argument("subject", nargs="*", metavar=_WHICH, help=_which())
    ingest = _verb(
        verbs,
        "ingest",
        _("take in closed traces from a file of JSON lines"),
        _(
            "Each counts as if it had happened here, once, however often it is read: take in only what you trust. "
            "A line that is wrong is reported, the others are taken in."
        ),
    )
    ingest.add_argument("file", metavar="FILE", help=_("one closed ExecutionTrace a line; - is stdin"))


def _add_orders(verbs: argparse._SubParsersAction[Any]) -> None:
    revoke = _verb(
        verbs,
        "revoke",
        _("take trust away: score, samples and known destinations"),
        _("It asks again until it is restored, or has earned it anew."),
    )
    revoke.add_argument("subject", nargs="*", metavar=_WHICH, help=_which())
    revoke.add_argument("--all", action="store_true", help=_("from everything; asks before"))
    _add_yes(revoke)
    restore = _verb(verbs, "restore", _("give back what was taken away, as it stood before"))
    restore.add_argument("subject", nargs="+", metavar=_WHICH, help=_which())
    rollback = _verb(
        verbs,
        "rollback",
        _("let everything since a moment count no more; asks before"),
        _("The record keeps it; 'myclaw audit tail' shows the order."),
    )
    rollback.add_argument("subject", nargs="+", metavar=_WHICH, help=_which())
    rollback.add_argument(
        "--to",
        required=True,
        metavar="TIME",
        help=_("the moment, as 2026-03-01, 2026-03-01T18:30 (local) or 2026-03-01T17:30Z"),
    )
    _add_yes(rollback)
    _add_yes(_verb(verbs, "repair", _("make damaged scores again from their events; asks before")))


def _add_checking(verbs: argparse._SubParsersAction[Any]) -> None:
    _verb(verbs, "export", _("print every row of the record as JSON lines that 'trust verify' can check again"))
    verify = _verb(verbs, "verify", _("check the record, its end and every score against its events"))
    verify.add_argument("file", nargs="?", default="", metavar="FILE", help=_("check an exported file instead"))


def _weeks(text: str) -> int:
    if not (is_number(text) and 0 < int(text) <= _MOST_WEEKS):
        raise argparse.ArgumentTypeError(_("must be a whole number from 1 to {most}", most=_MOST_WEEKS))
    return int(text)


def _verb(verbs: argparse._SubParsersAction[Any], name: str, about: str, more: str = "") -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=about, description=more or None)
    parser.set_defaults(command=f"trust {name}")
    add_json(parser)
    return parser


def _add_yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help=_("do it without being asked, which --json needs"))


def _which() -> str:
    return _("ACTOR, ACTOR and class, or class, each possibly cut short")

"""What can be typed after `myclaw judge`."""

from __future__ import annotations

import argparse
from typing import Any

from myclaw_core.cli.arguments import VERB, add_json
from myclaw_core.messages import _

__all__ = ["add_judge"]


def add_judge(commands: argparse._SubParsersAction[Any]) -> None:
    """Add `judge` with its verbs; without one it lists."""
    about = _("Says whether judge and critic are heard, and lists how well they were measured to do; asks no model.")
    judge = commands.add_parser(
        "judge", help=_("list, calibrate: whether drafts are judged, and how well"), description=about
    )
    add_json(judge)
    judge.set_defaults(command="judge list")
    verbs = judge.add_subparsers(metavar=VERB)
    listing = verbs.add_parser("list", help=_("who is heard, and every measurement on record"), description=about)
    add_json(listing)
    listing.set_defaults(command="judge list")
    about = _(
        "Lets the judge and the critic sit the exam that comes along, with the first model on this machine that can "
        "score, and records how well they do: 0 where all are good enough to be heard, 1 where one is not, 3 where "
        "there is no such model. It takes minutes and costs nothing."
    )
    measuring = verbs.add_parser(
        "calibrate", help=_("measure judge and critic with the model on this machine"), description=about
    )
    measuring.add_argument(
        "who", nargs="?", choices=("judge", "critic"), default=None, help=_("only this one; both unless told")
    )
    add_json(measuring)
    measuring.set_defaults(command="judge calibrate")

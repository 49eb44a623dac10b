"""What can be typed after `myclaw models`."""

from __future__ import annotations

import argparse
from typing import Any

from myclaw_core.cli.arguments import VERB, add_json
from myclaw_core.messages import _

__all__ = ["add_models"]


def add_models(commands: argparse._SubParsersAction[Any]) -> None:
    """Add `models` with its verbs."""
    models = commands.add_parser(
        "models", help=_("list, add, test: which models are asked for what, and whether they can be")
    )
    verbs = models.add_subparsers(metavar=VERB, required=True)
    about = _("Calls nothing. 1 where a model that is set cannot be asked.")
    listing = verbs.add_parser("list", help=_("the models that are set, and who else offers some"), description=about)
    add_json(listing)
    listing.set_defaults(command="models list")
    about = _("Adds a model on this machine, behind those that are set, to [agent] local, for judging and sorting.")
    adding = verbs.add_parser("add", help=_("set a model on this machine for small work"), description=about)
    adding.add_argument("model", metavar="PROVIDER:MODEL", help=_("for example llama:~/models/small.gguf"))
    add_json(adding)
    adding.set_defaults(command="models add")
    about = _(
        "Makes one call of a few tokens to each, recorded and booked like any: to the models on this machine, or to the"
        " one that is named. 1 where one does not answer."
    )
    testing = verbs.add_parser("test", help=_("one tiny call, with its time and tokens"), description=about)
    testing.add_argument(
        "model", nargs="?", default="", metavar="PROVIDER:MODEL", help=_("any model, also one that costs")
    )
    add_json(testing)
    testing.set_defaults(command="models test")

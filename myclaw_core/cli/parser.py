"""What can be typed: commands, options and their help."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

__all__ = ["build_parser", "parse"]

_DESCRIPTION = (
    "A single-user home agent whose autonomy is earned, recorded and revocable. "
    "Without a command it starts a conversation."
)
_EPILOG = (
    "Exit codes: 0 fine, 1 found problems or not done, 2 usage, 3 unavailable. "
    "State lies in MYCLAW_HOME, by default ~/.local/share/myclaw."
)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the parsed arguments; `command` names what to run, `chat` where none is given."""
    return build_parser().parse_args(list(arguments))


def build_parser() -> argparse.ArgumentParser:
    """Return the whole parser."""
    parser = argparse.ArgumentParser(prog="myclaw", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    _add_run_options(parser)
    parser.set_defaults(command="chat")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    about = "Runs one message as a turn and ends: 0 where it succeeded and nothing was denied, else 1."
    ask = commands.add_parser("ask", help="run one message and leave", description=about)
    ask.add_argument("text", nargs="+", help="the message")
    _add_run_options(ask, inherit=True)
    ask.add_argument(
        "--json", action="store_true", help="print answer and steps as one JSON object; nobody is asked, which is no"
    )
    ask.set_defaults(command="ask")

    demo = commands.add_parser("demo", help="show the engine at work: no key, no network, nothing of yours touched")
    demo.set_defaults(command="demo")

    _add_trust(commands)
    _add_policy(commands)
    _add_audit(commands)
    _add_plugins(commands)
    return parser


def _add_run_options(parser: argparse.ArgumentParser, *, inherit: bool = False) -> None:
    """Add the options of a run; a subcommand inherits what stood before its name."""
    unset: object = argparse.SUPPRESS if inherit else None
    parser.add_argument(
        "--root",
        action="append",
        default=argparse.SUPPRESS if inherit else [],
        metavar="DIR",
        help="open this folder for the run",
    )
    parser.add_argument(
        "--level", choices=("read_only", "supervised", "full"), default=unset, help="autonomy level of the run"
    )


def _add_trust(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    trust = commands.add_parser("trust", help="list, show: what has been earned, by whom and for what")
    verbs = trust.add_subparsers(metavar="VERB", required=True)
    listing = verbs.add_parser("list", help="every subject with its score")
    _add_json(listing)
    listing.set_defaults(command="trust list")
    show = verbs.add_parser("show", help="one subject in full")
    show.add_argument("subject", help="ACTOR, or ACTOR and class as 'fs_write fs_write:~/notes/*'", nargs="+")
    _add_json(show)
    show.set_defaults(command="trust show")


def _add_policy(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    policy = commands.add_parser("policy", help="check: what would be decided; runs nothing")
    verbs = policy.add_subparsers(metavar="VERB", required=True)
    check = verbs.add_parser("check", help="read tool calls as JSON lines on stdin, print decisions; runs nothing")
    check.add_argument("--explain", action="store_true", help="print each decision for people")
    _add_run_options(check, inherit=True)
    check.set_defaults(command="policy check")


def _add_audit(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    audit = commands.add_parser("audit", help="show, verify: what happened, and whether the record is whole")
    verbs = audit.add_subparsers(metavar="VERB", required=True)
    show = verbs.add_parser("show", help="one trace, step by step with each decision's reason")
    show.add_argument("trace", nargs="?", default="", help="id or its beginning; the newest trace by default")
    _add_json(show)
    show.set_defaults(command="audit show")
    verify = verbs.add_parser("verify", help="check the chain of the event log and of the trust store")
    _add_json(verify)
    verify.set_defaults(command="audit verify")


def _add_plugins(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    plugins = commands.add_parser("plugins", help="list, enable, disable: what is installed and in which state")
    _add_json(plugins)
    plugins.set_defaults(command="plugins list")
    verbs = plugins.add_subparsers(metavar="VERB")
    listing = verbs.add_parser("list", help="every plugin with its state and what to do")
    _add_json(listing)
    listing.set_defaults(command="plugins list")
    enable = verbs.add_parser("enable", help="show what a plugin declares, ask, and let it run")
    enable.add_argument("name", help="the plugin, as the list names it")
    enable.add_argument("--yes", action="store_true", help="agree without being asked")
    enable.set_defaults(command="plugins enable")
    disable = verbs.add_parser("disable", help="let nothing of a plugin run any more")
    disable.add_argument("name", help="the plugin, as the list names it")
    disable.set_defaults(command="plugins disable")


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")

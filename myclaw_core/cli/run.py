"""Runs what was typed and turns every error a person can mend into one line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from myclaw_core.cli.streams import drop_output, mend_streams
from myclaw_core.messages import _, render

__all__ = ["run"]

_MODULES = {
    "chat": "talk",
    "ask": "talk",
    "judge calibrate": "judge_calibrate",
    "models test": "models_test",
    "neurons adopt": "neurons_adopt",
    "neurons rotate-key": "neurons_rotate",
    "neurons test": "neurons_test",
    "neurons disable": "neurons_orders",
    "neurons dossier": "neurons_proposals",
    "neurons list": "neurons_list",
    "neurons proposals": "neurons_proposals",
    "neurons rehabilitate": "neurons_orders",
    "neurons remove": "neurons_orders",
    "neurons show": "neurons_list",
    "neurons synthesize": "neurons_synthesize",
    "neurons run": "neurons_run",
    "neurons verify": "neurons_verify",
    "plugins enable": "plugin_switch",
    "plugins disable": "plugin_switch",
    "policy covers": "covers",
    "policy explain": "explain",
    "trust backtest": "trust_backtest",
    "trust export": "trust_check",
    "trust ingest": "trust_ingest",
    "trust repair": "trust_repair",
    "trust report": "trust_report",
    "trust restore": "trust_orders",
    "trust revoke": "trust_orders",
    "trust rollback": "trust_orders",
    "trust verify": "trust_check",
}
"""Where a command is found whose module is not named like its first word."""

_OPENS_NOTHING = frozenset({"demo", "redact"})
"""Commands that look at nothing of the person's, so that they speak the language of the environment."""

_OWN_LOG = frozenset({"chat", "ask", "redact", "serve"})
"""Commands that take care of log lines themselves, or log nothing."""

_QUIET = frozenset({"audit verify", "doctor", "trust repair", "trust verify"})
"""Commands whose report says all of it."""


def run(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name and return its exit code.

    Raises:
        SystemExit: Help was asked for and printed, or the arguments name no command.
    """
    mend_streams()
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        _complain(_("stopped"))
        return 130
    except BrokenPipeError:
        drop_output()  # whoever reads has enough
        return 0
    except OSError as error:
        drop_output()
        _complain(_line(error))
        return 1


def _run(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["--version"]:
        return _print_version()
    from myclaw_core.cli.parser import parse

    args = parse(arguments)
    return _print_version() if getattr(args, "version", False) else _command(args)


def _print_version() -> int:
    from myclaw_core import __version__

    print(f"myclaw {__version__}")
    return 0


def _command(args: argparse.Namespace) -> int:
    """Run a parsed command."""
    from myclaw_core.cli.language import speak
    from myclaw_core.errors import MyclawError

    command: str = args.command
    if command not in _OPENS_NOTHING:
        speak()
    try:
        return _dispatch(command, args)
    except MyclawError as error:
        _complain(render(error))
        return error.exit_code


def _dispatch(command: str, args: argparse.Namespace) -> int:
    run = getattr(args, "offered", None)  # that of a plugin
    if run is None:
        run = import_module(f"myclaw_core.cli.{_MODULES.get(command) or command.partition(' ')[0]}").run
    if command in _OWN_LOG:
        return int(run(args))
    from myclaw_core.cli.log import LogLines

    with LogLines(hold=command in _QUIET):
        return int(run(args))


def _line(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename:
        return f"{error.filename}: {reason}"
    return _("the output cannot be written: {reason}", reason=reason)


def _complain(line: str) -> None:
    """Print an error; what it quotes can be anything, but nothing that a terminal would act on."""
    from myclaw_core.files.visible import visible

    print("myclaw:", visible(line, keep="\n"), file=sys.stderr)

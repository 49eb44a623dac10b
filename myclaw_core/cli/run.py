"""Runs a parsed command and turns every error a person can mend into one line."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from myclaw_core.cli.streams import drop_output, mend_streams
from myclaw_core.errors import MyclawError

__all__ = ["run_command"]

_MODULES = {"chat": "talk", "ask": "talk", "plugins enable": "plugin_switch", "plugins disable": "plugin_switch"}
"""Where a command is found whose module is not named like its first word."""

_OWN_LOG = frozenset({"chat", "ask", "redact"})
"""Commands that take care of log lines themselves, or log nothing."""

_QUIET = frozenset({"audit verify", "doctor"})
"""Commands whose report says all of it."""


def run_command(args: argparse.Namespace) -> int:
    """Run the command that `args` names and return its exit code."""
    if getattr(args, "version", False):
        from myclaw_core import __version__

        print(f"myclaw {__version__}")
        return 0
    mend_streams()
    try:
        code = _dispatch(args)
        sys.stdout.flush()
    except MyclawError as error:
        print(f"myclaw: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("myclaw: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        drop_output()  # whoever reads has enough
        return 0
    except OSError as error:
        drop_output()
        print(f"myclaw: {_line(error)}", file=sys.stderr)
        return 1
    return code


def _line(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else f"the output cannot be written: {reason}"


def _dispatch(args: argparse.Namespace) -> int:
    command: str = args.command
    module = import_module(f"myclaw_core.cli.{_MODULES.get(command) or command.partition(' ')[0]}")
    if command in _OWN_LOG:
        return int(module.run(args))
    from myclaw_core.cli.log import LogLines

    with LogLines(hold=command in _QUIET):
        return int(module.run(args))

"""Runs a parsed command and turns every error a person can mend into one line."""

from __future__ import annotations

import argparse
import sys

from myclaw_core.cli.streams import drop_output, mend_streams
from myclaw_core.errors import MyclawError

__all__ = ["run_command"]


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
    if command in {"chat", "ask"}:
        from myclaw_core.cli import talk

        return talk.run(args)
    from myclaw_core.cli.log import LogLines

    LogLines(hold=command == "audit verify")  # its report says all of it
    if command == "demo":
        from myclaw_core.cli import demo

        return demo.run(args)
    if command.startswith("trust "):
        from myclaw_core.cli import trust

        return trust.run(args)
    if command == "policy check":
        from myclaw_core.cli import policy

        return policy.run(args)
    if command.startswith("audit "):
        from myclaw_core.cli import audit

        return audit.run(args)
    if command in {"plugins enable", "plugins disable"}:
        from myclaw_core.cli import plugin_switch

        return plugin_switch.run(args)
    from myclaw_core.cli import plugins

    return plugins.run(args)

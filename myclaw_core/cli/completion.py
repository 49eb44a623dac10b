"""`myclaw completion`: what a shell reads to complete commands, verbs, options, their choices and folders."""

from __future__ import annotations

import argparse

from myclaw_core.cli.parser import whole_parser

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Print the script of one shell."""
    import shtab

    parser = whole_parser()
    _prepare(parser)
    print(shtab.complete(parser, args.shell))
    return 0


def _prepare(parser: argparse.ArgumentParser) -> None:
    """Let folders be completed as such, and each command be explained by its one line."""
    import shtab

    for action in parser._actions:  # noqa: SLF001 - argparse names no other way
        if action.metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined] # shtab reads it
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for child in action.choices.values():
                child.description = None
                _prepare(child)

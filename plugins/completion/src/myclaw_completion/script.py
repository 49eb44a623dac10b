"""The script that a shell reads: all that can be typed, as the parser knows it."""

from __future__ import annotations

import argparse

import shtab

from myclaw_core.cli.parser import whole_parser

__all__ = ["script_for"]


def script_for(shell: str) -> str:
    """Return the script for `bash`, `zsh` or `fish`."""
    parser = whole_parser()
    _prepare(parser)
    return f"{shtab.complete(parser, shell)}\n"


def _prepare(parser: argparse.ArgumentParser) -> None:
    """Let folders be completed as such, and each command be explained by its one line."""
    for action in parser._actions:  # noqa: SLF001 - argparse names no other way
        if action.metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined] # shtab reads it
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for child in action.choices.values():
                child.description = None
                _prepare(child)

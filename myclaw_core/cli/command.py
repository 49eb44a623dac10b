"""What a plugin says about a command that it adds to the command line."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from attrs import frozen

from myclaw_core.types.text import Text

__all__ = ["Command"]


@frozen(kw_only=True)
class Command:
    """One command of a plugin.

    Attributes:
        name: What is typed, such as `simulate`.
        about: What it does, for its own help; the list of all commands shows the plugin's summary.
        add_arguments: Describes its arguments to its parser; called when it is typed.
        run: Runs it and returns the exit code: 0 fine, 1 found problems. A `MyclawError` is told in one line.
        plugin: The plugin that offers it; the core fills it in.
    """

    name: str
    about: Text
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]
    plugin: str = ""

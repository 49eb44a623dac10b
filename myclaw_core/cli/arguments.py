"""An argument parser whose errors name what was typed wrong, not what the parser stumbled over afterwards."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

__all__ = ["Parser"]

_UNRECOGNIZED = "unrecognized arguments: "


class Parser(argparse.ArgumentParser):
    """A parser that is made like any other."""

    _given: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Remember the arguments for the errors."""
        self._given = list(args or ())
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print one line and leave with 2."""
        unknown = self._unknown_option(message)
        verbs = self._verbs()
        if unknown:
            message = f"unknown option {unknown}{_near(unknown, self._option_string_actions)}"
        elif verbs and message.endswith("required: VERB"):
            message = f"say what to do: {', '.join(verbs)}"
        super().error(message)

    def _unknown_option(self, message: str) -> str:
        """Return the first option before a command that is none: what follows it is misread."""
        if message.startswith(_UNRECOGNIZED):
            first = message.removeprefix(_UNRECOGNIZED).split()[0]
            return first if first.startswith("-") else ""
        for word in self._given:
            if word == "--" or word in self._verbs():
                break
            if word.startswith("--") and not self._knows(word.partition("=")[0]):
                return word
        return ""

    def _knows(self, option: str) -> bool:
        return any(known.startswith(option) for known in self._option_string_actions)

    def _verbs(self) -> Sequence[str]:
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - argparse names no other way
                return tuple(action.choices)
        return ()


def _near(unknown: str, known: Any) -> str:
    from difflib import get_close_matches

    close = get_close_matches(unknown.partition("=")[0], list(known), n=1)
    return f"; the nearest known is {close[0]}" if close else ""

"""An argument parser that speaks the person's language and whose errors name what was typed wrong."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from myclaw_core.messages import _

if TYPE_CHECKING:  # what argparse says, marked for the catalogues
    _("usage: ")
    _("positional arguments")
    _("options")
    _("show this help message and exit")
    _("%(prog)s: error: %(message)s\n")
    _("argument %(argument_name)s: %(message)s")
    _("unrecognized arguments: %s")
    _("the following arguments are required: %s")
    _("invalid choice: %(value)r (choose from %(choices)s)")
    _("ambiguous option: %(option)s could match %(matches)s")
    _("ignored explicit argument %r")
    _("expected one argument")

__all__ = ["VERB", "Parser", "add_json", "commands_of", "count", "is_number"]

_NUMBER = re.compile(r"[0-9]{1,9}")
VERB = "VERB"
"""How help names the second word of a command."""

argparse._ = _  # type: ignore[attr-defined] # the name under which argparse looks its words up


class Parser(argparse.ArgumentParser):
    """A parser that is made like any other.

    Args:
        fill: Describes the arguments; called once they are needed, where finding them out has a price.
        options: What any parser takes.
    """

    _given: Sequence[str] = ()

    def __init__(self, *, fill: Callable[[Parser], None] | None = None, **options: Any) -> None:
        self._fill = fill
        super().__init__(**options)
        self.register("action", "parsers", _Commands)

    def fill(self) -> None:
        """Let the arguments be described, where that was put off."""
        fill, self._fill = self._fill, None
        if fill is not None:
            fill(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments; what is left over is an error of the command that it stands behind."""
        self.fill()
        self._given = list(args or ())
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown and unknown[0].startswith("-"):
            super().error(self._unknown(unknown[0]))
        if unknown:
            super().error(_("unrecognized arguments: %s") % " ".join(unknown))
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        """Print one line and leave with 2."""
        if option := self._unknown_option():
            message = self._unknown(option)
        elif message == _("the following arguments are required: %s") % VERB:
            message = _("say what to do: {verbs}", verbs=", ".join(self._verbs()))
        super().error(message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Leave; what a message quotes can be anything, but nothing that a terminal would act on."""
        from myclaw_core.files.visible import visible

        super().exit(status, message and visible(message, keep="\n"))

    def _unknown_option(self) -> str:
        """Return the first option before a command that is none: what follows it is misread."""
        for word in self._given:
            if word == "--" or word in self._verbs():
                break
            if word.startswith("--") and not self._knows(word.partition("=")[0]):
                return word
        return ""

    def _unknown(self, option: str) -> str:
        if near := _nearest(option, self._option_string_actions):
            return _("unknown option {option}; the nearest known is {near}", option=option, near=near)
        return _("unknown option {option}", option=option)

    def _knows(self, option: str) -> bool:
        return any(known.startswith(option) for known in self._option_string_actions)

    def _verbs(self) -> Sequence[str]:
        return tuple(commands.choices) if (commands := commands_of(self)) else ()


class _Commands(argparse._SubParsersAction):  # type: ignore[type-arg]  # noqa: SLF001 - argparse names no other way
    """Commands whose own help says what they do, as the list of commands does."""

    def add_parser(self, name: str, **options: Any) -> Any:
        """Add a command; it is described as in the list unless it is told otherwise."""
        about = options.get("help")
        if about and not options.get("description"):
            options["description"] = f"{about[0].upper()}{about[1:]}."
        return super().add_parser(name, **options)


def commands_of(parser: argparse.ArgumentParser) -> argparse._SubParsersAction[Any] | None:
    """Return what holds the commands below a parser, or `None`."""
    actions = parser._actions  # noqa: SLF001 - argparse names no other way
    return next((each for each in actions if isinstance(each, argparse._SubParsersAction)), None)  # noqa: SLF001


def add_json(parser: argparse.ArgumentParser) -> None:
    """Let a command answer programs."""
    parser.add_argument("--json", action="store_true", help=_("print JSON"))


def count(text: str) -> int:
    """Return the whole number from 1 on that was typed."""
    if not (is_number(text) and int(text)):
        raise argparse.ArgumentTypeError(_("must be a whole number from 1 to 999999999"))
    return int(text)


def is_number(text: str) -> bool:
    """Return whether `text` is 1 to 9 plain digits."""
    return _NUMBER.fullmatch(text) is not None


def _nearest(unknown: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    return next(iter(get_close_matches(unknown.partition("=")[0], list(known), n=1)), "")

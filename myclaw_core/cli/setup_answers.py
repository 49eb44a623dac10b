"""The questions of `myclaw setup`, and what an answer must be like."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from getpass import getpass
from pathlib import Path

from attrs import field, frozen

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_, _, render

__all__ = ["Answers", "Known", "ask", "folder_of", "token_of"]

_VARIABLES = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
"""From where our providers take their keys."""
_TOKEN = re.compile(r"[0-9]+:[A-Za-z0-9_-]{20,}")
_KEY = re.compile(r"[A-Za-z0-9_./+=:~-]+")
_SOFT_SHARE = 0.4
"""Of the hard cap; a soft cap that stands there follows it, any other one stays as far as it can."""


@frozen(kw_only=True)
class Known:
    """What is set so far.

    Attributes:
        providers: Those that can be chosen.
        has_telegram: Whether there is something to use a token.
    """

    provider: str
    model: str
    soft_eur: float
    hard_eur: float
    folders: tuple[str, ...]
    providers: tuple[str, ...]
    has_telegram: bool


@frozen(kw_only=True)
class Answers:
    """What a person wants to be set; empty where they want to keep what is set.

    Attributes:
        folders: Opened besides those that are open.
        key: Of the provider.
        token: Of the Telegram bot.
    """

    provider: str = ""
    model: str = ""
    daily_eur: str = ""
    folders: tuple[str, ...] = ()
    key: str = field(default="", repr=False)
    token: str = field(default="", repr=False)

    def variable(self, known: Known) -> str:
        """Return the variable that the provider takes its key from; empty where that is not known."""
        return _VARIABLES.get(self.provider or known.provider, "")

    def settings(self, known: Known) -> Sequence[tuple[str, Sequence[str]]]:
        """Return the settings to change, with their values.

        Raises:
            UsageError: The provider is none that is there, or the budget is no amount.
        """
        wanted: list[tuple[str, Sequence[str]]] = []
        if self.provider:
            wanted.append(("agent.provider", [_provider(self.provider, known)]))
        if self.model:
            wanted.append(("agent.model", [self.model]))
        if self.daily_eur:
            hard_eur = _amount(self.daily_eur)
            if (soft_eur := _soft_eur(hard_eur, known)) != known.soft_eur:
                wanted.append(("budget.soft_eur", [f"{soft_eur:g}"]))
            wanted.append(("budget.hard_eur", [f"{hard_eur:g}"]))
        fresh = [folder for folder in self.folders if folder not in known.folders]
        if fresh:
            wanted.append(("policy.roots", [*known.folders, *fresh]))
        return wanted


def ask(known: Known) -> Answers:
    """Ask for everything; what is not understood is asked again.

    Raises:
        EOFError: The person left.
    """
    print(_("Enter keeps what stands in brackets; Ctrl-D leaves, and nothing is written."))
    choice = ", ".join(known.providers)
    provider = _asked(
        _("Provider of the model, one of {choice} [{now}]: ", choice=choice, now=known.provider),
        lambda text: _provider(text, known),
    )
    model = _asked(_("Model [{now}]: ", now=known.model), str)
    answers = Answers(provider=provider, model=model)
    key = ""
    if variable := answers.variable(known):
        key = _asked(_("{variable} for the service, not shown [none]: ", variable=variable), _key_of, hidden=True)
    daily = _asked(
        _("EUR a day that are never passed [{now:g}]: ", now=known.hard_eur), lambda text: f"{_amount(text):g}"
    )
    folders = _asked_folders(known)
    token = ""
    if known.has_telegram:
        token = _asked(_("Token of a Telegram bot, from @BotFather, not shown [none]: "), token_of, hidden=True)
    return Answers(provider=provider, model=model, daily_eur=daily, folders=folders, key=key, token=token)


def folder_of(text: str) -> str:
    """Return the absolute path of a folder that was typed.

    Raises:
        UsageError: There is none.
    """
    path = Path(text).expanduser().absolute()
    if not path.is_dir():
        raise UsageError(N_("{path} is no folder", path=str(path)))
    return str(path)


def token_of(text: str) -> str:
    """Return the token of a bot.

    Raises:
        UsageError: It cannot be one; it is not repeated.
    """
    token = text.strip()
    if not _TOKEN.fullmatch(token):
        raise UsageError(N_("this is no token: it has digits, a colon, and letters, as @BotFather shows it"))
    return token


def _asked_folders(known: Known) -> tuple[str, ...]:
    folders: list[str] = []
    now = ", ".join(known.folders) or _("none")
    while folder := _asked(_("A folder to open besides the workspace [{now}]: ", now=now), folder_of):
        folders.append(folder)
        now = _("no more")
    return tuple(folders)


def _asked(question: str, read: Callable[[str], str], *, hidden: bool = False) -> str:
    """Return an answer that is understood; empty for an empty one."""
    while True:
        text = (getpass(question) if hidden else input(question)).strip()
        if not text:
            return ""
        try:
            return read(text)
        except UsageError as error:
            print(render(error))


def _provider(text: str, known: Known) -> str:
    if text not in known.providers:
        from myclaw_core.config.load import nearest

        hint = nearest(text, known.providers)
        raise UsageError(N_("no plugin offers the provider {provider}; {hint}", provider=repr(text), hint=hint))
    return text


def _amount(text: str) -> float:
    try:
        amount = float(text.replace(",", "."))
    except ValueError:
        amount = math.nan
    if not 0 <= amount < math.inf:
        raise UsageError(N_("{text} is no amount of EUR; write a number such as 5", text=repr(text)))
    return amount


def _soft_eur(hard_eur: float, known: Known) -> float:
    """Return the soft cap that goes with a hard cap."""
    follows = math.isclose(known.soft_eur, known.hard_eur * _SOFT_SHARE, abs_tol=0.005)
    return round(hard_eur * _SOFT_SHARE, 4) if follows or hard_eur < known.soft_eur else known.soft_eur


def _key_of(text: str) -> str:
    if not _KEY.fullmatch(text):
        raise UsageError(N_("this is no key: copy it again, without spaces or line breaks"))
    return text

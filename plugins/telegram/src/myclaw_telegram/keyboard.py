"""The data of buttons: at most 64 bytes that name a question, an answer, and the one message they are good for."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Literal
from uuid import UUID

from attrs import frozen

from myclaw_core.messages import _
from myclaw_core.shown.offers import Answer
from myclaw_telegram.api import Button

__all__ = ["NAMES", "Action", "Data", "button", "fitting", "label"]

Action = Answer | Literal["more", "back", "name 1", "name 2", "name 3", "again", "recall"]

NAMES: tuple[Action, ...] = ("name 1", "name 2", "name 3")
"""The choices of a question that must be checked."""

_CODES: dict[Action, str] = {
    "yes": "y",
    "no": "n",
    "details": "d",
    "never": "v",
    "always": "w",
    "keep asking": "k",
    "all": "a",
    "10 min": "1",
    "30 min": "3",
    "3 times": "t",
    "more": "m",
    "back": "b",
    "name 1": "A",
    "name 2": "B",
    "name 3": "C",
    "again": "r",
    "recall": "h",
}
_ACTIONS = {code: action for action, code in _CODES.items()}
_ID_CHARS = 22
_MAX_LABEL_CHARS = 60


@frozen
class Data:
    """What a button carries.

    Attributes:
        id: The request, or what waits in the outbox.
        token: What the keyboard was shown with; empty where the core alone judges the press.
    """

    action: Action
    id: UUID
    token: str = ""

    def encoded(self) -> str:
        """Return it as Telegram keeps it."""
        name = urlsafe_b64encode(self.id.bytes).decode().rstrip("=")
        return f"{_CODES[self.action]}{name}{self.token}"

    @classmethod
    def decoded(cls, text: str) -> Data | None:
        """Return what a press brought, `None` where it cannot be ours."""
        action, name = _ACTIONS.get(text[:1]), text[1 : 1 + _ID_CHARS]
        if action is None or len(name) != _ID_CHARS or not text.isascii():
            return None
        try:
            raw = urlsafe_b64decode(name + "==")
        except ValueError:
            return None
        made = cls(action, UUID(bytes=raw), text[1 + _ID_CHARS :]) if len(raw) == len(UUID(int=0).bytes) else None
        return made if made is not None and made.encoded() == text else None


def label(action: Action) -> str:
    """Return what a button says, and what is told once it was pressed."""
    labels: dict[Action, str] = {
        "yes": _("yes"),
        "no": _("no"),
        "more": _("more…"),
        "back": _("back"),
        "details": _("show all"),
        "10 min": _("yes, similar ones for 10 min"),
        "30 min": _("yes, similar ones for 30 min"),
        "3 times": _("yes, similar ones 3 times"),
        "always": _("yes, always exactly this"),
        "keep asking": _("yes, but keep asking"),
        "never": _("no, never again"),
    }
    return labels.get(action, labels["yes"])


def button(text: str, action: Action, id_: UUID, token: str = "") -> Button:
    """Return a button."""
    return Button(fitting(text), Data(action, id_, token).encoded())


def fitting(text: str, most: int = _MAX_LABEL_CHARS) -> str:
    """Return a label as a button can show it: one of more than `most` characters is cut in its middle."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}…{text[1 - half :]}"

"""What an update of the Bot API is to us: something said, a button pressed, or nothing to act on, with the reason."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

from attrs import frozen

if TYPE_CHECKING:
    from myclaw_telegram.api import Me

__all__ = ["Ignored", "Pressed", "Said", "read_update"]

_ID_LIMIT = 2**52
"""Identifiers of Telegram have at most 52 significant bits."""
_UPDATE_ID_LIMIT = 2**63
_MAX_NAME_CHARS = 64
_MAX_PRESS_ID_CHARS = 128
_MAX_DATA_BYTES = 64
_COMMAND = re.compile(r"/(?P<name>[A-Za-z0-9_]{1,32})(?:@(?P<bot>[A-Za-z0-9_]{1,64}))?(?=\s|$)")
_QUOTATIONS = frozenset({"blockquote", "expandable_blockquote", "pre"})
_WORDLESS = frozenset(
    {
        "animation", "audio", "contact", "dice", "document", "game", "location", "paid_media", "photo", "poll",
        "sticker", "story", "venue", "video", "video_note", "voice",
    }
)  # fmt: skip


@frozen(kw_only=True)
class Said:
    """A message with words, of a person and in a chat where messages are read.

    Attributes:
        text: What was written, or the caption of a file; a command has our spelling and names no bot.
        name: What the person calls themselves; anybody may have any name.
        private: Whether only the person and the bot are in the chat.
    """

    update_id: int
    chat_id: int
    user_id: int
    text: str
    name: str
    private: bool = True


@frozen(kw_only=True)
class Pressed:
    """A button below a message of the bot was pressed.

    Attributes:
        press_id: What answers the press.
        chat_id: Where the message lies, and `message_id` which it is.
        user_id: Who pressed.
        data: The button's data, as it came: it may be forged.
    """

    update_id: int
    press_id: str
    chat_id: int
    message_id: int
    user_id: int
    data: str


@frozen(kw_only=True)
class Ignored:
    """An update that nothing is done about.

    Attributes:
        update_id: `None` where it has none that can be read.
        why: What it is, such as `a forwarded message`.
        user_id: Whose it is, where that is known for sure.
        chat_id: The private chat in which that person can be told that only plain text is read; `None` where nobody is
            told.
        is_press: Whether a button was pressed.
        in_group: Whether it is from a group in which messages are not read; `why` has the group's id.
    """

    update_id: int | None
    why: str
    user_id: int | None = None
    chat_id: int | None = None
    is_press: bool = False
    in_group: bool = False


class _NotForUsError(Exception):
    def __init__(self, why: str, *, is_told: bool = False, in_group: bool = False) -> None:
        self.why = why
        self.is_told = is_told
        self.in_group = in_group
        super().__init__(why)


def read_update(
    update: object, *, me: Me | None = None, groups: Collection[int] = (), commands: Collection[str] = ()
) -> Said | Pressed | Ignored:
    """Return what an update is; it never raises, whatever the update holds.

    A person is who `from.id` says, a whole number, and nothing else: names can be chosen, and what is forwarded, sent
    through another bot, posted by a channel or edited later has not been said here and now.

    Args:
        update: An update as it came from the wire.
        me: The bot, to tell commands for others and keyboards of others apart.
        groups: Ids of the groups in which messages are read; private chats always are.
        commands: Names of slash commands with their slash; Telegram writes `_` where they have `-`.
    """
    fields = _fields(update)
    found = fields.get("update_id")
    if type(found) is not int or not 0 <= found < _UPDATE_ID_LIMIT:
        return Ignored(update_id=None, why="an update without a number")
    content = fields.get("message", fields.get("callback_query"))
    person = _fields(_fields(content).get("from"))
    user_id = person.get("id")
    try:
        if "message" in fields:
            return _message(found, _fields(content), me, groups, commands)
        if "callback_query" in fields:
            return _press(found, _fields(content), me, groups)
        return Ignored(update_id=found, why="another kind of update")
    except _NotForUsError as error:
        known = user_id if _is_person(user_id) else None
        return Ignored(
            update_id=found,
            why=error.why,
            user_id=known,
            chat_id=known if error.is_told else None,
            is_press="message" not in fields,
            in_group=error.in_group,
        )


def _message(
    update_id: int, message: Mapping[str, Any], me: Me | None, groups: Collection[int], commands: Collection[str]
) -> Said:
    user_id = _author(message)
    chat_id, private = _chat(message, user_id, groups)
    _refuse_second_hand(message, is_told=private)
    text = _quotations_marked(
        _sound(message.get("text") or message.get("caption")),
        message.get("entities") or message.get("caption_entities"),
    )
    if not text.strip():
        if _WORDLESS.isdisjoint(message):
            raise _NotForUsError("a service message")
        raise _NotForUsError("a message without text", is_told=private)
    return Said(
        update_id=update_id,
        chat_id=chat_id,
        user_id=user_id,
        text=_in_our_spelling(text, me, commands),
        name=_name(_fields(message.get("from"))),
        private=private,
    )


def _press(update_id: int, press: Mapping[str, Any], me: Me | None, groups: Collection[int]) -> Pressed:
    user_id = _author(press)
    message = _fields(press.get("message"))
    if not message:
        raise _NotForUsError("a press without a message")
    chat_id, _ = _chat(message, user_id, groups)
    _refuse_second_hand(message)
    author = _fields(message.get("from"))
    if author and (author.get("is_bot") is not True or (me is not None and author.get("id") != me.id)):
        raise _NotForUsError("a press below somebody else's message")
    press_id, message_id, data = press.get("id"), message.get("message_id"), press.get("data")
    if not isinstance(press_id, str) or not 1 <= len(press_id) <= _MAX_PRESS_ID_CHARS or not press_id.isascii():
        raise _NotForUsError("a press without a number")
    if type(message_id) is not int or not 0 < message_id < _ID_LIMIT:
        raise _NotForUsError("a press without a message")
    if not isinstance(data, str) or not 1 <= len(data.encode(errors="replace")) <= _MAX_DATA_BYTES:
        raise _NotForUsError("a press without data that a button can have")
    return Pressed(
        update_id=update_id,
        press_id=press_id,
        chat_id=chat_id,
        message_id=message_id,
        user_id=user_id,
        data=_sound(data),
    )


def _author(fields: Mapping[str, Any]) -> int:
    author = _fields(fields.get("from"))
    user_id = author.get("id")
    if not _is_person(user_id):
        raise _NotForUsError("a message of nobody")
    if author.get("is_bot") is not False:
        raise _NotForUsError("a message of a bot")
    return user_id


def _chat(message: Mapping[str, Any], user_id: int, groups: Collection[int]) -> tuple[int, bool]:
    """Return the chat, and whether it is the person's own with the bot."""
    chat = _fields(message.get("chat"))
    chat_id, kind = chat.get("id"), chat.get("type")
    if type(chat_id) is not int or not 0 < abs(chat_id) < _ID_LIMIT:
        raise _NotForUsError("a message in no chat")
    if kind == "private":
        if chat_id != user_id:
            raise _NotForUsError("a message in somebody else's chat")
        return chat_id, True
    if kind not in ("group", "supergroup"):
        raise _NotForUsError("a channel post")
    if chat_id >= 0 or chat_id not in groups:
        raise _NotForUsError(f"a message in the group {chat_id}", in_group=True)
    return chat_id, False


def _refuse_second_hand(message: Mapping[str, Any], *, is_told: bool = False) -> None:
    """Refuse what this person has not written here and now."""
    if any(name.startswith("forward_") for name in message) or message.get("is_automatic_forward"):
        raise _NotForUsError("a forwarded message", is_told=is_told)
    if "via_bot" in message:
        raise _NotForUsError("a message through another bot", is_told=is_told)
    if "sender_chat" in message:
        raise _NotForUsError("a channel post")


def _quotations_marked(text: str, entities: object) -> str:
    """Begin each line that is shown as quoted or as code with `> `, as mail does: nobody has said it here and now.

    Args:
        entities: What Telegram marks in the text, counted in UTF-16 units.
    """
    marked = entities if isinstance(entities, list) else []
    spans = [_span(each) for each in marked if _sound(_fields(each).get("type")) in _QUOTATIONS]
    if not spans:
        return text
    lines, at = [], 0
    for line in text.split("\n"):
        end = at + len(line.encode("utf-16-le")) // 2
        is_quoted = any(start < max(end, at + 1) and at < stop for start, stop in spans)
        lines.append(f"> {line}" if is_quoted else line)
        at = end + 1
    return "\n".join(lines)


def _span(entity: Mapping[str, Any]) -> tuple[float, float]:
    """Return where an entity begins and ends; one that does not say so covers all."""
    start, length = entity.get("offset"), entity.get("length")
    return (start, start + length) if type(start) is int and type(length) is int else (0, math.inf)


def _in_our_spelling(text: str, me: Me | None, commands: Collection[str]) -> str:
    """Return `/revoke_trust@house_bot 3` as `/revoke-trust 3`."""
    found = _COMMAND.match(text.lstrip())
    if found is None:
        return text
    if found["bot"] and me is not None and found["bot"].lower() != me.username.lower():
        raise _NotForUsError("a command for another bot")
    name = "/" + found["name"]
    ours = name.lower().replace("_", "-")
    return (ours if ours in commands else name) + text.lstrip()[found.end() :]


def _name(person: Mapping[str, Any]) -> str:
    from myclaw_core.files.visible import visible

    names = (_sound(person.get(key)) for key in ("first_name", "last_name"))
    return visible(" ".join(" ".join(names).split()))[:_MAX_NAME_CHARS]


def _sound(text: object) -> str:
    """Return a text without halves of characters, which no database takes; what is no text is empty."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(text, str) else ""


def _is_person(value: object) -> TypeGuard[int]:
    """Return whether a value is the number of a person: no text, no fraction, no truth value, not too large."""
    return type(value) is int and 0 < value < _ID_LIMIT


def _fields(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}

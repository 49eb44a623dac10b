"""The methods of the local Bot API server: what each refuses, in Telegram's words, and what it does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen
from bot_api_html import HtmlError, plain_text, utf16_units

if TYPE_CHECKING:
    from bot_api import BotApi

__all__ = ["METHODS", "BotMessage", "Params", "Refusal", "Upload", "no_such_method"]

Params = Mapping[str, Any]
"""What a call came with: texts as the wire has them, and an `Upload` for each file."""

_MAX_TEXT_UNITS = 4096
_MAX_CAPTION_UNITS = 1024
_MAX_DATA_BYTES = 64
_DOCUMENT_BYTES = 50 * 1024 * 1024
_PHOTO_BYTES = 10 * 1024 * 1024
_COMMAND = re.compile(r"[a-z0-9_]{1,32}")
_IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8")


class Refusal(Exception):  # noqa: N818 - an answer, not a fault of the server
    """Raised by a method that does not do what it was asked."""

    def __init__(self, status: int, description: str, **parameters: Any) -> None:
        self.status = status
        self.description = description
        self.parameters = parameters
        super().__init__(description)


@frozen(kw_only=True)
class Upload:
    """A file of a call."""

    name: str
    content: bytes


@define(kw_only=True)
class BotMessage:
    """A message of the bot, as the person sees it now.

    Attributes:
        text: What is read, without markup; the caption of a file.
        source: The text as it was sent, with markup.
        keyboard: The rows of buttons, each `{"text", "callback_data"}`.
        file: What came with it.
        history: Every text that was read here, oldest first.
    """

    chat_id: int
    id: int
    text: str
    source: str
    html: bool = False
    keyboard: list[list[dict[str, Any]]] = field(factory=list)
    file: Upload | None = None
    silent: bool = False
    reply_to: int | None = None
    deleted: bool = False
    history: list[str] = field(factory=list)

    def button(self, wanted: str) -> dict[str, Any]:
        """Return the button with this text or data.

        Raises:
            LookupError: There is none.
        """
        for button in (button for row in self.keyboard for button in row):
            if wanted in (button["text"], button.get("callback_data")):
                return button
        raise LookupError(f"no button {wanted!r} below {self.text!r}: {self.keyboard}")


def no_such_method(api: BotApi, params: Params) -> Any:
    """Refuse a method that the server does not have."""
    raise Refusal(404, "Not Found")


def _get_me(api: BotApi, params: Params) -> Any:
    return api.me


def _send_message(api: BotApi, params: Params) -> Any:
    source = params.get("text", "")
    html = _html(params)
    text = _read(source, html=html)
    if not text:
        raise Refusal(400, "Bad Request: message text is empty")
    if utf16_units(text) > _MAX_TEXT_UNITS:
        raise Refusal(400, "Bad Request: message is too long")
    return _posted(api, params, text=text, source=source, html=html)


def _edit_message_text(api: BotApi, params: Params) -> Any:
    source = params.get("text", "")
    html = _html(params)
    text = _read(source, html=html)
    message = _existing(api, params, "message to edit not found")
    if not text:
        raise Refusal(400, "Bad Request: message text is empty")
    if utf16_units(text) > _MAX_TEXT_UNITS:
        raise Refusal(400, "Bad Request: MESSAGE_TOO_LONG")
    if message.file is not None:
        raise Refusal(400, "Bad Request: there is no text in the message to edit")
    keyboard = _keyboard(params)
    if (source, html, keyboard) == (message.source, message.html, message.keyboard):
        raise Refusal(
            400,
            "Bad Request: message is not modified: specified new message content and reply markup are exactly the same "
            "as a current content and reply markup of the message",
        )
    message.source, message.html, message.keyboard, message.text = source, html, keyboard, text
    message.history.append(text)
    return api.as_sent(message)


def _edit_message_reply_markup(api: BotApi, params: Params) -> Any:
    message = _existing(api, params, "message to edit not found")
    keyboard = _keyboard(params)
    if keyboard == message.keyboard:
        raise Refusal(400, "Bad Request: message is not modified")
    message.keyboard = keyboard
    return api.as_sent(message)


def _delete_message(api: BotApi, params: Params) -> Any:
    _existing(api, params, "message to delete not found").deleted = True
    return True


def _send_chat_action(api: BotApi, params: Params) -> Any:
    _chat(api, params)
    if params.get("action") not in {"typing", "upload_document", "upload_photo"}:
        raise Refusal(400, "Bad Request: wrong parameter action in request")
    return True


def _answer_callback_query(api: BotApi, params: Params) -> Any:
    press_id = params.get("callback_query_id", "")
    if len(params.get("text", "")) > 200:
        raise Refusal(400, "Bad Request: MESSAGE_TOO_LONG")
    if press_id not in api.open_presses:
        raise Refusal(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
    api.open_presses.discard(press_id)
    api.press_answers[press_id] = params.get("text", "")
    return True


def _send_document(api: BotApi, params: Params) -> Any:
    return _sent_file(api, params, "document", _DOCUMENT_BYTES)


def _send_photo(api: BotApi, params: Params) -> Any:
    upload = params.get("photo")
    if isinstance(upload, Upload) and len(upload.content) > _PHOTO_BYTES:
        raise Refusal(400, "Bad Request: file is too big")
    if isinstance(upload, Upload) and not upload.content.startswith(_IMAGES):
        raise Refusal(400, "Bad Request: IMAGE_PROCESS_FAILED")
    return _sent_file(api, params, "photo", _PHOTO_BYTES)


def _set_my_commands(api: BotApi, params: Params) -> Any:
    commands = json.loads(params.get("commands", "[]"))
    if len(commands) > 100:
        raise Refusal(400, "Bad Request: BOT_COMMANDS_TOO_MUCH")
    for command in commands:
        if not _COMMAND.fullmatch(command["command"]):
            raise Refusal(400, "Bad Request: BOT_COMMAND_INVALID")
        if not 1 <= len(command["description"]) <= 256:
            raise Refusal(400, "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID")
    api.commands = [(command["command"], command["description"]) for command in commands]
    return True


def _delete_webhook(api: BotApi, params: Params) -> Any:
    api.webhook = ""
    return True


METHODS: Mapping[str, Callable[[BotApi, Params], Any]] = {
    "getme": _get_me,
    "sendmessage": _send_message,
    "editmessagetext": _edit_message_text,
    "editmessagereplymarkup": _edit_message_reply_markup,
    "deletemessage": _delete_message,
    "sendchataction": _send_chat_action,
    "answercallbackquery": _answer_callback_query,
    "senddocument": _send_document,
    "sendphoto": _send_photo,
    "setmycommands": _set_my_commands,
    "deletewebhook": _delete_webhook,
}
"""By name in lower case: Telegram takes any."""


def _html(params: Params) -> bool:
    mode = params.get("parse_mode", "")
    if mode.lower() not in {"", "html"}:
        raise Refusal(400, "Bad Request: unsupported parse_mode")
    return bool(mode)


def _read(source: str, *, html: bool) -> str:
    """Return what a person reads; Telegram cuts blanks at both ends."""
    try:
        return (plain_text(source) if html else source).strip()
    except HtmlError as error:
        raise Refusal(400, f"Bad Request: can't parse entities: {error}") from error


def _sent_file(api: BotApi, params: Params, name: str, limit_bytes: int) -> Any:
    upload = params.get(name)
    if not isinstance(upload, Upload):
        raise Refusal(400, f"Bad Request: there is no {name} in the request")
    if len(upload.content) > limit_bytes:
        raise Refusal(413, "Request Entity Too Large")
    if not upload.content:
        raise Refusal(400, "Bad Request: file must be non-empty")
    caption = params.get("caption", "")
    if utf16_units(caption) > _MAX_CAPTION_UNITS:
        raise Refusal(400, "Bad Request: message caption is too long")
    return _posted(api, params, text=caption, source=caption, file=upload)


def _posted(api: BotApi, params: Params, **content: Any) -> Any:
    chat_id = _chat(api, params)
    reply = json.loads(params.get("reply_parameters", "{}"))
    message = BotMessage(
        chat_id=chat_id,
        id=api.next_message_id(),
        keyboard=_keyboard(params),
        silent=params.get("disable_notification") == "true",
        reply_to=reply.get("message_id"),
        history=[content["text"]],
        **content,
    )
    api.messages.append(message)
    return api.as_sent(message)


def _chat(api: BotApi, params: Params) -> int:
    try:
        chat_id = int(params.get("chat_id", ""))
    except ValueError:
        raise Refusal(400, "Bad Request: chat_id is empty") from None
    if chat_id not in api.chats:
        raise Refusal(400, "Bad Request: chat not found")
    if chat_id in api.blocked:
        raise Refusal(403, "Forbidden: bot was blocked by the user")
    return chat_id


def _existing(api: BotApi, params: Params, lacking: str) -> BotMessage:
    chat_id = _chat(api, params)
    for message in api.messages:
        if (message.chat_id, str(message.id)) == (chat_id, params.get("message_id")) and not message.deleted:
            return message
    raise Refusal(400, f"Bad Request: {lacking}")


def _keyboard(params: Params) -> list[list[dict[str, Any]]]:
    rows: list[list[dict[str, Any]]] = json.loads(params.get("reply_markup", "{}")).get("inline_keyboard", [])
    for button in (button for row in rows for button in row):
        if not button.get("text"):
            raise Refusal(400, "Bad Request: can't parse inline keyboard button: Text buttons are unallowed")
        if not 1 <= len(button.get("callback_data", "").encode()) <= _MAX_DATA_BYTES:
            raise Refusal(400, "Bad Request: BUTTON_DATA_INVALID")
    return rows

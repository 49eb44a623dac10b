"""The one user of the Telegram library: each call with retries that cannot double anything, and errors of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import field, frozen

from myclaw_core.clock import Clock
from myclaw_core.redact import redact_text
from myclaw_telegram.faults import (
    ApiError,
    BlockedError,
    ConflictError,
    FloodError,
    NetworkError,
    RejectedError,
    TokenError,
    TooLargeError,
    explained,
)

if TYPE_CHECKING:
    from telegram import Bot, InlineKeyboardMarkup, LinkPreviewOptions

__all__ = [
    "DEFAULT_URL",
    "MAX_DATA_BYTES",
    "MAX_TEXT_UNITS",
    "Api",
    "ApiError",
    "BlockedError",
    "Button",
    "ConflictError",
    "FloodError",
    "Keyboard",
    "Me",
    "NetworkError",
    "RejectedError",
    "TokenError",
    "TooLargeError",
]

T = TypeVar("T")

DEFAULT_URL = "https://api.telegram.org"
MAX_TEXT_UNITS = 4096
"""Longest text of a message, in UTF-16 units, counted after its markup is read."""
MAX_DATA_BYTES = 64
"""Most bytes of a button's data."""

_MAX_RETRIES = 4
_MAX_FLOOD_WAIT_S = 120.0
_LONGEST_BACK_OFF_S = 16.0
_SILENCE_S = 20.0
_UPLOAD_SILENCE_S = 120.0
_CONNECTIONS = 16
_DOCUMENT_MB = 50
_PHOTO_MB = 10
_MAX_PRESS_CHARS = 200
_MAX_COMMANDS = 100


@frozen
class Button:
    """A button below a message.

    Attributes:
        data: What a press brings back, at most 64 bytes of UTF-8 and not empty.

    Raises:
        ValueError: The data is empty or longer.
    """

    text: str
    data: str = field()

    @data.validator
    def _fits(self, _: object, data: str) -> None:
        if not 1 <= len(data.encode()) <= MAX_DATA_BYTES:
            raise ValueError(f"the data of a button has 1 to {MAX_DATA_BYTES} bytes, not {len(data.encode())}")


Keyboard = Sequence[Sequence[Button]]
"""Rows of buttons."""


@frozen(kw_only=True)
class Me:
    """Who the bot is."""

    id: int
    username: str


class Api:
    """The Bot API of one bot.

    Where a repeat cannot double anything, a call whose answer was lost or that met an error of the service (5xx) is
    made again, up to 4 times after 1, 2, 4 and 8 s. `send`, `document` and `photo` are repeated only where the
    connection was never made: a message whose answer was lost may be there, so `NetworkError.maybe_done` says so and
    the caller decides. Too many messages (429) are waited out as long as Telegram asks for 120 s at most, except in
    `me`, `edit`, `typing` and `get_updates`, which raise `FloodError` at once. Every wait is the clock's.

    The library is imported, and the connection made, at the first call. No error, log line or traceback has the token,
    and no text that is sent a secret: what is sent lies on machines of others.

    Args:
        token: The bot's token.
        clock: Does the waiting.
        api_url: Where the Bot API is, without a slash at the end; empty for Telegram's own.

    Raises:
        ApiError: By every call: `FloodError`, `RejectedError` (400), `BlockedError` (403), `ConflictError` (409),
            `TokenError` (401, 404), `TooLargeError`, or `NetworkError`.
    """

    def __init__(self, token: str, *, clock: Clock, api_url: str = "") -> None:
        self._token = token
        self._clock = clock
        self._url = api_url.rstrip("/") or DEFAULT_URL
        self._bot: Bot | None = None

    async def use(self, token: str) -> None:
        """Be the bot of this token from now on."""
        if token != self._token:
            self._token = token
            await self.close()

    async def me(self) -> Me:
        """Return who the bot is, which shows whether the token is right; it is tried once."""
        user = await self._call(lambda bot: bot.get_me(), waits=False, retries=0)
        return Me(id=user.id, username=user.username or "")

    async def send(
        self,
        chat_id: int,
        text: str,
        *,
        html: bool = False,
        keyboard: Keyboard | None = None,
        silent: bool = False,
    ) -> int:
        """Send a message and return its id; links in it are never opened for a preview.

        Args:
            text: 1 to 4096 UTF-16 units.
            html: Whether the text is Telegram's HTML; else it is shown as it is.
            silent: Whether the phone stays quiet.
        """
        message = await self._call(
            lambda bot: bot.send_message(
                chat_id,
                redact_text(text),
                parse_mode="HTML" if html else None,
                reply_markup=_markup(keyboard),
                disable_notification=silent,
                link_preview_options=_no_preview(),
            ),
            once=True,
        )
        return message.message_id

    async def edit(
        self, chat_id: int, message_id: int, text: str, *, html: bool = False, keyboard: Keyboard | None = None
    ) -> None:
        """Replace text and keyboard of a message; without a keyboard it has none from then on.

        That the message says all this already is success. Too many edits raise `FloodError` at once, so that the newest
        text is sent after the wait and not the one of before.
        """
        try:
            await self._call(
                lambda bot: bot.edit_message_text(
                    redact_text(text),
                    chat_id,
                    message_id,
                    parse_mode="HTML" if html else None,
                    reply_markup=_markup(keyboard),
                    link_preview_options=_no_preview(),
                ),
                waits=False,
            )
        except RejectedError as error:
            if "message is not modified" not in error.description:
                raise

    async def typing(self, chat_id: int) -> None:
        """Show for 5 s that an answer is being written; it is tried once."""
        await self._call(lambda bot: bot.send_chat_action(chat_id, "typing"), waits=False, retries=0)

    async def answer_press(self, press_id: str, text: str = "", *, alert: bool = False) -> None:
        """End the waiting sign of a pressed button; one that is too old for that is let go.

        Args:
            text: Shown for a moment; what is beyond 200 characters is cut.
            alert: Whether the person must close it.
        """
        shown = redact_text(text)[:_MAX_PRESS_CHARS]
        try:
            await self._call(lambda bot: bot.answer_callback_query(press_id, shown or None, show_alert=alert))
        except RejectedError as error:
            if "query is too old" not in error.description:
                raise

    async def document(self, chat_id: int, path: Path, name: str, caption: str = "") -> int:
        """Send a file as it is and return the message's id.

        Args:
            name: What it is called there.
            caption: Plain text, at most 1024 UTF-16 units.

        Raises:
            TooLargeError: It has more than 50 MB.
            OSError: It cannot be read.
        """
        content = await asyncio.to_thread(_content, path, _DOCUMENT_MB)
        message = await self._upload(
            lambda bot: bot.send_document(
                chat_id,
                content,
                caption=redact_text(caption) or None,
                filename=redact_text(name),
                disable_content_type_detection=True,
                read_timeout=_UPLOAD_SILENCE_S,
            )
        )
        return message.message_id

    async def photo(self, chat_id: int, path: Path, name: str, caption: str = "") -> int:
        """Send a picture that is shown in the chat and return the message's id; as `document`, up to 10 MB.

        Raises:
            TooLargeError: It has more than 10 MB; it can be sent as a document.
            RejectedError: It is no picture, or has sides that Telegram does not show.
            OSError: It cannot be read.
        """
        content = await asyncio.to_thread(_content, path, _PHOTO_MB)
        message = await self._upload(
            lambda bot: bot.send_photo(
                chat_id,
                content,
                caption=redact_text(caption) or None,
                filename=redact_text(name),
                read_timeout=_UPLOAD_SILENCE_S,
            ),
            limit_mb=_PHOTO_MB,
        )
        return message.message_id

    async def set_commands(self, commands: Sequence[tuple[str, str]]) -> None:
        """Set the menu of slash commands: name and one line on each.

        Telegram's names have underscores where ours have hyphens; `updates.read_update` turns them back.
        """
        wanted = [(name.lstrip("/").replace("-", "_"), line[:256]) for name, line in commands[:_MAX_COMMANDS]]
        await self._call(lambda bot: bot.set_my_commands(wanted))

    async def get_updates(self, offset: int | None, timeout_s: int) -> Sequence[Mapping[str, Any]]:
        """Return the next updates as Telegram sent them, unread; it is tried once.

        Args:
            offset: Id of the first update wanted; all before it are never sent again. `None` confirms nothing.
            timeout_s: How long Telegram waits for one.
        """
        params = {"timeout": timeout_s, "allowed_updates": ["message", "callback_query"]}
        if offset is not None:
            params["offset"] = offset
        # The method of the library gives up a whole batch where it cannot read one update; Telegram takes any case.
        found = await self._call(
            lambda bot: bot.do_api_request("GetUpdates", params, read_timeout=timeout_s + _SILENCE_S),
            waits=False,
            retries=0,
        )
        if not isinstance(found, list):
            raise NetworkError("the answer is no list of updates", maybe_done=False)
        return [update for update in found if isinstance(update, dict)]

    async def close(self) -> None:
        """Free connections; it may be called twice, and a later call connects again."""
        bot, self._bot = self._bot, None
        if bot is not None:
            await bot.request.shutdown()

    async def _upload(self, call: Callable[[Bot], Awaitable[T]], *, limit_mb: int = _DOCUMENT_MB) -> T:
        return await self._call(call, once=True, limit_mb=limit_mb)

    async def _call(
        self,
        call: Callable[[Bot], Awaitable[T]],
        *,
        once: bool = False,
        waits: bool = True,
        retries: int = _MAX_RETRIES,
        limit_mb: int = _DOCUMENT_MB,
    ) -> T:
        """Make a call and repeat it as the class says.

        Args:
            once: Whether a repeat could double something.
            waits: Whether too many messages are waited out.
        """
        tries = 0
        while True:
            try:
                return await self._attempt(call, limit_mb)
            except FloodError as error:
                if not waits or tries >= retries or error.retry_after_s > _MAX_FLOOD_WAIT_S:
                    raise
                wait_s = error.retry_after_s
            except NetworkError as error:
                if (once and error.maybe_done) or tries >= retries:
                    raise
                wait_s = min(2.0**tries, _LONGEST_BACK_OFF_S)
            await self._clock.sleep(wait_s)
            tries += 1

    async def _attempt(self, call: Callable[[Bot], Awaitable[T]], limit_mb: int) -> T:
        bot = self._bot or await self._connect()
        try:
            return await call(bot)
        except Exception as error:  # whatever an answer makes the library raise, it is about that answer
            failed = explained(error, self._clean, limit_mb=limit_mb)
        raise failed  # outside the handler: the library's own errors may hold the token

    async def _connect(self) -> Bot:
        """Return the bot; the library is imported in a thread, so that everything else goes on meanwhile."""
        from myclaw_telegram.library import make_bot

        bot = await asyncio.to_thread(make_bot, self._token, self._url, connections=_CONNECTIONS, silence_s=_SILENCE_S)
        if self._bot is None:
            self._bot = bot
        return self._bot

    def _clean(self, text: str) -> str:
        return text.replace(self._token, "TOKEN")


def _markup(keyboard: Keyboard | None) -> InlineKeyboardMarkup | None:
    if not keyboard:
        return None
    from telegram import InlineKeyboardButton, InlineKeyboardMarkup

    return InlineKeyboardMarkup(
        [
            [InlineKeyboardButton(redact_text(button.text), callback_data=button.data) for button in row]
            for row in keyboard
        ]
    )


def _no_preview() -> LinkPreviewOptions:
    """Return that nobody opens the links of a message: a link can carry away what it holds without a press."""
    from telegram import LinkPreviewOptions

    return LinkPreviewOptions(is_disabled=True)


def _content(path: Path, limit_mb: int) -> bytes:
    limit_bytes = limit_mb * 1024 * 1024
    with path.open("rb") as file:
        content = file.read(limit_bytes + 1)
    if len(content) > limit_bytes:
        raise TooLargeError(limit_mb)
    return content

"""The people who write to the bot of the local Bot API server, and what else can reach it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from bot_api_methods import BotMessage

if TYPE_CHECKING:
    from bot_api import BotApi

__all__ = ["Group", "Person"]

_AT = 1_767_600_000


@frozen(kw_only=True)
class Group:
    """A group that the bot is in.

    Attributes:
        id: Negative, as those of groups are.
    """

    id: int
    title: str

    @property
    def chat(self) -> dict[str, Any]:
        """Return it as updates have it."""
        return {"id": self.id, "type": "supergroup", "title": self.title}


@frozen(kw_only=True)
class Person:
    """Somebody with a Telegram account; every method returns the update that it makes."""

    api: BotApi
    id: int
    name: str
    username: str = ""

    @property
    def user(self) -> dict[str, Any]:
        """Return the account as updates have it."""
        user = {"id": self.id, "is_bot": False, "first_name": self.name}
        return {**user, "username": self.username} if self.username else user

    @property
    def chat(self) -> dict[str, Any]:
        """Return the private chat with the bot as updates have it."""
        return {"id": self.id, "type": "private", "first_name": self.name}

    def says(self, text: str, *, group: Group | None = None, **more: Any) -> dict[str, Any]:
        """Write a message; `more` are further fields of it, such as `via_bot`."""
        return self.api.put({"message": self._message({"text": text, **more}, group)})

    def edits(self, text: str) -> dict[str, Any]:
        """Edit a message of before."""
        return self.api.put({"edited_message": self._message({"text": text, "edit_date": _AT + 9}, None)})

    def forwards(self, text: str, *, author: str = "Somebody") -> dict[str, Any]:
        """Forward what somebody else wrote."""
        origin = {"type": "hidden_user", "sender_user_name": author, "date": _AT - 9}
        return self.says(text, forward_origin=origin)

    def sends_photo(self, caption: str = "") -> dict[str, Any]:
        """Send a picture."""
        photo = [{"file_id": "p", "file_unique_id": "p", "width": 90, "height": 90}]
        content: dict[str, Any] = {"photo": photo, **({"caption": caption} if caption else {})}
        return self.api.put({"message": self._message(content, None)})

    def sends_voice(self) -> dict[str, Any]:
        """Send a voice message."""
        voice = {"file_id": "v", "file_unique_id": "v", "duration": 3}
        return self.api.put({"message": self._message({"voice": voice}, None)})

    def presses(self, message: BotMessage, button: str, /, **more: Any) -> str:
        """Press a button, named by its text or data, and return the press's id; `more` are further fields of it."""
        data = message.button(button)["callback_data"]
        return self.presses_forged(message, data, **more)

    def presses_forged(self, message: BotMessage, data: str, /, **more: Any) -> str:
        """Send a press with data that no button of the message needs to have."""
        press_id = self.api.open_press()
        shown = {**self.api.as_sent(message), **more.pop("message", {})}
        press = {"id": press_id, "from": self.user, "message": shown, "chat_instance": "1", "data": data, **more}
        self.api.put({"callback_query": press})
        return press_id

    def blocks(self) -> None:
        """Block the bot: what it sends is refused from now on."""
        self.api.blocked.add(self.id)

    def _message(self, content: dict[str, Any], group: Group | None) -> dict[str, Any]:
        chat = group.chat if group else self.chat
        return {
            "message_id": self.api.next_message_id(),
            "date": _AT,
            "chat": chat,
            "from": self.user,
            **content,
        }

"""What one turn shows: how it goes while it runs, and its answer at the end."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from myclaw_core.messages import _
from myclaw_core.redact import redact_text
from myclaw_core.runtime.channel import Status
from myclaw_core.shown.inert import cut, inert, inert_answer, short_target
from myclaw_core.shown.said import Said
from myclaw_telegram.markup import escaped, plain_of, to_html
from myclaw_telegram.outgoing import ChatMessage, Content
from myclaw_telegram.split import LIMIT_UNITS, split, units

__all__ = ["Progress", "formatted", "plain"]

_TAIL_CHARS = 1500
_DETAIL_CHARS = 200
_SECRET_CHARS = 500
"""So much more is looked at than is shown: what is left of a secret that was cut is not known as one."""


@define(eq=False)
class Progress:
    """The display of a turn.

    Attributes:
        began_s: Monotonic seconds at which it began.
        message: The one message that is edited while the turn runs.
    """

    began_s: float = 0.0
    message: ChatMessage = field(factory=ChatMessage)
    _blocks: list[str] = field(factory=list)
    _block: str = ""
    _notices: list[str] = field(factory=list)
    _words: str = ""

    def status(self, status: Status) -> None:
        """Take what is going on; it ends a piece of the answer."""
        self._words = _words(status)
        if status.phase != "thinking":
            self._end_block()

    def text(self, chunk: str) -> None:
        """Take the next piece of the answer."""
        self._block += chunk

    def notice(self, line: str) -> None:
        """Take a line beside the answer."""
        self._notices.append(line)

    def running(self) -> Content:
        """Return what is shown meanwhile: the newest text as it is, for half of its markup may be missing.

        It is asked for with each piece of the answer, so that no more of that is looked at than is shown.
        """
        answer = self._answer()
        text = inert_answer(redact_text(answer[-_TAIL_CHARS - _SECRET_CHARS :])[-_TAIL_CHARS:])
        if max(len(answer), len(text)) > _TAIL_CHARS:
            text = f"…{text[-_TAIL_CHARS:]}"
        notices = [cut(line, _DETAIL_CHARS) for line in self._notices[-3:]]
        lines = [text.strip("\n"), "\n".join(notices), f"⏳ {self._words}" if self._words else ""]
        return Content("\n\n".join(filter(None, lines)) or "…")

    def final(self, closing: Sequence[Said]) -> list[Content]:
        """Return the messages that stay: the answer, and what was done, below it where there is room."""
        self._end_block()
        answer = formatted(self._answer())
        lines = [f"{line.label} {line.text}".strip() for line in closing]
        below = redact_text("\n".join([*self._notices, *lines]))
        if not answer and not below:
            return [Content(self._words or _("done"))]
        if answer and below and (joined := _joined(answer[-1], below)):
            return [*answer[:-1], joined]
        return [*answer, *plain(below)]

    def _answer(self) -> str:
        return "\n\n".join([*self._blocks, self._block] if self._block.strip() else self._blocks)

    def _end_block(self) -> None:
        if self._block.strip():
            self._blocks.append(self._block)
        self._block = ""


def formatted(markdown: str) -> list[Content]:
    """Return Markdown as messages."""
    parts = [part.text for part in split(inert_answer(redact_text(markdown)), to_html)]
    contents = [(part, to_html(part)) for part in parts]
    return [Content(part, html if plain_of(html).strip() else "") for part, html in contents]


def plain(text: str) -> list[Content]:
    """Return a text of ours as messages, as it is."""
    return [Content(part.text) for part in split(redact_text(text))]


def _joined(content: Content, below: str) -> Content | None:
    """Return a message with more text below it, `None` where it would be too long."""
    html = content.html or escaped(content.plain)
    joined = Content(f"{content.plain}\n\n{below}", f"{html}\n\n{escaped(below)}")
    return joined if max(units(joined.plain), units(joined.html)) <= LIMIT_UNITS else None


def _words(status: Status) -> str:
    if status.phase == "tool":
        return cut(f"{inert(status.tool)} {short_target(status.detail)}".strip(), _DETAIL_CHARS)
    return {
        "thinking": _("thinking"),
        "waiting": _("waiting for you"),
        "done": _("done"),
        "failed": _("failed"),
    }[status.phase]

"""Markdown of a model as the HTML that Telegram reads: always valid, and nothing in it hides where a link leads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape, unescape
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from attrs import define, field

from myclaw_core.shown.inert import inert_answer

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["escaped", "plain_of", "to_html"]

_SCHEMES = frozenset({"http", "https"})
"""What is asked about before it opens, with its address; `tg:` acts within the app at one touch."""
_TAGS = {"strong": "b", "em": "i", "s": "s"}
_LANGUAGE = re.compile(r"[\w+#.-]{1,32}")
_ADDRESS = re.compile(r"://|@|^www\.|[\w-]\.[^\W\d_]{2,}", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")
_CELL_COLUMNS = 24
_MAX_DEPTH = 6
_RULE = "———"


def escaped(text: str) -> str:
    """Return a text as HTML that shows it as it is."""
    return escape(text, quote=False)


def plain_of(html: str) -> str:
    """Return what is read of HTML that this program made."""
    return unescape(_TAG.sub("", html))


def to_html(markdown: str) -> str:
    """Return Markdown as Telegram's HTML; what that lacks, such as tables, becomes text, and raw HTML is escaped."""
    try:
        tokens = _parser().parse(markdown)
    except Exception:  # the parser is not ours, and a message must arrive
        return escaped(markdown)
    writer = _Writer()
    for token in tokens:
        writer.block(token)
    return writer.text


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


@define
class _List:
    """A list that is open.

    Attributes:
        number: Of its next item; `None` for bullets.
        tight: Whether its items are not set apart.
    """

    number: int | None
    tight: bool = True

    def mark(self) -> str:
        """Return what the next item begins with."""
        if self.number is None:
            return "• "
        self.number += 1
        return f"{self.number - 1}. "


@define
class _Writer:
    """Writes block after block; inline content comes whole."""

    pieces: list[str] = field(factory=list)
    lists: list[_List] = field(factory=list)
    quotes: int = 0
    mark: str = ""
    row: list[str] = field(factory=list)
    rows: list[list[str]] = field(factory=list)
    in_table: bool = False
    heading: bool = False

    @property
    def text(self) -> str:
        """Return what was written."""
        return "".join(self.pieces).strip("\n")

    def block(self, token: Token) -> None:
        """Write one token of the block level."""
        handler = getattr(self, f"_{token.type}", None)
        if handler is not None:
            handler(token)

    def _begin(self) -> None:
        """Set a block apart from what stands before it, and mark the first one of an item."""
        before = "".join(self.pieces[-2:])
        if before and not before.endswith(("<blockquote>", "\n\n")):
            tight = bool(self.lists) and self.lists[-1].tight
            self.pieces.append("\n" if tight or before.endswith("\n") else "\n\n")
        depth = min(len(self.lists), _MAX_DEPTH)
        if self.mark:
            self.pieces.append("  " * (depth - 1) + self.mark)
            self.mark = ""
        elif depth:
            self.pieces.append("  " * depth)

    def _inline(self, token: Token) -> None:
        html = _inline_html(token.children or [])
        if self.in_table:
            self.row.append(plain_of(html).replace("\n", " "))
            return
        self._begin()
        self.pieces.append(f"<b>{html}</b>" if self.heading and html else html)

    def _heading_open(self, _token: Token) -> None:
        self.heading = True

    def _heading_close(self, _token: Token) -> None:
        self.heading = False

    def _fence(self, token: Token) -> None:
        self._begin()
        language = _LANGUAGE.match(unescape(token.info).strip())
        code = escaped(token.content.rstrip("\n"))
        inner = f'<code class="language-{language[0]}">{code}</code>' if language else code
        self.pieces.append(f"<pre>{inner}</pre>")

    def _code_block(self, token: Token) -> None:
        self._begin()
        self.pieces.append(f"<pre>{escaped(token.content.rstrip(chr(10)))}</pre>")

    def _hr(self, _token: Token) -> None:
        self._begin()
        self.pieces.append(_RULE)

    def _blockquote_open(self, _token: Token) -> None:
        if self.quotes == 0:  # Telegram has no quote within a quote
            self._begin()
            self.pieces.append("<blockquote>")
        self.quotes += 1

    def _blockquote_close(self, _token: Token) -> None:
        self.quotes -= 1
        if self.quotes == 0:
            self.pieces.append("</blockquote>")

    def _bullet_list_open(self, _token: Token) -> None:
        self._list(None)

    def _ordered_list_open(self, token: Token) -> None:
        self._list(int(token.attrs.get("start", 1)))

    def _list(self, number: int | None) -> None:
        if self.mark:  # a list that is the first thing in an item
            self._begin()
        self.lists.append(_List(number))

    def _bullet_list_close(self, _token: Token) -> None:
        self.lists.pop()

    _ordered_list_close = _bullet_list_close

    def _list_item_open(self, _token: Token) -> None:
        self.mark = self.lists[-1].mark()

    def _list_item_close(self, _token: Token) -> None:
        if self.mark:
            self._begin()

    def _paragraph_open(self, token: Token) -> None:
        if self.lists and not token.hidden:
            self.lists[-1].tight = False

    def _table_open(self, _token: Token) -> None:
        self.in_table, self.rows = True, []

    def _tr_open(self, _token: Token) -> None:
        self.row = []

    def _tr_close(self, _token: Token) -> None:
        self.rows.append(self.row)

    def _table_close(self, _token: Token) -> None:
        self.in_table = False
        self._begin()
        self.pieces.append(f"<pre>{escaped(_table(self.rows))}</pre>")


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as text in columns."""
    widths = [max(min(_CELL_COLUMNS, len(cell)) for cell in column) for column in zip(*rows, strict=False)]
    return "\n".join(
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows
    )


def _inline_html(tokens: Iterable[Token]) -> str:
    """Return inline content; a link is written at its end, when its text is known."""
    out: list[str] = []
    links: list[tuple[int, str]] = []
    for token in tokens:
        kind = token.type
        if kind == "link_open":
            links.append((len(out), str(token.attrs.get("href", ""))))
        elif kind == "link_close":
            start, href = links.pop()
            out[start:] = [_link("".join(out[start:]), href)]
        elif kind == "code_inline":
            out.append(f"<code>{escaped(token.content)}</code>")
        elif kind in ("softbreak", "hardbreak"):
            out.append("\n")
        elif kind == "image":
            out.append(escaped(_image(token)))
        elif kind.removesuffix("_open") in _TAGS:
            out.append(f"<{_TAGS[kind.removesuffix('_open')]}>")
        elif kind.removesuffix("_close") in _TAGS:
            out.append(f"</{_TAGS[kind.removesuffix('_close')]}>")
        else:
            out.append(escaped(inert_answer(token.content)))  # once more: `&#x202e;` is a character only now
    return "".join(out)


def _image(token: Token) -> str:
    return " ".join(filter(None, (token.content, f"({token.attrs.get('src', '')})")))


def _link(html: str, href: str) -> str:
    """Return a link; where its text looks like another address, or it leads to no web page, the address too."""
    text = plain_of(html).strip()
    if not text:
        html = text = escaped(href)
    if not _goes_somewhere(href):
        return html if _bare(text) == _bare(href) else f"{html} ({escaped(href)})"
    link = f'<a href="{escape(href)}">{html}</a>'
    return f"{link} ({escaped(href)})" if _ADDRESS.search(text) and _bare(text) != _bare(href) else link


def _goes_somewhere(href: str) -> bool:
    """Return whether an address is that of a web page."""
    try:
        address = urlsplit(href)
    except ValueError:
        return False
    return address.scheme in _SCHEMES and bool(address.netloc)


def _bare(address: str) -> str:
    """Return an address as it is often written."""
    return unquote(re.sub(r"^[a-z]+://(www\.)?|^mailto:", "", address.strip().lower())).rstrip("/")

"""What Telegram reads of the HTML of a message: its plain text, or the words of its refusal."""

from __future__ import annotations

import re

__all__ = ["HtmlError", "plain_text", "utf16_units"]

_TAGS = frozenset(
    "b strong i em u ins s strike del span tg-spoiler a code pre blockquote tg-emoji tg-time".split()  # noqa: SIM905
)
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[^\s<>/]*)(?P<attributes>[^<>]*)>?")
_ATTRIBUTES = re.compile(r"(?:\s+[\w-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[\w.-]+))?)*\s*")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_ENTITY = re.compile(r"&(?:(lt|gt|amp|quot)|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));?")


class HtmlError(Exception):
    """Raised with Telegram's words where it cannot read the markup."""


def utf16_units(text: str) -> int:
    """Return the length of a text as Telegram counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def plain_text(html: str) -> str:
    """Return the text of a message in Telegram's HTML.

    Raises:
        HtmlError: A tag is unknown, not closed or closed out of order.
    """
    pieces: list[str] = []
    opened: list[str] = []
    at = 0
    while (start := html.find("<", at)) >= 0:
        pieces.append(_unescaped(html[at:start]))
        found = _TAG.match(html, start)
        offset = len(html[:start].encode())
        if found is None or found.end("name") == len(html):
            raise HtmlError(f"Unclosed start tag at byte offset {offset}")
        _read_tag(found, offset, opened)
        at = found.end()
    if opened:
        raise HtmlError(f'Can\'t find end tag corresponding to start tag "{opened[-1]}"')
    return "".join([*pieces, _unescaped(html[at:])])


def _read_tag(found: re.Match[str], offset: int, opened: list[str]) -> None:
    name = found["name"].lower()
    if found["end"]:
        if not opened:
            raise HtmlError(f"Unexpected end tag at byte offset {offset}")
        expected = opened.pop()
        if name and name != expected:
            raise HtmlError(f'Unmatched end tag at byte offset {offset}, expected "</{expected}>", found "</{name}>"')
        return
    if name not in _TAGS:
        raise HtmlError(f'Unsupported start tag "{name}" at byte offset {offset}')
    if not found.group().endswith(">") or not _ATTRIBUTES.fullmatch(found["attributes"]):
        raise HtmlError(f"Unexpected end of name token at byte offset {offset}")
    if name == "span" and not re.search(r"class\s*=\s*[\"']?tg-spoiler", found["attributes"]):
        raise HtmlError(f'Tag "span" must have class "tg-spoiler" at byte offset {offset}')
    opened.append(name)


def _unescaped(text: str) -> str:
    def replace(found: re.Match[str]) -> str:
        named, decimal, hexadecimal = found.groups()
        if named:
            return _ENTITIES[named]
        code = int(decimal) if decimal else int(hexadecimal, 16)
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else found.group()

    return _ENTITY.sub(replace, text)

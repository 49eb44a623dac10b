"""What a page says, as text: which content can be read, in which characters, and HTML as Markdown."""

from __future__ import annotations

import codecs
import re
from email.message import Message

from attrs import frozen

from myclaw_core.errors import ToolFailure
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_

__all__ = ["Page", "is_readable", "read_page"]

_TEXT = re.compile(r"text/.+|application/(?:json|xml|javascript|ecmascript|x-ndjson|yaml|toml|x-yaml)|.+\+(?:json|xml)")
_HTML = frozenset({"text/html", "application/xhtml+xml"})
# Possessive, so that a page of comments cannot be read in more than one way.
_LOOKS_LIKE_HTML = re.compile(
    r"\s*+(?:<!--(?:(?!-->).)*+-->\s*+)*+<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
_HEAD_BYTES = 2048
# The encodings of the web; the other codecs of Python are slow on hostile input, or no encodings of text at all.
_CODECS = re.compile(
    r"utf-8|utf-16(?:-[bl]e)?|ascii|iso8859-\d+|cp(?:125\d|866|874|949|932)|koi8-[ru]|mac-(?:roman|cyrillic)"
    r"|gbk|gb2312|gb18030|big5(?:hkscs)?|euc_(?:jp|kr)|shift_jis|iso2022_jp"
)
_WESTERN = frozenset({"ascii", "iso8859-1"})  # both mean windows-1252 on the web
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# A table cell may claim a million columns; Markdown would write them all out.
_WIDE_SPAN = re.compile(r"\b(col|row)span(\s*=\s*[\"']?\s*)\d{3,}", re.IGNORECASE)
_MAX_TITLE_CHARS = 200
_LITTLE_CHARS = 200


@frozen(kw_only=True)
class Page:
    """The text of a page.

    Attributes:
        title: One line; empty where there is none.
        note: What could not be read of it; empty where nothing.
    """

    text: str
    title: str = ""
    note: str = ""


def is_readable(content_type: str) -> bool:
    """Return whether a content type is one of text; one that is missing may be."""
    kind = _kind(content_type)
    return not kind or bool(_TEXT.fullmatch(kind))


def read_page(body: bytes, content_type: str, url: str, *, raw: bool = False) -> Page:
    """Return the text of `body`, with invisible characters other than tabs and line breaks written out.

    Args:
        content_type: The header as it came.
        url: Where it came from; relative links are read against it.
        raw: Whether HTML stays as it is.

    Raises:
        ToolFailure: It is no text after all.
    """
    kind = _kind(content_type)
    source = _decoded(body, content_type).replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in source:
        raise ToolFailure(N_("the page is not text; it cannot be read here"))
    is_html = kind in _HTML or (not kind and _LOOKS_LIKE_HTML.match(source))
    page = _from_html(source, url) if is_html and not raw else Page(text=source)
    title = visible(" ".join(page.title.split()))
    return Page(text=visible(page.text, keep="\n\t").strip(), title=title[:_MAX_TITLE_CHARS], note=page.note)


def _from_html(source: str, url: str) -> Page:
    page = _converted(source, url, without=["nav", "footer"])
    if len(page.text) < _LITTLE_CHARS:
        return _converted(source, url, without=[])
    return page


def _converted(source: str, url: str, *, without: list[str]) -> Page:
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    options = ConversionOptions(
        preprocessing=PreprocessingOptions(preset="minimal"),
        base_url=url,
        exclude_selectors=without,
        inline_data_media="alt_text_only",
    )
    try:
        result = convert(_WIDE_SPAN.sub(r"\1span\g<2>1", source), options)
    except Exception as error:  # whatever a page makes the converter raise, it is about that page
        raise ToolFailure(N_("the page could not be turned into text; with raw its source is returned")) from error
    note = "parts of the page could not be read, for example what is nested too deeply" if result.warnings else ""
    return Page(text=_without_front_matter(result.content or ""), title=result.metadata.document.title or "", note=note)


def _without_front_matter(markdown: str) -> str:
    if not markdown.startswith("---\n"):
        return markdown
    return markdown.partition("\n---\n")[2]


def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _decoded(body: bytes, content_type: str) -> str:
    """Return `body` as text: by its mark, its header, its own declaration, or by what fits."""
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(codec, errors="replace")
    codec = _codec(_charset(content_type)) or _codec(_declared(body))
    if codec:
        return body.decode(codec, errors="replace")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(body)  # it forgives a character that was cut at the end
    except UnicodeDecodeError:
        return body.decode("cp1252", errors="replace")


def _charset(content_type: str) -> str:
    header = Message()
    header["content-type"] = content_type
    return header.get_content_charset("")


def _declared(body: bytes) -> str:
    found = _META_CHARSET.search(body[:_HEAD_BYTES])
    return found.group(1).decode("ascii") if found else ""


def _codec(charset: str) -> str:
    """Return Python's name of a charset of the web; empty where it is none."""
    try:
        name = codecs.lookup(charset).name if charset else ""
    except (LookupError, ValueError, UnicodeError):
        return ""
    if name in _WESTERN:
        return "cp1252"
    return name if _CODECS.fullmatch(name) else ""

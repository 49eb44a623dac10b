"""The local Bot API server refuses what Telegram refuses, in its words: tests against it mean something."""

from __future__ import annotations

import pytest
from bot_api import BotApi
from bot_api_html import HtmlError, plain_text, utf16_units
from myclaw_telegram.api import Api, ConflictError


@pytest.mark.parametrize(
    ("html", "read"),
    [
        ("plain", "plain"),
        ("<b>a</b> <I>b</I>", "a b"),
        ("<pre><code class=\"language-py\">x &lt; y</code></pre>", "x < y"),
        ("<a href='https://x.org/?a=1&amp;b'>x</a>", "x"),
        ("<span class=\"tg-spoiler\">s</span><tg-spoiler>t</tg-spoiler>", "st"),
        ("<blockquote expandable>q</blockquote>", "q"),
        ("a & b &nbsp; &amp;amp; &quot;&#65;&#x42;", "a & b &nbsp; &amp; \"AB"),
        ("a > b", "a > b"),
    ],
)  # fmt: skip
def test_markup_is_read_as_telegram_reads_it(html: str, read: str) -> None:
    assert plain_text(html) == read


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("a < b", 'Unsupported start tag "" at byte offset 2'),
        ("é<a@b.c>", 'Unsupported start tag "a@b.c" at byte offset 2'),
        ("<p>x</p>", 'Unsupported start tag "p"'),
        ("<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
        ("<b><i>x</b></i>", 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("<b", "Unclosed start tag at byte offset 0"),
        ("<span>x</span>", 'Tag "span" must have class "tg-spoiler"'),
        ("<a href=>x</a>", "Unexpected end of name token"),
    ],
)
def test_markup_that_telegram_cannot_read_is_refused(html: str, words: str) -> None:
    with pytest.raises(HtmlError) as refused:
        plain_text(html)
    assert str(refused.value).startswith(words)


def test_lengths_are_counted_in_utf16_units() -> None:
    assert [utf16_units(text) for text in ("", "a", "é", "😀", "👩\u200d👩")] == [0, 1, 1, 2, 5]


async def test_an_offset_confirms_what_lies_before_it_and_nothing_else(server: BotApi, api: Api) -> None:
    ada = server.user(7)
    one, two, three = (ada.says(word) for word in ("one", "two", "three"))

    assert await api.get_updates(None, 0) == [one, two, three]
    assert await api.get_updates(two["update_id"], 0) == [two, three]
    assert await api.get_updates(None, 0) == [two, three]
    assert await api.get_updates(-1, 0) == [three]
    assert server.pending == [three]


async def test_a_hundred_updates_come_at_once(server: BotApi, api: Api) -> None:
    ada = server.user(7)
    said = [ada.says(str(number)) for number in range(101)]

    assert await api.get_updates(None, 0) == said[:100]


async def test_while_a_web_hook_is_set_there_are_no_updates_until_it_is_deleted(server: BotApi, api: Api) -> None:
    server.webhook = "https://example.org/hook"
    with pytest.raises(ConflictError):
        await api.get_updates(None, 0)

    server.answer("deleteWebhook", {})

    assert await api.get_updates(None, 0) == []

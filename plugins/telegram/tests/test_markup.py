"""What a model writes is shown as it is meant, always arrives, and steers nothing."""

from __future__ import annotations

import pytest
from bot_api_html import plain_text
from hypothesis import given, settings
from hypothesis import strategies as st
from myclaw_telegram.markup import to_html
from nasty_strings import NASTY


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("**b** *i* ~~s~~ `c`", "<b>b</b> <i>i</i> <s>s</s> <code>c</code>"),
        ("# Title\ntext", "<b>Title</b>\n\ntext"),
        ("```py\na < b\n```", '<pre><code class="language-py">a &lt; b</code></pre>'),
        ("```\nx\n```", "<pre>x</pre>"),
        ("> quote\n> > inner", "<blockquote>quote\n\ninner</blockquote>"),
        ("- a\n- b\n  1. c\n  2. d", "• a\n• b\n  1. c\n  2. d"),
        ("3. a\n4. b", "3. a\n4. b"),
        ("a\n\nb  \nc\nd", "a\n\nb\nc\nd"),
        ("| a | b |\n|---|---|\n| 1 | 22 |", "<pre>a | b\n1 | 22</pre>"),
        ("---", "———"),
        ("<b>x</b> &amp; <script>", "&lt;b&gt;x&lt;/b&gt; &amp; &lt;script&gt;"),
        ("![cat](http://x/c.png)", "cat (http://x/c.png)"),
    ],
)
def test_markdown_becomes_what_telegram_can_show(markdown: str, html: str) -> None:
    """The rest becomes text."""
    assert to_html(markdown) == html


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("[here](https://a.org/x)", '<a href="https://a.org/x">here</a>'),
        ("[yes](tg://resolve?domain=other)", "yes (tg://resolve?domain=other)"),
        ("<https://a.org>", '<a href="https://a.org">https://a.org</a>'),
        ("[bank.com](https://evil.org)", '<a href="https://evil.org">bank.com</a> (https://evil.org)'),
        ("[https://bank.com](https://evil.org)", '<a href="https://evil.org">https://bank.com</a> (https://evil.org)'),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("[x](file:///etc/passwd)", "[x](file:///etc/passwd)"),
        ("[x](mailto:a@b.c)", "x (mailto:a@b.c)"),
        ("<a@b.c>", "a@b.c"),
        ("[x](/etc)", "x (/etc)"),
        ('[x](https://a.org/"><b>)', '<a href="https://a.org/%22%3E%3Cb%3E">x</a>'),
    ],
)
def test_a_link_never_hides_where_it_leads(markdown: str, html: str) -> None:
    """Only web addresses and Telegram's own are links, and a text that looks like another address has it beside it."""
    assert to_html(markdown) == html


@pytest.mark.parametrize("text", NASTY)
def test_thirty_nasty_strings_are_valid_html(text: str) -> None:
    """Telegram would read each of them."""
    plain_text(to_html(text))


MARKS = "* _ ** ~~ ` ``` > - 1. | |-| [ ]( ) < > </ & # ! http:// \\ tg:// a"
PIECES = st.sampled_from([*MARKS.split(" "), "\n", "\n\n", "  "]) | st.text(max_size=5)


@settings(max_examples=500, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_input_gives_valid_html(text: str) -> None:
    """Every tag is known, closed, and closed in order."""
    plain_text(to_html(text))

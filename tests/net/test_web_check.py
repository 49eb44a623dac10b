"""`policy check` on URLs: what is odd, private or hidden is denied before anything is looked up."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def check(open_agent):
    """Judge one URL at level full, as the command does."""

    async def checked(url: str, text: str = ""):
        from myclaw_core.cli import policy

        async def lookup(host: str, port: int):
            raise AssertionError(f"{host} was looked up")

        async with open_agent(lookup=lookup) as agent:
            line = {"tool": "web_fetch", "args": {"url": url}, "autonomy": "full", "text": text}
            return await policy._judge(agent, policy._read(json.dumps(line).encode()), (), None)

    return checked


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0251.0376.0251.0376/",
        "http://169.254.43518/",
        "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://metadata.google.internal./computeMetadata/v1/",
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://017700000001/",
        "http://localhost./",
        "http://LOCALHOST:8080/",
        "http://x.localhost/",
        "http://１２７。0。0。1/",
        "http://[::1]/",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://[::127.0.0.1]/",
        "http://[fec0::1]/",
        "http://0/",
        "http://10.0.0.1:8080/",
        "169.254.169.254",
    ],
)
async def test_a_private_address_in_any_spelling_is_denied_also_where_it_was_named(check, url: str) -> None:
    decision = await check(url, text=f"fetch {url}")
    assert (decision.verdict, decision.via) == ("deny", "forbidden")


@pytest.mark.parametrize(
    "url",
    [
        "http://ok.org@evil.test/",
        "https://user:password@ok.org/",
        "https://ok.org\\@evil.test/",
        "https://ok.org\t.evil.test/",
        "https://ok.org/\u202egnp.exe",
        "https://[fe80::1%25eth0]/",
        "https://straße.example/",
        "https://a..b/",
        "file:///etc/passwd",
        "ftp://ok.org/",
        "gopher://ok.org/",
        "//ok.org/",
        "https://",
        "data:text/html,x",
    ],
)
async def test_a_url_that_can_mislead_is_denied(check, url: str) -> None:
    assert (await check(url, text="read ok.org")).verdict == "deny"


@pytest.mark.parametrize(
    ("url", "text", "effect_class"),
    [
        ("https://ok.org/a?b=c#d", "read ok.org", "network_in:ok.org"),
        ("https://OK.org.:443/", "read https://ok.org/x", "network_in:ok.org"),
        ("https://bücher.example/", "read bücher.example", "network_in:xn--bcher-kva.example"),
        ("https://ok.org/", "", "network_out:ok.org"),
        ("https://ok.org:8443/", "read ok.org", "network_out:ok.org:8443"),
        ("https://sub.ok.org/", "read ok.org", "network_out:sub.ok.org"),
        ("https://ok.org.evil.test/", "read ok.org", "network_out:ok.org.evil.test"),
        ("https://оk.org/", "read ok.org", "network_out:xn--k-0tb.org"),  # a Cyrillic letter
        ("https://evil.test/?u=https://ok.org/", "read https://ok.org/", "network_out:evil.test"),
        ("https://evil.test/", "write to me@evil.test", "network_out:evil.test"),
        ("https://3.0.0.14/", "it costs 3.14", "network_out:3.0.0.14"),
    ],
)
async def test_a_url_is_reading_only_on_a_host_that_was_typed(check, url: str, text: str, effect_class: str) -> None:
    decision = await check(url, text=text)
    assert decision.effect_class == effect_class
    assert decision.verdict == "allow"  # level full, and no text from outside

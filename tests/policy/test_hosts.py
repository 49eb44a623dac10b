"""The literal host of a URL."""

from __future__ import annotations

import pytest
from spoken import untranslatable

from myclaw_core.policy.hosts import HostRefusedError, literal_host, literal_url


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.COM/a", "example.com"),
        ("https://example.com.:443/", "example.com"),
        ("http://example.com:443/", "example.com:443"),
        ("http://example.com:80/", "example.com"),
        ("example.com", "example.com"),
        ("example.com:8080/a", "example.com:8080"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://2130706433/", "127.0.0.1"),
        ("http://0177.0.0.01:8080/", "127.0.0.1:8080"),
        ("http://[::1]:8080/", "[::1]:8080"),
        ("http://[0:0::0001]/", "[::1]"),
        ("http://[::FFFF:169.254.169.254]/", "[::ffff:a9fe:a9fe]"),
        ("http://１２７.0.0.1/", "127.0.0.1"),
    ],
)
def test_a_host_has_one_form(url: str, host: str) -> None:
    assert literal_host(url) == host


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://",
        "ftp://example.com/",
        "file:///etc/passwd",
        "https://ok.org@evil.com/",
        "https://user:pw@example.com/",
        "https://a.com\\@b.com",
        "https://a.com/\nb",
        "https://a .com/",
        "https://a.com/\u202e",
        "https://a..com/",
        "https://-a.com/",
        "https://%65vil.com/",
        "http://256.1.1.1/",
        "http://1.2.3.4.5/",
        "http://a.1/",
        "http://09.1.1.1/",
        "http://[::1/",
        "http://[fe80::1%25eth0]/",
        "http://[v1.a]/",
        "http://straße.example/",
        "http://a.com:99999/",
        "http://" + "ü" * 80 + ".com/",
    ],
)
def test_an_unclear_host_is_refused(url: str) -> None:
    with pytest.raises(HostRefusedError) as refused:
        literal_host(url)
    assert untranslatable(refused.value.text) == []
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://Example.com:443/A?b=c#d", "https://example.com/A?b=c#d"),
        ("example.com:8080/a", "example.com:8080/a"),
        ("https://оk.org/", "https://xn--k-0tb.org/"),
        ("http://2130706433/a", "http://127.0.0.1/a"),
        ("http://[0::1]:81/", "http://[::1]:81/"),
    ],
)
def test_a_url_is_shown_with_its_literal_host(url: str, shown: str) -> None:
    """A Cyrillic letter in place of a Latin one shows."""
    assert literal_url(url) == shown
    assert literal_host(shown) == literal_host(url)

"""The literal host of a URL."""

from __future__ import annotations

import pytest

from myclaw_core.policy.hosts import literal_host


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
        "http://a.com:99999/",
        "http://" + "ü" * 80 + ".com/",
    ],
)
def test_an_unclear_host_is_refused(url: str) -> None:
    with pytest.raises(ValueError):
        literal_host(url)

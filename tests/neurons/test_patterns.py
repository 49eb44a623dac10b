"""What a pattern covers, compared with what others make of the same texts."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from myclaw_core.neurons.analysis.coherence import covers
from myclaw_core.neurons.analysis.strings import KnownText
from myclaw_core.neurons.capabilities import Capability
from myclaw_core.neurons.patterns import PathPattern, covers_url, matches

SHORT = st.text(alphabet="ab*/\n.", max_size=12)
NAMES = st.lists(st.sampled_from(["a", "b", "ab", "a*b", "..a", "\n"]), max_size=4)
URLS = st.one_of(
    st.text(alphabet="htps:/\\@.aeg%2?#*[]\t 0", max_size=40).map(lambda rest: "https://" + rest),
    st.builds(
        lambda scheme, host, rest: f"{scheme}://{host}{rest}",
        st.sampled_from(["http", "https", "HTTPS", "ftp", "file"]),
        st.sampled_from(["a.eg", "b.a.eg", "a.eg.", "xa.eg", "a.eg.evil.eg", "evil.eg", "a.eg@evil.eg", "A.EG", ""]),
        st.sampled_from(
            ["", "/", "/v1", "/v1/x", "/v1?q=1", "/v1/../x", "/v1/%2e%2E/x", ":443/v1", ":8/", "\\@evil", "#x"]
        ),
    ),
)


@given(SHORT, SHORT)
def test_a_star_stands_for_anything(pattern: str, text: str) -> None:
    """As a regular expression sees it, which would take much longer over many stars."""
    expression = ".*".join(map(re.escape, pattern.split("*")))

    assert matches(pattern, text) == (re.fullmatch(expression, text, re.DOTALL) is not None)


def test_many_stars_take_no_time() -> None:
    """A regular expression would not come to an end with these."""
    assert not matches("*a" * 250 + "b", "a" * 100_000)


@pytest.mark.parametrize(
    ("pattern", "covered", "not_covered"),
    [
        ("~/notes/*", ["~/notes/a", "~/notes/a/b", "~/notes/"], ["~/notes", "~/notes2/a", "~/note", "/notes/a"]),
        ("~/notes", ["~/notes", "~/notes/a", "~/notes/a/b"], ["~/notes2", "~/note", "~"]),
        ("~/notes/", ["~/notes", "~/notes/a"], ["~/notes2"]),
        ("~/n*", ["~/n", "~/notes", "~/notes/a"], ["~/m", "~"]),
        ("~/*.csv", ["~/a.csv", "~/a/b.csv"], ["~/a.csv.bak", "~/csv"]),
        ("~", ["~", "~/a"], ["/a", "~a"]),
        ("/", ["/", "/a"], ["~"]),
        ("/*", ["/", "/a/b"], ["~/a"]),
        ("/data/2*/x*", ["/data/2026/x", "/data/2/3/xyz"], ["/data/2026/y", "/data/1/x"]),
    ],
)
def test_a_path_is_covered_or_not(pattern: str, covered: list[str], not_covered: list[str]) -> None:
    """The analysis says the same."""
    for path, expected in [*((path, True) for path in covered), *((path, False) for path in not_covered)]:
        assert PathPattern.of(pattern).covers(path) == expected, path
        if not path.endswith("/") or path == "/":
            assert covers(Capability("fs-read", pattern), KnownText(path)) == expected, path


@given(NAMES, NAMES, st.sampled_from(["", "*", "a*", "*b"]))
def test_nothing_outside_the_folder_of_a_pattern_is_covered(folder: list[str], path: list[str], rest: str) -> None:
    """A folder whose own name holds a star, as a link may lead to one, means just that folder."""
    pattern = PathPattern("".join(f"/{name}" for name in folder), rest or None)

    if pattern.covers("".join(f"/{name}" for name in path) or "/"):
        assert path[: len(folder)] == folder


@pytest.mark.parametrize(
    ("pattern", "covered", "not_covered"),
    [
        (
            "a.eg",
            [
                "https://a.eg",
                "http://a.eg/",
                "https://a.eg/x?y=1",
                "https://a.eg:443/x",
                "http://a.eg:80",
                "https://a.eg/#x",
            ],
            [
                "https://b.a.eg/",
                "https://a.eg.evil.eg/",
                "https://a.eg:8443/",
                "https://a.eg@evil.eg/",
                "a.eg",
                "ftp://a.eg/",
            ],
        ),
        (
            "https://a.eg/v1",
            ["https://a.eg/v1", "https://a.eg/v1/x", "https://a.eg/v1?x=1", "https://a.eg/v1/"],
            ["https://a.eg/v12", "http://a.eg/v1", "https://a.eg/", "https://a.eg/v1/../x", "https://a.eg/v1/%2E%2e/x"],
        ),
        ("https://a.eg/v1/*", ["https://a.eg/v1/x", "https://a.eg/v1/"], ["https://a.eg/v1", "https://a.eg/v2/"]),
        (
            "*.a.eg",
            ["https://b.a.eg/", "https://c.b.a.eg/x"],
            [
                "https://a.eg/",
                "https://evil.eg/x.a.eg",
                "https://xa.eg/",
                "https://evil.eg?b.a.eg",
                "https://evil.eg#b.a.eg",
            ],
        ),
        ("a.eg:8080", ["http://a.eg:8080/x", "https://a.eg:8080"], ["http://a.eg/x", "http://a.eg:80/"]),
        (
            "https://a.eg",
            [],
            [
                "https://a.eg\\@evil.eg/",
                "https://a.eg\t/",
                "https://a.eg/ x",
                " https://a.eg/",
                "HTTPS://a.eg/",
                "https://A.eg/",
            ],
        ),
    ],
)
def test_a_url_is_covered_or_not(pattern: str, covered: list[str], not_covered: list[str]) -> None:
    """The analysis says the same."""
    for url, expected in [*((url, True) for url in covered), *((url, False) for url in not_covered)]:
        assert covers_url(pattern, url) == expected, url
        assert covers(Capability("network", pattern), KnownText(url)) == expected, url


@given(URLS, st.sampled_from(["a.eg", "*.a.eg", "https://a.eg/v1", "https://a.eg/v1/*", "http://*.a.eg:8/*"]))
@example("https://evil.eg/x.a.eg", "*.a.eg")
def test_a_url_that_is_covered_goes_to_the_host_of_the_pattern(url: str, pattern: str) -> None:
    """Whatever is made of it by the library that others read URLs with."""
    if not covers_url(pattern, url):
        return
    parts = urlsplit(url)
    assert parts.scheme in ("http", "https")
    assert parts.username is None
    assert parts.hostname is not None
    assert parts.hostname.endswith(".a.eg") if "*." in pattern else parts.hostname == "a.eg"
    assert ".." not in unquote(parts.path).split("/")
    if "/v1" in pattern:
        assert parts.path.startswith("/v1")


@pytest.mark.parametrize("start", ["", "~", "~/", "~/notes", "~/notes/", "~/notes/x"])
def test_the_known_beginning_of_a_path_may_be_covered(start: str) -> None:
    """What follows is seen at the call."""
    assert covers(Capability("fs-read", "~/notes/*"), KnownText(start, whole=False))
    assert not covers(Capability("fs-read", "~/notes/*"), KnownText(f"/etc{start}", whole=False))

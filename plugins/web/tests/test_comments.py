"""A page of nothing but comments is told apart from a page of HTML without trying every way to read it."""

from myclaw_web.page import _LOOKS_LIKE_HTML


def test_comments_are_read_in_one_way_only() -> None:
    assert _LOOKS_LIKE_HTML.match("<!---->" * 5000 + "x") is None
    assert _LOOKS_LIKE_HTML.match(" <!-- a --> <!-- b -- c -->\n<html>")
    assert _LOOKS_LIKE_HTML.match("<!doctype  html><p>")
    assert _LOOKS_LIKE_HTML.match("<!-- never closed <html>") is None

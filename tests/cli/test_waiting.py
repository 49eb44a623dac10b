"""What takes seconds shows that it goes on, on a terminal alone."""

from __future__ import annotations

import io
from contextlib import suppress

import pytest

from myclaw_core.cli.waiting import waiting


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


def test_the_line_stands_while_it_lasts_and_is_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where what was waited for failed."""
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    during = ""
    with suppress(ValueError), waiting("its tests run …"):
        during = shown.getvalue()
        raise ValueError

    assert during == "its tests run …"
    assert shown.getvalue() == "its tests run …\r\x1b[K"


def test_a_line_that_is_told_meanwhile_stands_above_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    with waiting("its tests run …") as tell:
        tell("passed")

    assert capsys.readouterr().out == "passed\n"
    assert shown.getvalue() == "its tests run …\r\x1b[Kits tests run …\r\x1b[K"


def test_where_nobody_reads_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting("its tests run …"):
        pass

    assert capsys.readouterr() == ("", "")

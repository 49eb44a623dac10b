"""Log lines reach a person once, and through the channel as soon as there is one."""

import asyncio
import logging
from collections.abc import Iterator

import pytest

from myclaw_core.cli.log import LogLines


@pytest.fixture
def lines() -> Iterator[LogLines]:
    """A handler that is taken away again."""
    with LogLines(hold=True) as handler:
        yield handler


async def test_lines_go_where_the_screen_is_not_torn_also_from_threads(
    lines: LogLines, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[str] = []
    log = logging.getLogger("myclaw.test")
    log.warning("told as a notice")
    log.warning("held")
    lines.unhold(["told as a notice"], show=shown.append)
    log.warning("later")
    log.warning("later")
    await asyncio.to_thread(log.warning, "from a thread")
    await asyncio.sleep(0)
    assert shown == ["myclaw: held", "myclaw: later", "myclaw: from a thread"]
    assert capsys.readouterr().err == ""


def test_without_a_channel_they_go_to_stderr(lines: LogLines, capsys: pytest.CaptureFixture[str]) -> None:
    logging.getLogger("myclaw.test").warning("held")
    lines.unhold()
    assert capsys.readouterr().err == "myclaw: held\n"

"""At night changes ask; by day, and for reading, the plugin has no opinion."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from myclaw_quiet_hours.config import SCHEMA
from myclaw_quiet_hours.gate import is_quiet
from myclaw_quiet_hours.plugin import myclaw_check, myclaw_config

from myclaw_core.host import Host
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Effect

HOURS = st.integers(0, 23)


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    """The plugin's services, with its defaults, in a place that is at UTC."""
    monkeypatch.setenv("TZ", "UTC")
    config = {key.name: key.default for key in SCHEMA.keys}
    return Host(plugin="quiet_hours", config=config, home=Home.at(tmp_path), clock=FakeClock(), emit=pytest.fail)


def action(kind: Any = "fs_write") -> PlannedAction:
    return PlannedAction.from_tool_call(
        tool_name="any",
        args={},
        args_preview={},
        effects=(Effect(kind=kind, scope="", target="/home/rosa/a.md", reversibility="reversible"),),
        sender="cli:me",
        trace_id=UUID(int=1),
        session_id="s",
        autonomy="full",
        planned_at=FakeClock().now(),
    )


def at(host: Host, hour: int, minute: int = 0) -> None:
    assert isinstance(host.clock, FakeClock)
    host.clock.set(datetime(2026, 1, 5, hour, minute, tzinfo=UTC))


@pytest.mark.parametrize(("hour", "minute"), [(22, 0), (23, 59), (0, 0), (6, 59)])
def test_a_change_at_night_asks_and_says_why(host: Host, hour: int, minute: int) -> None:
    at(host, hour, minute)

    finding = myclaw_check(action(), host)

    assert finding is not None
    assert finding.verdict == "approve_required"
    assert str(finding.text) == "quiet hours from 22:00 until 7:00: nothing is changed without a question"


@pytest.mark.parametrize(("hour", "minute"), [(7, 0), (12, 0), (21, 59)])
def test_by_day_the_plugin_has_no_opinion(host: Host, hour: int, minute: int) -> None:
    at(host, hour, minute)

    assert myclaw_check(action(), host) is None


def test_reading_at_night_needs_no_question(host: Host) -> None:
    at(host, 3)

    assert myclaw_check(action("fs_read"), host) is None


def test_the_hours_are_those_of_the_machine(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    at(host, 15)  # midnight in Tokyo

    assert myclaw_check(action(), host) is not None


@given(HOURS, HOURS, HOURS)
def test_an_hour_is_quiet_or_not_as_on_a_clock_face(hour: int, begins: int, ends: int) -> None:
    walked = []
    while begins != ends:
        walked.append(begins)
        begins = (begins + 1) % 24

    assert is_quiet(hour, walked[0] if walked else ends, ends) == (hour in walked)


def test_the_hours_must_be_on_the_clock() -> None:
    assert all((key.minimum, key.maximum) == (0, 23) for key in myclaw_config().keys)

"""What the person agreed to is bound to the files that are installed, and nobody else can write it."""

from __future__ import annotations

import hmac
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from myclaw_core import codec
from myclaw_core.compose import load_plugins
from myclaw_core.events.keys import load_or_create_key
from myclaw_core.paths import Home
from myclaw_core.plugins import Consent, ConsentBook, FoundPlugin, PluginReport, find_plugins
from myclaw_core.testing import FakeClock

Install = Callable[..., Path]


def found(name: str = "weather") -> FoundPlugin:
    return next(plugin for plugin in find_plugins() if plugin.name == name)


def agree(home: Home, plugin: FoundPlugin) -> None:
    consent = Consent(
        plugin=plugin.name,
        distribution=plugin.distribution,
        version=plugin.version,
        digest=plugin.fingerprint().digest,
        at=FakeClock().now(),
    )
    ConsentBook(home).give(consent)


def report(home: Home, name: str = "weather") -> PluginReport:
    return next(each for each in load_plugins(home).reports if each.name == name)


@pytest.fixture
def weather(install: Install, home: Home) -> Path:
    """A plugin that the person agreed to, by its package folder."""
    package = install("weather", "myclaw-weather", "@hookimpl\ndef myclaw_config(): return None")
    agree(home, found())
    return package


def test_what_the_person_agreed_to_is_loaded(weather: Path, home: Home) -> None:
    assert (report(home).state, report(home).hooks) == ("on", ("myclaw_config",))


def test_only_the_owner_can_read_the_record_and_its_key(weather: Path, home: Home) -> None:
    for file in (home.state / "plugins.consent", home.keys / "plugins.key"):
        assert file.stat().st_mode & 0o777 == 0o600


def test_a_consent_that_is_taken_back_is_gone_and_others_stay(weather: Path, install: Install, home: Home) -> None:
    install("clock", "myclaw-clock")
    agree(home, found("clock"))

    ConsentBook(home).revoke("weather")

    assert report(home).state == "new"
    assert report(home, "clock").state == "on"


def _append(path: Path) -> None:
    path.write_text(path.read_text() + "\n")


def _link(path: Path) -> None:
    (path.parent / "real").write_text("")
    path.unlink()
    path.symlink_to("real")


@pytest.mark.parametrize(
    "change",
    [
        lambda package: _append(package / "plugin.py"),
        lambda package: _append(package / "plugin.toml"),
        lambda package: (package / "plugin.py").unlink(),
        lambda package: _link(package / "plugin.py"),
        lambda package: (package / "more.py").write_text(""),
        lambda package: (package / "data").mkdir() or (package / "data" / "x.bin").write_bytes(b"\0"),
        lambda package: (package / "plugin").symlink_to("/tmp"),
        lambda package: os.mkfifo(package / "pipe"),
        lambda package: _append(next(package.parent.glob("myclaw_weather*/RECORD"))),
        lambda package: _append(next(package.parent.glob("myclaw_weather*/entry_points.txt"))),
    ],
)
def test_any_change_of_its_files_makes_it_new_again_and_nothing_of_it_is_run(
    weather: Path, home: Home, change: Callable[[Path], Any]
) -> None:
    change(weather)

    assert report(home).state == "new"
    assert str(report(home).error).startswith("changed since you agreed: ")
    assert "'myclaw plugins enable weather'" in str(report(home).hint)
    assert "fake_myclaw_weather" not in sys.modules


def test_compiled_files_of_python_are_no_change(weather: Path, home: Home) -> None:
    (weather / "__pycache__").mkdir()
    (weather / "__pycache__" / "plugin.cpython-311.pyc").write_bytes(b"\0")

    assert report(home).error is None


@pytest.mark.parametrize(
    ("name", "old", "new", "error"),
    [
        ("METADATA", "Version: 1.2", "Version: 1.3", "version 1.2 became 1.3"),
        ("METADATA", "myclaw-weather", "other-weather", "myclaw-weather offered it, now other-weather does"),
    ],
)
def test_another_version_or_distribution_is_named(
    weather: Path, home: Home, name: str, old: str, new: str, error: str
) -> None:
    file = next(weather.parent.glob(f"myclaw_weather*/{name}"))
    file.write_text(file.read_text().replace(old, new))

    assert str(report(home).error) == f"changed since you agreed: {error}"


def forged(home: Home, body: bytes, key: bytes) -> bytes:
    mac = hmac.digest(key, b"myclaw plugins.consent\n" + body, "sha256").hex().encode()
    return body + b"\n" + mac + b"\n"


def test_a_record_that_somebody_else_wrote_enables_nothing(weather: Path, install: Install, home: Home) -> None:
    """Also one that is well-formed and signed, but with another key."""
    install("clock", "myclaw-clock", "raise SystemExit")
    plugin = found("clock")
    consents = {"plugin": "clock", "distribution": "myclaw-clock", "version": "1.2", "at": "2026-01-05T09:00:00Z"}
    body = codec.dumps({"given": [{**consents, "digest": plugin.fingerprint().digest}]})
    (home.state / "plugins.consent").write_bytes(forged(home, body, b"k" * 32))

    for name in ("weather", "clock"):
        assert report(home, name).state == "new"
        assert "was not written by 'myclaw plugins'" in str(report(home, name).error)
    assert "fake_myclaw_clock" not in sys.modules


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(data=st.data())
def test_no_change_of_the_record_is_taken_for_consent(weather: Path, home: Home, data: st.DataObject) -> None:
    file = home.state / "plugins.consent"
    good = file.read_bytes()
    at = data.draw(st.integers(0, len(good) - 2))
    file.write_bytes(good[:at] + bytes([good[at] ^ data.draw(st.integers(1, 255))]) + good[at + 1 :])

    assert ConsentBook(home).of("weather") is None
    file.write_bytes(good)


def test_a_damaged_record_is_kept_aside_when_the_person_agrees_again(weather: Path, home: Home) -> None:
    file = home.state / "plugins.consent"
    file.write_bytes(b"damaged")

    agree(home, found())

    assert report(home).state == "on"
    assert file.with_suffix(".refused").read_bytes() == b"damaged"


def test_a_signed_record_of_a_later_version_is_refused_not_guessed(weather: Path, home: Home) -> None:
    body = b'{"schema_version":"2.0","given":[]}'
    (home.state / "plugins.consent").write_bytes(forged(home, body, load_or_create_key(home.keys / "plugins.key")))

    assert "does not hold" in str(report(home).error)


def test_a_consent_for_what_is_no_longer_there_says_nothing(weather: Path, home: Home) -> None:
    for path in (*weather.iterdir(), weather, *(info := next(weather.parent.glob("*.dist-info"))).iterdir(), info):
        path.rmdir() if path.is_dir() else path.unlink()

    assert "weather" not in {each.name for each in load_plugins(home).reports}

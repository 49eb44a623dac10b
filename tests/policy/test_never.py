"""The never-list of a sender."""

from __future__ import annotations

import pytest

from myclaw_core.errors import StoreError
from myclaw_core.policy.never import NeverList
from myclaw_core.testing import FakeClock

NOW = FakeClock().now()


def test_an_entry_counts_for_its_sender_actor_and_class_only() -> None:
    never = NeverList()
    never.add("cli:me", "fs_write", "fs_write:~/a/*", NOW)
    assert "never" in str(never.check("cli:me", "fs_write", "fs_write:~/a/*"))
    for other in (
        ("cli:you", "fs_write", "fs_write:~/a/*"),
        ("cli:me", "fs_edit", "fs_write:~/a/*"),
        ("cli:me", "fs_write", "fs_write:~/b/*"),
    ):
        assert never.check(*other) is None


def test_an_entry_may_speak_for_a_whole_kind() -> None:
    never = NeverList()
    never.add("cli:me", "get", "network_out:*", NOW)
    assert never.check("cli:me", "get", "network_out:example.com") is not None


def test_entries_survive_a_restart() -> None:
    record = NeverList().add("cli:me", 'odd "name"', "invoke", NOW)
    again = NeverList()
    again.load([record])
    assert again.check("cli:me", 'odd "name"', "invoke") is not None


@pytest.mark.parametrize("value", [b"", b"x", b"[1]", b'{"schema_version":"1.0","sender":"cli:me"}'])
def test_a_damaged_record_is_an_error_with_its_name(value: bytes) -> None:
    with pytest.raises(StoreError, match="never-list record 'k'"):
        NeverList().load([("k", value)])


def test_a_record_of_a_newer_major_is_refused_with_its_version() -> None:
    key, value = NeverList().add("cli:me", "fs_write", "invoke", NOW)
    newer = value.replace(b'"1.0"', b'"2.0"')
    with pytest.raises(StoreError, match=r"never-list record .*: schema version 2\.0 is newer .*update myclaw"):
        NeverList().load([(key, newer)])

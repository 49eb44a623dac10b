"""What verification finds, wherever the log was changed behind its back."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from myclaw_core.errors import StoreError
from myclaw_core.events.chain import GENESIS, head_mac, linked
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import PluginFault

Fault = Callable[[int], PluginFault]
Tamper = Callable[..., None]


@pytest.fixture
async def ten(log: EventLog, fault: Fault) -> EventLog:
    """Return a log of ten events."""
    for number in range(1, 11):
        async with log.transaction() as tx:
            await tx.append(fault(number))
    return log


async def test_an_untouched_log_verifies(ten: EventLog) -> None:
    report = await ten.verify()
    assert (report.ok, report.checked, report.first_bad_seq, report.problem) == (True, 10, None, None)
    assert (await ten.verify(after=4)).checked == 6
    assert (await ten.verify(after=10)).ok


async def test_an_empty_log_verifies(log: EventLog) -> None:
    assert (await log.verify()).ok
    assert (await log.verify_tail()).ok
    assert (await log.checkpoint()).ok


@pytest.mark.parametrize(
    ("statements", "first_bad_seq"),
    [
        (["UPDATE heads SET at = '2026-01-05T09:00:00.000001Z' WHERE seq = 4"], 4),
        (["UPDATE heads SET type = 'turn_started' WHERE seq = 4"], 4),
        (["UPDATE heads SET trace_id = 'x' WHERE seq = 4"], 4),
        (["UPDATE heads SET mac = zeroblob(32) WHERE seq = 4"], 4),
        (["UPDATE heads SET mac = x'' WHERE seq = 10"], 10),
        (["UPDATE heads SET body_sha256 = zeroblob(32) WHERE seq = 1"], 1),
        (["UPDATE heads SET at = CAST(x'ff' AS TEXT) WHERE seq = 4"], 4),
        (["UPDATE bodies SET body = CAST('[' || substr(body, 2) AS BLOB) WHERE seq = 4"], 4),
        (["UPDATE bodies SET body = (SELECT body FROM bodies WHERE seq = 5) WHERE seq = 4"], 4),
        (["DELETE FROM heads WHERE seq = 4", "DELETE FROM bodies WHERE seq = 4"], 4),
        (["DELETE FROM heads WHERE seq = 1"], 1),
        (
            [
                "UPDATE heads SET seq = -4 WHERE seq = 4",
                "UPDATE heads SET seq = 4 WHERE seq = 5",
                "UPDATE heads SET seq = 5 WHERE seq = -4",
            ],
            4,
        ),
        (
            [
                "DELETE FROM heads WHERE seq = 4",
                *(f"UPDATE heads SET seq = {seq - 1} WHERE seq = {seq}" for seq in range(5, 11)),
            ],
            4,
        ),
        (["INSERT INTO heads SELECT 11, at, type, trace_id, body_sha256, mac FROM heads WHERE seq = 10"], 11),
    ],
)
async def test_a_change_is_named_by_its_first_bad_event(
    ten: EventLog, tamper: Tamper, statements: list[str], first_bad_seq: int
) -> None:
    tamper("PRAGMA foreign_keys = OFF", *statements)
    report = await ten.verify()
    assert not report.ok
    assert report.first_bad_seq == first_bad_seq
    assert str(first_bad_seq) in str(report.problem)
    assert report.checked == first_bad_seq - 1


async def test_a_chain_made_again_without_the_key_is_found(
    ten: EventLog, tamper: Tamper, new_log: Callable[..., EventLog]
) -> None:
    previous = None
    statements = []
    for head, _ in await ten.since(0):
        body = b'{"forged": true}'
        previous = linked(bytes(32), previous, at=head.at, type_=head.type, trace_id="", body=body)
        digest, mac = previous.body_sha256.hex(), previous.mac.hex()
        statements.append(f"UPDATE bodies SET body = x'{body.hex()}' WHERE seq = {head.seq}")
        statements.append(f"UPDATE heads SET body_sha256 = x'{digest}', mac = x'{mac}' WHERE seq = {head.seq}")
    tamper(*statements)
    assert (await ten.verify()).first_bad_seq == 1
    await ten.close()
    with_another_key = new_log(bytes(32))
    await with_another_key.open()
    assert (await with_another_key.verify()).first_bad_seq == 10  # only the anchor, made with the key, tells
    await with_another_key.close()


async def test_a_tail_that_was_cut_is_found_by_the_anchor(
    ten: EventLog, tamper: Tamper, new_log: Callable[..., EventLog]
) -> None:
    await ten.close()
    tamper("DELETE FROM heads WHERE seq > 7", "DELETE FROM bodies WHERE seq > 7")
    log = new_log()
    await log.open()
    for report in (await log.verify(), await log.verify_tail(), await log.checkpoint()):
        assert (report.ok, report.first_bad_seq, report.checked) == (False, 8, 7)
        assert str(report.problem) == "the log ends at event 7 and once held 10"
    await log.close()


async def test_a_log_put_back_from_before_and_continued_is_found(
    ten: EventLog, tamper: Tamper, new_log: Callable[..., EventLog], fault: Fault
) -> None:
    await ten.close()
    tamper("DELETE FROM heads WHERE seq > 7", "DELETE FROM bodies WHERE seq > 7")
    log = new_log()
    await log.open()
    for number in range(20, 26):
        async with log.transaction() as tx:
            await tx.append(fault(number))
    assert (await log.verify()).first_bad_seq == 10
    await log.close()


async def test_a_database_newer_than_its_anchor_is_fine(
    ten: EventLog, anchor: Path, new_log: Callable[..., EventLog], fault: Fault
) -> None:
    await ten.checkpoint()
    async with ten.transaction() as tx:
        await tx.append(fault(11))
    assert b'"seq":10' in anchor.read_bytes().replace(b" ", b"")  # noqa: ASYNC240
    assert (await ten.verify()).ok


@pytest.mark.parametrize("content", [b"", b"{", b'{"schema_version":"1.0","seq":-1,"mac":"AA=="}'])
async def test_an_anchor_that_cannot_be_read_proves_nothing(ten: EventLog, anchor: Path, content: bytes) -> None:
    anchor.write_bytes(content)  # noqa: ASYNC240
    assert (await ten.verify()).ok


async def test_an_anchor_that_cannot_be_written_stops_nothing(ten: EventLog, anchor: Path, fault: Fault) -> None:
    anchor.mkdir()  # noqa: ASYNC240
    assert (await ten.checkpoint()).ok
    async with ten.transaction() as tx:
        await tx.append(fault(11))
    assert (await ten.verify()).ok


async def test_the_start_verifies_only_what_came_after_the_checkpoint(
    ten: EventLog, fault: Fault, tamper: Tamper
) -> None:
    assert (await ten.checkpoint()).checked == 10
    assert (await ten.verify_tail()).checked == 0
    async with ten.transaction() as tx:
        await tx.append(fault(11))
    tamper("UPDATE heads SET at = 'x' WHERE seq = 4")
    tail = await ten.verify_tail()
    assert (tail.ok, tail.checked) == (True, 1)
    assert (await ten.verify()).first_bad_seq == 4


async def test_a_tail_that_does_not_follow_the_checkpoint_is_found(ten: EventLog, tamper: Tamper) -> None:
    await ten.checkpoint()
    tamper("UPDATE heads SET mac = zeroblob(32) WHERE seq = 10")
    assert (await ten.verify_tail()).first_bad_seq == 10


async def test_a_log_cut_before_its_checkpoint_is_found_without_an_anchor(
    ten: EventLog, anchor: Path, tamper: Tamper
) -> None:
    await ten.checkpoint()
    anchor.unlink()  # noqa: ASYNC240
    tamper("DELETE FROM heads WHERE seq > 7", "DELETE FROM bodies WHERE seq > 7")
    for report in (await ten.verify(), await ten.verify_tail()):
        assert report.first_bad_seq == 8


async def test_a_tampered_log_gets_no_new_checkpoint(ten: EventLog, tamper: Tamper) -> None:
    tamper("UPDATE heads SET at = 'x' WHERE seq = 4")
    assert (await ten.checkpoint()).first_bad_seq == 4
    assert await ten.get("log", "checkpoint") is None


@pytest.mark.parametrize("record", [b"", b"{}", b'{"schema_version": "1.0"}'])
async def test_a_forged_checkpoint_is_told_once_and_the_whole_log_is_verified(ten: EventLog, record: bytes) -> None:
    async with ten.transaction() as tx:
        await tx.put("log", "checkpoint", record)
    for report in (await ten.verify(), await ten.verify_tail(), await ten.checkpoint()):
        assert (report.ok, report.checked, report.first_bad_seq) == (False, 10, None)
        assert "checkpoint" in str(report.problem)
    assert (await ten.verify()).ok


async def test_a_checkpoint_signed_with_another_key_is_not_believed(
    ten: EventLog, new_log: Callable[..., EventLog], tamper: Tamper, anchor: Path
) -> None:
    await ten.checkpoint()
    own = await ten.get("log", "checkpoint")
    assert own is not None
    async with ten.transaction() as tx:
        await tx.put("log", "checkpoint", own.replace(b'"seq":10', b'"seq":9').replace(b'"seq": 10', b'"seq": 9'))
    report = await ten.verify_tail()
    assert (report.ok, report.checked) == (False, 10)
    assert "was not signed with its key" in str(report.problem)


async def test_any_flipped_byte_of_the_file_is_found_or_changes_no_event(
    ten: EventLog, db: Path, new_log: Callable[..., EventLog], fault: Fault
) -> None:
    await ten.close()
    sound = db.read_bytes()  # noqa: ASYNC240
    rng = random.Random(7)
    found = 0
    for position in rng.sample(range(100, len(sound)), 60):
        flipped = bytearray(sound)
        flipped[position] ^= 1 << rng.randrange(8)
        db.write_bytes(flipped)  # noqa: ASYNC240
        log = new_log()
        try:
            await log.open()
            report = await log.verify()
            if report.ok:
                assert [event for _, event in await log.since(0)] == [fault(number) for number in range(1, 11)]
            found += not report.ok
        except StoreError:
            found += 1
            db.write_bytes(sound)  # noqa: ASYNC240
        finally:
            await log.close()
    assert found > 0


def test_a_mac_depends_on_every_field_and_its_place() -> None:
    head = linked(bytes(32), None, at="ab", type_="c", trace_id="d", body=b"e")
    from attrs import evolve

    variants = [
        head,
        evolve(head, seq=2),
        evolve(head, at="a", type="bc"),
        evolve(head, at="abc", type=""),
        evolve(head, type="cd", trace_id=""),
        evolve(head, trace_id="e"),
        evolve(head, body_sha256=bytes(32)),
    ]
    macs = [head_mac(bytes(32), GENESIS, variant) for variant in variants]
    macs += [head_mac(bytes(32), bytes([1]) + bytes(31), head), head_mac(bytes([1]) + bytes(31), GENESIS, head)]
    assert len(set(macs)) == len(macs)


async def test_an_anchor_of_a_newer_major_is_named_and_left_alone(ten: EventLog, anchor: Path, fault: Fault) -> None:
    await ten.checkpoint()
    newer = anchor.read_bytes().replace(b'"1.0"', b'"2.0"')  # noqa: ASYNC240
    anchor.write_bytes(newer)  # noqa: ASYNC240
    report = await ten.verify()
    assert not report.ok
    assert "events.anchor: schema version 2.0 is newer" in str(report.problem)
    async with ten.transaction() as tx:
        await tx.append(fault(11))
    await ten.checkpoint()
    assert anchor.read_bytes() == newer  # noqa: ASYNC240


async def test_a_checkpoint_of_a_newer_major_is_named_and_left_alone(ten: EventLog, tamper: Tamper) -> None:
    await ten.checkpoint()
    kept = await ten.get("log", "checkpoint")
    newer = kept.replace(b'"1.0"', b'"2.0"')
    tamper(f"UPDATE records SET value = x'{newer.hex()}' WHERE kind = 'log'")
    report = await ten.verify()
    assert not report.ok
    assert "the checkpoint of the event log: schema version 2.0 is newer" in str(report.problem)
    await ten.checkpoint()
    assert await ten.get("log", "checkpoint") == newer

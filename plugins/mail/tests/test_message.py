"""A mail reads as it was shown: no text in it becomes a header, an end of the message, or another text."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from myclaw_mail.account import Account
from myclaw_mail.message import compose
from myclaw_mail.tools import mail_tools

from myclaw_core.errors import ToolFailure
from myclaw_core.paths import Home
from myclaw_core.runtime.types import ToolCall
from myclaw_core.runtime.validation import ArgumentValidator
from myclaw_core.testing import FakeClock

HEADERS = ["Content-Transfer-Encoding", "Content-Type", "Date", "From", "MIME-Version", "Message-ID", "Subject", "To"]
CODED = [
    "=?utf-8?q?Hello=0D=0ABcc:_eve@evil.example?=",
    "=?utf-8?b?SGVsbG8NCkJjYzogZXZlQGV2aWwuZXhhbXBsZQ==?=",
    "=?utf-7?q?+AA0ACg-X:?=",
    "=?unknown-8bit?q?=0D=0A=0D=0AOther_body?=",
    "=?utf-8?b?UGF5IG1l?=",
]
PIECES = st.sampled_from(
    [*CODED, "=?", "?=", "=0D=0A", "utf-8", "?q?", "\r", "\n", "\u2028", ":", ",", " ", "é", ".", "From "]
)


def composed(subject: str = "Hello", body: str = "Hello") -> bytes:
    at = datetime(2026, 1, 5, tzinfo=UTC)
    to = ["anna@friends.example"]
    return compose(key="1", at=at, sender="rosa@home.example", recipients=to, subject=subject, body=body)


def lines(text: str) -> list[str]:
    return re.split("\r\n|\r|\n", text.rstrip("\r\n"))


def assert_well_formed(raw: bytes) -> None:
    """Check that the message has the headers of every mail and no line that a server could read in two ways."""
    assert not {13, 10} & set(raw.replace(b"\r\n", b""))
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    assert raw.isascii()
    assert sorted(message_from_bytes(raw, policy=default).keys()) == HEADERS


@pytest.mark.parametrize("subject", CODED)
def test_a_subject_in_the_code_of_headers_is_refused(subject: str) -> None:
    """It would arrive decoded: as other words than those that were shown, or as further headers and another body."""
    with pytest.raises(ToolFailure, match="plain text"):
        composed(subject)


@given(st.lists(PIECES | st.text(max_size=20), max_size=8).map("".join))
@example("a" * 500)
@example("é" * 500)
def test_a_subject_arrives_as_it_was_written_or_not_at_all(subject: str) -> None:
    try:
        raw = composed(subject)
    except ToolFailure:
        return
    assert_well_formed(raw)
    assert str(message_from_bytes(raw, policy=default)["Subject"]).split() == subject.split()


@given(st.lists(PIECES | st.text(max_size=20), min_size=1, max_size=8).map("".join))
@example("a\r.\rMAIL FROM:<x@y.example>")
@example("a\r\n.\r\nDATA\n.\n")
@example("x" * 5000)
def test_a_body_arrives_as_it_was_written_or_not_at_all(body: str) -> None:
    try:
        raw = composed(body=body)
    except ToolFailure:
        return
    assert_well_formed(raw)
    assert lines(message_from_bytes(raw, policy=default).get_content()) == lines(body)


@pytest.mark.parametrize("subject", CODED)
def test_the_tool_refuses_such_a_subject_before_anybody_is_asked(subject: str, tmp_path: Any) -> None:
    settings = {"host": "localhost", "port": 25, "security": "none", "user": "", "from_address": "", "ca_file": ""}
    account = Account.of({**settings, "timeout_s": 1.0}, Home.at(tmp_path), {})
    (tool,) = mail_tools(account, FakeClock())
    args = {"to": ["anna@friends.example"], "subject": subject, "body": "Hello"}
    validator = ArgumentValidator({tool.name: tool})
    assert validator.problem(ToolCall(id="1", tool="mail_send", args=args)) is not None
    assert validator.problem(ToolCall(id="1", tool="mail_send", args=args | {"subject": "2 = ? 3"})) is None

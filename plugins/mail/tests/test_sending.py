"""A mail goes out as it was held, once, or it is told that and why it did not."""

from __future__ import annotations

from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from myclaw_mail.account import password_file

from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.paths import Home

KEY = "00000000-0000-4000-8000-000000000001"
LETTER = {"to": ["anna@friends.example"], "subject": "Saturday", "body": "Shall we meet at 10?\n"}


async def failure(sender: Any, letter: Any = None) -> str:
    """Return why nothing was sent."""
    with pytest.raises(ToolFailure) as failed:
        await sender.deliver(letter or LETTER, KEY)
    return str(failed.value)


async def test_a_mail_arrives_as_it_was_written(server: Any, sender_to: Any) -> None:
    body = "Ciao Anna,\n\n.una riga\nFrom qui: è così, 👩‍👧\n" + "x" * 2000 + "\n"
    letter = {"to": ["anna@friends.example", "Bob@FRIENDS.example"], "subject": "Sabato, è così 👩‍👧", "body": body}
    assert await sender_to(server).deliver(letter, KEY) is None

    (arrived,) = server.letters
    assert arrived.sender == "rosa@home.example"
    assert arrived.recipients == ["anna@friends.example", "Bob@friends.example"]
    assert arrived.content.isascii()
    message = message_from_bytes(arrived.content.replace(b"\r\n..", b"\r\n."), policy=default)
    assert message["From"] == "rosa@home.example"
    assert message["To"] == "anna@friends.example, Bob@friends.example"
    assert message["Subject"] == letter["subject"]
    assert message["Message-ID"] == f"<{KEY}@home.example>"
    assert message["Date"] == "Mon, 05 Jan 2026 09:00:00 +0000"
    assert message.get_content().replace("\r\n", "\n") == body
    assert sorted(message) == sorted(
        ["Date", "Message-ID", "From", "To", "Subject", "MIME-Version", "Content-Type", "Content-Transfer-Encoding"]
    )


async def test_the_server_learns_no_name_of_this_machine_and_the_password_only_after_tls(
    server: Any, sender_to: Any
) -> None:
    await sender_to(server).deliver(LETTER, KEY)
    verbs = [line.split(" ")[0] for line in server.said]
    assert server.said[0] == "EHLO [127.0.0.1]"
    assert verbs == ["EHLO", "STARTTLS", "EHLO", "AUTH", "MAIL", "RCPT", "DATA", "QUIT"]


async def test_tls_from_the_first_byte_works_too(serving: Any, tls: Any, sender_to: Any) -> None:
    async with serving(tls=tls, implicit=True, password="open sesame") as server:
        await sender_to(server, security="tls").deliver(LETTER, KEY)
    assert len(server.letters) == 1


async def test_a_server_on_this_machine_needs_neither_tls_nor_a_user(serving: Any, sender_to: Any) -> None:
    async with serving() as server:
        await sender_to(server, security="none", user="", environ={}).deliver(LETTER, KEY)
    assert len(server.letters) == 1
    assert "AUTH" not in "".join(server.said)


async def test_who_is_left_out_is_told_while_the_others_get_it(server: Any, sender_to: Any) -> None:
    server.answers["RCPT bob@friends.example"] = "550 no\u202e such \x1b[31mbox"
    letter = LETTER | {"to": ["anna@friends.example", "bob@friends.example"]}
    note = await sender_to(server).deliver(letter, KEY)
    assert str(note) == "not to bob@friends.example: 550 no\\u202e such \\x1b[31mbox"
    assert server.letters[0].recipients == ["anna@friends.example"]


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ({"READY": "554 go away"}, "localhost refused it: 554 go away"),
        ({"READY": "421 too busy"}, "localhost is not available now: 421 too busy"),
        ({"READY": "CUT"}, "no connection to localhost"),
        ({"EHLO": "CUT"}, "localhost broke the connection off"),
        ({"STARTTLS": "454 not now"}, "localhost refused it: 454 not now"),
        ({"STARTTLS": "CUT"}, "localhost broke the connection off"),
        ({"AUTH": "535 no"}, "localhost does not accept user and password"),
        ({"MAIL": "553 not you"}, "localhost takes no mail from [mail] from_address: 553 not you"),
        ({"MAIL": "CUT"}, "localhost broke the connection off"),
        ({"RCPT": "451 later"}, "not to anna@friends.example: 451 later"),
        ({"RCPT": "CUT"}, "localhost broke the connection off"),
        ({"DATA": "554 no"}, "localhost refused it: 554 no"),
        ({"BODY": "552 too big"}, "localhost refused it: 552 too big"),
        ({"BODY": "451 try later"}, "localhost refused it: 451 try later"),
    ],
)
async def test_what_a_server_refuses_was_not_sent_and_is_told_in_one_line(
    server: Any, sender_to: Any, answers: dict[str, str], told: str
) -> None:
    for verb, answer in answers.items():
        server.answers[verb] = answer
    line = await failure(sender_to(server))
    assert line.startswith(told)
    assert "\n" not in line
    assert server.letters == []


@pytest.mark.parametrize("answer", ["CUT", "SILENT", "250", "299 perhaps", "999 what", "-50 no", "no"])
async def test_without_a_clear_answer_to_the_message_nobody_knows_whether_it_was_taken(
    server: Any, sender_to: Any, answer: str
) -> None:
    server.answers["BODY" if answer in ("CUT", "SILENT", "299 perhaps") else "DATA"] = answer
    with pytest.raises(MyclawError) as unclear:
        await sender_to(server, timeout_s=0.2).deliver(LETTER, KEY)
    assert not isinstance(unclear.value, ToolFailure)
    assert server.handed <= 1


async def test_a_server_that_breaks_off_after_it_took_the_message_changes_nothing(server: Any, sender_to: Any) -> None:
    server.answers["QUIT"] = "CUT"
    assert await sender_to(server).deliver(LETTER, KEY) is None
    assert len(server.letters) == 1


async def test_a_silent_server_is_given_up(server: Any, sender_to: Any) -> None:
    server.answers["MAIL"] = "SILENT"
    assert await failure(sender_to(server, timeout_s=0.2)) == "localhost did not answer in time"


async def test_nothing_is_said_to_a_server_whose_certificate_is_not_valid(server: Any, sender_to: Any) -> None:
    assert "the certificate of localhost is not valid" in await failure(sender_to(server, ca_file=""))
    assert "the certificate of 127.0.0.1 is not valid" in await failure(sender_to(server, host="127.0.0.1"))
    assert "AUTH" not in "".join(server.said)


async def test_a_server_that_offers_no_starttls_gets_neither_password_nor_mail(serving: Any, sender_to: Any) -> None:
    async with serving(password="open sesame") as server:
        assert await failure(sender_to(server)) == "localhost offers no STARTTLS; see [mail] security and port"
    assert "AUTH" not in "".join(server.said)
    assert "MAIL" not in "".join(server.said)


async def test_a_server_that_speaks_no_tls_at_all_is_told_so(serving: Any, sender_to: Any) -> None:
    async with serving() as server:
        assert "localhost speaks no TLS here" in await failure(sender_to(server, security="tls"))


async def test_a_server_that_does_not_run_is_told(serving: Any, sender_to: Any) -> None:
    async with serving() as server:
        sender = sender_to(server)
    assert (await failure(sender)).startswith("no connection to localhost: ")


async def test_the_password_is_shown_nowhere_even_where_the_server_echoes_it(server: Any, sender_to: Any) -> None:
    line = await failure(sender_to(server, environ={"MYCLAW_MAIL_PASSWORD": "hunter2hunter2"}))
    assert line == "localhost does not accept user and password: 535 wrong: …"


async def test_a_server_without_a_log_in_is_told(serving: Any, tls: Any, sender_to: Any) -> None:
    async with serving(tls=tls) as server:
        assert "offers no way to log in" in await failure(sender_to(server))


@pytest.mark.parametrize("subject", ["a\r\nBcc: eve@evil.example", "a\nb", "a\x00b", "a\u2028b", "a\x85b", "a\x0bb"])
async def test_no_subject_becomes_a_second_header(server: Any, sender_to: Any, subject: str) -> None:
    assert "one line" in await failure(sender_to(server), LETTER | {"subject": subject})
    assert server.said == []


@pytest.mark.parametrize(
    "address", ["a@x.org\r\nBcc: e@x.org", "a@x.org, e@x.org", "Anna <a@x.org>", "a@x.org> SIZE=1", "a b@x.org", ""]
)
async def test_no_recipient_becomes_more_than_one(server: Any, sender_to: Any, address: str) -> None:
    assert "mail address" in await failure(sender_to(server), LETTER | {"to": [address]})
    assert server.said == []


async def test_the_password_may_lie_in_a_file_that_only_its_owner_reads(
    server: Any, sender_to: Any, tmp_path: Path
) -> None:
    path = password_file(Home.at(tmp_path / "home"))
    sender = sender_to(server, environ={})
    assert str(sender.account.missing()).startswith(f"no password for mail: write it to {path}")
    path.write_text("open sesame\n")
    path.chmod(0o640)
    assert "can be read by others" in str(sender.account.missing())
    assert "can be read by others" in await failure(sender)
    path.chmod(0o600)
    assert sender.account.missing() is None
    await sender.deliver(LETTER, KEY)
    assert len(server.letters) == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"from_address": ""}, "from_address is no mail address"),
        ({"from_address": "Rosa <rosa@home.example>"}, "from_address is no mail address"),
        ({"security": "none", "host": "mail.example"}, "only for a server on this machine"),
        ({"ca_file": "/nowhere.pem"}, "there is no file /nowhere.pem"),
    ],
)
async def test_a_setting_that_cannot_work_is_told_before_anything_is_sent(
    server: Any, sender_to: Any, options: dict[str, Any], told: str
) -> None:
    sender = sender_to(server, **options)
    assert told in str(sender.account.missing())
    assert told in await failure(sender)
    assert server.said == []

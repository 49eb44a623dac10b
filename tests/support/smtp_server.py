"""A mail server on this machine that answers as a test wants, with TLS, log-in and faults at every point."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64decode
from collections.abc import Callable, Mapping
from contextlib import suppress

from attrs import define, field

__all__ = ["Letter", "SmtpServer"]

_READY = "220 mail.test ESMTP"


@define
class Letter:
    """One message that the server took: its envelope and its bytes."""

    sender: str
    recipients: list[str]
    content: bytes


@define
class SmtpServer:
    """Speaks SMTP; nothing is passed on.

    Attributes:
        tls: How connections are encrypted; `None` for not at all.
        implicit: Whether from the first byte, instead of after STARTTLS.
        password: What a log-in must give; empty asks for none.
        answers: What is answered to a verb, or to `VERB argument`, in place of the usual; `BODY` is the end of
            the message, `READY` the greeting. `CUT` breaks the connection off, `SILENT` never answers.
        letters: What it took.
        handed: How often a whole message reached it, taken or not.
    """

    tls: ssl.SSLContext | None = None
    implicit: bool = False
    password: str = ""
    answers: dict[str, str] = field(factory=dict)
    letters: list[Letter] = field(factory=list)
    handed: int = 0
    said: list[str] = field(factory=list)
    port: int = 0
    _server: asyncio.Server | None = None
    _open: set[asyncio.StreamWriter] = field(factory=set)

    async def start(self) -> None:
        """Listen on a free port of this machine."""
        context = self.tls if self.implicit else None
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close everything."""
        for writer in self._open:
            writer.close()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            await _Conversation(self, reader, writer).run()
        writer.close()
        self._open.discard(writer)


class _CutError(ConnectionError):
    """Raised where the server breaks the connection off."""


class _Conversation:
    def __init__(self, server: SmtpServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self._sender = ""
        self._recipients: list[str] = []
        self._verbs: Mapping[str, Callable[[str], str]] = {
            "EHLO": lambda _rest: self._hello(),
            "AUTH": self._log_in,
            "MAIL": self._mail,
            "RCPT": self._rcpt,
            "QUIT": lambda _rest: "221 bye",
            "RSET": lambda _rest: "250 ok",
        }

    async def run(self) -> None:
        await self._say(self._server.answers.get("READY", _READY))
        while line := (await self._reader.readline()).decode("latin-1").strip():
            self._server.said.append(line)
            verb, _, rest = line.partition(" ")
            answer = self._server.answers.get(line) or self._server.answers.get(verb)
            if verb == "STARTTLS" and answer is None:
                await self._start_tls()
            elif verb == "DATA" and answer is None:
                await self._data()
            else:
                await self._say(answer or self._verbs.get(verb, lambda _rest: "502 what?")(rest))
            if verb == "QUIT":
                return

    async def _say(self, answer: str) -> None:
        if answer == "CUT":
            raise _CutError
        if answer == "SILENT":
            await asyncio.Event().wait()
        self._writer.write(f"{answer}\r\n".encode())
        await self._writer.drain()

    def _hello(self) -> str:
        lines = ["mail.test"]
        if self._server.tls is not None and not self._server.implicit:
            lines.append("STARTTLS")
        if self._server.password:
            lines.append("AUTH PLAIN")
        return "\r\n".join(f"250{' ' if line == lines[-1] else '-'}{line}" for line in lines)

    async def _start_tls(self) -> None:
        await self._say("220 go ahead")
        await self._writer.start_tls(self._server.tls)

    def _log_in(self, rest: str) -> str:
        given = b64decode(rest.partition(" ")[2]).decode().split("\0")[-1]
        return "235 welcome" if given == self._server.password else f"535 wrong: {given}"

    def _mail(self, rest: str) -> str:
        self._sender = rest.partition("<")[2].partition(">")[0]
        return "250 ok"

    def _rcpt(self, rest: str) -> str:
        address = rest.partition("<")[2].partition(">")[0]
        answer = self._server.answers.get(f"RCPT {address}", "250 ok")
        if answer.startswith("2"):
            self._recipients.append(address)
        return answer

    async def _data(self) -> None:
        await self._say("354 go ahead")
        content = (await self._reader.readuntil(b"\r\n.\r\n")).removesuffix(b".\r\n")
        self._server.handed += 1
        answer = self._server.answers.get("BODY", "250 taken")
        if answer.startswith("2"):
            self._server.letters.append(Letter(self._sender, self._recipients, content))
        await self._say(answer)

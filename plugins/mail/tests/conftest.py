"""A mail server of the test, a certificate for it, and an account at it."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from myclaw_mail.account import Account
from myclaw_mail.sending import Sender
from smtp_server import SmtpServer

from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a key and a certificate for `localhost` that nobody else trusts."""
    folder = tmp_path_factory.mktemp("certificate")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "3650", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")),
        ],
        check=True,
        capture_output=True,
    )
    return folder / "cert.pem"


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    """What the server encrypts with."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return context


@pytest.fixture
def serving() -> Callable[..., AbstractAsyncContextManager[SmtpServer]]:
    """Run a server."""

    @asynccontextmanager
    async def serve(**options: Any) -> AsyncIterator[SmtpServer]:
        server = SmtpServer(**options)
        await server.start()
        yield server
        await server.stop()

    return serve


@pytest.fixture
async def server(tls: ssl.SSLContext, serving: Any) -> AsyncIterator[SmtpServer]:
    """A server with STARTTLS and a log-in."""
    async with serving(tls=tls, password="open sesame") as running:
        yield running


@pytest.fixture
def sender_to(certificate: Path, tmp_path: Path) -> Callable[..., Sender]:
    """Make what sends through an account at a server."""

    def made(server: SmtpServer, environ: dict[str, str] | None = None, **options: Any) -> Sender:
        settings: dict[str, Any] = {
            "host": "localhost",
            "port": server.port,
            "security": "starttls",
            "user": "rosa",
            "from_address": "rosa@home.example",
            "ca_file": str(certificate),
            "timeout_s": 5.0,
        }
        home = Home.at(tmp_path / "home")
        home.create()
        given = {"MYCLAW_MAIL_PASSWORD": "open sesame"} if environ is None else environ
        return Sender(account=Account.of(settings | options, home, given), clock=FakeClock())

    return made

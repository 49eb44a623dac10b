"""The conversation with the mail server: until the message is handed over it is certain that nothing was sent."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from myclaw_core.clock import Clock
from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.messages import N_
from myclaw_core.policy.addresses import mail_address
from myclaw_core.types.text import Text, joined
from myclaw_mail.account import Account
from myclaw_mail.message import compose

if TYPE_CHECKING:
    from aiosmtplib import SMTP

__all__ = ["Sender"]

_REFUSALS = range(400, 600)
"""Answers that say for certain that nothing was taken."""
_HERE = "[127.0.0.1]"
"""What this machine calls itself; its name is nobody's business."""


@frozen(kw_only=True)
class Sender:
    """Sends mail through one account."""

    account: Account
    clock: Clock

    async def deliver(self, args: Mapping[str, Any], key: str) -> Text | None:
        """Send one mail and return who was left out, or `None`.

        Args:
            args: `to`, `subject` and `body`, as the tool's schema has them.
            key: Names the message.

        Raises:
            ToolFailure: Nothing was sent.
            MyclawError: It is not known whether it was.
        """
        missing = self.account.missing()
        if missing is not None:
            raise ToolFailure(missing)
        try:
            recipients = list(dict.fromkeys(map(mail_address, args["to"])))
            sender, password = mail_address(self.account.from_address), self.account.password()
        except MyclawError as error:
            raise ToolFailure(error.text) from error
        content = compose(
            key=key,
            at=self.clock.now(),
            sender=sender,
            recipients=recipients,
            subject=args["subject"],
            body=args["body"],
        )
        return await self._hand_over(recipients, content, password)

    async def _hand_over(self, recipients: Sequence[str], content: bytes, password: str) -> Text | None:
        from myclaw_mail.faults import line_of

        account = self.account
        try:
            server = await self._connected(password)
        except Exception as error:
            raise ToolFailure(line_of(error, account.host, password)) from None
        try:
            refused = await self._envelope(server, recipients, password)
            await self._data(server, content, password)
        finally:
            with suppress(Exception):
                await server.quit()
            server.close()
        return joined(refused) if refused else None

    async def _connected(self, password: str) -> SMTP:
        """Return a connection that is encrypted and logged in as configured.

        Raises:
            Exception: It could not be had; the library raises its own errors and those of TLS.
        """
        from aiosmtplib import SMTP

        account = self.account
        server = SMTP(
            hostname=account.host,
            port=account.port,
            use_tls=account.security == "tls",
            start_tls=account.security == "starttls",
            tls_context=await asyncio.to_thread(_tls, account.ca_file) if account.security != "none" else None,
            username=account.user or None,
            password=password if account.user else None,
            local_hostname=_HERE,
            timeout=account.timeout_s,
        )
        await server.connect()
        return server

    async def _envelope(self, server: SMTP, recipients: Sequence[str], password: str) -> list[Text]:
        """Name sender and recipients; return a line on each that is refused while another is not.

        Raises:
            ToolFailure: Nobody is left.
        """
        from aiosmtplib import SMTPRecipientRefused

        from myclaw_mail.faults import line_of, shown_reply

        refused: list[Text] = []
        try:
            await server.mail(mail_address(self.account.from_address))
            for recipient in recipients:
                try:
                    await server.rcpt(recipient)
                except SMTPRecipientRefused as error:
                    reply = shown_reply(error.code, error.message, password)
                    refused.append(N_("not to {address}: {reply}", address=recipient, reply=reply))
        except Exception as error:
            raise ToolFailure(line_of(error, self.account.host, password)) from None
        if len(refused) == len(recipients):
            raise ToolFailure(joined(refused))
        return refused

    async def _data(self, server: SMTP, content: bytes, password: str) -> None:
        """Hand the message over.

        Raises:
            ToolFailure: The server says that it did not take it.
            MyclawError: It said nothing clear; it may have taken it.
        """
        from aiosmtplib import SMTPResponseException

        from myclaw_mail.faults import line_of

        host = self.account.host
        try:
            await server.data(content)
        except SMTPResponseException as error:
            line = line_of(error, host, password)
            raise (ToolFailure if error.code in _REFUSALS else MyclawError)(line) from None
        except Exception as error:
            line = N_("while it was handed over, {problem}", problem=line_of(error, host, password))
            raise MyclawError(line) from None


def _tls(ca_file: str) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(Path(ca_file).expanduser()) if ca_file else None)

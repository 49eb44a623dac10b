"""The account that mail is sent through: what is said of it never holds a secret."""

from __future__ import annotations

from typing import Any

from myclaw_mail.tools import mail_tools

from myclaw_core.testing import FakeClock


async def test_no_secret_of_the_environment_is_in_what_a_log_may_show(server: Any, sender_to: Any) -> None:
    """A tool, and all that hangs on it, shows its parts where an error is written down."""
    secrets = {"MYCLAW_MAIL_PASSWORD": "open sesame", "ANTHROPIC_API_KEY": "sk-of-somebody-else"}
    sender = sender_to(server, secrets)
    (tool,) = mail_tools(sender.account, FakeClock())
    for shown in (repr(sender.account), repr(sender), repr(tool), f"{tool.outbox}"):
        assert "localhost" in shown
        assert not [secret for secret in secrets.values() if secret in shown]

"""The account that mail is sent through, as it is configured, and what it lacks."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import field, frozen

from myclaw_core.errors import MyclawError
from myclaw_core.keyfile import find_secret
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.policy.addresses import mail_address
from myclaw_core.types.text import Text

__all__ = ["PASSWORD_NAME", "Account", "password_file"]

PASSWORD_NAME = "MYCLAW_MAIL_PASSWORD"  # noqa: S105 - the name of a variable
_PORTS = {"starttls": 587, "tls": 465, "none": 25}


def password_file(home: Home) -> Path:
    """Return where the password lies where the environment has none."""
    return home.keys / "mail.password"


@frozen(kw_only=True)
class Account:
    """One account at a mail server.

    Attributes:
        home: Where the password's file lies.
        environ: Where the password is looked for first; it holds every secret of the process, so nothing shows it.
        user: Empty where nobody logs in.
        ca_file: Certificates to trust in place of the system's; empty for those.
        timeout_s: Longest silence of the server.
    """

    home: Home
    environ: Mapping[str, str] = field(repr=False)
    host: str
    port: int
    security: Literal["starttls", "tls", "none"]
    user: str
    from_address: str
    ca_file: str
    timeout_s: float

    @staticmethod
    def of(config: Mapping[str, Any], home: Home, environ: Mapping[str, str]) -> Account:
        """Return the account that the section `[mail]` describes."""
        return Account(**{**config, "port": config["port"] or _PORTS[config["security"]]}, home=home, environ=environ)

    def missing(self) -> Text | None:
        """Return what it lacks to send, with what to do, or `None`."""
        if not self.host:
            return N_("no mail server is set; name yours in [mail] host, and [mail] from_address")
        try:
            mail_address(self.from_address)
        except ValueError:
            return N_("[mail] from_address is no mail address; set it to the one that you send from")
        if self.security == "none" and not _is_here(self.host):
            return N_("[mail] security is none, which is only for a server on this machine; set it to starttls or tls")
        if self.ca_file and not Path(self.ca_file).expanduser().is_file():
            return N_("[mail] ca_file: there is no file {path}", path=self.ca_file)
        try:
            password = self.password()
        except MyclawError as error:
            return error.text
        if self.user and not password:
            return N_(
                "no password for mail: write it to {path} (readable only by you) or set {name}",
                path=str(password_file(self.home)),
                name=PASSWORD_NAME,
            )
        return None

    def password(self) -> str:
        """Return the password; empty where there is none.

        Raises:
            UnavailableError: Its file cannot be read, or can be read by others.
        """
        return find_secret(PASSWORD_NAME, password_file(self.home), self.environ)


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"

"""The one form of a mail address that scopes use and people read; nothing is looked up."""

from __future__ import annotations

import re

from myclaw_core.errors import MyclawError
from myclaw_core.messages import N_
from myclaw_core.policy.hosts import literal_host

__all__ = ["AddressRefusedError", "mail_address"]

# Not `!` and `%`: old servers read them as the way to another address; nor `=?`: in a header it begins an encoded word.
_LOCAL = re.compile(r"(?!.*=\?)[A-Za-z0-9#$&'*+/=?^_{}~-]+(?:\.[A-Za-z0-9#$&'*+/=?^_{}~-]+)*")
_DOMAIN = re.compile(r"[^\s:/?#\[\]@%\\]+")
_LAST_LABEL = re.compile(r"[a-z](?:[a-z0-9-]*[a-z0-9])?")
_LOCAL_CHARS = 64
_ADDRESS_CHARS = 254


class AddressRefusedError(MyclawError, ValueError):
    """Raised when a text is no mail address that can be judged."""


def mail_address(text: str) -> str:
    """Return a bare mail address with its domain in lower case and IDNA form, so that look-alike letters show.

    What stands before the `@` stays as it is, since only its server knows whether case counts there; it must be ASCII.

    Raises:
        AddressRefusedError: It is something else: a name with an address, quoted, commented, without a domain.
    """
    local, at, domain = text.rpartition("@")
    if not at or not _LOCAL.fullmatch(local) or len(local) > _LOCAL_CHARS or not _DOMAIN.fullmatch(domain):
        raise AddressRefusedError(N_("a recipient is one bare mail address in ASCII letters, such as anna@example.org"))
    try:
        host = literal_host(domain)
    except ValueError as error:
        raise AddressRefusedError(N_("the domain of a mail address is not valid")) from error
    if (
        "." not in host
        or not _LAST_LABEL.fullmatch(host.rpartition(".")[2])
        or len(local) + len(host) >= _ADDRESS_CHARS
    ):
        raise AddressRefusedError(N_("the domain of a mail address is a whole name, such as example.org"))
    return f"{local}@{host}"

"""Places that no tool may touch, whatever trust it has (policy check 1)."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable, Sequence

from myclaw_core.files.resolve import display_path
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.policy.places import PlaceMap, expand_user, with_real_paths
from myclaw_core.types.text import Text

__all__ = ["ForbiddenPlaces"]

_IN_HOME = (
    # keys and credentials
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".config/gcloud",
    ".netrc",
    ".git-credentials",
    ".password-store",
    ".local/share/keyrings",
    "private",
    # browser and mail profiles
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/opera",
    ".config/vivaldi",
    "snap/firefox",
    "snap/chromium",
    ".var/app/org.mozilla.firefox",
    ".var/app/org.chromium.Chromium",
    ".var/app/com.google.Chrome",
    # shell and session start files
    ".profile",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".config/fish",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".pam_environment",
    ".config/environment.d",
    ".config/autostart",
    # user units
    ".config/systemd",
    ".local/share/systemd",
)
_IN_SYSTEM = (
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/proc",
    "/sys",
    "/dev",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/bash.bashrc",
    "/etc/bashrc",
    "/etc/zsh",
    "/etc/systemd/user",
    "/usr/lib/systemd/user",
    "/run/systemd",
    "/etc/crontab",
    "/etc/anacrontab",
    "/etc/cron.d",
    "/etc/cron.hourly",
    "/etc/cron.daily",
    "/etc/cron.weekly",
    "/etc/cron.monthly",
    "/var/spool/cron",
)
_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal"})
_METADATA_ADDRESSES = frozenset(
    ipaddress.ip_address(text)
    for text in ("169.254.169.254", "169.254.170.2", "fd00:ec2::254", "100.100.100.200", "168.63.129.16")
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class ForbiddenPlaces:
    """The built-in forbidden paths and hosts and those the configuration adds; none can be taken away.

    Args:
        home: This installation; its state and audit folders are forbidden.
        user_home: The person's home folder.
        extra_paths: Further forbidden paths, absolute or starting with `~`.
        extra_hosts: Further forbidden hosts; each speaks for its subdomains too.
        allowed_hosts: Private hosts that may be reached, by name; cloud metadata addresses never.
    """

    def __init__(
        self,
        home: Home,
        user_home: str | os.PathLike[str],
        extra_paths: Iterable[str] = (),
        extra_hosts: Iterable[str] = (),
        allowed_hosts: Iterable[str] = (),
    ) -> None:
        self._user = user = os.path.normpath(os.fspath(user_home))
        built_in = [*(f"{user}/{name}" for name in _IN_HOME), *_IN_SYSTEM, str(home.state), str(home.audit)]
        places = dict.fromkeys(with_real_paths(built_in), _BUILT_IN)
        for path in with_real_paths(expand_user(path, user) for path in extra_paths):
            places.setdefault(path, _CONFIGURED)
        self._paths = PlaceMap(places)
        self._extra_hosts = tuple(host.lower().rstrip(".") for host in extra_hosts)
        self._allowed_hosts = frozenset(host.lower().rstrip(".") for host in allowed_hosts)

    def path(self, real: str) -> Text | None:
        """Return why the real path `real` (every link resolved) is forbidden, or `None`."""
        found = self._paths.at(real)
        return None if found is None else N_(found[1].msgid, place=display_path(found[0], self._user))

    def beneath(self, real: str) -> Text | None:
        """Return why the folder `real` may not go or come as a whole: a forbidden place lies beneath it."""
        if self._paths.beneath(real) is None:
            return None
        folder = display_path(real, self._user)
        return N_("{folder} holds places that no tool may touch; name what you mean inside it", folder=folder)

    def address(self, host: str, address: str) -> Text | None:
        """Return why `address`, at which `host` (a scope) was found, may not be reached, or `None`."""
        found = _address(address.partition("%")[0])
        if found is None:
            return N_("{host} leads to {address}, which is no address", host=host, address=address)
        if found in _METADATA_ADDRESSES:
            return N_("{host} leads to a cloud metadata address; it is never reached", host=host)
        if str(found) in self._extra_hosts:
            return N_("{host} leads to {address}, which your configuration forbids", host=host, address=address)
        if _is_local(found) and not self._is_allowed(host):
            return N_(
                "{host} leads to the private network address {address}; list {host} in [policy] allowed_hosts "
                "to reach it",
                host=host,
                address=address,
            )
        return None

    def _is_allowed(self, host: str) -> bool:
        return host in self._allowed_hosts or _without_port(host) in self._allowed_hosts

    def under(self, real: str) -> Sequence[str]:
        """Return every forbidden path beneath the folder `real`, outer ones first."""
        return self._paths.under(real)

    def host(self, host: str) -> Text | None:
        """Return why `host` (a scope: lower case, IDNA, `:port` if it is not the default) is forbidden, or `None`."""
        name = _without_port(host)
        address = _address(name)
        if name in _METADATA_NAMES or (address is not None and address in _METADATA_ADDRESSES):
            return N_("{host} is a cloud metadata address; it is never reached", host=host)
        if any(extra in (name, host) or name.endswith("." + extra) for extra in self._extra_hosts):
            return N_("{host} is forbidden by your configuration", host=host)
        if self._is_allowed(host):
            return None
        if name == "localhost" or name.endswith(".localhost") or (address is not None and _is_local(address)):
            return N_("{host} is a private network address; list it in [policy] allowed_hosts to reach it", host=host)
        return None


_BUILT_IN = N_("{place} is closed to every tool")
_CONFIGURED = N_("{place} is forbidden by your configuration")


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1 : host.find("]")]
    return host.partition(":")[0]


def _address(name: str) -> _Address | None:
    """Return the address a literal names; an IPv4 address inside an IPv6 one counts as itself."""
    if not (name[-1:].isdigit() or ":" in name):
        return None
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        return address.ipv4_mapped or address.sixtofour or address
    return address


def _is_local(address: _Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address.is_site_local:
        return True
    return not address.is_global or address.is_multicast or address.is_reserved

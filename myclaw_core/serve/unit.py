"""The systemd user unit that runs the daemon: its text, and whether a person changed the one that is there."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from myclaw_core.errors import UsageError
from myclaw_core.messages import N_
from myclaw_core.paths import Home

__all__ = ["UNIT", "environment_file", "is_for", "is_untouched", "unit_path", "unit_text"]

UNIT = "myclaw.service"

_MARK = "# Written by 'myclaw setup --service'; 'systemctl --user edit myclaw' adds to it. Digest: "

# Nothing here makes a mount or user namespace: the sandbox needs to make those itself.
_HARDENING = ("NoNewPrivileges=yes", "LockPersonality=yes", "RestrictRealtime=yes", "RestrictSUIDSGID=yes")


def unit_path() -> Path:
    """Return where the user's service manager looks for the unit."""
    return Path.home() / ".config/systemd/user" / UNIT


def environment_file(home: Home) -> Path:
    """Return the file, for its owner only, from which the service takes keys that providers read from variables."""
    return home.keys / "service.env"


def unit_text(home: Home, environ: Mapping[str, str]) -> str:
    """Return the unit for this installation and `home`.

    Args:
        environ: `MYCLAW_HOME` is handed on where it is set.

    Raises:
        UsageError: A path holds a character that a unit cannot.
    """
    body = "\n".join(_lines(home, environ)) + "\n"
    return f"{_MARK}{_digest(body)}\n{body}"


def is_untouched(text: str) -> bool:
    """Return whether a unit is as it was written here."""
    first, _, body = text.partition("\n")
    return first == f"{_MARK}{_digest(body)}"


def is_for(text: str, home: Home) -> bool:
    """Return whether a unit that was written here runs this home."""
    return _keys_line(home) in text.splitlines()


def _keys_line(home: Home) -> str:
    return f"EnvironmentFile=-{_plain(str(environment_file(home)))}"


def _lines(home: Home, environ: Mapping[str, str]) -> Iterator[str]:
    yield from ("[Unit]", "Description=myclaw, a home agent", "", "[Service]", "Type=exec")
    # -P keeps the folder it starts in off the path of modules: a file there must not become a part of it.
    yield f"ExecStart={_quoted(sys.executable).replace('$', '$$')} -P -m myclaw_core serve"
    if environ.get("MYCLAW_HOME"):
        yield f"Environment={_quoted(f'MYCLAW_HOME={home.root}')}"
    yield _keys_line(home)
    yield from ("Restart=on-failure", "RestartSec=10")
    yield "RestartPreventExitStatus=2 3"  # what only a person can mend
    yield from ("KillMode=mixed", "TimeoutStopSec=60")
    yield "OOMPolicy=continue"  # a command that takes too much ends alone
    yield "UMask=0077"
    if not _sandbox_is_setuid():
        yield from _HARDENING
    yield from ("", "[Install]", "WantedBy=default.target")


def _sandbox_is_setuid() -> bool:
    """Return whether the sandbox needs rights that a service without new privileges cannot get."""
    program = shutil.which("bwrap")
    return program is not None and bool(os.stat(program).st_mode & stat.S_ISUID)  # noqa: PTH116


def _quoted(text: str) -> str:
    escaped = _plain(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _plain(text: str) -> str:
    if not text.isprintable():
        raise UsageError(N_("the path {path} cannot stand in a unit; choose another one", path=repr(text)))
    return text.replace("%", "%%")


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()

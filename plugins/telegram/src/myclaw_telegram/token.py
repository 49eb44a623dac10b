"""Where the bot's token comes from: the environment, or a file that only its owner can read."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.paths import Home

__all__ = ["TOKEN_NAME", "find_token", "token_file"]

TOKEN_NAME = "MYCLAW_TELEGRAM_TOKEN"  # noqa: S105 - the name of a variable
_MAX_BYTES = 256
_TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{1,200}")


def token_file(home: Home) -> Path:
    """Return where the token lies where the environment has none."""
    return home.keys / "telegram.token"


def find_token(home: Home, environ: Mapping[str, str]) -> str:
    """Return the token.

    Raises:
        UnavailableError: There is none, it cannot be one, or others can read its file.
    """
    path = token_file(home)
    if given := environ.get(TOKEN_NAME, "").strip():
        return _checked(given, TOKEN_NAME)
    try:
        found = _read(path)
    except FileNotFoundError:
        raise UnavailableError(
            N_(
                "no bot token: write the one of @BotFather to {path} (readable only by you) or set {name}",
                path=str(path),
                name=TOKEN_NAME,
            )
        ) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnavailableError(N_("{path} cannot be read: {reason}", path=str(path), reason=reason)) from error
    return _checked(found.decode("ascii", "replace").strip(), str(path))


def _read(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise UnavailableError(N_("{path} is not a file; put the bot token in a file there", path=str(path)))
        if found.st_uid != os.geteuid():
            raise UnavailableError(
                N_("{path} belongs to another user; run `chown {user} {path}`", path=str(path), user=os.geteuid())
            )
        if found.st_mode & 0o077:
            raise UnavailableError(N_("{path} can be read by others; run `chmod 600 {path}`", path=str(path)))
        return os.read(handle, _MAX_BYTES)
    finally:
        os.close(handle)


def _checked(token: str, where: str) -> str:
    if not _TOKEN.fullmatch(token):
        raise UnavailableError(
            N_("{where} holds something that cannot be a bot token: copy it again from @BotFather", where=where)
        )
    return token

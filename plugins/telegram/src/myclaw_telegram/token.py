"""Where the bot's token comes from: the environment, or a file that only its owner can read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from myclaw_core.errors import UnavailableError
from myclaw_core.keyfile import find_secret
from myclaw_core.messages import N_
from myclaw_core.paths import Home

__all__ = ["TOKEN_NAME", "find_token", "token_file"]

TOKEN_NAME = "MYCLAW_TELEGRAM_TOKEN"  # noqa: S105 - the name of a variable
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
    token = find_secret(TOKEN_NAME, path, environ)
    if not token:
        raise UnavailableError(
            N_(
                "no bot token: write the one of @BotFather to {path} (readable only by you) or set {name}",
                path=str(path),
                name=TOKEN_NAME,
            )
        )
    if not _TOKEN.fullmatch(token):
        where = TOKEN_NAME if environ.get(TOKEN_NAME, "").strip() else str(path)
        raise UnavailableError(
            N_("{where} holds something that cannot be a bot token: copy it again from @BotFather", where=where)
        )
    return token

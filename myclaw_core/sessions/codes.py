"""One-time codes for pairing: made on this machine, kept as a digest, tried a few times."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from attrs import evolve, field, frozen

from myclaw_core import codec
from myclaw_core.clock import Clock
from myclaw_core.errors import CodecError
from myclaw_core.messages import N_

__all__ = ["CODE_LASTS", "CODE_TRIES", "PairCode", "new_code", "read_code", "typed_code"]

CODE_LASTS = timedelta(minutes=10)
CODE_TRIES = 5
"""How often a code may be tried in all; then it is void."""

_TRIES_OF_ONE = 3
"""How many of these one sender has: a single stranger does not make a code void."""
_ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters and digits of which no two look alike."""
_LENGTH = 8


@frozen(kw_only=True)
class PairCode:
    """A code that is open, without the code itself.

    Attributes:
        salt: Drawn for this code alone.
        digest: SHA-256 of salt and code, in hexadecimal.
        tries: How often each sender tried it in vain.
    """

    salt: str
    digest: str
    made_at: datetime
    ends_at: datetime
    tries: Mapping[str, int] = field(factory=dict)
    unknown_fields: Mapping[str, Any] = field(factory=dict)

    @property
    def is_open(self) -> bool:
        """Return whether it stands for a code that was made and has not ended."""
        return bool(self.digest)

    @property
    def tries_left(self) -> int:
        """Return how often it may still be tried."""
        return CODE_TRIES - sum(self.tries.values())

    def matches(self, typed: str) -> bool:
        """Return whether it is the code that was typed, in a time that does not depend on it."""
        return hmac.compare_digest(_digest(self.salt, typed), self.digest)

    def admits(self, sender: str) -> bool:
        """Return whether `sender` may try it once more."""
        return self.tries_left > 0 and self.tries.get(sender, 0) < _TRIES_OF_ONE

    def tried_by(self, sender: str) -> PairCode:
        """Return it after one more try in vain; tries beyond one's share are not counted."""
        if not self.admits(sender):
            return self
        return evolve(self, tries={**self.tries, sender: self.tries.get(sender, 0) + 1})


_NONE = datetime.min.replace(tzinfo=UTC)
_CLOSED = PairCode(salt="", digest="", made_at=_NONE, ends_at=_NONE)
"""What every attempt is compared with while no code is open: a stranger cannot tell the two apart."""


def new_code(clock: Clock) -> tuple[str, PairCode]:
    """Return a fresh code as it is shown, and what is kept of it."""
    drawn = int.from_bytes(hashlib.sha256(clock.token().encode()).digest())
    letters = ""
    for _ in range(_LENGTH):
        drawn, index = divmod(drawn, len(_ALPHABET))
        letters += _ALPHABET[index]
    salt, now = clock.token(), clock.now()
    kept = PairCode(salt=salt, digest=_digest(salt, letters), made_at=now, ends_at=now + CODE_LASTS)
    return f"{letters[:4]}-{letters[4:]}", kept


def read_code(raw: bytes | None, now: datetime) -> PairCode:
    """Return the code that is kept, or one that nothing matches where none is open or it cannot be read."""
    try:
        kept = _CLOSED if raw is None else codec.loads(PairCode, raw, N_("the pairing code"))
    except CodecError:
        return _CLOSED
    return kept if raw is not None and kept.made_at <= now < kept.ends_at else _CLOSED


def typed_code(text: str) -> str:
    """Return the code that a text is, without blanks and hyphens; empty where it has not the form of one."""
    letters = "".join(char for char in text[: 4 * _LENGTH].upper() if char not in " -")
    return letters if len(letters) == _LENGTH and set(letters) <= set(_ALPHABET) else ""


def _digest(salt: str, code: str) -> str:
    return hashlib.sha256(f"{salt}:{code}".encode()).hexdigest()

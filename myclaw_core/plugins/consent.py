"""What the person agreed to: plugins of others, each bound to its version and its files.

The record lies in the state folder, which no tool reaches, and carries a keyed MAC: a line that somebody else wrote
there enables nothing. It is a file because it must be read before any plugin, and so before any store, is loaded.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from myclaw_core.errors import CodecError, StoreError
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.plugins.contain import PluginError
from myclaw_core.plugins.report import Objection, not_asked
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.plugins.find import FoundPlugin

__all__ = ["Consent", "ConsentBook", "Consents"]


@frozen(kw_only=True)
class Consent:
    """One agreement.

    Attributes:
        digest: Fingerprint of the installed files.
        at: When it was given; aware UTC.
    """

    plugin: str
    distribution: str
    version: str
    digest: str
    at: datetime
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Consents:
    """All agreements, as they are stored."""

    given: tuple[Consent, ...] = ()
    unknown_fields: Mapping[str, Any] = field(factory=dict)


class ConsentBook:
    """The agreements of one home.

    A record that is missing, damaged or not signed with this home's key holds no agreement.

    Args:
        home: Where the record and its key lie.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._problem: Text | None = None
        self._given: dict[str, Consent] = {}
        if self._path.exists():
            self._read()

    def of(self, plugin: str) -> Consent | None:
        """Return the agreement to a plugin, or `None`."""
        return self._given.get(plugin)

    def objection(self, plugin: FoundPlugin) -> Objection | None:
        """Return why a plugin must not be imported, or `None` where the person agreed to exactly what is installed."""
        given = self._given.get(plugin.name)
        if self._problem:
            hint = N_("nothing of it was run; agree again with 'myclaw plugins enable {plugin}'", plugin=plugin.name)
            return Objection(error=self._problem, hint=hint)
        if given is None:
            return not_asked(plugin.name)
        change = _change(given, plugin)
        if change:
            return Objection(
                error=N_("changed since you agreed: {change}", change=change),
                hint=N_(
                    "nothing of it was run; if that was you, agree again with 'myclaw plugins enable {plugin}', "
                    "else install it again",
                    plugin=plugin.name,
                ),
            )
        return None

    def give(self, consent: Consent) -> None:
        """Record an agreement in place of an earlier one to the same plugin.

        Raises:
            StoreError: It cannot be written; nothing is changed.
        """
        self._write([*(one for one in self._given.values() if one.plugin != consent.plugin), consent])

    def revoke(self, plugin: str) -> None:
        """Forget the agreement to a plugin.

        Raises:
            StoreError: It cannot be written; nothing is changed.
        """
        self._write(one for one in self._given.values() if one.plugin != plugin)

    @property
    def _path(self) -> Path:
        return self._home.state / "plugins.consent"

    def _key(self) -> bytes:
        from myclaw_core.events.keys import load_or_create_key

        return load_or_create_key(self._home.keys / "plugins.key")

    def _read(self) -> None:
        from myclaw_core import codec

        try:
            given = codec.loads(Consents, self._signed_body(), self._path.name).given
        except (OSError, StoreError, CodecError) as error:
            self._problem = N_(
                "the record of what you agreed to, {path}, does not hold: {reason}",
                path=str(self._path),
                reason=str(error) if isinstance(error, OSError) else error.text,
            )
        else:
            self._given = {consent.plugin: consent for consent in given}

    def _signed_body(self) -> bytes:
        body, _, mac = self._path.read_bytes().rstrip(b"\n").rpartition(b"\n")
        if not hmac.compare_digest(_mac(self._key(), body), mac):
            raise StoreError(N_("it was not written by 'myclaw plugins'"))
        return body

    def _write(self, given: Iterable[Consent]) -> None:
        from myclaw_core import codec
        from myclaw_core.atomic import replace_file

        consents = {consent.plugin: consent for consent in sorted(given, key=lambda one: one.plugin)}
        body = codec.dumps(Consents(given=tuple(consents.values())))
        self._home.create()
        try:
            if self._problem:
                self._path.replace(self._path.with_suffix(".refused"))
            replace_file(self._path, b"\n".join((body, _mac(self._key(), body), b"")))
        except OSError as error:
            problem = N_(
                "{path}: {reason}; what you agreed to is unchanged", path=str(self._path), reason=error.strerror or ""
            )
            raise StoreError(problem) from error
        self._given, self._problem = consents, None


def _change(given: Consent, plugin: FoundPlugin) -> Text | None:
    """Return what is not as it was when the person agreed, or `None`."""
    if given.distribution != plugin.distribution:
        return N_("{before} offered it, now {after} does", before=given.distribution, after=plugin.distribution)
    if given.version != plugin.version:
        return N_("version {before} became {after}", before=given.version, after=plugin.version)
    try:
        found = plugin.fingerprint()
    except PluginError as error:
        return error.text
    if found.problem:
        return found.problem
    return None if found.digest == given.digest else N_("its files have changed")


def _mac(key: bytes, body: bytes) -> bytes:
    return hmac.digest(key, b"myclaw plugins.consent\n" + body, "sha256").hex().encode()

"""What the person orders about trust in a conversation."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from myclaw_core.errors import UsageError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _
from myclaw_core.trust.orders import TrustOrders
from myclaw_core.types.trust import TrustSubject

__all__ = ["TrustCommands"]


@frozen
class TrustCommands:
    """The commands of one session.

    Attributes:
        sender: Who types them.
    """

    orders: TrustOrders
    sender: str

    async def revoke(self, rest: str) -> str:
        """Take away what a subject has earned."""
        if not rest:
            raise UsageError(N_("say whose trust: /revoke-trust SUBJECT; /trust lists them, the beginning is enough"))
        subjects = await self.orders.revoke(rest, sender=self.sender)
        return _list(_("Taken away; this asks again until you give it back or it is earned anew:"), subjects)

    async def restore(self, rest: str) -> str:
        """Give back what was taken away."""
        if not rest:
            raise UsageError(N_("say whose trust: /restore-trust SUBJECT, or /restore-trust * for all of it"))
        lost = self.orders.taken_away(rest)
        if not lost:
            return _("Nothing of that was taken away.")
        await self.orders.restore(rest, sender=self.sender)
        return _list(_("Given back; what was earned before counts again:"), lost)


def _list(head: str, subjects: Iterable[TrustSubject]) -> str:
    return "\n".join((head, "", *(f"- `{_plain(subject)}`" for subject in subjects)))


def _plain(subject: TrustSubject) -> str:
    return visible(" ".join(subject)).replace("`", "'")

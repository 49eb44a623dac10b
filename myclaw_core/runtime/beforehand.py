"""What the person answered beforehand, as slash commands: the grants, and what shall never be done again."""

from __future__ import annotations

from attrs import frozen

from myclaw_core.approval.grants import told
from myclaw_core.approval.types import Approval, Grant
from myclaw_core.errors import UsageError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, n_, render
from myclaw_core.policy.never import NeverRecord
from myclaw_core.runtime.consent import Change, Consent
from myclaw_core.runtime.services import Services
from myclaw_core.shown.markup import code
from myclaw_core.shown.offers import word

__all__ = ["BeforehandCommands"]


@frozen
class BeforehandCommands:
    """The commands of one session.

    Attributes:
        sender: Who types them.
        consent: Asks before something may be done again.
    """

    services: Services
    sender: str
    consent: Consent

    async def grants(self) -> list[str]:
        """Return a line on each grant that still covers something."""
        return [self._line(grant) for grant in await self.services.gateway.standing()]

    async def pause(self, _rest: str) -> str:
        """End every grant."""
        ended = await self.services.gateway.end_grants()
        if not ended:
            return _("Nothing was granted beforehand. Every question is asked.")
        return n_("{n} grant ended. Every question is asked.", "{n} grants ended. Every question is asked.", len(ended))

    async def revoke(self, rest: str) -> str:
        """End the grant with a number."""
        if not rest.isdecimal():
            raise UsageError(N_("give the number of a grant: /revoke N; /status lists them"))
        ended = await self.services.gateway.end_grants(int(rest))
        if not ended:
            raise UsageError(N_("there is no grant {number}; /status lists them", number=rest))
        return "\n".join(_("ended: {grant}", grant=_code(render(told(grant)))) for grant in ended)

    async def never(self, rest: str) -> str:
        """List what shall never be done again, or take one entry off with the person's consent."""
        entries = await self.services.gateway.forbidden(self.sender)
        if rest:
            return await self._allow_again(_chosen(entries, rest), rest)
        if not entries:
            never = code(word("never"))
            return _(
                "Nothing is on your never-list. Answer a question with {never} to put something there.", never=never
            )
        lines = [f"{number}. {_code(_entry(entry))}" for number, entry in enumerate(entries, 1)]
        return "\n".join(lines) + "\n\n" + _("`/never remove N` takes one off.")

    async def _allow_again(self, entry: NeverRecord, rest: str) -> str:
        async def apply(approval: Approval, digest: str) -> None:
            await self.services.gateway.allow_again(entry, approval, digest)

        is_off, what = await self.consent.agreed(_change(entry, rest), apply), _code(_entry(entry))
        return _("taken off: {entry}", entry=what) if is_off else _("still never: {entry}", entry=what)

    def _line(self, grant: Grant) -> str:
        line = n_(
            "{number}: {grant} (used {n} time)",
            "{number}: {grant} (used {n} times)",
            grant.used,
            number=grant.number,
            grant=_code(render(told(grant))),
        )
        return line if grant.sender == self.sender else _("{line}, for {sender}", line=line, sender=grant.sender)


def _chosen(entries: list[NeverRecord], rest: str) -> NeverRecord:
    verb, _blank, number = rest.partition(" ")
    if verb != "remove" or not number.strip().isdecimal():
        raise UsageError(N_("/never lists what shall never be done; /never remove N takes one off"))
    index = int(number) - 1
    if not 0 <= index < len(entries):
        raise UsageError(N_("there is no entry {number} on your never-list; /never lists them", number=index + 1))
    return entries[index]


def _change(entry: NeverRecord, rest: str) -> Change:
    """Return the question: a change of what the person decided is a change of the system itself."""
    return Change(
        command=f"/never {rest}",
        scope="never-list",
        target=f"{entry.actor} {entry.effect_class}",
        args={"remove": [entry.sender, entry.actor, entry.effect_class]},
        summary=N_("take off the never-list: {actor} doing {what}", actor=entry.actor, what=entry.effect_class),
        reason=N_("you said that this shall never be done; it could be asked and allowed again"),
    )


def _entry(entry: NeverRecord) -> str:
    return _("{actor} doing {what}", actor=entry.actor, what=entry.effect_class)


def _code(text: str) -> str:
    return code(visible(text))

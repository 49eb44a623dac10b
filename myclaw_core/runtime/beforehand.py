"""What the person answered beforehand, as slash commands: the grants, and what shall never be done again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from attrs import frozen

from myclaw_core.approval.gateway import Question
from myclaw_core.approval.grants import told
from myclaw_core.approval.types import Grant
from myclaw_core.errors import UsageError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, n_, render
from myclaw_core.policy.never import NeverRecord
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.recorder import TraceRecorder, new_trace
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.softcap import TURN_ITSELF
from myclaw_core.runtime.types import Outcome, Turn
from myclaw_core.types.action import ApprovalRequestDraft, PlannedAction
from myclaw_core.types.effect import Effect

__all__ = ["BeforehandCommands"]


@frozen
class BeforehandCommands:
    """The commands of one session.

    Attributes:
        channel: Where consent is asked.
        sender: Who types them.
        new_turn: Makes the turn as which a change is recorded, from the words that were typed.
    """

    services: Services
    channel: Channel
    sender: str
    new_turn: Callable[[str], Awaitable[Turn]]

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
            return _("Nothing is on your never-list. Answer a question with `never` to put something there.")
        lines = [f"{number}. {_code(_entry(entry))}" for number, entry in enumerate(entries, 1)]
        return "\n".join(lines) + "\n\n" + _("`/never remove N` takes one off.")

    async def _allow_again(self, entry: NeverRecord, rest: str) -> str:
        turn = await self.new_turn(f"/never {rest}")
        recorder = self.services.recorder(new_trace(turn, self.services.plugins, self.services.config.digest))
        await recorder.start(turn)
        outcome: Outcome = "abandoned"
        try:
            outcome = await self._consent(turn, entry, recorder)
        finally:
            await asyncio.shield(recorder.close(outcome, ()))
        what = _code(_entry(entry))
        return _("taken off: {entry}", entry=what) if outcome == "success" else _("still never: {entry}", entry=what)

    async def _consent(self, turn: Turn, entry: NeverRecord, recorder: TraceRecorder) -> Outcome:
        """Ask, and take the entry off where the person agrees."""
        gateway = self.services.gateway
        draft = _draft(turn, entry)
        (approval,) = await gateway.ask([Question(draft=draft, step_index=TURN_ITSELF)], turn, self.channel)
        recorder.answered((), (approval,))
        if approval.verdict != "granted":
            return "denied"
        await gateway.allow_again(entry, approval, draft.action.args_digest)
        return "success"

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


def _draft(turn: Turn, entry: NeverRecord) -> ApprovalRequestDraft:
    """Return the question: a change of what the person decided is a change of the system itself."""
    target = f"{entry.actor} {entry.effect_class}"
    effect = Effect(kind="config_change", scope="never-list", target=target, reversibility="reversible")
    args = {"remove": [entry.sender, entry.actor, entry.effect_class]}
    action = PlannedAction.from_tool_call(
        tool_name="/never",
        args=args,
        args_preview=args,
        effects=(effect,),
        sender=turn.sender,
        trace_id=turn.id,
        session_id=turn.session_id,
        autonomy=turn.autonomy,
        planned_at=turn.received_at,
        actor="core",
    )
    return ApprovalRequestDraft(
        action=action,
        effect_class=action.effect_class,
        summary=N_("take off the never-list: {actor} doing {what}", actor=entry.actor, what=entry.effect_class),
        risk="high",
        policy_reasons=(N_("you said that this shall never be done; it could be asked and allowed again"),),
    )


def _entry(entry: NeverRecord) -> str:
    return _("{actor} doing {what}", actor=entry.actor, what=entry.effect_class)


def _code(text: str) -> str:
    """Return `text` as a Markdown code span, in which nothing is markup."""
    plain = visible(text).replace("`", "'")
    return f"`{plain}`"

"""What a session says of itself, as slash commands: `/status`, `/session`, `/level` and `/budget`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from myclaw_core.approval.types import Approval
from myclaw_core.budget.report import WEEK_DAYS, budget_text
from myclaw_core.clock import local_zone
from myclaw_core.errors import UsageError
from myclaw_core.files.resolve import display_path
from myclaw_core.messages import N_, _, n_, render
from myclaw_core.runtime.beforehand import BeforehandCommands
from myclaw_core.runtime.consent import Change, Consent
from myclaw_core.runtime.conversation import Conversation, TurnQueue
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.shown.markup import code, code_block
from myclaw_core.types.effect import AUTONOMY_LEVELS, Autonomy, autonomy_le
from myclaw_core.types.text import Text

__all__ = ["SessionCommands", "SessionSeat"]

_OUTCOMES = {
    None: N_("not closed"),
    "success": N_("success"),
    "failed": N_("failed"),
    "abandoned": N_("abandoned"),
    "denied": N_("denied"),
    "budget": N_("budget"),
    "interrupted": N_("interrupted"),
}
_MEANS: dict[Autonomy, Text] = {
    "read_only": N_("Nothing is changed."),
    "supervised": N_("What changes something is asked, until it has earned more."),
    "full": N_("Inside the open folders, what can be undone runs without a question; what cannot is asked each time."),
}


class SessionSeat(Protocol):
    """The session that the commands speak of."""

    @property
    def conversation(self) -> Conversation:
        """Return what it remembers now."""
        ...

    @property
    def running(self) -> ExecutionTrace | None:
        """Return the turn that runs."""
        ...

    @property
    def roots(self) -> Sequence[str]:
        """Return the folders that are open in it."""
        ...

    @property
    def yes_to(self) -> Sequence[str]:
        """Return the effect classes that are granted for the run."""
        ...

    async def begin_anew(self) -> None:
        """Begin a new session in place of this one."""
        ...

    async def save(self) -> None:
        """Keep what it remembers."""
        ...


class SessionCommands:
    """The commands of one session.

    Args:
        services: The agent's parts.
        seat: The session.
        beforehand: Lists what was granted.
        consent: Asks before the level is raised.
        queue: What waits besides.
    """

    def __init__(
        self,
        services: Services,
        seat: SessionSeat,
        beforehand: BeforehandCommands,
        consent: Consent,
        queue: TurnQueue,
    ) -> None:
        self._services = services
        self._seat = seat
        self._beforehand = beforehand
        self._consent = consent
        self._queue = queue

    async def status(self, _rest: str) -> str:
        """Say how things stand."""
        standing = await self._services.ledger.standing()
        pending = await self._services.gateway.pending()
        model, provider = self._answering()
        folders = ", ".join(code(display_path(root)) for root in self._seat.roots)
        soft, hard = f"{standing.soft_eur:g}", f"{standing.hard_eur:g}"
        lines = [
            *self._running_lines(),
            await self._level_line(),
            _("folders: {folders}", folders=folders),
            _("model: {model} through {provider}", model=code(model), provider=code(provider)),
            _("spent today: {spent} EUR", spent=f"{standing.spent_eur:.4f}"),
            _("daily budget: asks at {soft} EUR, stops at {hard} EUR", soft=soft, hard=hard),
            _("open questions: {n}", n=len(pending)),
            _("questions left by runs without you: {n}", n=len(await self._services.gateway.left())),
            *await self._granted_lines(),
            *await self._held_lines(),
        ]
        last = self._seat.conversation.last
        return _listed([*lines, _last_line(last)] if last is not None else lines)

    def _running_lines(self) -> list[str]:
        """Return what runs now, and how much waits."""
        lines = []
        if (running := self._seat.running) is not None:
            seconds = max(0, round((self._services.clock.now() - running.started_at).total_seconds()))
            since = _local(running.started_at)
            lines.append(_("running since {at} ({s} s): {what}", at=since, s=seconds, what=_now(running)))
        if waiting := self._queue.waiting:
            lines.append(n_("{n} message waits", "{n} messages wait", waiting))
        return lines

    async def _held_lines(self) -> list[str]:
        """Return what waits in the outbox, with the time that is left to recall it."""
        now_s = self._services.clock.monotonic()
        return [
            _(
                "held: {what}, sent in {s} s; `/undo` recalls it",
                what=code(render(each.what)),
                s=max(0, round(each.due_s - now_s)),
            )
            for each in await self._services.outbox.held(self._seat.conversation.session.sender)
        ]

    async def session(self, rest: str) -> str:
        """Say what is kept of this session, or begin a new one."""
        if rest == "new":
            await self._seat.begin_anew()
            return _("A new session: nothing of what was said before is read any more.")
        if rest:
            raise UsageError(N_("/session shows this session; /session new begins another one"))
        conversation = self._seat.conversation
        kept = len(conversation.history)
        lines = [
            _("session since {at}", at=_local(conversation.session.started_at)),
            await self._level_line(),
            n_("{n} message is read with the next one", "{n} messages are read with the next one", kept),
            _("`/session new` begins another one"),
        ]
        return _listed(lines)

    async def level(self, rest: str) -> str:
        """Show the level, or set that of this session; a raise is asked about, with what it will probably cost."""
        if not rest:
            return await self._level_line()
        wanted = next((level for level in AUTONOMY_LEVELS if level == rest), None)
        if wanted is None:
            raise UsageError(N_("level is one of {levels}", levels=", ".join(AUTONOMY_LEVELS)))
        conversation = self._seat.conversation
        now = conversation.level or await self._services.levels.now()
        if not autonomy_le(wanted, now) and not await self._agreed(conversation, now, wanted):
            return await self._level_line()
        conversation.level = wanted
        await self._seat.save()
        return _("level {level} in this conversation", level=wanted)

    async def _agreed(self, conversation: Conversation, now: Autonomy, wanted: Autonomy) -> bool:
        """Return whether the person agrees to a higher level; not where another session began meanwhile."""
        if not self._consent.channel.attended:
            raise UsageError(N_("a higher level needs your yes, and nobody is there to be asked; the level stays"))
        gateway, log = self._services.gateway, self._services.log
        sender = conversation.session.sender

        async def apply(approval: Approval, digest: str) -> None:
            async with log.transaction() as tx:
                await gateway.consume(tx, approval.request_id, digest, sender)

        change = _raise(now, wanted, (await self._services.ledger.estimate(wanted)).text)
        return await self._consent.agreed(change, apply) and self._seat.conversation is conversation

    async def budget(self, _rest: str) -> str:
        """Say what was spent."""
        ledger = self._services.ledger
        return code_block(budget_text(await ledger.standing(), await ledger.books(WEEK_DAYS)))

    async def _granted_lines(self) -> list[str]:
        """Return what questions are answered beforehand, with what ends it."""
        lines = []
        if self._seat.yes_to:
            lines.append(_("granted for this run: {classes}", classes=", ".join(map(code, self._seat.yes_to))))
        grants = await self._beforehand.grants()
        if not grants:
            return [*lines, _("granted beforehand: nothing")]
        head = _("granted beforehand (`/revoke N` ends one, `/pause` all):")
        return [*lines, "\n  - ".join((head, *grants))]

    async def _level_line(self) -> str:
        level = self._seat.conversation.level
        return _("level: {level}", level=level) if level is not None else render(await self._services.levels.words())

    def _answering(self) -> tuple[str, str]:
        """Return model and provider of the last answer in this session, before the first those that are set."""
        last = self._seat.conversation.last
        for call in reversed(last.model_calls if last else ()):
            if not call.error:
                return call.model, call.provider
        agent = self._services.config.agent
        return agent.model, agent.provider


def _now(trace: ExecutionTrace) -> str:
    """Return what a running turn does."""
    for step in trace.steps:
        if step.state == "intent":
            return code(step.tool_name)
    asked = any(
        step.state == "decided" and step.decision is not None and step.decision.verdict == "approve_required"
        for step in trace.steps
    )
    return _("waiting for you") if asked and not trace.dry_run else _("thinking")


def _raise(now: Autonomy, wanted: Autonomy, estimate: Text) -> Change:
    return Change(
        command=f"/level {wanted}",
        scope="level",
        target=wanted,
        args={"level": wanted},
        summary=N_("raise the level of this conversation from {now} to {wanted}", now=now, wanted=wanted),
        reason=_MEANS[wanted],
        record=(estimate,),
    )


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _last_line(trace: ExecutionTrace) -> str:
    return n_(
        "last turn: {outcome}, {n} step, trace `{trace}`",
        "last turn: {outcome}, {n} steps, trace `{trace}`",
        len(trace.steps),
        outcome=_OUTCOMES[trace.outcome],
        trace=str(trace.id),
    )


def _local(at: datetime) -> str:
    return f"{at.astimezone(local_zone()):%Y-%m-%d %H:%M}"

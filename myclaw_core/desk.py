"""What a channel talks to: one session of one sender, its turns and its slash commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from myclaw_core.approval.types import Reply
from myclaw_core.budget.report import WEEK_DAYS, budget_text
from myclaw_core.clock import local_zone
from myclaw_core.errors import UsageError
from myclaw_core.files.resolve import display_path
from myclaw_core.messages import N_, _, n_, render
from myclaw_core.runtime.beforehand import BeforehandCommands
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.trust_commands import TrustCommands
from myclaw_core.runtime.types import ExecutionTrace, Message, Turn
from myclaw_core.runtime.undoing import find_trace, first_words, last_changing, may_have_changed, trace_id_of
from myclaw_core.runtime.why import decided_in, decided_on_record
from myclaw_core.trust.orders import TrustOrders
from myclaw_core.types.effect import AUTONOMY_LEVELS, Autonomy, autonomy_le
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.runtime.undoing import UndoLine

__all__ = ["SessionDesk"]

_MAX_CHANGING = 50  # turns that /undo takes back one after the other; older ones are named

_OUTCOMES = {
    None: N_("not closed"),
    "success": N_("success"),
    "failed": N_("failed"),
    "abandoned": N_("abandoned"),
    "denied": N_("denied"),
    "budget": N_("budget"),
    "interrupted": N_("interrupted"),
}


class SessionDesk:
    """One session: it keeps the conversation and hands each message to the agent.

    Args:
        agent: The opened agent.
        channel: Where answers go.
        sender: Who writes, for example `cli:me`.
        roots: Real absolute folders open in this session.
        cwd: Folder against which relative paths are read.
        level: Autonomy level of this session; `None` lets it follow the standing one.
        yes_to: Effect classes granted for this session.
        dry_run: Whether everything but reading is judged and not executed.
    """

    def __init__(
        self,
        agent: Agent,
        channel: Channel,
        *,
        sender: str,
        roots: tuple[str, ...],
        cwd: str,
        level: Autonomy | None,
        yes_to: tuple[str, ...] = (),
        dry_run: bool = False,
    ) -> None:
        self._agent = agent
        self._channel = channel
        self._sender = sender
        self._roots = roots
        self._cwd = cwd
        self._level = level
        self._yes_to = yes_to
        self._dry_run = dry_run
        self._session_id = str(agent.clock.new_id())
        self._history: list[Message] = []
        self._last: ExecutionTrace | None = None
        self._decided: ExecutionTrace | None = None
        self._changing: list[ExecutionTrace] = []
        self._took_back = False
        beforehand = BeforehandCommands(agent.services, channel, sender, self._turn)
        self._beforehand = beforehand
        trust = TrustCommands(TrustOrders(agent.log, agent.book, agent.follower, agent.clock), sender)
        self._commands: Mapping[str, tuple[Text, Callable[[str], Awaitable[str]]]] = {
            "/help": (N_("what can be typed here"), self._help),
            "/status": (N_("level, folders, model, budget, open questions, grants"), self._status),
            "/level": (N_("the autonomy level; /level LEVEL sets that of this conversation"), self._set_level),
            "/budget": (N_("what was spent today and in the last 7 days, and what is left"), self._budget),
            "/undo": (N_("take back what the last turn here changed; /undo TRACE for any other one"), self._undo),
            "/why": (
                N_("how the last action was decided, check by check; /why TRACE for all of another turn"),
                self._why,
            ),
            "/trust": (N_("what has been earned, by whom and for what"), self._trust),
            "/revoke-trust": (N_("/revoke-trust SUBJECT takes away what it has earned"), trust.revoke),
            "/restore-trust": (N_("/restore-trust SUBJECT gives back what was taken away"), trust.restore),
            "/pause": (N_("end all that was granted beforehand"), self._pause),
            "/revoke": (N_("/revoke N ends one grant that /status lists"), beforehand.revoke),
            "/never": (N_("what shall never be done again; /never remove N takes one off"), beforehand.never),
        }

    @property
    def commands(self) -> Sequence[tuple[str, str]]:
        """Return the slash commands with one line on each."""
        return [(name, render(line)) for name, (line, _run) in self._commands.items()]

    async def handle(self, text: str) -> ExecutionTrace | None:
        """Run one message as a turn, or one slash command.

        Raises:
            UsageError: The slash command is not known or was given wrong.
        """
        stripped = text.strip()
        if not stripped:
            return None
        if stripped.startswith("/"):
            self._channel.show(await self._run_command(stripped))
            return None
        runner = self._agent.new_turn(await self._turn(text), self._channel, self._history)
        try:
            await self._agent.run(runner)
        finally:
            self._history = runner.history
            self._remember(runner.trace)
            if runner.trace.closed_at is not None:
                self._channel.end_turn(runner.trace)
        return runner.trace

    async def submit(self, reply: Reply) -> Text | None:
        """Take an answer to a question, whenever it comes; return why it does not count, or `None`."""
        return await self._agent.services.gateway.submit(reply)

    def _remember(self, trace: ExecutionTrace) -> None:
        """Keep what `/status`, `/why` and `/undo` tell of, also of a turn that was stopped."""
        self._last = trace
        if any(step.decision for step in trace.steps):
            self._decided = trace
        if any(map(may_have_changed, trace.steps)):
            self._changing = [*self._changing[1 - _MAX_CHANGING :], trace]

    async def _run_command(self, line: str) -> str:
        name, _blank, rest = line.partition(" ")
        known = self._commands.get(name)
        if known is None:
            raise UsageError(N_("there is no command {name}; /help lists them", name=name))
        return await known[1](rest.strip())

    async def _turn(self, text: str) -> Turn:
        return Turn(
            id=self._agent.clock.new_id(),
            session_id=self._session_id,
            channel=self._channel.name,
            sender=self._sender,
            autonomy=self._level or await self._agent.services.levels.begin_turn(),
            text=text,
            received_at=self._agent.clock.now(),
            roots=self._roots,
            cwd=self._cwd,
            attended=self._channel.attended,
            yes_to=self._yes_to,
            dry_run=self._dry_run,
            level_stands=self._level is None,
        )

    async def _help(self, _rest: str) -> str:
        lines = "\n".join(f"- `{name}`: {line}" for name, line in self.commands)
        return f"{lines}\n\n" + _("Anything else is a message. Ctrl-C stops a running turn, Ctrl-D leaves.")

    async def _status(self, _rest: str) -> str:
        standing = await self._agent.services.ledger.standing()
        pending = await self._agent.services.gateway.pending()
        model, provider = self._answering()
        folders = ", ".join(_code(display_path(root)) for root in self._roots)
        soft, hard = f"{standing.soft_eur:g}", f"{standing.hard_eur:g}"
        lines = [
            await self._level_line(),
            _("folders: {folders}", folders=folders),
            _("model: {model} through {provider}", model=_code(model), provider=_code(provider)),
            _("spent today: {spent} EUR", spent=f"{standing.spent_eur:.4f}"),
            _("daily budget: asks at {soft} EUR, stops at {hard} EUR", soft=soft, hard=hard),
            _("open questions: {n}", n=len(pending)),
            *await self._granted_lines(),
        ]
        if self._last is not None:
            lines.append(_last_line(self._last))
        return "\n".join(f"- {line}" for line in lines)

    async def _granted_lines(self) -> list[str]:
        """Return what questions are answered beforehand, with what ends it."""
        lines = []
        if self._yes_to:
            lines.append(_("granted for this run: {classes}", classes=", ".join(map(_code, self._yes_to))))
        grants = await self._beforehand.grants()
        if not grants:
            return [*lines, _("granted beforehand: nothing")]
        head = _("granted beforehand (`/revoke N` ends one, `/pause` all):")
        return [*lines, "\n  - ".join((head, *grants))]

    async def _level_line(self) -> str:
        if self._level is not None:
            return _("level: {level}", level=self._level)
        return render(await self._agent.services.levels.words())

    async def _set_level(self, rest: str) -> str:
        """Show the level, or set that of this conversation; before a raise its cost is stated."""
        if not rest:
            return await self._level_line()
        wanted = next((level for level in AUTONOMY_LEVELS if level == rest), None)
        if wanted is None:
            raise UsageError(N_("level is one of {levels}", levels=", ".join(AUTONOMY_LEVELS)))
        services = self._agent.services
        is_raise = not autonomy_le(wanted, self._level or await services.levels.now())
        lines = [render((await services.ledger.estimate(wanted)).text)] if is_raise else []
        self._level = wanted
        return "\n".join(f"- {line}" for line in [*lines, _("level {level} in this conversation", level=wanted)])

    async def _budget(self, _rest: str) -> str:
        ledger = self._agent.services.ledger
        return _block(budget_text(await ledger.standing(), await ledger.books(WEEK_DAYS)))

    def _answering(self) -> tuple[str, str]:
        """Return model and provider of the last answer in this session, before the first those that are set."""
        for call in reversed(self._last.model_calls if self._last else ()):
            if not call.error:
                return call.model, call.provider
        agent = self._agent.services.config.agent
        return agent.model, agent.provider

    async def _undo(self, rest: str) -> str:
        """Take back this conversation's last change, or that of the trace that is named."""
        words = rest.split()
        named = [word for word in words if word != "--force"]
        if len(named) > 1:
            raise UsageError(N_("give one trace: /undo TRACE, with --force to overwrite what was changed since"))
        if named:
            original = await find_trace(self._agent.log, named[0])
        elif self._changing:
            original = self._changing[-1]
        else:
            return await self._nothing_here()
        turn = await self._turn(f"/undo {rest}".strip())
        lines = await self._agent.undo(turn, original, force="--force" in words)
        if all(line.reverted or line.step.undo_id is None for line in lines):
            self._took_back = True
            self._changing = [trace for trace in self._changing if trace.id != original.id]
        return "\n".join(map(_undo_line, lines)) or _("That trace changed nothing.")

    async def _nothing_here(self) -> str:
        """Say what could be taken back elsewhere: another conversation's work goes only where it is named."""
        if self._took_back:
            return _("Nothing left to take back here; `/undo TRACE` for an older one.")
        last = await last_changing(self._agent.log, self._sender, "/undo")
        return _(
            "This conversation has changed nothing yet. The last turn that did was at {at}: "
            "{words} (trace `{trace}`); `/undo {trace}` takes it back.",
            at=_local(last.started_at),
            words=_code(first_words(last)),
            trace=str(last.id)[:13],
        )

    async def _why(self, wanted: str) -> str:
        if wanted:
            log = self._agent.log
            decided = await decided_on_record(log, await trace_id_of(log, wanted))
            told = "\n\n".join(each.told() for each in decided)
            return _block(told) if told else _("No action was decided in that trace.")
        if self._decided is None:
            return _("No action was decided in this session yet.")
        stopped = ""
        if self._last is not None and self._last.outcome == "abandoned":
            here = self._last is self._decided
            stopped = _("The turn was stopped.") if here else _("The last turn was stopped; this is of the one before.")
        return f"{stopped}\n\n{_block(decided_in(self._decided)[-1].told())}".lstrip()

    async def _pause(self, rest: str) -> str:
        self._yes_to = ()
        return await self._beforehand.pause(rest)

    async def _trust(self, rest: str) -> str:
        from myclaw_core.trust.report import trust_table

        return _block(trust_table(await self._agent.book.snapshot(), prefix=rest))


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


def _undo_line(line: UndoLine) -> str:
    """Return what became of one step; what it touched is in the details, each with its own path."""
    state = _("undone") if line.reverted else _("not undone")
    targets = ", ".join(dict.fromkeys(_code(display_path(effect.target)) for effect in line.step.effects))
    details = "; ".join(map(render, line.details))
    return f"- {_code(line.step.tool_name)} {targets}: {state}" + (f" ({_code(details)})" if details else "")


def _code(text: str) -> str:
    """Return `text` as a Markdown code span, in which nothing is markup."""
    plain = text.replace("`", "'")
    return f"`{plain}`"


def _block(text: str) -> str:
    """Return lines as a Markdown code block, which keeps their columns and in which nothing is markup."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}"

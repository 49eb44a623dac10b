"""What a channel talks to: one session of one sender, its turns and its slash commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from myclaw_core.approval.types import Approval
from myclaw_core.clock import local_zone
from myclaw_core.errors import UsageError
from myclaw_core.files.resolve import display_path
from myclaw_core.files.visible import visible
from myclaw_core.messages import render
from myclaw_core.policy.report import explain
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, Message, Turn
from myclaw_core.runtime.undoing import find_trace, first_words, last_changing, may_have_changed
from myclaw_core.types.effect import Autonomy

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.runtime.undoing import UndoLine

__all__ = ["SessionDesk"]


class SessionDesk:
    """One session: it keeps the conversation and hands each message to the agent.

    Args:
        agent: The opened agent.
        channel: Where answers go.
        sender: Who writes, for example `cli:me`.
        roots: Real absolute folders open in this session.
        cwd: Folder against which relative paths are read.
        level: Autonomy level.
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
        level: Autonomy,
        yes_to: tuple[str, ...] = (),
        dry_run: bool = False,
    ) -> None:
        self._agent = agent
        self._channel = channel
        self._sender = sender
        self._roots = roots
        self._cwd = cwd
        self._level: Autonomy = level
        self._yes_to = yes_to
        self._dry_run = dry_run
        self._session_id = str(agent.clock.new_id())
        self._history: list[Message] = []
        self._last: ExecutionTrace | None = None
        self._decided: ExecutionTrace | None = None
        self._changing: list[ExecutionTrace] = []
        self._took_back = False
        self._commands: Mapping[str, tuple[str, Callable[[str], Awaitable[str]]]] = {
            "/help": ("what can be typed here", self._help),
            "/status": ("level, folders, model, budget, open questions", self._status),
            "/undo": ("take back what the last turn here changed; /undo TRACE for any other one", self._undo),
            "/why": ("how the last action was decided, check by check; /why TRACE for all of another turn", self._why),
            "/trust": ("what has been earned, by whom and for what", self._trust),
        }

    @property
    def commands(self) -> Sequence[tuple[str, str]]:
        """Return the slash commands with one line on each."""
        return [(name, line) for name, (line, _) in self._commands.items()]

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
        runner = self._agent.new_turn(self._turn(text), self._channel, self._history)
        try:
            await self._agent.run(runner)
        finally:
            self._history = runner.history
            self._remember(runner.trace)
            if runner.trace.closed_at is not None:
                self._channel.end_turn(runner.trace)
        return runner.trace

    def _remember(self, trace: ExecutionTrace) -> None:
        """Keep what `/status`, `/why` and `/undo` tell of, also of a turn that was stopped."""
        self._last = trace
        if any(step.decision for step in trace.steps):
            self._decided = trace
        if any(map(may_have_changed, trace.steps)):
            self._changing.append(trace)

    async def _run_command(self, line: str) -> str:
        name, _, rest = line.partition(" ")
        known = self._commands.get(name)
        if known is None:
            raise UsageError(f"there is no command {name}; /help lists them")
        return await known[1](rest.strip())

    def _turn(self, text: str) -> Turn:
        return Turn(
            id=self._agent.clock.new_id(),
            session_id=self._session_id,
            channel=self._channel.name,
            sender=self._sender,
            autonomy=self._level,
            text=text,
            received_at=self._agent.clock.now(),
            roots=self._roots,
            cwd=self._cwd,
            attended=self._channel.attended,
            yes_to=self._yes_to,
            dry_run=self._dry_run,
        )

    async def _help(self, _: str) -> str:
        lines = "\n".join(f"- `{name}`: {line}" for name, line in self.commands)
        return f"{lines}\n\nAnything else is a message. Ctrl-C stops a running turn, Ctrl-D leaves."

    async def _status(self, _: str) -> str:
        standing = await self._agent.services.ledger.standing()
        pending = await self._agent.services.gateway.pending()
        model, provider = self._answering()
        lines = [
            f"- level: {self._level}",
            f"- folders: {', '.join(_code(display_path(root)) for root in self._roots)}",
            f"- model: {_code(model)} through {_code(provider)}",
            f"- spent today: {standing.spent_eur:.4f} EUR",
            f"- daily budget: asks at {standing.soft_eur:g} EUR, stops at {standing.hard_eur:g} EUR",
            f"- open questions: {len(pending)}",
        ]
        if self._last is not None:
            steps = len(self._last.steps)
            counted = "1 step" if steps == 1 else f"{steps} steps"
            lines.append(f"- last turn: {self._last.outcome}, {counted}, trace `{self._last.id}`")
        return "\n".join(lines)

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
            raise UsageError("give one trace: /undo TRACE, with --force to overwrite what was changed since")
        if named:
            original = await find_trace(self._agent.log, named[0])
        elif self._changing:
            original = self._changing[-1]
        else:
            return await self._nothing_here()
        lines = await self._agent.undo(self._turn(f"/undo {rest}".strip()), original, force="--force" in words)
        if all(line.reverted or line.step.undo_id is None for line in lines):
            self._took_back = True
            self._changing = [trace for trace in self._changing if trace.id != original.id]
        return "\n".join(map(_undo_line, lines)) or "That trace changed nothing."

    async def _nothing_here(self) -> str:
        """Say what could be taken back elsewhere: another conversation's work goes only where it is named."""
        if self._took_back:
            return "Nothing left to take back here; `/undo TRACE` for an older one."
        last = await last_changing(self._agent.log, self._sender, "/undo")
        short = str(last.id)[:13]
        return (
            f"This conversation has changed nothing yet. The last turn that did was at {_local(last.started_at)}: "
            f"{_code(first_words(last))} (trace `{short}`); `/undo {short}` takes it back."
        )

    async def _why(self, wanted: str) -> str:
        if wanted:
            reasons = _reasons(await find_trace(self._agent.log, wanted))
            return _block("\n\n".join(reasons)) if reasons else "No action was decided in that trace."
        if self._decided is None:
            return "No action was decided in this session yet."
        stopped = ""
        if self._last is not None and self._last.outcome == "abandoned":
            here = self._last is self._decided
            stopped = "The turn was stopped." if here else "The last turn was stopped; this is of the one before."
        return f"{stopped}\n\n{_block(_reasons(self._decided)[-1])}".lstrip()

    async def _trust(self, rest: str) -> str:
        from myclaw_core.trust.report import trust_table

        return _block(trust_table(await self._agent.book.snapshot(), prefix=rest))


def _reasons(trace: ExecutionTrace) -> list[str]:
    """Return how each action of a trace was decided and how it ended."""
    answers = {approval.request_id: approval for approval in trace.approvals}
    return [
        f"{explain(step.decision)}\nthen: {_ending(step, answers.get(step.approval_id) if step.approval_id else None)}"
        for step in trace.steps
        if step.decision is not None
    ]


def _local(at: datetime) -> str:
    return f"{at.astimezone(local_zone()):%Y-%m-%d %H:%M}"


def _ending(step: ActionStep, answer: Approval | None) -> str:
    """Return the answer to a step's question, if there was one, and how the step ended."""
    if answer is not None and answer.verdict == "denied":
        return "you said no"
    answered = f"{answer.verdict} by {answer.decided_by}, " if answer else ""
    return answered + (visible(render(step.error.message)) if step.error else step.state)


def _undo_line(line: UndoLine) -> str:
    """Return what became of one step; what it touched is in the details, each with its own path."""
    state = "undone" if line.reverted else "not undone"
    targets = ", ".join(_code(display_path(effect.target)) for effect in line.step.effects)
    details = "; ".join(str(detail) for detail in line.details)
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

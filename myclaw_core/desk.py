"""What a channel talks to: one session of one sender, its turns and its slash commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from myclaw_core.errors import UsageError
from myclaw_core.policy.report import explain
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.types import ExecutionTrace, Message, Turn
from myclaw_core.types.effect import Autonomy

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

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
    """

    def __init__(
        self, agent: Agent, channel: Channel, *, sender: str, roots: tuple[str, ...], cwd: str, level: Autonomy
    ) -> None:
        self._agent = agent
        self._channel = channel
        self._sender = sender
        self._roots = roots
        self._cwd = cwd
        self._level: Autonomy = level
        self._session_id = str(agent.clock.new_id())
        self._history: list[Message] = []
        self._last: ExecutionTrace | None = None
        self._commands: Mapping[str, tuple[str, Callable[[str], Awaitable[str]]]] = {
            "/help": ("what can be typed here", self._help),
            "/status": ("level, folders, model, budget, open questions", self._status),
            "/undo": ("take back what the last turn changed; /undo TRACE for an older one", self._undo),
            "/why": ("how the last action was decided, check by check", self._why),
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
        result = await self._agent.run_turn(self._turn(text), self._channel, self._history)
        self._history = result.history
        self._last = result.trace
        self._channel.end_turn(result.trace)
        return result.trace

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
        )

    async def _help(self, _: str) -> str:
        lines = "\n".join(f"- `{name}`: {line}" for name, line in self.commands)
        return f"{lines}\n\nAnything else is a message. Ctrl-C stops a running turn, Ctrl-D leaves."

    async def _status(self, _: str) -> str:
        standing = await self._agent.services.ledger.standing()
        pending = await self._agent.services.gateway.pending()
        config = self._agent.services.config
        lines = [
            f"- level: {self._level}",
            f"- folders: {', '.join(self._roots)}",
            f"- model: {config.agent.model} through {config.agent.provider}",
            f"- spent today: {standing.spent_eur:.4f} EUR",
            f"- daily budget: asks at {standing.soft_eur:g} EUR, stops at {standing.hard_eur:g} EUR",
            f"- open questions: {len(pending)}",
        ]
        if self._last is not None:
            lines.append(f"- last turn: {self._last.outcome}, {len(self._last.steps)} steps, trace `{self._last.id}`")
        return "\n".join(lines)

    async def _undo(self, rest: str) -> str:
        turn = evolve(self._turn(f"/undo {rest}".strip()), roots=self._roots)
        lines = await self._agent.undo(turn, rest)
        if not lines:
            return "That trace changed nothing."
        return "\n".join(
            f"- {line.step.tool_name} {', '.join(effect.target for effect in line.step.effects)}: "
            + ("undone" if line.reverted else "not undone")
            + "".join(f"; {detail}" for detail in line.details)
            for line in lines
        )

    async def _why(self, _: str) -> str:
        steps = self._last.steps if self._last else []
        decided = [step.decision for step in steps if step.decision is not None]
        if not decided:
            return "No action was decided in this session yet."
        return explain(decided[-1])

    async def _trust(self, rest: str) -> str:
        from myclaw_core.trust.report import trust_table

        return trust_table(await self._agent.book.snapshot(), prefix=rest)

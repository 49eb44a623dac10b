"""What a channel talks to: one session of one sender, its turns and its slash commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from myclaw_core.approval.types import Reply
from myclaw_core.errors import UsageError
from myclaw_core.messages import N_, _, n_, render
from myclaw_core.runtime.beforehand import BeforehandCommands
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.consent import Consent
from myclaw_core.runtime.conversation import Conversation, Keeper, NoQueue, TurnQueue
from myclaw_core.runtime.delivery import DeliveryCommand
from myclaw_core.runtime.finishing import finished
from myclaw_core.runtime.neuron_commands import NeuronCommands
from myclaw_core.runtime.pending import PendingCommand
from myclaw_core.runtime.revising import ReviseCommand
from myclaw_core.runtime.session_commands import SessionCommands
from myclaw_core.runtime.trust_commands import TrustCommands
from myclaw_core.runtime.types import ExecutionTrace, Session, Turn
from myclaw_core.runtime.undo_command import UndoCommand
from myclaw_core.runtime.undoing import trace_id_of
from myclaw_core.runtime.why import decided_in, decided_on_record
from myclaw_core.shown.markup import code_block
from myclaw_core.trust.orders import TrustOrders
from myclaw_core.types.effect import Autonomy
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.agent import Agent

__all__ = ["AfterTurn", "SessionDesk", "command_lines"]

AfterTurn = Callable[[ExecutionTrace, Turn], Awaitable[None]]
_Run = Callable[[str], Awaitable[str]]

_COMMANDS = {
    "/help": N_("what can be typed here"),
    "/status": N_("level, folders, model, budget, open questions, grants"),
    "/stop": N_("stop what runs and drop what waits"),
    "/undo": N_("take back what the last turn here changed; /undo TRACE for any other one"),
    "/session": N_("what is kept of this session; /session new begins another one"),
    "/level": N_("the autonomy level; /level LEVEL sets that of this conversation, and asks before a higher one"),
    "/budget": N_("what was spent today and in the last 7 days, and what is left"),
    "/file": N_("/file PATH delivers a file of the open folders"),
    "/why": N_("how the last action was decided, check by check; /why TRACE for all of another turn"),
    "/trust": N_("what has been earned, by whom and for what"),
    "/revoke-trust": N_("/revoke-trust SUBJECT takes away what it has earned"),
    "/restore-trust": N_("/restore-trust SUBJECT gives back what was taken away"),
    "/neurons": N_("the neurons and how they stand; /neurons disable, rehabilitate or remove NAME"),
    "/revise": N_("/revise ID spec TEXT or /revise ID draft TEXT says what should be otherwise about a drafted neuron"),
    "/pending": N_("what runs without you left for you to answer; /pending drop lets go of it"),
    "/pause": N_("end all that was granted beforehand"),
    "/revoke": N_("/revoke N ends one grant that /status lists"),
    "/never": N_("what shall never be done again; /never remove N takes one off"),
}


def command_lines() -> Sequence[tuple[str, str]]:
    """Return the slash commands with one line on each."""
    return [(name, render(line)) for name, line in _COMMANDS.items()]


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
        conversation: A session to go on with, its own level included; a new one by default.
        keeper: Keeps the session over restarts.
        queue: What runs and waits besides a slash command.
        after_turn: Is given each turn that ended by itself, for what follows from it.
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
        conversation: Conversation | None = None,
        keeper: Keeper | None = None,
        queue: TurnQueue | None = None,
        after_turn: AfterTurn | None = None,
    ) -> None:
        self._agent = agent
        self._channel = channel
        self._sender = sender
        self._cwd = cwd
        self._dry_run = dry_run
        self._keeper = keeper
        self._queue = queue
        self._after_turn = after_turn
        self._running: ExecutionTrace | None = None
        self.roots = roots
        self.yes_to = yes_to
        self.conversation = conversation or self._new_conversation(level)
        self._commands = self._runs(queue or NoQueue())

    def _runs(self, queue: TurnQueue) -> Mapping[str, _Run]:
        """Return what runs each slash command."""
        agent, channel, sender = self._agent, self._channel, self._sender
        consent = Consent(agent.services, channel, self.turn)
        beforehand = BeforehandCommands(agent.services, sender, consent)
        session = SessionCommands(agent.services, self, beforehand, consent, queue)
        trust = TrustCommands(TrustOrders(agent.log, agent.book, agent.follower, agent.clock), sender)

        async def pause(rest: str) -> str:
            self.yes_to = ()
            return await beforehand.pause(rest)

        async def stop(_rest: str) -> str:
            return _stopped(stopped=await queue.stop_turn(), dropped=await queue.drop())

        return {
            "/help": self._help,
            "/status": session.status,
            "/stop": stop,
            "/undo": UndoCommand(agent, sender, self, queue).undo,
            "/session": session.session,
            "/level": session.level,
            "/budget": session.budget,
            "/file": DeliveryCommand(agent.services, channel, self.turn).file,
            "/why": self._why,
            "/trust": self._trust,
            "/revoke-trust": trust.revoke,
            "/restore-trust": trust.restore,
            "/neurons": NeuronCommands(agent.services, agent.neuron_orders, sender, consent).neurons,
            "/pending": PendingCommand(agent.services, channel, self.turn, agent.run, self._remember),
            "/revise": ReviseCommand(agent.services, channel, sender, self.turn, agent.run),
            "/pause": pause,
            "/revoke": beforehand.revoke,
            "/never": beforehand.never,
        }

    @property
    def commands(self) -> Sequence[tuple[str, str]]:
        """Return the slash commands with one line on each."""
        return command_lines()

    async def handle(self, text: str, *, message_key: str = "") -> ExecutionTrace | None:
        """Run one message as a turn, or one slash command.

        Args:
            message_key: Names the message in the inbox; its turn takes it out.

        Raises:
            UsageError: The slash command is not known or was given wrong.
        """
        stripped = text.strip()
        if not stripped:
            return None
        if stripped.startswith("/"):
            self._channel.show(await self._run_command(stripped))
            return None
        return await self._run_turn(await self.turn(text, message_key))

    async def submit(self, reply: Reply) -> Text | None:
        """Take an answer to a question, whenever it comes; return why it does not count, or `None`."""
        return await self._agent.services.gateway.submit(reply)

    async def recall(self, held_id: UUID) -> Text:
        """Take back what waits in the outbox and return what is told."""
        return await self._agent.services.outbox.recall(held_id, self._sender)

    async def turn(self, text: str, message_key: str = "") -> Turn:
        """Return a turn of this session, not yet run."""
        level = self.conversation.level
        return Turn(
            id=self._agent.clock.new_id(),
            session_id=self.conversation.session.id,
            channel=self._channel.name,
            sender=self._sender,
            autonomy=level or await self._agent.services.levels.begin_turn(),
            text=text,
            received_at=self._agent.clock.now(),
            roots=self.roots,
            cwd=self._cwd,
            attended=self._channel.attended,
            yes_to=self.yes_to,
            dry_run=self._dry_run,
            level_stands=level is None,
            message_key=message_key,
        )

    @property
    def running(self) -> ExecutionTrace | None:
        """Return the turn that runs."""
        return self._running

    async def save(self) -> None:
        """Keep the session as it is now, where it outlives this process."""
        if self._keeper is not None:
            await self._keeper.save(self.conversation, self._running.id if self._running else None)

    async def begin_anew(self) -> None:
        """Begin a new session at the same level; a turn that runs ends in the old one."""
        self.conversation = self._new_conversation(self.conversation.level)
        await self.save()

    async def _run_turn(self, turn: Turn) -> ExecutionTrace:
        conversation = self.conversation
        runner = self._agent.new_turn(turn, self._channel, conversation.history)
        conversation.begins(turn.id)
        self._running = runner.trace
        try:
            await self.save()
            await self._agent.run(runner)
        finally:
            self._running = None
            conversation.history = runner.history
            conversation.remember(runner.trace)
            if runner.trace.closed_at is not None:
                self._channel.end_turn(runner.trace)
                await finished(self.save())
        if self._after_turn is not None:
            await self._after_turn(runner.trace, turn)
        return runner.trace

    async def _remember(self, trace: ExecutionTrace) -> None:
        """Remember a turn that a slash command ran."""
        self.conversation.begins(trace.id)
        self.conversation.remember(trace)
        await self.save()

    def _new_conversation(self, level: Autonomy | None) -> Conversation:
        clock = self._agent.clock
        session = Session(
            id=str(clock.new_id()), channel=self._channel.name, sender=self._sender, started_at=clock.now()
        )
        return Conversation(session=session, level=level)

    async def _run_command(self, line: str) -> str:
        name, _blank, rest = line.partition(" ")
        known = self._commands.get(name)
        if known is None:
            raise UsageError(N_("there is no command {name}; /help lists them", name=name))
        return await known(rest.strip())

    async def _help(self, _rest: str) -> str:
        lines = "\n".join(f"- `{name}`: {line}" for name, line in self.commands)
        if self._queue is not None:
            return f"{lines}\n\n" + _("Anything else is a message.")
        return f"{lines}\n\n" + _("Anything else is a message. Ctrl-C stops a running turn, Ctrl-D leaves.")

    async def _why(self, wanted: str) -> str:
        if wanted:
            log = self._agent.log
            decided = await decided_on_record(log, await trace_id_of(log, wanted))
            told = "\n\n".join(each.told() for each in decided)
            return code_block(told) if told else _("No action was decided in that trace.")
        last, decided_trace = self.conversation.last, self.conversation.decided
        if decided_trace is None:
            return _("No action was decided in this session yet.")
        stopped = ""
        if last is not None and last.outcome == "abandoned":
            here = last is decided_trace
            stopped = _("The turn was stopped.") if here else _("The last turn was stopped; this is of the one before.")
        return f"{stopped}\n\n{code_block(decided_in(decided_trace)[-1].told())}".lstrip()

    async def _trust(self, rest: str) -> str:
        from myclaw_core.trust.report import trust_table

        return code_block(trust_table(await self._agent.book.snapshot(), prefix=rest))


def _stopped(*, stopped: bool, dropped: int) -> str:
    """Return what `/stop` did."""
    if not stopped and not dropped:
        return _("Nothing runs here.")
    lines = [_("The running turn was stopped; `/undo` takes back what it changed.")] if stopped else []
    if dropped:
        lines.append(n_("{n} message that waited was dropped.", "{n} messages that waited were dropped.", dropped))
    return "\n\n".join(lines)

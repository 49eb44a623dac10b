"""A program with the terminal channel and a desk whose turns are fixed; tests run it on a real terminal or pipe."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import select
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from myclaw_terminal.channel import TerminalChannel

from myclaw_core.approval.cards import Asked, Cards
from myclaw_core.approval.types import Reply
from myclaw_core.clock import SystemClock
from myclaw_core.errors import UnavailableError, UsageError
from myclaw_core.messages import N_, add_catalogues
from myclaw_core.runtime.channel import Held, Status
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.types.text import Text


def load_build() -> Any:
    """Return the builders of the conftest beside this file."""
    spec = importlib.util.spec_from_file_location("builders", Path(__file__).with_name("conftest.py"))
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Build()


class FixedDesk:
    """A desk whose answer depends on the message alone."""

    commands: Sequence[tuple[str, str]] = (("/status", "what is going on"), ("/trust", "what runs by itself"))

    def __init__(self, channel: TerminalChannel) -> None:
        self.channel = channel
        self.refusals = 0
        self.go = asyncio.Event()

    async def handle(self, text: str) -> ExecutionTrace | None:
        """Run the turn that `text` names."""
        word = text.split(maxsplit=1)[0]
        if word == "/odd":
            raise UsageError("there is no command /odd")
        if word == "/recall":
            self.channel.held([])
        if word.startswith("/"):
            self.channel.show(f"# ran {text}")
            return None
        turn = getattr(self, f"turn_{word}", self.turn_echo)
        try:
            await turn(text)
        except asyncio.CancelledError:
            print_mark("cancelled")
            raise
        return None

    async def turn_echo(self, text: str) -> None:
        """Answer with the length of the message."""
        self.channel.text(f"got {len(text)} characters: ")
        self.channel.text(f"**{text[:20]}**")

    async def turn_work(self, text: str) -> None:
        """Run a tool for ever."""
        self.channel.status(Status(phase="tool", tool="fs_search", detail="~/notes"))
        self.channel.text("half an ans")
        await asyncio.Event().wait()

    async def turn_fail(self, text: str) -> None:
        """Raise an error for people."""
        raise UnavailableError("no model is set up; run myclaw setup")

    async def turn_crash(self, text: str) -> None:
        """Raise a bug."""
        self.channel.status(Status(phase="tool", tool="fs_search"))
        self.channel.text("half an ans")
        raise RuntimeError("bug")

    async def turn_ask(self, text: str) -> None:
        """Ask as many questions as the message says."""
        build = load_build()
        count = int(text.split()[1])
        cards = [
            build.card(
                f"Write file {n}",
                number=n,
                diff="+a\n-b\n",
                now=SystemClock().now(),
                pause_s=float(os.environ.get("DRIVER_PAUSE", "0")),
                tutor=bool(os.environ.get("DRIVER_TUTOR")),
                batchable=bool(os.environ.get("DRIVER_BATCH")),
                revisable=bool(os.environ.get("DRIVER_REVISE")),
            )
            for n in range(1, count + 1)
        ]
        self.channel.status(Status(phase="waiting"))
        self.asked = [Asked(card=card, cwd="/srv") for card in cards]
        self.cards = Cards(SystemClock())
        self.cards.add(self.asked)
        await self.channel.ask(self.cards, self.submit)
        self.channel.notice(Text("asking is over"))

    async def turn_late(self, text: str) -> None:
        """Ask once the test says so."""
        await self.told_to_go_on()
        await self.turn_ask("ask 1")

    async def turn_blocked(self, text: str) -> None:
        """Ask as soon as something was typed, before anybody can have read it."""
        print_mark("busy")
        select.select([sys.stdin], [], [])
        await self.turn_ask("ask 1")

    async def turn_stray(self, text: str) -> None:
        """Ask while something else fails in the background."""
        asyncio.get_running_loop().call_later(0.01, lambda: 1 // 0)
        await self.turn_ask("ask 1")

    async def turn_slow(self, text: str) -> None:
        """Answer once the test says so."""
        await self.told_to_go_on()
        await self.turn_echo(text)

    async def turn_code(self, text: str) -> None:
        """Stop in the middle of a block of code until the test says so."""
        self.channel.text("```\nfirst\n")
        await self.told_to_go_on()
        self.channel.text("last\n```\n")

    async def turn_hold(self, text: str) -> None:
        """Leave something in the outbox."""
        due_s = SystemClock().monotonic() + 600
        self.channel.held([Held(id=UUID(int=1), what=Text("mail to Ada"), due_s=due_s)])

    async def told_to_go_on(self) -> None:
        """Wait for the signal of the test."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self.go.set)
        print_mark("busy")
        await self.go.wait()
        self.go.clear()

    async def turn_steps(self, text: str) -> None:
        """Do one step and end."""
        build = load_build()
        self.channel.text("Done.\n")
        self.channel.end_turn(build.trace(build.step()))

    async def submit(self, reply: Reply) -> Text | None:
        """Refuse the first answer of a run that wants it."""
        also = "".join(f" also {other.int - 100}" for other in reply.also)
        wanted = f" {reply.revision.stage}: {reply.revision.text}" if reply.revision else ""
        print_mark(f"reply {reply.request_id.int - 100} {reply.granted} {reply.by}{also}{wanted}")
        if os.environ.get("DRIVER_REFUSE") and self.refusals == 0:
            self.refusals += 1
            return N_("read first, {n} s left", n=3)
        answered = {reply.request_id, *reply.also}
        self.cards.withdraw([asked for asked in self.asked if asked.request.id in answered])
        return None


def print_mark(line: str) -> None:
    """Tell the test something, whatever the channel shows."""
    print(f"<<{line}>>", file=sys.stderr, flush=True)


def main() -> int:
    """Run one scenario: `serve`, or `one <message>`."""
    history, catalogues = os.environ.get("DRIVER_HISTORY"), os.environ.get("DRIVER_CATALOGUES")
    if catalogues:
        add_catalogues("terminal_tests", Path(catalogues))
    channel = TerminalChannel(
        sys.stdin, sys.stdout, sys.stderr, SystemClock(), history=Path(history) if history else None
    )
    desk = FixedDesk(channel)
    if sys.argv[1] == "serve":
        return asyncio.run(channel.serve(desk))
    asyncio.run(desk.handle(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

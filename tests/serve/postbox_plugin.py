"""A plugin with a messenger whose service is a file, as a stranger would write it; its text is installed by the tests.

The service delivers from the first update on that was not confirmed, as real ones do. What it is told is printed. With
POSTBOX_DIE=N the process kills itself at the N-th point that it comes to.
"""

import asyncio
import json
import os
import signal
from pathlib import Path

from myclaw_core import hookimpl
from myclaw_core.runtime.messenger import Health, Incoming

UPDATES = Path(os.environ.get("POSTBOX", "/nowhere"))
LEFT = [int(os.environ.get("POSTBOX_DIE", "0"))]


def point(name):
    """Note that the run came here; perhaps it ends here."""
    LEFT[0] -= 1
    if LEFT[0] == 0:
        say({"died": name})
        os.kill(os.getpid(), signal.SIGKILL)


def say(document):
    """Tell something for good."""
    print(json.dumps(document), flush=True)


def delivered():
    """Return what the service has for us."""
    return UPDATES.read_text().splitlines() if UPDATES.exists() else []


class Line:
    """The channel of one conversation; nobody ever answers a question here."""

    name = "postbox"
    attended = True

    def __init__(self, place):
        self.place = place

    def status(self, status):
        point(f"status {status.phase}")

    def text(self, chunk):
        point("text")

    def notice(self, text):
        say({"notice": str(text)})

    def show(self, markdown):
        say({"shown": markdown})

    def held(self, held):
        pass

    async def file(self, path, name):
        return None

    async def ask(self, cards, submit):
        say({"asked": len(cards)})
        await asyncio.Event().wait()

    def end_turn(self, trace):
        point("end of turn")
        say({"outcome": trace.outcome, "asks": [each.text for each in trace.messages if each.role == "user"][-1]})

    async def serve(self, desk):
        return 0


class Postbox:
    """The messenger."""

    name = "postbox"

    def __init__(self, clock):
        self.clock = clock

    def missing(self):
        return None

    def channel(self, sender, place):
        return Line(place)

    async def serve(self, reception):
        confirmed = int(await reception.load("confirmed") or b"0")
        reception.health(Health(state="ok"))
        while True:
            lines = delivered()
            for number in range(confirmed, len(lines)):
                point("seen")
                await self.take(reception, number, lines[number])
                point("received")
                confirmed = number + 1
                await reception.save("confirmed", b"%d" % confirmed)
                say({"confirmed": confirmed})
                point("confirmed")
            await asyncio.sleep(0.02)

    async def take(self, reception, number, text):
        sender = "postbox:1"
        if text.startswith("/pair "):
            say({"paired": str(await reception.pair(sender, text.split()[1], "Rosa"))})
            return
        incoming = Incoming(
            channel=self.name,
            key=str(number),
            sender=sender,
            place="home",
            text=text,
            received_at=self.clock.now(),
        )
        await reception.receive(incoming)


@hookimpl
def myclaw_messengers(host):
    """Offer the messenger."""
    return [Postbox(host.clock)]

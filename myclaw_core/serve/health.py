"""How the daemon does, in a small file that other processes read: `doctor`, `serve --status`, the start of a chat."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path

from attrs import evolve, field, frozen

from myclaw_core import codec
from myclaw_core.atomic import replace_file
from myclaw_core.clock import Clock
from myclaw_core.errors import CodecError
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.serve.lock import Owner, read_state, running
from myclaw_core.serve.watch import MessengerState, Watch
from myclaw_core.types.text import Text

__all__ = ["BEAT_S", "HEALTH_WORDS", "Board", "Look", "ServeState", "Trouble", "look", "not_running", "shown"]

BEAT_S = 60.0
LATE_S = 300.0
"""A daemon that has not written for so long does not get round to anything."""
LONG_S = 600.0
"""So long a messenger may try by itself before a person is told."""

HEALTH_WORDS = (N_("starting"), N_("ok"), N_("trouble"), N_("down"))

_MOST_BYTES = 1 << 20
_log = logging.getLogger("myclaw.serve")


@frozen(kw_only=True)
class ServeState:
    """What the daemon last wrote of itself.

    Attributes:
        owner: The process.
        beat_at: When it wrote.
        messengers: Those it runs.
        missing: Why others are not run, one line each.
        last_night: Date of the newest night whose work is done; empty where it knows of none.
        problem: Why the work of the night was not done the last time; `None` where it was.
    """

    owner: Owner
    beat_at: datetime
    messengers: tuple[MessengerState, ...] = ()
    missing: tuple[Text, ...] = ()
    last_night: str = ""
    problem: Text | None = None


@frozen(kw_only=True)
class Trouble:
    """One thing that is wrong with the daemon.

    Attributes:
        what: What was found.
        todo: What to do about it.
    """

    what: Text
    todo: Text


@frozen(kw_only=True)
class Look:
    """The daemon as another process sees it.

    Attributes:
        owner: The process; `None` where none runs.
        state: What it wrote; `None` where that is not to be had. Without an owner: what one that was killed left.
        troubles: What is wrong; nothing where none runs.
    """

    owner: Owner | None
    state: ServeState | None = None
    troubles: tuple[Trouble, ...] = field(default=())


class Board:
    """Writes the file: after every change, and at a slow beat; that it cannot be written stops nothing.

    Args:
        owner: This process.
    """

    def __init__(self, home: Home, owner: Owner, clock: Clock) -> None:
        self._path = _path(home)
        self._clock = clock
        self._watches: list[Watch] = []
        self._state = ServeState(owner=owner, beat_at=clock.now())
        self._is_written = True

    def watch(self, name: str) -> Watch:
        """Return what follows a messenger from now on."""
        watch = Watch(name, self._clock, self.write)
        self._watches.append(watch)
        return watch

    def missing(self, lines: Iterable[Text]) -> None:
        """Note why messengers are not run."""
        self._state = evolve(self._state, missing=tuple(lines))

    def night(self, night: str, problem: Text | None = None) -> None:
        """Note what became of the work of a night."""
        last = self._state.last_night if problem else night
        self._state = evolve(self._state, last_night=last, problem=problem)
        self.write()

    def write(self) -> None:
        """Write the file."""
        states = tuple(watch.state for watch in self._watches)
        self._state = evolve(self._state, beat_at=self._clock.now(), messengers=states)
        try:
            replace_file(self._path, codec.dumps(self._state, redact=True))
        except (OSError, CodecError) as error:
            if self._is_written:
                _log.warning("%s cannot be written: %s", self._path, error)
            self._is_written = False
        else:
            self._is_written = True

    async def beat(self) -> None:
        """Write it again and again, until the call is cancelled."""
        while True:
            await self._clock.sleep(BEAT_S)
            for watch in self._watches:
                watch.look()
            self.write()

    def close(self) -> None:
        """Take the file away: nothing of this process is left to be told."""
        self._path.unlink(missing_ok=True)


def look(home: Home, now: datetime) -> Look:
    """Return how the daemon of `home` does; nothing is changed."""
    owner = running(home)
    try:
        state: ServeState | None = codec.loads(ServeState, read_state(_path(home), _MOST_BYTES), str(_path(home)))
    except FileNotFoundError:
        state = None
    except (OSError, CodecError) as error:
        return Look(owner=owner, troubles=(_unreadable(home, error),) if owner else ())
    if owner is None or state is None or state.owner != owner:
        return Look(owner=owner, state=None if owner else state)
    return Look(owner=owner, state=state, troubles=tuple(_troubles(state, now)))


def not_running(found: Look) -> Text:
    """Return that no daemon runs, and since when one is missing that was killed."""
    if found.state is None:
        return N_("not running; 'myclaw serve' starts it")
    return N_(
        "not running; it ended without being stopped after {at}; 'myclaw serve' starts it",
        at=shown(found.state.beat_at),
    )


def _path(home: Home) -> Path:
    return home.state / "serve.json"


def _unreadable(home: Home, error: Exception) -> Trouble:
    what = N_("{path} cannot be read: {reason}", path=str(_path(home)), reason=str(error))
    return Trouble(what=what, todo=N_("restart it"))


def _troubles(state: ServeState, now: datetime) -> Iterable[Trouble]:
    if now - state.beat_at > timedelta(seconds=LATE_S):
        what = N_("it gave no sign since {at}", at=shown(state.beat_at))
        yield Trouble(what=what, todo=N_("if the machine has just woken up look again in a minute, else restart it"))
    for each in state.messengers:
        if (trouble := _trouble_of(each, now)) is not None:
            yield trouble
    if state.problem is not None:
        what = N_("the work of the night is not done: {problem}", problem=state.problem)
        yield Trouble(what=what, todo=N_("it is tried again; 'myclaw nightly' tries it now"))


def _trouble_of(each: MessengerState, now: datetime) -> Trouble | None:
    health, since = each.health, each.unwell_since or each.since
    if health.state == "ok" or (health.state != "down" and now - since < timedelta(seconds=LONG_S)):
        return None
    what = N_(
        "{messenger} reaches nobody since {at}: {detail}",
        messenger=each.name,
        at=shown(since),
        detail=health.detail if health.detail.msgid else N_("it has not begun yet"),
    )
    return Trouble(what=what, todo=N_("messages wait there until then; 'myclaw serve --status' shows how it goes on"))


def shown(at: datetime) -> str:
    """Return a moment as people read it here."""
    return f"{at:%Y-%m-%d %H:%M} UTC"

"""`myclaw serve`: the daemon in the foreground, as a service manager wants it, or how the one that runs does."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from myclaw_core.clock import SystemClock
from myclaw_core.columns import columns
from myclaw_core.errors import UsageError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, render
from myclaw_core.paths import Home

if TYPE_CHECKING:
    from collections.abc import Iterator

    from myclaw_core.serve.health import Look
    from myclaw_core.types.text import Text

__all__ = ["run"]

_NOT_RUNNING = 3
_STOPPED_S = 50.0
"""So long all parts together have to stop; a service manager waits for 60 s."""
_CLOSED_S = 3.0
"""So long a process in which all is closed may take to end."""
_PRIORITIES = {logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3, logging.CRITICAL: 2}

_log = logging.getLogger("myclaw.serve")


def run(args: argparse.Namespace) -> int:
    """Serve until a signal comes, or show how the daemon does.

    Raises:
        UsageError: `--json` stands without `--status`.
    """
    if args.status:
        return _status(as_json=args.json)
    if args.json:
        raise UsageError(N_("--json belongs to --status"))
    with _JournalLines():
        return asyncio.run(_serve())


async def _serve() -> int:
    from myclaw_core.agent import Agent
    from myclaw_core.serve.lock import sole_instance
    from myclaw_core.serve.service import Service

    home, clock = Home.find(), SystemClock()
    stop = _stop_on_signals()
    try:
        with sole_instance(home, clock) as owner:
            async with Agent.open(home, clock=clock) as agent:
                agent.require_model()
                for notice in agent.notices:
                    _say(notice)
                messengers = agent.dispatcher.messengers()
                await Service(agent=agent, messengers=messengers, owner=owner, tell=_say).run(stop)
    except BaseException:
        _end_within(_CLOSED_S, code=1)
        raise
    _end_within(_CLOSED_S, code=0)
    _log.info("stopped")
    return 0


def _stop_on_signals() -> asyncio.Event:
    """Return what is set by the first signal to stop; a second one ends the process at once.

    The handlers are those of the process and not of the loop: one that a plugin keeps from going round ends, too.
    """
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    asked: list[int] = []

    def begin(number: int, _frame: object) -> None:
        if asked:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        asked.append(number)
        _end_within(_STOPPED_S, code=1)
        loop.call_soon_threadsafe(stopped)

    def stopped() -> None:
        _log.info("stopping; a second signal ends it at once")
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, begin)
    loop.add_signal_handler(signal.SIGHUP, _log.info, "SIGHUP does nothing: settings are read at the start")
    return stop


def _end_within(seconds: float, *, code: int) -> None:
    """End the process after a while, whatever a plugin still runs: a task that cannot be cancelled, or a thread."""

    def end() -> None:
        _log.warning("a plugin does not stop; the process ends without it")
        os._exit(code)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


def _say(line: Text) -> None:
    print(visible(render(line)), flush=True)


class _JournalLines(logging.Handler):
    """Prints what is logged as single lines on stderr, with the priority where a journal reads it."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._is_journal = "JOURNAL_STREAM" in os.environ

    def __enter__(self) -> Self:
        """Begin to listen."""
        logging.getLogger("myclaw").setLevel(logging.INFO)
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening."""
        logging.getLogger().removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Print the line of a record; where nobody listens any more that is no reason to end."""
        priority = f"<{_PRIORITIES.get(record.levelno, 5)}>" if self._is_journal else ""
        with suppress(OSError, ValueError):
            print(f"{priority}myclaw: {visible(record.getMessage())}", file=sys.stderr, flush=True)


def _status(*, as_json: bool) -> int:
    from myclaw_core.serve.health import look

    found = look(Home.find(), SystemClock().now())
    print(json.dumps(_json(found), ensure_ascii=False, indent=2) if as_json else "\n".join(_lines(found)))
    if found.owner is None:
        return _NOT_RUNNING
    return 1 if found.troubles else 0


def _lines(found: Look) -> Iterator[str]:
    from myclaw_core.serve.health import not_running, shown

    if found.owner is None:
        yield render(not_running(found))
        return
    yield _("process {pid} runs since {at}", pid=found.owner.pid, at=shown(found.owner.since))
    if state := found.state:
        yield from map(
            visible,
            columns(
                [
                    (
                        each.name,
                        render(each.health.state),
                        _("since {at}", at=shown(each.since)),
                        render(each.health.detail),
                    )
                    for each in state.messengers
                ]
            ),
        )
        yield from (visible(render(line)) for line in state.missing)
        if state.last_night:
            yield _("the night to {night} is done", night=visible(state.last_night))
    for trouble in found.troubles:
        yield visible(f"{render(trouble.what)}; {render(trouble.todo)}")


def _json(found: Look) -> dict[str, Any]:
    state = found.state if found.owner else None
    return {
        "running": found.owner is not None,
        "pid": found.owner.pid if found.owner else None,
        "since": found.owner.since.isoformat() if found.owner else None,
        "beat_at": state.beat_at.isoformat() if state else None,
        "messengers": [
            {
                "name": each.name,
                "state": each.health.state,
                "detail": str(each.health.detail),
                "since": each.since.isoformat(),
                "restarts": each.restarts,
            }
            for each in (state.messengers if state else ())
        ],
        "missing": [str(line) for line in (state.missing if state else ())],
        "last_night": state.last_night if state else "",
        "troubles": [{"what": str(trouble.what), "todo": str(trouble.todo)} for trouble in found.troubles],
    }

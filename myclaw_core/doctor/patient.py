"""What the checks look at: an installation, opened as far as it can be opened without changing it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from attrs import field, frozen

from myclaw_core.clock import Clock
from myclaw_core.compose import configured_dispatcher, load_plugins
from myclaw_core.config import Config
from myclaw_core.dispatch import Dispatcher
from myclaw_core.doctor.sound import damage_of
from myclaw_core.errors import ConfigError, MyclawError
from myclaw_core.events.keys import load_or_create_key
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import PluginFault
from myclaw_core.messages import N_
from myclaw_core.paths import Home
from myclaw_core.types.text import Text, as_text

__all__ = ["Patient", "admitted", "can_only_be_read", "record_problem"]


@frozen(kw_only=True)
class Patient:
    """One installation.

    Attributes:
        dispatcher: Calls the plugins; `None` where the home cannot even be looked at.
        config: The configuration in force; the defaults where the file is not valid.
        config_problems: Why the file is not valid; empty where it is.
        faults: What plugins did wrong so far.
        log: The open event log, or `None`.
        log_problem: Why it is not open; `None` where nothing is recorded yet.
        call: Whether the model may be called.
    """

    home: Home
    clock: Clock
    dispatcher: Dispatcher | None
    config: Config
    config_problems: tuple[Text, ...] = ()
    faults: list[PluginFault] = field(factory=list)
    log: EventLog | None = None
    log_problem: Text | None = None
    call: bool = False


@asynccontextmanager
async def admitted(home: Home, clock: Clock, *, call: bool = False) -> AsyncIterator[Patient]:
    """Open an installation as far as that goes; whatever cannot be opened is told by the checks."""
    faults: list[PluginFault] = []
    dispatcher, config, config_problems = _configured(home, clock, faults)
    log, problem = await _opened(home, clock, dispatcher, config)
    try:
        yield Patient(
            home=home,
            clock=clock,
            dispatcher=dispatcher,
            config=config,
            config_problems=config_problems,
            faults=faults,
            log=log,
            log_problem=problem,
            call=call,
        )
    finally:
        if log is not None:
            await log.close()


def can_only_be_read(folder: Path) -> bool:
    """Return whether a folder that exists lies on a disk to which nothing can be written."""
    return folder.exists() and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def record_problem(home: Home, name: str) -> Text | None:
    """Return why the store `name` must not be opened, or `None`: that would make a key, or move a damaged file."""
    key = home.keys / f"{name}.key"
    if not key.exists():
        return N_("the key {path} is gone", path=str(key))
    damage = damage_of(home.state / f"{name}.db")
    return as_text(damage) if damage else None


def _configured(
    home: Home, clock: Clock, faults: list[PluginFault]
) -> tuple[Dispatcher | None, Config, tuple[Text, ...]]:
    """Return what calls the plugins; with the defaults where the configuration is not valid."""
    broken: list[ConfigError] = []
    try:
        plugins = load_plugins(home, lenient=True)
        dispatcher, config = configured_dispatcher(home, plugins, clock, faults.append, on_broken=broken.append)
    except (MyclawError, OSError) as error:
        return None, Config(), (_text_of(error),)
    return dispatcher, config, tuple(problem for error in broken for problem in error.problems)


async def _opened(
    home: Home, clock: Clock, dispatcher: Dispatcher | None, config: Config
) -> tuple[EventLog | None, Text | None]:
    database = home.state / "events.db"
    log = None
    try:
        if not database.exists():
            lost = (home.state / "events.head").exists()
            return None, N_("{path} is gone, and it was there before", path=str(database)) if lost else None
        if dispatcher is None:
            return None, N_("not opened: the plugin that keeps it could not be loaded")
        problem = record_problem(home, "events")
        if problem:
            return None, problem
        store = dispatcher.store("events", config.slots.events)
        log = EventLog(store, load_or_create_key(home.keys / "events.key"), clock, anchor=home.state / "events.head")
        await log.open()
    except (MyclawError, OSError) as error:
        if log is not None:
            await log.close()
        return None, _text_of(error)
    return log, None


def _text_of(error: MyclawError | OSError) -> Text:
    return error.text if isinstance(error, MyclawError) else Text(str(error))

"""`myclaw config show | set | path`: what is configured, where that comes from, and one change at a time."""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from myclaw_core.cli.person import sender
from myclaw_core.errors import ConfigError, MyclawError, UnavailableError, UsageError
from myclaw_core.messages import N_, _, render
from myclaw_core.paths import Home
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.config import Config, ConfigSchema
    from myclaw_core.config.source import Source
    from myclaw_core.dispatch import Dispatcher
    from myclaw_core.types.effect import Autonomy

__all__ = ["loaded", "run", "set_all"]


def run(args: argparse.Namespace) -> int:
    """Run one config command."""
    home = Home.find()
    if args.command == "config path":
        found = {"file": str(home.config_file), "exists": home.config_file.exists()}
        print(json.dumps(found, ensure_ascii=False) if args.json else home.config_file)
        return 0
    return _show(args, home) if args.command == "config show" else _set(args, home)


def _show(args: argparse.Namespace, home: Home) -> int:
    from myclaw_core.config.effective import effective_settings, settings_json, settings_text

    dispatcher, config = loaded(home)
    settings = effective_settings(config, dispatcher.config(), home.config_file)
    sections = dict.fromkeys(setting.section for setting in settings)
    if args.section and args.section not in sections:
        from myclaw_core.config.load import nearest

        hint = nearest(args.section, sections)
        raise UsageError(N_("unknown section {section}; {hint}", section=repr(args.section), hint=hint))
    shown = [setting for setting in settings if args.section in {"", setting.section}]
    print(json.dumps(settings_json(shown), ensure_ascii=False, indent=2) if args.json else settings_text(shown))
    return 0


def _set(args: argparse.Namespace, home: Home) -> int:
    from myclaw_core.config.edit import value_at, write_text
    from myclaw_core.config.source import read_source
    from myclaw_core.config.values import dotted, read_where

    where = read_where(args.key)
    if bool(args.value) == args.unset:
        raise UsageError(N_("give a value, or --unset to take the setting out of the file"))
    with _alone(home.config_file):
        source = read_source(home.config_file)
        before = after = _masked(where, value_at(source, where))
        text = _edited(args, home, source, where)
        changed = text != source.text
        if changed:
            config, value = _checked(home, text, where)
            after = _masked(where, value)
            if where == ("agent", "level"):
                _state_cost(before, config, as_json=args.json)
            write_text(home.config_file, text)
    key = dotted(where)
    if args.json:
        found = {"key": key, "file": str(home.config_file), "changed": changed, "before": before, "after": after}
        print(json.dumps(found, ensure_ascii=False))
    else:
        print(_told(key, home, changed=changed, unset=args.unset))
        if changed:
            print(_back(where, before))
    if changed:
        if (lacking := _nobody(home, where)) is not None:
            print(f"myclaw: {render(lacking)}", file=sys.stderr)
        _record(home, key, before, after, config)
    return 0


def _nobody(home: Home, where: Sequence[str]) -> Text | None:
    """Return that no plugin offers what was chosen, or `None`; one may be installed next."""
    from myclaw_core.config.load import nearest

    if where[0] != "slots" and tuple(where) != ("agent", "provider"):
        return None
    dispatcher, config = loaded(home)
    if where[0] == "agent":
        name, models = config.agent.provider, dispatcher.models()
        hint = nearest(name, models)
        lacks = N_("no plugin offers the provider {provider}; {hint}", provider=repr(name), hint=hint)
        return None if name in models else lacks
    try:
        if where[1] == "sandbox":
            dispatcher.sandbox(config.slots.sandbox)
        else:
            dispatcher.store("events", config.slots.events)
            dispatcher.store("trust", config.slots.trust)
    except UnavailableError as error:
        return error.text
    return None


def set_all(home: Home, wanted: Sequence[tuple[str, Sequence[str]]]) -> bool:
    """Change settings together, as if each was typed, and record each; return whether the file is another one now.

    Args:
        wanted: Each setting with its value as texts; several are the items of a list.

    Raises:
        ConfigError: A start would refuse the file then; nothing was written.
        UsageError: A value is none for its setting.
    """
    from myclaw_core.config.edit import value_at, with_value, write_text
    from myclaw_core.config.source import parse_source, read_source
    from myclaw_core.config.values import dotted, read_value, read_where, setting_at

    with _alone(home.config_file):
        first = source = read_source(home.config_file)
        places = []
        for key, texts in wanted:
            where = read_where(key)
            _refuse_unwritable(texts)
            value = read_value(setting_at(where, lambda: _plugin_sections(home)), texts)
            source = parse_source(home.config_file, with_value(source, where, value))
            places.append(where)
        if source.text == first.text:
            return False
        config, _value = _checked(home, source.text, places[0])
        write_text(home.config_file, source.text)
    for where in places:
        before, after = (_masked(where, value_at(each, where)) for each in (first, source))
        if before != after:
            _record(home, dotted(where), before, after, config)
    return True


def _state_cost(before: Any, config: Config, *, as_json: bool) -> None:
    """Say on stderr what a higher level will probably cost; that it cannot be said does not stop the person."""
    from myclaw_core.budget.estimate import no_estimate
    from myclaw_core.config.sections import AgentSection
    from myclaw_core.types.effect import AUTONOMY_LEVELS, autonomy_le

    level = config.agent.level
    was = next((known for known in AUTONOMY_LEVELS if known == before), AgentSection().level)
    if autonomy_le(level, was):
        return
    try:
        text = asyncio.run(_estimate(level))
    except MyclawError as error:
        text = no_estimate(error, config.budget.hard_eur).text
    print(str(text) if as_json else render(text), file=sys.stderr)


async def _estimate(level: Autonomy) -> Text:
    from myclaw_core.cli.books import open_books

    async with open_books(on_broken=lambda _error: None) as books:
        return (await books.ledger.estimate(level)).text


def _edited(args: argparse.Namespace, home: Home, source: Source, where: tuple[str, ...]) -> str:
    """Return the text of the file after the change that is asked for."""
    from myclaw_core.config.edit import with_value, without_value
    from myclaw_core.config.values import dotted, read_value, setting_at

    if args.unset:
        return without_value(source, where)
    _refuse_unwritable(args.value)
    setting = setting_at(where, lambda: _plugin_sections(home))
    try:
        value = read_value(setting, args.value)
    except UsageError as error:
        section = dotted(where[:-1])
        raise UsageError(N_("[{section}] {problem}", section=section, problem=error.text)) from None
    return with_value(source, where, value)


def _back(where: Sequence[str], before: Any) -> str:
    """Return how the person goes back: what they did themselves is no turn that could be undone."""
    from myclaw_core.config.back import way_back

    command = way_back(where, before)
    if command is None:
        return _("the value before held a secret; it is kept nowhere else")
    return _("to go back: {command}", command=command)


def _told(key: str, home: Home, *, changed: bool, unset: bool) -> str:
    if changed and unset:
        return _("{key} has its default in {file}", key=key, file=str(home.config_file))
    if changed:
        return _("{key} is set in {file}", key=key, file=str(home.config_file))
    if unset:
        return _("{key} is not set; nothing was changed", key=key)
    return _("{key} is so already; nothing was changed", key=key)


def loaded(home: Home) -> tuple[Dispatcher, Config]:
    """Return the caller of hooks and the configuration, for commands that open no store.

    Raises:
        ConfigError: The configuration is not valid.
    """
    from myclaw_core.clock import SystemClock
    from myclaw_core.compose import configured_dispatcher, load_plugins

    return configured_dispatcher(home, load_plugins(home), SystemClock(), lambda _fault: None)


def _plugin_sections(home: Home) -> Sequence[ConfigSchema]:
    dispatcher, _ = loaded(home)
    return dispatcher.config()


def _checked(home: Home, text: str, where: Sequence[str]) -> tuple[Config, Any]:
    """Load the changed file as a start would, from a place of its own; return the configuration and the new value.

    Raises:
        ConfigError: A start would refuse it.
    """
    from myclaw_core.config.edit import value_at
    from myclaw_core.config.source import read_source

    with tempfile.TemporaryDirectory(prefix="myclaw-config-") as folder:
        candidate = Path(folder) / "config.toml"
        candidate.write_text(text, encoding="utf-8")
        try:
            _, config = loaded(Home(home.root, candidate))
        except ConfigError as error:
            told = (_moved(problem, str(candidate), str(home.config_file)) for problem in error.problems)
            raise ConfigError(*told, N_("nothing was written")) from None
        return config, value_at(read_source(candidate), where)


def _moved(message: Text, there: str, here: str) -> Text:
    """Return a message that speaks of one path as if it spoke of another."""
    params = {
        name: _moved(value, there, here)
        if isinstance(value, Text)
        else (value.replace(there, here) if isinstance(value, str) else value)
        for name, value in message.params.items()
    }
    return Text(message.msgid, params)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let no other `config set` change the file meanwhile.

    Raises:
        ConfigError: Its folder cannot be made.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(
            N_(
                "{folder}: {reason}; set MYCLAW_HOME to a folder you can write to",
                folder=str(path.parent),
                reason=error.strerror or "",
            )
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _refuse_unwritable(texts: Sequence[str]) -> None:
    from myclaw_core.redact import contains_mask

    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise UsageError(N_("the value is not UTF-8 text, as the file is; write it in UTF-8")) from None
    if any(map(contains_mask, texts)):
        raise UsageError(N_("the value holds a mask in place of a secret; a mask is never written to a file"))


def _masked(where: Sequence[str], value: Any) -> Any:
    """Return a value with secrets masked, also where only the setting's name tells of one."""
    from myclaw_core.redact import redact_value

    return redact_value({where[-1]: value})[where[-1]]


def _record(home: Home, key: str, before: Any, after: Any, config: Config) -> None:
    """Write the change to the event log; that it cannot be written does not stop the person."""

    from myclaw_core.events.types import ConfigChanged

    old, new = ("" if value is None else json.dumps(value, ensure_ascii=False) for value in (before, after))
    event = ConfigChanged(sender=sender(), key=key, before=old, after=new, config_digest=config.digest)
    try:
        asyncio.run(_append(home, event))
    except MyclawError as error:
        told = _("not recorded in the event log: {reason}", reason=error.text)
        print(f"myclaw: {told}", file=sys.stderr)


async def _append(home: Home, event: Any) -> None:
    from myclaw_core.clock import SystemClock
    from myclaw_core.compose import open_log

    dispatcher, config = loaded(home)
    async with open_log(home, dispatcher, config, SystemClock()) as log, log.transaction() as change:
        await change.append(event)

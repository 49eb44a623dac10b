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

from myclaw_core.errors import ConfigError, MyclawError, UsageError
from myclaw_core.paths import Home

if TYPE_CHECKING:
    from myclaw_core.config import Config, ConfigSchema
    from myclaw_core.dispatch import Dispatcher

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Run one config command."""
    home = Home.find()
    if args.command == "config path":
        print(home.config_file)
        return 0
    return _show(args, home) if args.command == "config show" else _set(args, home)


def _show(args: argparse.Namespace, home: Home) -> int:
    from myclaw_core.config.effective import effective_settings, settings_json, settings_text

    dispatcher, config = _loaded(home)
    settings = effective_settings(config, dispatcher.config(), home.config_file)
    sections = dict.fromkeys(setting.section for setting in settings)
    if args.section and args.section not in sections:
        from myclaw_core.config.load import nearest

        raise UsageError(f"unknown section {args.section!r}{nearest(args.section, sections)}")
    shown = [setting for setting in settings if args.section in {"", setting.section}]
    print(json.dumps(settings_json(shown), ensure_ascii=False, indent=2) if args.json else settings_text(shown))
    return 0


def _set(args: argparse.Namespace, home: Home) -> int:
    from myclaw_core.config.edit import value_at, with_value, without_value, write_text
    from myclaw_core.config.source import read_source
    from myclaw_core.config.values import dotted, read_value, read_where, setting_at

    where = read_where(args.key)
    if bool(args.value) == args.unset:
        raise UsageError("give a value, or --unset to take the setting out of the file")
    with _alone(home.config_file):
        source = read_source(home.config_file)
        before = value_at(source, where)
        if args.unset:
            text = without_value(source, where)
        else:
            _refuse_masks(args.value)
            value = read_value(setting_at(where, lambda: _plugin_sections(home)), args.value)
            text = with_value(source, where, value)
        if text == source.text:
            print(f"{dotted(where)} is {'not set' if args.unset else 'so already'}; nothing was changed")
            return 0
        config, after = _checked(home, text, where)
        write_text(home.config_file, text)
    print(f"{dotted(where)} {'has its default' if args.unset else 'is set'} in {home.config_file}")
    _record(home, dotted(where), _as_json(where, before), _as_json(where, after), config)
    return 0


def _loaded(home: Home) -> tuple[Dispatcher, Config]:
    from myclaw_core.clock import SystemClock
    from myclaw_core.compose import configured_dispatcher, load_plugins

    return configured_dispatcher(home, load_plugins(home), SystemClock(), lambda _fault: None)


def _plugin_sections(home: Home) -> Sequence[ConfigSchema]:
    dispatcher, _ = _loaded(home)
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
            _, config = _loaded(Home(home.root, candidate))
        except ConfigError as error:
            told = str(error).replace(str(candidate), str(home.config_file))
            raise ConfigError(f"{told}\nnothing was written") from None
        return config, value_at(read_source(candidate), where)


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
        raise ConfigError(f"{path.parent}: {error.strerror}; set MYCLAW_HOME to a folder you can write to") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _refuse_masks(texts: Sequence[str]) -> None:
    from myclaw_core.redact import contains_mask

    if any(map(contains_mask, texts)):
        raise UsageError("the value holds a mask in place of a secret; a mask is never written to a file")


def _as_json(where: Sequence[str], value: Any) -> str:
    """Return a value for the record, secrets masked also where only the setting's name tells; empty for none."""
    from myclaw_core.redact import redact_value

    return "" if value is None else json.dumps(redact_value({where[-1]: value})[where[-1]], ensure_ascii=False)


def _record(home: Home, key: str, before: str, after: str, config: Config) -> None:
    """Write the change to the event log; that it cannot be written does not stop the person."""
    import getpass

    from myclaw_core.events.types import ConfigChanged

    event = ConfigChanged(
        sender=f"cli:{getpass.getuser()}", key=key, before=before, after=after, config_digest=config.digest
    )
    try:
        asyncio.run(_append(home, event))
    except MyclawError as error:
        print(f"myclaw: not recorded in the event log: {error}", file=sys.stderr)


async def _append(home: Home, event: Any) -> None:
    from myclaw_core.clock import SystemClock
    from myclaw_core.compose import open_log

    dispatcher, config = _loaded(home)
    async with open_log(home, dispatcher, config, SystemClock()) as log, log.transaction() as change:
        await change.append(event)

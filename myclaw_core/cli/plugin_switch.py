"""`myclaw plugins enable | disable`: what the person agrees to is shown first, bound to its files, and recorded."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Literal

from myclaw_core.clock import SystemClock
from myclaw_core.compose import configured_dispatcher, load_plugins, open_log
from myclaw_core.config import disabled_plugins, edit_list
from myclaw_core.errors import MyclawError, UnavailableError, UsageError
from myclaw_core.events.types import PluginConsent
from myclaw_core.files.visible import visible
from myclaw_core.paths import Home
from myclaw_core.plugins import FIRST_PARTY, Consent, ConsentBook, FoundPlugin, Manifest, find_plugins
from myclaw_core.plugins.contain import PluginError
from myclaw_core.plugins.find import name_warning, refusal
from myclaw_core.plugins.installed import Fingerprint

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Switch one plugin on or off; 1 where the person said no or the plugin does not run."""
    home = Home.find()
    if args.command == "plugins enable":
        return _enable(home, args.name, agreed=args.yes)
    return _disable(home, args.name)


def _enable(home: Home, name: str, *, agreed: bool) -> int:
    installed = find_plugins()
    plugin, manifest = _installed(name, installed)
    book = ConsentBook(home)
    objection = None if name in FIRST_PARTY else book.objection(plugin)
    is_disabled = name in disabled_plugins(home.config_file)
    if objection:
        seen = _fingerprint(plugin)
        print("\n".join(_declaration(plugin, manifest, seen, objection.error, name_warning(name, installed))))
        if not (agreed or _says_yes()):
            print(f"{name} was not enabled")
            return 1
        book.give(_consent(plugin, seen))
    if is_disabled:
        edit_list(home.config_file, "plugins", "disabled", lambda names: [each for each in names if each != name])
    if objection or is_disabled:
        _record(home, _event(name, "enabled", plugin, book.of(name)))
    return _tell_state(home, name)


def _disable(home: Home, name: str) -> int:
    installed = find_plugins()
    book = ConsentBook(home)
    names = {*FIRST_PARTY, *(plugin.name for plugin in installed)}
    if name not in names and book.of(name) is None:
        raise UsageError(_unknown(name, names))
    plugin = next((each for each in installed if each.name == name), None)
    if name in FIRST_PARTY:
        if name not in disabled_plugins(home.config_file):
            _record(home, _event(name, "disabled", plugin, None))
            edit_list(home.config_file, "plugins", "disabled", lambda names: [*names, name])
        print(f"{name} is off")
        return 0
    given = book.of(name)
    if given:
        _record(home, _event(name, "disabled", plugin, given))
        book.revoke(name)
    print(f"{name} is not enabled; nothing of it will be run")
    return 0


def _installed(name: str, installed: Sequence[FoundPlugin]) -> tuple[FoundPlugin, Manifest]:
    """Return the one plugin of that name and what it declares, if it can be enabled at all."""
    plugin = next((each for each in installed if each.name == name), None)
    if plugin is None and name in FIRST_PARTY:
        raise UnavailableError(f"{name} is not installed: install the distribution {FIRST_PARTY[name]}")
    if plugin is None:
        raise UsageError(_unknown(name, {each.name for each in installed}))
    refused = refusal(plugin, installed)
    if refused:
        raise UnavailableError(f"{name}: {refused.error}; {refused.hint}")
    if plugin.manifest is None:
        raise UnavailableError(f"{name}: {plugin.error}; {plugin.hint}")
    return plugin, plugin.manifest


def _unknown(name: str, names: set[str]) -> str:
    near = get_close_matches(name, sorted(names), n=1)
    return f"no plugin is called {name!r}" + (f"; there is {near[0]!r}" if near else "; see 'myclaw plugins list'")


def _fingerprint(plugin: FoundPlugin) -> Fingerprint:
    """Return what the person agrees to; files that are not what was installed are nothing to agree to."""
    try:
        found = plugin.fingerprint()
    except PluginError as error:
        raise UnavailableError(f"{plugin.name}: {error}; {error.hint}") from error
    if found.problem:
        raise UnavailableError(f"{plugin.name}: {visible(found.problem)}; install {plugin.distribution} again")
    return found


def _declaration(
    plugin: FoundPlugin, manifest: Manifest, seen: Fingerprint, change: str, warning: str
) -> Iterator[str]:
    """Yield what a plugin says about itself and what enabling it means."""
    yield visible(f"{plugin.name} {plugin.version} of the distribution {plugin.distribution}")
    yield f"  {manifest.summary}"
    for label, values in (
        ("hooks", manifest.hooks),
        ("tools", manifest.tools),
        ("commands", manifest.commands),
        ("configuration", [f"[{section}]" for section in manifest.config]),
        ("capabilities", manifest.capabilities),
        ("files", [f"{seen.files}, SHA-256 {seen.digest}"]),
    ):
        yield f"  {label:<14} {', '.join(values) or 'none'}"
    yield from (f"  {visible(line)}" for line in (change, warning) if line)
    yield "Once enabled, its code runs with your rights at every start. Hooks and tools beyond the list are refused;"
    yield "capabilities are its own word and limit nothing. A change of its version or files asks you again."


def _says_yes() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("nobody can be asked here; read what is declared above, then add --yes")
    try:
        return input("Enable it? [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        print()
        return False


def _consent(plugin: FoundPlugin, seen: Fingerprint) -> Consent:
    return Consent(
        plugin=plugin.name,
        distribution=plugin.distribution,
        version=plugin.version,
        digest=seen.digest,
        at=SystemClock().now(),
    )


def _event(
    name: str, change: Literal["enabled", "disabled"], plugin: FoundPlugin | None, given: Consent | None
) -> PluginConsent:
    source = given or plugin
    return PluginConsent(
        plugin=name,
        distribution=source.distribution if source else FIRST_PARTY[name],
        version=source.version if source else "",
        change=change,
        digest=given.digest if given else "",
    )


def _record(home: Home, event: PluginConsent) -> None:
    """Write a change to the event log; that it cannot be written does not stop the person."""
    try:
        asyncio.run(_append(home, event))
    except MyclawError as error:
        print(f"myclaw: not recorded in the event log: {error}", file=sys.stderr)


async def _append(home: Home, event: PluginConsent) -> None:
    clock = SystemClock()
    dispatcher, config = configured_dispatcher(home, load_plugins(home), clock, lambda _fault: None)
    async with open_log(home, dispatcher, config, clock) as log, log.transaction() as change:
        await change.append(event)


def _tell_state(home: Home, name: str) -> int:
    """Say what became of the plugin: it may fail now that it is loaded."""
    report = next(each for each in load_plugins(home).reports if each.name == name)
    print(f"{name} is {report.state}")
    for line in (report.error, report.hint):
        if line:
            print(f"  {line}")
    return 1 if report.error else 0

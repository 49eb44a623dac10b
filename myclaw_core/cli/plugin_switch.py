"""`myclaw plugins enable | disable`: what the person agrees to is shown first, bound to its files, and recorded."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Literal

from myclaw_core.cli.asking import says_yes
from myclaw_core.cli.plugin_words import declaration, state_text, switch_json
from myclaw_core.clock import SystemClock
from myclaw_core.compose import configured_dispatcher, load_plugins, open_log
from myclaw_core.config import disabled_plugins, edit_list
from myclaw_core.errors import MyclawError, UnavailableError, UsageError
from myclaw_core.events.types import PluginConsent
from myclaw_core.messages import N_, _
from myclaw_core.paths import Home
from myclaw_core.plugins import FIRST_PARTY, Consent, ConsentBook, FoundPlugin, Manifest, find_plugins
from myclaw_core.plugins.contain import PluginError
from myclaw_core.plugins.find import name_warning, refusal
from myclaw_core.plugins.installed import Fingerprint
from myclaw_core.plugins.report import STATE_WORDS, PluginReport
from myclaw_core.types.text import Text, joined

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Switch one plugin on or off; 1 where the person said no or the plugin does not run."""
    home = Home.find()
    if args.command == "plugins enable":
        return _enable(home, args.name, agreed=args.yes, as_json=args.json)
    return _disable(home, args.name, as_json=args.json)


def _enable(home: Home, name: str, *, agreed: bool, as_json: bool) -> int:
    installed = find_plugins()
    plugin, manifest = _installed(name, installed)
    book = ConsentBook(home)
    objection = None if name in FIRST_PARTY else book.objection(plugin)
    is_disabled = name in disabled_plugins(home.config_file)
    if objection:
        seen = _fingerprint(plugin)
        if not as_json:
            print(declaration(plugin, manifest, seen, objection.error, name_warning(name, installed)))
        if not (agreed or (not as_json and says_yes(_("Enable it? [y/N] ")))):
            return _leave_off(home, name, manifest, as_json=as_json)
        book.give(_consent(plugin, seen))
    if is_disabled:
        edit_list(home.config_file, "plugins", "disabled", lambda names: [each for each in names if each != name])
    changed = is_disabled or objection is not None
    if changed:
        _record(home, _event(name, "enabled", plugin, book.of(name)))
    report = _report(home, name)
    print(switch_json(name, report, changed=changed, declares=manifest) if as_json else state_text(name, report))
    return 1 if report is None or report.error else 0


def _leave_off(home: Home, name: str, manifest: Manifest, *, as_json: bool) -> int:
    if as_json:
        print(switch_json(name, _report(home, name), changed=False, declares=manifest))
    else:
        print(_("{plugin} was not enabled", plugin=name))
    return 1


def _disable(home: Home, name: str, *, as_json: bool) -> int:
    installed = find_plugins()
    book = ConsentBook(home)
    names = {*FIRST_PARTY, *(plugin.name for plugin in installed)}
    if name not in names and book.of(name) is None:
        raise UsageError(_unknown(name, names))
    plugin = next((each for each in installed if each.name == name), None)
    given = None if name in FIRST_PARTY else book.of(name)
    changed = name not in disabled_plugins(home.config_file) if name in FIRST_PARTY else given is not None
    if changed:
        _record(home, _event(name, "disabled", plugin, given))
        _switch_off(home, name, book)
    if as_json:
        print(switch_json(name, _report(home, name), changed=changed))
    elif name in FIRST_PARTY:
        print(_("{plugin} is {state}", plugin=name, state=STATE_WORDS["off"]))
    else:
        print(_("{plugin} is not enabled; nothing of it will be run", plugin=name))
    return 0


def _switch_off(home: Home, name: str, book: ConsentBook) -> None:
    if name in FIRST_PARTY:
        edit_list(home.config_file, "plugins", "disabled", lambda names: [*names, name])
    else:
        book.revoke(name)


def _installed(name: str, installed: Sequence[FoundPlugin]) -> tuple[FoundPlugin, Manifest]:
    """Return the one plugin of that name and what it declares, if it can be enabled at all."""
    plugin = next((each for each in installed if each.name == name), None)
    if plugin is None and name in FIRST_PARTY:
        raise UnavailableError(
            N_(
                "{plugin} is not installed: install the distribution {distribution}",
                plugin=name,
                distribution=FIRST_PARTY[name],
            )
        )
    if plugin is None:
        raise UsageError(_unknown(name, {each.name for each in installed}))
    refused = refusal(plugin, installed)
    if refused:
        raise UnavailableError(N_("{plugin}: {why}", plugin=name, why=refused.why))
    if plugin.manifest is None:
        why = joined(filter(None, (plugin.error, plugin.hint)))
        raise UnavailableError(N_("{plugin}: {why}", plugin=name, why=why))
    return plugin, plugin.manifest


def _unknown(name: str, names: set[str]) -> Text:
    if near := get_close_matches(name, sorted(names), n=1):
        return N_("no plugin is called '{name}'; there is '{near}'", name=name, near=near[0])
    return N_("no plugin is called '{name}'; see 'myclaw plugins list'", name=name)


def _fingerprint(plugin: FoundPlugin) -> Fingerprint:
    """Return what the person agrees to; files that are not what was installed are nothing to agree to."""
    try:
        found = plugin.fingerprint()
    except PluginError as error:
        why = joined(filter(None, (error.text, error.hint)))
        raise UnavailableError(N_("{plugin}: {why}", plugin=plugin.name, why=why)) from error
    if found.problem:
        raise UnavailableError(
            N_(
                "{plugin}: {problem}; install {distribution} again",
                plugin=plugin.name,
                problem=found.problem,
                distribution=plugin.distribution,
            )
        )
    return found


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
        told = _("not recorded in the event log: {reason}", reason=error.text)
        print(f"myclaw: {told}", file=sys.stderr)


async def _append(home: Home, event: PluginConsent) -> None:
    clock = SystemClock()
    dispatcher, config = configured_dispatcher(home, load_plugins(home), clock, lambda _fault: None)
    async with open_log(home, dispatcher, config, clock) as log, log.transaction() as change:
        await change.append(event)


def _report(home: Home, name: str) -> PluginReport | None:
    """Return what became of the plugin: it may fail now that it is loaded."""
    return next((each for each in load_plugins(home).reports if each.name == name), None)

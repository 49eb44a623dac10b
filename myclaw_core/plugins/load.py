"""Imports what is enabled, registers its hooks, and keeps the others going when one fails."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen
from pluggy import HookImpl, PluginManager, PluginValidationError
from stevedore.named import NamedExtensionManager

from myclaw_core import hookspecs
from myclaw_core.messages import N_, add_catalogues
from myclaw_core.plugins.contain import PluginError, contained, one_line
from myclaw_core.plugins.find import (
    FIRST_PARTY,
    GROUP,
    Consult,
    FoundPlugin,
    check_plugins,
    find_plugins,
    nobody_agreed,
)
from myclaw_core.plugins.manifest import Manifest, package_folders, package_name
from myclaw_core.plugins.report import PluginReport
from myclaw_core.runtime.types import PluginVersion
from myclaw_core.types.text import Text

__all__ = ["PluginSet", "load_plugins"]

IMPORT_LIMIT_S = 10.0


@frozen(kw_only=True, eq=False)
class PluginSet:
    """The plugins of one run.

    Attributes:
        reports: All of them by name, also those that are not on.
        manager: Holds the hook implementations of those that are on; only `dispatch.py` calls them.
        manifests: What they declare; a plugin that is not named may offer anything.
    """

    reports: tuple[PluginReport, ...]
    manager: PluginManager
    manifests: Mapping[str, Manifest] = field(factory=dict)

    @classmethod
    def of(cls, modules: Mapping[str, object], version: str = "0") -> PluginSet:
        """Return a set of plain objects with hook implementations, without any discovery: for tests and embedding.

        Args:
            modules: Modules or instances by the plugin's name.
            version: What all of them report.
        """
        manager = new_manager()
        reports = []
        for name, module in modules.items():
            report = PluginReport(name=name, distribution="", version=version, state="on")
            reports.append(_registered(manager, report, module, None))
        return cls(reports=tuple(reports), manager=manager)

    def without(self, name: str, error: PluginError) -> PluginSet:
        """Return this set with one plugin failed; its hooks must not be called any more."""
        reports = (_failed(one, error) if one.name == name else one for one in self.reports)
        return evolve(self, reports=tuple(reports))

    def off(self, name: str) -> PluginSet:
        """Return this set as if the person had switched one plugin off; nothing is imported again."""
        manager = new_manager()
        for one in self.reports:
            if one.state == "on" and one.name != name:
                manager.register(self.manager.get_plugin(one.name), one.name)
        reports = (evolve(one, state="off") if one.name == name else one for one in self.reports)
        return evolve(self, reports=tuple(reports), manager=manager)

    @property
    def active(self) -> tuple[PluginVersion, ...]:
        """Return the plugins that are on, for the trace."""
        return tuple(PluginVersion(name=one.name, version=one.version) for one in self.reports if one.state == "on")

    @property
    def unloadable(self) -> tuple[PluginReport, ...]:
        """Return those that the person wants to run and that do not: failed, or changed since they agreed."""
        return tuple(one for one in self.reports if one.state == "failed" or (one.state == "new" and one.error))

    @property
    def idle(self) -> frozenset[str]:
        """Return the names of plugins that are installed but not on."""
        return frozenset(one.name for one in self.reports if one.state in ("off", "new", "failed"))


def load_plugins(
    disabled: Collection[str] = (),
    environ: Mapping[str, str] | None = None,
    consult: Consult = nobody_agreed,
) -> PluginSet:
    """Find, check, import and register what is installed; whatever goes wrong is in the reports.

    Args:
        disabled: Names that `[plugins] disabled` lists.
        environ: Where `MYCLAW_PLUGINS` may name the only plugins to load, parted by commas.
        consult: Says which plugins of others the person agreed to.
    """
    only = (os.environ if environ is None else environ).get("MYCLAW_PLUGINS")
    names = None if only is None else frozenset(name.strip() for name in only.split(",") if name.strip())
    enabled, reports = check_plugins(find_plugins(), disabled, names, consult)
    _add_catalogues(enabled)
    manager = new_manager()
    loaded = _Loader(enabled)
    for plugin in enabled:
        report = plugin.report("on")
        if plugin.name in loaded.modules:
            declared = plugin.manifest.hooks if plugin.manifest else ()
            reports.append(_registered(manager, report, loaded.modules[plugin.name], declared))
        else:
            reports.append(_failed(report, loaded.errors[plugin.name]))
    return PluginSet(
        reports=tuple(sorted(reports, key=lambda one: (one.name, one.distribution))),
        manager=manager,
        manifests={plugin.name: plugin.manifest for plugin in enabled if plugin.manifest},
    )


def _add_catalogues(plugins: Iterable[FoundPlugin]) -> None:
    """Let messages be translated from the folder `locale` of each package; a message of ours and of others as ours."""
    for plugin in sorted(plugins, key=lambda one: one.name not in FIRST_PARTY):
        with suppress(PluginError):
            value = plugin.entry_point.value
            for folder in (Path(folder) / "locale" for folder in package_folders(value)):
                if folder.is_dir():
                    add_catalogues(package_name(value), folder)


def new_manager() -> PluginManager:
    """Return a manager that knows every hook and no plugin."""
    manager = PluginManager("myclaw")
    manager.add_hookspecs(hookspecs)
    return manager


class _ContainedEntryPoint(EntryPoint):
    """An entry point whose import cannot end or stop the program."""

    def load(self) -> Any:
        return contained(super().load, IMPORT_LIMIT_S)


class _Loader(NamedExtensionManager[Any]):
    """Imports exactly the entry points it is given: no cache on disk, nothing that shares their name.

    Attributes:
        modules: What was imported, by name.
        errors: What went wrong, by name.
    """

    def __init__(self, plugins: Sequence[FoundPlugin]) -> None:
        self._entry_points: list[EntryPoint] = [
            _ContainedEntryPoint(plugin.name, plugin.entry_point.value, GROUP) for plugin in plugins
        ]
        self.errors: dict[str, PluginError] = {}
        super().__init__(
            GROUP,
            [plugin.name for plugin in plugins],
            on_load_failure_callback=self._on_failure,
            on_missing_entrypoints_callback=None,
        )
        self.modules: dict[str, Any] = {extension.name: extension.plugin for extension in self.extensions}

    def list_entry_points(self) -> list[EntryPoint]:
        return self._entry_points

    def _on_failure(self, _manager: Any, entry_point: EntryPoint, error: BaseException) -> None:
        self.errors[entry_point.name] = error if isinstance(error, PluginError) else PluginError(one_line(error))


def _registered(
    manager: PluginManager, report: PluginReport, plugin: Any, declared: Collection[str] | None
) -> PluginReport:
    """Return the report on a plugin after its hooks were checked and registered; `declared` of `None` allows all."""
    try:
        hooks = contained(partial(_register, manager, report.name, plugin, declared), IMPORT_LIMIT_S)
    except PluginError as error:
        if manager.has_plugin(report.name):
            manager.unregister(name=report.name)
        return _failed(report, error)
    return evolve(report, hooks=hooks)


def _register(manager: PluginManager, name: str, plugin: Any, declared: Collection[str] | None) -> tuple[str, ...]:
    try:
        manager.register(plugin, name)
    except (PluginValidationError, ValueError) as error:
        problem = N_("its hooks do not fit: {error}", error=one_line(error))
        raise PluginError(problem, N_("install a version made for this core")) from None
    hooks = {
        caller.name: implementation
        for caller in manager.get_hookcallers(plugin) or ()
        for implementation in caller.get_hookimpls()
        if implementation.plugin is plugin
    }
    for hook, implementation in hooks.items():
        _check_hook(hook, implementation, declared)
    return tuple(sorted(hooks))


def _check_hook(hook: str, implementation: HookImpl, declared: Collection[str] | None) -> None:
    if implementation.wrapper or implementation.hookwrapper:
        problem = N_("{hook} is a wrapper; a plugin may not change what others answer", hook=hook)
        raise PluginError(problem, N_("make it a plain hook"))
    if hook not in hookspecs.HOOK_MODES:
        raise PluginError(_no_such_hook(hook))
    if declared is not None and hook not in declared:
        problem = N_("{hook} is not declared in its plugin.toml", hook=hook)
        raise PluginError(problem, N_("install it again, or ask its author"))


def _no_such_hook(hook: str) -> Text:
    near = get_close_matches(hook, hookspecs.HOOK_MODES, n=1)
    if near:
        return N_("there is no hook {hook}; the nearest is {near}", hook=hook, near=near[0])
    return N_("there is no hook {hook}", hook=hook)


def _failed(report: PluginReport, error: PluginError) -> PluginReport:
    hint = N_(
        "install another version of {distribution}, or disable it under [plugins]",
        distribution=report.distribution or report.name,
    )
    return evolve(report, state="failed", error=error.text, hint=error.hint or hint)

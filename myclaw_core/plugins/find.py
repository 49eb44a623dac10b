"""Which distributions offer plugins, and which of those may be imported; nothing is imported here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from importlib.metadata import Distribution, EntryPoint, distributions

from attrs import field, frozen

from myclaw_core.first_party import FIRST_PARTY
from myclaw_core.messages import N_
from myclaw_core.plugins.contain import PluginError
from myclaw_core.plugins.installed import Fingerprint, fingerprint
from myclaw_core.plugins.manifest import Manifest, package_folders, read_manifest
from myclaw_core.plugins.report import Objection, PluginReport, State, not_asked
from myclaw_core.types.text import Text, joined

__all__ = [
    "FIRST_PARTY",
    "GROUP",
    "Consult",
    "FoundPlugin",
    "check_plugins",
    "find_plugins",
    "name_warning",
    "nobody_agreed",
    "refusal",
]

GROUP = "myclaw.plugins"


@frozen(kw_only=True)
class FoundPlugin:
    """One entry point, as its distribution announces it.

    Attributes:
        entry_point: Where its module is.
        source: The metadata of its distribution.
        manifest: What it declares; `None` where that could not be read.
        error: Why it could not be read, or `None`.
        hint: What to do about that, or `None`.
    """

    entry_point: EntryPoint
    source: Distribution = field(repr=False, eq=False)
    distribution: str
    version: str
    manifest: Manifest | None = None
    error: Text | None = None
    hint: Text | None = None

    @property
    def name(self) -> str:
        """Return the plugin's name."""
        return self.entry_point.name

    def fingerprint(self) -> Fingerprint:
        """Return one value over its installed files; nothing is imported.

        Raises:
            PluginError: They cannot be listed.
        """
        return fingerprint(self.source, package_folders(self.entry_point.value))

    def report(self, state: State, error: Text | None = None, hint: Text | None = None) -> PluginReport:
        """Return the line about it in the list of plugins, with the hooks it declares."""
        return PluginReport(
            name=self.name,
            distribution=self.distribution,
            version=self.version,
            state=state,
            hooks=self.manifest.hooks if self.manifest else (),
            error=error,
            hint=hint,
        )


Consult = Callable[[FoundPlugin], Objection | None]
"""Says what stands against importing a plugin of somebody else; `None` where the person agreed to it."""


def nobody_agreed(plugin: FoundPlugin) -> Objection | None:
    """Object to every plugin of somebody else."""
    return not_asked(plugin.name)


def find_plugins() -> tuple[FoundPlugin, ...]:
    """Return every plugin that is installed, by name and distribution, read fresh from the metadata."""
    found = [
        _found(entry_point, distribution) for distribution in _distributions() for entry_point in _entries(distribution)
    ]
    return tuple(sorted(found, key=lambda plugin: (plugin.name, plugin.distribution)))


def check_plugins(
    found: Sequence[FoundPlugin],
    disabled: Collection[str] = (),
    only: Collection[str] | None = None,
    consult: Consult = nobody_agreed,
) -> tuple[list[FoundPlugin], list[PluginReport]]:
    """Return what may be imported, and a report on everything else.

    Args:
        found: What is installed.
        disabled: Names that `[plugins] disabled` lists.
        only: The only names to load; `None` for no such limit.
        consult: Asked about each plugin that is not of this repository.
    """
    enabled: list[FoundPlugin] = []
    reports: list[PluginReport] = []
    for plugin in found:
        report = refusal(plugin, found) or _reason_off(plugin, found, disabled, only, consult)
        if report:
            reports.append(report)
        else:
            enabled.append(plugin)
    names = {plugin.name for plugin in found}
    return enabled, [*reports, *_missing(names, {*disabled, *(only or ())})]


def _distributions() -> Iterator[Distribution]:
    """Yield what is installed; the first on the path shadows others of the same name, as it does on import."""
    seen: set[str] = set()
    for distribution in distributions():
        name = _plain(_name(distribution))
        if name not in seen:
            seen.add(name)
            yield distribution


def _entries(distribution: Distribution) -> list[EntryPoint]:
    try:
        return [entry_point for entry_point in distribution.entry_points if entry_point.group == GROUP]
    except Exception:  # broken metadata of any distribution on this machine
        return []


def _found(entry_point: EntryPoint, distribution: Distribution) -> FoundPlugin:
    manifest, error, hint = None, None, None
    try:
        manifest = read_manifest(entry_point.name, entry_point.value)
    except PluginError as problem:
        error, hint = problem.text, problem.hint
    return FoundPlugin(
        entry_point=entry_point,
        source=distribution,
        distribution=_name(distribution),
        version=_metadata(distribution, "Version"),
        manifest=manifest,
        error=error,
        hint=hint,
    )


def refusal(plugin: FoundPlugin, found: Iterable[FoundPlugin]) -> PluginReport | None:
    """Return a report where it is not clear whose the name is; this holds whether it is enabled or not."""
    owners = sorted({other.distribution for other in found if other.name == plugin.name})
    times = sum(other.name == plugin.name for other in found)
    if times > 1:
        error = N_(
            "the name is offered {times} times, by {owners}; none of them is loaded",
            times=times,
            owners=", ".join(owners),
        )
        return plugin.report("failed", error, _uninstall_strangers(plugin.name, owners))
    owner = FIRST_PARTY.get(plugin.name)
    if owner and _plain(plugin.distribution) != owner:
        error = N_(
            "{distribution} claims a name that belongs to {owner}", distribution=plugin.distribution, owner=owner
        )
        return plugin.report("failed", error, N_("uninstall {distributions}", distributions=plugin.distribution))
    return None


def _reason_off(
    plugin: FoundPlugin,
    found: Iterable[FoundPlugin],
    disabled: Collection[str],
    only: Collection[str] | None,
    consult: Consult,
) -> PluginReport | None:
    """Return a report where a plugin is not to be loaded, or cannot be."""
    if only is not None and plugin.name not in only:
        return plugin.report("off", hint=N_("MYCLAW_PLUGINS leaves it out"))
    if plugin.name in disabled:
        hint = N_("'myclaw plugins enable {plugin}' takes it off [plugins] disabled", plugin=plugin.name)
        return plugin.report("off", hint=hint)
    if plugin.error:
        return plugin.report("failed", plugin.error, plugin.hint)
    objection = None if plugin.name in FIRST_PARTY else consult(plugin)
    if objection:
        warning = name_warning(plugin.name, found)
        return plugin.report("new", objection.error, joined(filter(None, (objection.hint, warning))))
    return None


def _missing(installed: Collection[str], wanted: Iterable[str]) -> Iterator[PluginReport]:
    for name in sorted({*FIRST_PARTY, *wanted} - {*installed}):
        owner = FIRST_PARTY.get(name, "")
        near = sorted(other for other in {*installed, *FIRST_PARTY} if _one_edit_apart(name, other))
        yield PluginReport(
            name=name,
            distribution=owner,
            state="missing",
            error=N_("not installed"),
            hint=_how_to_get(owner, near),
        )


def _how_to_get(owner: str, near: Sequence[str]) -> Text:
    if owner:
        return N_("install the distribution {distribution}", distribution=owner)
    if near:
        return N_("correct the name in [plugins] disabled or MYCLAW_PLUGINS; there is {name}", name=repr(near[0]))
    return N_("correct the name in [plugins] disabled or MYCLAW_PLUGINS")


def _uninstall_strangers(name: str, owners: Sequence[str]) -> Text:
    """Say which distributions to uninstall: all but the rightful one, else all but one."""
    strangers = [owner for owner in owners if _plain(owner) != FIRST_PARTY.get(name)]
    if name in FIRST_PARTY and strangers:
        return N_("uninstall {distributions}", distributions=", ".join(strangers))
    return N_("uninstall all but one of them")


def name_warning(name: str, found: Iterable[FoundPlugin]) -> Text | None:
    """Return a warning where a name can be mistaken for another one, or `None`."""
    others = {*FIRST_PARTY, *(plugin.name for plugin in found)} - {name}
    near = sorted(other for other in others if _one_edit_apart(name, other))
    if not near:
        return None
    return N_("WARNING: the name is almost {name}, check that it is the one you want", name=repr(near[0]))


def _one_edit_apart(first: str, second: str) -> bool:
    """Return whether one character added, removed, changed or swapped with its neighbour makes both equal."""
    a, b = _plain(first), _plain(second)
    at = next((place for place, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), min(len(a), len(b)))
    swapped = a[:at] + a[at : at + 2][::-1] + a[at + 2 :]
    return b in (a, swapped) or b[at + 1 :] == a[at + 1 :] or b[at:] == a[at + 1 :] or b[at + 1 :] == a[at:]


def _name(distribution: Distribution) -> str:
    return _metadata(distribution, "Name")


def _metadata(distribution: Distribution, key: str) -> str:
    """Return one header of the metadata; `Distribution.metadata` would parse the whole README of each distribution."""
    try:
        text = next(filter(None, map(distribution.read_text, ("METADATA", "PKG-INFO", ""))), "")
    except Exception:  # broken metadata of any distribution on this machine
        return ""
    headers = text.partition("\n\n")[0].splitlines()
    lines = (line.partition(":") for line in headers)
    return next((value.strip() for name, _, value in lines if name.lower() == key.lower()), "")


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")

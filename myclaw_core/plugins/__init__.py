"""Plugins: found without being imported, checked, loaded one by one, and reported on."""

from myclaw_core.plugins.consent import Consent, ConsentBook
from myclaw_core.plugins.find import FIRST_PARTY, FoundPlugin, check_plugins, find_plugins
from myclaw_core.plugins.load import PluginSet, load_plugins
from myclaw_core.plugins.manifest import Manifest
from myclaw_core.plugins.report import PluginReport

__all__ = [
    "FIRST_PARTY",
    "Consent",
    "ConsentBook",
    "FoundPlugin",
    "Manifest",
    "PluginReport",
    "PluginSet",
    "check_plugins",
    "find_plugins",
    "load_plugins",
]

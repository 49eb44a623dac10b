"""Whether a repository's settings run nothing: those that `git init` and `git clone` write, and a name for commits.

Git has dozens of settings that name a program, and gains more; so the harmless ones are listed, in one plain spelling.
"""

from __future__ import annotations

import re

__all__ = ["MAX_CONFIG_BYTES", "runs_nothing"]

MAX_CONFIG_BYTES = 64 << 10
"""Settings longer than this are not looked at."""

_SECTION = re.compile(r'\[(core|remote|branch|user)(?: "[\w./-]+")?\]', re.ASCII)
_SETTING = re.compile(r"\s*([a-z]+) = ((?!-)[\w ./:@+*~%=?&,-]+)", re.IGNORECASE)
_HARMLESS = {
    "core": {"bare", "filemode", "ignorecase", "logallrefupdates", "precomposeunicode", "repositoryformatversion"},
    "remote": {"fetch", "url"},
    "branch": {"merge", "remote"},
    "user": {"email", "name"},
}
_RUNS_A_HELPER = "::"
"""Between the name of a program that git runs for an address and the rest of it."""


def runs_nothing(content: bytes) -> bool:
    """Return whether every line of a git configuration file is a harmless setting in its plainest spelling."""
    section = ""
    for line in content.decode(errors="replace").split("\n"):
        if found := _SECTION.fullmatch(line):
            section = found[1]
        elif line and not _is_harmless(section, line):
            return False
    return True


def _is_harmless(section: str, line: str) -> bool:
    found = _SETTING.fullmatch(line)
    return found is not None and found[1].lower() in _HARMLESS.get(section, ()) and _RUNS_A_HELPER not in found[2]

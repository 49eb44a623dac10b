"""`myclaw setup --service`: a unit for the user's service manager, shown before it is written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from myclaw_core.atomic import replace_file
from myclaw_core.cli.asking import says_yes
from myclaw_core.errors import UsageError
from myclaw_core.messages import N_, _
from myclaw_core.paths import Home
from myclaw_core.serve.unit import UNIT, is_for, is_untouched, unit_path, unit_text

__all__ = ["write_service"]

_START = (("systemctl", "--user", "daemon-reload"), ("systemctl", "--user", "enable", "--now", UNIT))
_LINGER = "loginctl enable-linger"


def write_service(home: Home, *, agreed: bool, force: bool) -> int:
    """Write the unit after a yes and say how to start it; 1 where the person said no or it does not start.

    Args:
        agreed: Whether it may be written without a question; nothing is started then.
        force: Whether one that a person changed, or that is for another home, is overwritten.

    Raises:
        UsageError: The unit was changed by hand or is for another home, or nobody can be asked.
    """
    text, path = unit_text(home, os.environ), unit_path()
    there = path.is_symlink() or path.exists()
    known = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if there and not force and (path.is_symlink() or not is_untouched(known)):
        raise UsageError(N_("{path} was changed by hand; --force overwrites it", path=str(path)))
    if there and not force and not is_for(known, home):
        raise UsageError(
            N_("{path} runs another home; --force lets it run {home}", path=str(path), home=str(home.root))
        )
    if known == text:
        print(_("{path} is so already", path=str(path)))
    else:
        print(text)
        if not (agreed or says_yes(_("Write this to {path}? [y/N] ", path=str(path)))):
            print(_("nothing was written"))
            return 1
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode("utf-8"))
        print(_("{path} is written", path=str(path)))
    return _offer_start(ask=not agreed)


def _offer_start(*, ask: bool) -> int:
    print(_("to start it, now and at each login:"))
    for command in _START:
        print(f"  {' '.join(command)}")
    print(_("to let it run while you are not logged in:"))
    print(f"  {_LINGER}")
    if not (ask and sys.stdin.isatty() and shutil.which("systemctl")):
        return 0
    if not says_yes(_("Start it now with the first two? [y/N] ")):
        return 0
    done = all(subprocess.run(command, check=False).returncode == 0 for command in _START)  # noqa: S603 - fixed above
    print(_("started; 'myclaw serve --status' shows how it does") if done else _("it did not start; see above"))
    return 0 if done else 1

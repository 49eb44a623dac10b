"""Whether bubblewrap can hold a command here: by running one that looks around, not by finding the file."""

from __future__ import annotations

import os
import platform
import stat
import subprocess
from pathlib import Path

from myclaw_bwrap.descriptors import launch_of
from myclaw_bwrap.syscalls import MACHINES
from myclaw_core.messages import N_
from myclaw_core.sandbox.sandbox import ShellJob
from myclaw_core.types.text import Text

__all__ = ["BWRAP", "problem_of"]

BWRAP = "/usr/bin/bwrap"

_TIMEOUT_S = 10
# No network, no privileges, the filter on, nothing to write to outside the scratch folder.
_LOOK_AROUND = r"""
status=$(</proc/self/status)
[[ $status == *NoNewPrivs:?1* && $status == *Seccomp:?2* && $status == *CapEff:?0000000000000000* ]] || exit 11
mapfile -t -s 2 networks </proc/net/dev
[[ ${#networks[@]} -eq 1 && ${networks[0]} == *lo:* ]] || exit 12
for place in / /proc/sys/vm /usr /dev; do
  { : >"$place/probe"; } 2>/dev/null && exit 13
done
(echo held) || exit 14
"""


def problem_of(program: str) -> Text | None:
    """Return one line on why no command can run here and what to do about it, or `None`."""
    why = _unfit(program) or _failure(program)
    if why is None:
        return None
    return N_("the sandbox is not available: {why}; until then no command is run, everything else works", why=why)


def _unfit(program: str) -> Text | None:
    if platform.machine() not in MACHINES:
        return N_(
            "this processor ({machine}) is not supported, only these are: {machines}",
            machine=platform.machine(),
            machines=", ".join(MACHINES),
        )
    try:
        status = Path(program).stat()
    except OSError:
        return N_(
            "bubblewrap was not found at {program}; install it with 'sudo apt install bubblewrap' (or your system's "
            "package of that name)",
            program=program,
        )
    if not stat.S_ISREG(status.st_mode) or status.st_uid != 0 or status.st_mode & 0o022:
        return N_(
            "{program} is not a program that only root can change; install it with 'sudo apt install bubblewrap' (or "
            "your system's package of that name)",
            program=program,
        )
    if not Path("/bin/bash").exists():
        return N_("there is no /bin/bash; install bash")
    return None


def _failure(program: str) -> Text | None:
    job = ShellJob(command=_LOOK_AROUND, mode="read", roots=(), cwd="/", timeout_s=_TIMEOUT_S, output_limit_bytes=4096)
    try:
        with launch_of(job, program, waits=False) as launch:
            run = subprocess.run(  # noqa: S603 - our own arguments
                launch.command,
                env={},
                cwd="/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                pass_fds=launch.inherited,
                timeout=_TIMEOUT_S,
                check=False,
            )
            launch.theirs.close()
            ran = '"exit-code"' in _rest_of(launch.status)
    except (OSError, subprocess.TimeoutExpired) as error:
        return N_("{program} could not be tried: {problem}", program=program, problem=str(error))
    if ran and run.returncode == 0 and run.stdout == b"held\n":
        return None
    if ran:
        return N_(
            "{program} does not hold what it should here (check {number}); report this",
            program=program,
            number=run.returncode,
        )
    return _explained(run.stderr.decode(errors="replace").strip().rpartition("\n")[2])


def _rest_of(descriptor: int) -> str:
    chunks = []
    while chunk := os.read(descriptor, 1 << 16):
        chunks.append(chunk)
    return b"".join(chunks).decode(errors="replace")


def _explained(said: str) -> Text:
    """Return bubblewrap's last line with what to do about it."""
    if "nknown option" in said:
        return N_("bubblewrap is too old ({said}); install 0.8 or newer", said=said)
    if "uid map" in said or "Operation not permitted" in said or "No permissions" in said:
        return N_(
            "namespaces are not permitted here ({said}); allow user namespaces for {program} alone with an AppArmor "
            "profile, or for all programs with 'sysctl kernel.apparmor_restrict_unprivileged_userns=0' "
            "(elsewhere 'sysctl kernel.unprivileged_userns_clone=1')",
            said=said,
            program=BWRAP,
        )
    if "namespace" in said:
        return N_("namespaces are not permitted here ({said}); raise /proc/sys/user/max_user_namespaces", said=said)
    if not said:
        return N_("bubblewrap failed without a word; see that bubblewrap 0.8 or newer runs on this system")
    return N_("bubblewrap failed ({said}); see that bubblewrap 0.8 or newer runs on this system", said=said)

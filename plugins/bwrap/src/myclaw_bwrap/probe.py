"""Whether bubblewrap can hold commands and code here: by running some that look around, not by finding the file."""

from __future__ import annotations

import os
import platform
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

from myclaw_bwrap.code_launch import CodeLaunch, code_launch
from myclaw_bwrap.descriptors import Launch, launch_of
from myclaw_bwrap.interpreter import Interpreter
from myclaw_bwrap.syscalls import MACHINES
from myclaw_core.messages import N_
from myclaw_core.sandbox.code import CodeJob, CodeLimits, not_available
from myclaw_core.sandbox.sandbox import ShellJob
from myclaw_core.types.text import Text

__all__ = ["BWRAP", "code_problem_of", "could_not_be_tried", "problem_of"]

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
# The same, and: nothing of the host to see, no process, no socket, no memory beyond the limit.
_CODE_LOOKS_AROUND = rb"""
import os, resource, socket

def refused(act, *arguments):
    try:
        act(*arguments)
    except OSError:
        return True
    return False

status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
networks = open("/proc/net/dev").read().splitlines()[2:]
checks = {
    21: status["NoNewPrivs"] == "1" and status["Seccomp"] == "2" and int(status["CapEff"], 16) == 0,
    22: len(networks) == 1 and "lo:" in networks[0],
    23: all(refused(open, place + "/probe", "w") for place in ("/", "/n", "/dev", "/usr", "/proc/sys/vm")),
    24: refused(os.fork),
    25: all(refused(socket.socket, family) for family in (socket.AF_INET, socket.AF_UNIX, socket.AF_VSOCK)),
    26: not any(os.path.exists(place) for place in ("/etc", "/sys", "/bin", "/var", "/run", "/usr/bin/env")),
    27: set(os.environ) <= {"PATH", "LANG", "LD_LIBRARY_PATH", "PWD", "LC_CTYPE"},
    28: max(resource.getrlimit(resource.RLIMIT_AS)) == 256 << 20,
}
failed = [number for number, holds in checks.items() if not holds]
if failed:
    os._exit(failed[0])
print("held")
"""


def problem_of(program: str) -> Text | None:
    """Return one line on why no command can run here and what to do about it, or `None`."""
    why = _unfit(program) or _without_bash() or _tried(program, lambda: _shell_failure(program))
    if why is None:
        return None
    return N_("the sandbox is not available: {why}; until then no command is run, everything else works", why=why)


def code_problem_of(program: str, interpreter: Interpreter) -> Text | None:
    """Return one line on why no code can run here, what that means and what to do about it, or `None`."""
    why = _unfit(program) or _tried(program, lambda: _code_failure(program, interpreter))
    return None if why is None else not_available(why)


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
    if status.st_mode & stat.S_ISUID and os.geteuid() != 0:
        return N_(
            "{program} acts as root for everybody (setuid), which is not safe; take that from it with "
            "'sudo chmod u-s {program}' and let it use user namespaces",
            program=program,
        )
    return None


def _without_bash() -> Text | None:
    return None if Path("/bin/bash").exists() else N_("there is no /bin/bash; install bash")


def could_not_be_tried(program: str, error: Exception) -> Text:
    """Return the cause where bubblewrap could not even be started."""
    return N_("{program} could not be tried: {problem}", program=program, problem=str(error))


def _tried(program: str, failure: Callable[[], Text | None]) -> Text | None:
    try:
        return failure()
    except (OSError, subprocess.TimeoutExpired) as error:
        return could_not_be_tried(program, error)


def _shell_failure(program: str) -> Text | None:
    job = ShellJob(command=_LOOK_AROUND, mode="read", roots=(), cwd="/", timeout_s=_TIMEOUT_S, output_limit_bytes=4096)
    with launch_of(job, program, waits=False) as launch:
        return _failure(program, launch)


def _code_failure(program: str, interpreter: Interpreter) -> Text | None:
    job = CodeJob(files={"probe.py": _CODE_LOOKS_AROUND}, main="probe.py", limits=CodeLimits(cpu_s=_TIMEOUT_S))
    with code_launch(job, program, interpreter) as launch:
        return _failure(program, launch)


def _failure(program: str, launch: Launch | CodeLaunch) -> Text | None:
    """Return why what is launched does not end with the word that all of it held."""
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

"""Bodies that the analysis refuses are run nevertheless: the host holds the manifest, canaries stay as they are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from neuron_runs import PEER, FolderWorld, run_body

SECRET = "canary: nobody reads this"
ARGS = {
    "host": "evil.example",
    "mode": "w",
    "name": "id_rsa",
    "path": "~/.ssh/id_rsa",
    "rest": "@evil.example/",
    "tool": "fs_delete",
    "url": "https://evil.example/",
    "x": "~/.ssh/id_rsa",
}
REQUESTS: Sequence[dict[str, Any]] = (
    {"do": "read", "path": "~/.ssh/id_rsa"},
    {"do": "read", "path": "/etc/passwd"},
    {"do": "read", "path": "~/notes/../.ssh/id_rsa"},
    {"do": "read", "path": "~/notes/\0"},
    {"do": "stage", "path": "~/.ssh/authorized_keys"},
    {"do": "write", "path": "~/.ssh/authorized_keys", "frames": 0},
    {"do": "write", "path": "~/notes/a", "frames": 0},
    {"do": "call", "name": "shell", "args": {"command": "id"}},
    {"do": "call", "name": "ctx_read", "args": {"path": "~/.ssh/id_rsa"}},
    {"do": "call", "name": "ctx_write", "args": {"path": "~/notes/a", "content": ""}},
    {"do": "call", "name": "neuron_admit", "args": {}},
    {"do": "call", "name": "neuron:a_neuron", "args": {}},
    {"do": "call", "name": "", "args": {}},
    {"do": "fetch", "url": "https://evil.example/"},
    {"do": "fetch", "url": "https://example.org@evil.example/"},
    {"do": "llm", "prompt": "x"},
    {"do": "now"},
    {"do": "random"},
)


class Watched(FolderWorld):
    """A home with secrets, and a network on which another host listens."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, self._told)
        for name in (".ssh/id_rsa", ".netrc", "notes/a", "notes/a.md", "notes/report.md", "notes-private/a", "a"):
            file = home / name
            file.parent.mkdir(exist_ok=True)
            file.write_text("x" if name.startswith("notes/") else SECRET)

    async def _told(self, what: str, asked: Any) -> Any:
        return SECRET if "evil" in str(asked) or what == "fs_delete" else "x"

    def everything(self) -> dict[str, str]:
        """Return what each file holds."""
        return {str(each.relative_to(self.home)): each.read_text() for each in self.home.rglob("*") if each.is_file()}


async def test_rights_are_held_by_the_host_whatever_the_analysis_says(corpus: Any, tmp_path: Path) -> None:
    """Attacks on what is declared, and some of each other kind, run with what they declare: nothing else is done."""
    chosen = [*corpus("attacks_rights"), *corpus("attacks")[::6]]
    attacks = iter([body for body in chosen if "capability" not in body.rule])
    seen: dict[str, Any] = {}

    async def one_after_the_other(folder: Path) -> None:
        for attack in attacks:
            home = folder / attack.name.replace("/", "_")
            home.mkdir(exist_ok=True)
            world = Watched(home)
            before = world.everything()
            declared = {"capabilities": attack.capabilities, "may_call": attack.may_call}
            end = await run_body(attack.source, world, ARGS, limit_s=1.0, **declared)
            leaked = SECRET in json.dumps([end.output, str(end.error), end.message, end.log])
            changed = {name for name, text in world.everything().items() if text != before.get(name)}
            allowed = {each.partition(":")[2].removeprefix("~/") for each in attack.capabilities if "fs-write" in each}
            seen[attack.name] = (leaked, changed - allowed, [each for each in world.asked if "evil" in str(each)])

    for number in range(2):
        (tmp_path / str(number)).mkdir()
    await asyncio.gather(*(one_after_the_other(tmp_path / str(number)) for number in range(2)))

    assert len(seen) > 120
    assert {name: found for name, found in seen.items() if found != (False, set(), [])} == {}


async def test_a_body_that_speaks_to_the_host_by_itself_gets_no_more(tmp_path: Path) -> None:
    """Requests in the words of the runner, for what is not declared: each is answered with an error, none is done."""
    body = PEER + f"    frames = {[json.dumps(each) for each in REQUESTS]!r}\n"
    body += "    found = []\n    for each in frames:\n        frame(each.encode())\n"
    body += "        found.append(json.loads(answer()))\n"
    world = Watched(tmp_path)
    before = world.everything()
    end = await run_body(body + "    return found", world, capabilities=("fs-read:~/notes/*",))

    assert end.outcome == "ok", end
    assert {json.dumps(asked): got for asked, got in zip(REQUESTS, end.output, strict=True) if "error" not in got} == {}
    assert {what for what, _ in world.asked} <= {"undeclared"}
    assert world.everything() == before


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("    import re\n    return re.fullmatch('(a+)+b', 'a' * 64)", "cpu"),
        ("    return 'x' * 10**12", "memory"),
        ("    while True:\n        print('x' * 10**5)", "output"),
        ("    return ctx.now() if args else run(ctx, args)", "failed"),
        ("    import shlex\n    return shlex.split(None)", "timeout"),
        ("    import os\n    os.kill(os.getpid(), 9)\n    return os.getpid()", "ok"),
        ("    import os\n    os._exit(0)", "failed"),
        ("    import os\n    os.close(0)\n    return 1", "failed"),
        ("    import sys\n    sys.modules['__main__'].main()", "failed"),
        ("    raise SystemExit(0)", "failed"),
        ("    return {'output': 1}, {'do': 'done'}", "ok"),
    ],
)
async def test_what_goes_on_inside_ends_as_it_should_and_stays_inside(tmp_path: Path, body: str, outcome: str) -> None:
    """By a limit of its own, or as a failure."""
    world = Watched(tmp_path)
    before = world.everything()
    end = await run_body(f"def run(ctx, args):\n{body}", world, limit_s=1.5, quotas={"cpu_s": 1})

    assert end.outcome in (outcome, "timeout")
    assert world.everything() == before
    assert world.asked == []

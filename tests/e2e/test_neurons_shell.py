"""A neuron that runs a program: declared, allowed by the configuration, and held to it at each call."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from .conftest import finish

ALLOWED = "[approval]\nreading_pause_s = 0\n\n[neurons]\nprograms = ['git']\n"
MANIFEST = """\
schema_version: "1.0"
name: git_log
version: 1.0.0
purpose: Tell what was last committed in a folder.
input_schema: {type: object, properties: {command: {type: string}}, required: [command], additionalProperties: false}
output_schema: {type: object}
capabilities: ["shell:git"]
may_call: [shell]
"""
BODY = """\
async def run(ctx, args):
    try:
        return {"told": await ctx.call("shell", command=args["command"])}
    except PermissionError as error:
        return {"refused": str(error)}
"""
TESTS = """\
async def test_positive(run):
    assert await run({"command": "git log"}, calls={"shell": "a first commit"}) == {"told": "a first commit"}


async def test_edge(run):
    assert await run({"command": "git log | git hash-object"}, calls={"shell": ""}) == {"told": ""}


async def test_negative(run):
    assert "shell:ls" in (await run({"command": "ls"}, calls={"shell": "a"}))["refused"]
"""


def written(folder: Path) -> Path:
    """Write the neuron as its author does."""
    neuron = folder / "git_log"
    neuron.mkdir()
    for name, text in {"manifest.yaml": MANIFEST, "body.py": BODY, "test_birth.py": TESTS}.items():
        (neuron / name).write_text(text)
    return neuron


def committed(folder: Path) -> Path:
    """Make a repository with one commit."""
    folder.mkdir()
    author = ("-c", "user.name=Rosa", "-c", "user.email=rosa@example.org")
    for words in (("init", "--quiet"), (*author, "commit", "--quiet", "--allow-empty", "-m", "a first commit")):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    return folder


def test_a_program_that_the_configuration_does_not_name_is_refused(console: Any) -> None:
    """Both by the check and by adopting."""
    neuron = written(console.person)
    for verb in ("check", "adopt"):
        ended = console.run("neurons", verb, neuron)
        assert ended.code == 1
        assert "shell:git is not allowed by the configuration" in ended.out


def test_it_is_adopted_and_runs_that_program_and_no_other(console: Any) -> None:
    """Each command is a step of its own that is judged and recorded; `cd` only says where."""
    console.configure(ALLOWED)
    neuron, repository = written(console.person), committed(console.files / "project")
    assert console.run("neurons", "check", neuron).code == 0
    child = console.spawn("neurons", "adopt", neuron)
    child.expect_exact("details >")
    child.send("yes\r")
    assert finish(child) == 0

    def run(command: str) -> Any:
        given = ("--root", console.files, "--level", "full", "--yes-to", "invoke")
        return console.json("neurons", "run", "git_log", json.dumps({"command": command}), *given)

    assert "a first commit" in run(f"cd {repository} && git log --oneline")["told"]["text"]
    for other, why in (
        ("ls", "shell:ls is not declared"),
        ("git log > stolen", "shell:> is not declared"),
        (f"git -C {repository} log", "does not say plainly"),
        ("git $(id)", "does not say plainly"),
    ):
        assert why in run(other)["refused"]

    console.configure("")
    ended = console.run("neurons")
    assert "its capability shell:git is not in [neurons] programs" in ended.out

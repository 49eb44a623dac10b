"""`myclaw policy covers`: whether a rule covers a path; nothing is run and nothing is changed."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from myclaw_core.cli.jsonl import numbered_lines, parse_object
from myclaw_core.errors import UsageError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _

if TYPE_CHECKING:
    from myclaw_core.policy.covers import Coverage, FileOp

__all__ = ["run"]

_KEYS = ("rule", "op", "path", "cwd", "home")


def run(args: argparse.Namespace) -> int:
    """Answer for one rule and path (1 where it does not cover), or for each line of stdin (1 where one is bad)."""
    if args.jsonl:
        return _answer_lines()
    if not args.rule or not args.path:
        raise UsageError(N_("give RULE and PATH, or --jsonl"))
    found = _covers({"rule": args.rule, "op": "write" if args.write else "read", "path": args.path})
    reason = found.reason
    print(
        visible(_("covered: {reason}", reason=reason) if found.covered else _("not covered: {reason}", reason=reason))
    )
    return 0 if found.covered else 1


def _answer_lines() -> int:
    bad = 0
    for number, raw in numbered_lines(sys.stdin.buffer):
        try:
            found = _covers(_read(raw))
        except UsageError as error:
            bad += 1
            answer: dict[str, Any] = {"line": number, "covered": False, "error": str(error)}
        else:
            answer = {"covered": found.covered, "resolved": found.resolved, "reason": str(found.reason)}
        print(json.dumps(answer, ensure_ascii=False), flush=True)
    return 1 if bad else 0


def _read(raw: bytes) -> Mapping[str, str]:
    """Return one line as a question.

    Raises:
        UsageError: It is none.
    """
    value = parse_object(raw, _KEYS)
    for key in _KEYS:
        if not isinstance(value.get(key, "" if key in ("cwd", "home") else None), str):
            raise UsageError(N_("{key} must be text", key=key))
    if value["op"] not in ("read", "write"):
        raise UsageError(N_("op is read or write"))
    return value


def _covers(asked: Mapping[str, str]) -> Coverage:
    from myclaw_core.paths import Home
    from myclaw_core.policy.covers import covers

    user_home = asked.get("home") or os.path.expanduser("~")  # noqa: PTH111 - text, as the policy reads paths
    cwd = asked.get("cwd") or os.getcwd()  # noqa: PTH109
    if not user_home.startswith("/") or not cwd.startswith("/"):
        raise UsageError(N_("cwd and home must be absolute paths"))
    op: FileOp = "write" if asked["op"] == "write" else "read"
    return covers(asked["rule"], op, asked["path"], cwd=cwd, user_home=user_home, home=Home.find())

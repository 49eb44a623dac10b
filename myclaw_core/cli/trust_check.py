"""`myclaw trust verify | export`: whether the record is whole, and its rows for whoever wants to check them again."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence

from myclaw_core.cli.jsonl import open_lines
from myclaw_core.cli.looking import tell_broken
from myclaw_core.cli.trust import tell_behind
from myclaw_core.cli.trust_open import open_trust
from myclaw_core.errors import UnavailableError
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, n_, render
from myclaw_core.types.text import Text

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Check the store or an exported file, or export; 1 where something is not whole."""
    if args.command == "trust export":
        return asyncio.run(_export())
    return _verify_file(args) if args.file else asyncio.run(_verify_store(args))


async def _verify_store(args: argparse.Namespace) -> int:
    async with open_trust(on_broken=tell_broken, on_behind=tell_behind) as trust:
        report = await trust.book.verify()
    _tell_checked(args, report.rows, report.problems, report.first_bad_row)
    if report.damaged and not args.json:
        print(_("'myclaw trust repair' makes damaged scores again from their events."))
    return 0 if report.ok else 1


def _verify_file(args: argparse.Namespace) -> int:
    from myclaw_core.events.keys import load_or_create_key
    from myclaw_core.paths import Home
    from myclaw_core.trust.export import check_lines

    path = Home.find().keys / "trust.key"
    if not path.exists():
        raise UnavailableError(
            N_("{path} is missing: a file can be checked only with the key it was written with", path=str(path))
        )
    with open_lines(args.file) as lines:
        check = check_lines(lines, load_or_create_key(path))
    _tell_checked(args, check.rows, [check.problem] if check.problem else [], check.line)
    return 1 if check.problem else 0


def _tell_checked(args: argparse.Namespace, rows: int, problems: Sequence[Text], first_bad: int | None) -> None:
    if args.json:
        told = {"ok": not problems, "checked": rows, "first_bad": first_bad, "problems": list(map(str, problems))}
        print(json.dumps(told, ensure_ascii=False))
    elif problems:
        print(n_("{n} row is whole, then:", "{n} rows are whole, then:", rows))
        print("\n".join(f"  {visible(render(problem))}" for problem in problems))
    else:
        print(n_("{n} row checked, whole", "{n} rows checked, whole", rows))


async def _export() -> int:
    """Print the rows; they are exported whatever state they are in."""
    from myclaw_core.trust.export import export_lines

    async with open_trust(on_broken=tell_broken, on_behind=tell_behind) as trust:
        async for line in export_lines(trust.backend):
            sys.stdout.write(line.decode())
    return 0

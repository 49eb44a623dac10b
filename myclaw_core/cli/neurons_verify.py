"""`myclaw neurons verify`: which folders of neurons hold exactly what was signed; nothing of them is executed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from myclaw_core.files.visible import visible
from myclaw_core.messages import _, render

if TYPE_CHECKING:
    from myclaw_core.neurons.types import VerifiedNeuron
    from myclaw_core.neurons.verified import Quarantined

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Print each neuron as verified or with the reason why it is not; 1 where one is not."""
    from myclaw_core.neurons.signing import NEURON_KEY
    from myclaw_core.neurons.verified import verify_folders
    from myclaw_core.paths import Home

    home = Home.find()
    rows = [_row(each) for each in verify_folders(home.neurons, home.keys / NEURON_KEY, args.name or None)]
    is_ok = all(row["ok"] for row in rows)
    if args.json:
        document = {"ok": is_ok, "neurons": [{**row, "reason": str(row["reason"])} for row in rows]}
        print(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        _print(rows)
    return 0 if is_ok else 1


def _row(found: VerifiedNeuron | Quarantined) -> dict[str, Any]:
    """Return one neuron for programs; the reason is still to be rendered."""
    from myclaw_core.neurons.types import VerifiedNeuron

    if isinstance(found, VerifiedNeuron):
        more = {"version": found.manifest.version, "digest": found.digest, "reason": ""}
        return {"name": found.name, "ok": True, **more}
    return {"name": visible(found.name), "ok": False, "version": "", "digest": "", "reason": found.reason}


def _print(rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        print(_("There is no neuron yet."))
    for row in rows:
        if row["ok"]:
            line = _(
                "{name}: verified, version {version}, digest {digest}",
                name=row["name"],
                version=row["version"],
                digest=row["digest"][:12],
            )
        else:
            line = _("{name}: NOT VERIFIED, will not run: {reason}", name=row["name"], reason=render(row["reason"]))
        print(visible(line))

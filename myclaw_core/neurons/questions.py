"""The questions about adopting neurons: which drafts they are about, and which of them count no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from myclaw_core.approval import deferred
from myclaw_core.approval.types import Deferred
from myclaw_core.events.log import LogTransaction

if TYPE_CHECKING:
    from myclaw_core.approval.gateway import Gateway

__all__ = ["ADMIT", "DESIGN", "asked_about", "end_outdated", "is_outdated"]

ADMIT = "neuron_admit"
"""The internal tool that lets a neuron in: by `name`, `version`, `digest` and, for a newer one, what it `replaces`.

`synthesis` names the request that a draft was made for, where it was not a person who wrote it: then it can be revised.
"""

DESIGN = "neuron_design"
"""The internal tool that lets a design begin: by `goal`, `synthesis`, what it may cost and how many `failures` ask."""


async def asked_about(gateway: Gateway) -> set[str]:
    """Return the digests of the drafts that questions are about, put or left.

    Raises:
        StoreError: The log cannot be read.
    """
    put = [each.draft.action for each in await gateway.pending()]
    left = [(each.request.draft.action.tool_name, each.sealed.args) for each in await gateway.left()]
    asked = [*left, *((action.tool_name, action.args_preview) for action in put)]
    return {str(args.get("digest")) for tool, args in asked if tool == ADMIT}


async def end_outdated(tx: LogTransaction, name: str, base: str) -> int:
    """End the questions about a neuron that wait and were asked about replacing something else.

    Args:
        base: What they would replace from now on, as `records.digest_on_record` gives it.

    Returns:
        How many there were.
    """
    return await deferred.end_where(tx, lambda left: is_outdated(left, name, base), "outdated")


def is_outdated(left: Deferred, name: str, base: str) -> bool:
    """Return whether a question is about a neuron and about replacing another version of it than `base`."""
    args = left.sealed.args
    is_about_it = left.request.draft.action.tool_name == ADMIT and args.get("name") == name
    return is_about_it and args.get("replaces", "") != base

"""The last look at the gate: whether the log holds a person's yes to exactly this call, not used for anything yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from myclaw_core.approval.types import Approval, ApprovalRequest
from myclaw_core.errors import ToolFailure
from myclaw_core.events.log import EventLog
from myclaw_core.events.types import ApprovalAnswered, ApprovalAsked, NeuronBorn, StepIntended
from myclaw_core.messages import N_
from myclaw_core.neurons.questions import ADMIT
from myclaw_core.types.canonical import digest_of

__all__ = ["require_yes"]


async def require_yes(log: EventLog, trace_id: UUID | None, args: Mapping[str, Any]) -> None:
    """Check that a person said yes to this call of the gate in this turn, and that the yes let nothing in so far.

    Whoever comes here without the question, be it by a mistake elsewhere, lets nothing in.

    Args:
        trace_id: The turn in which it is called.
        args: The arguments of the call; the yes must be to these alone.

    Raises:
        ToolFailure: There is none.
        StoreError: The log cannot be read.
    """
    wanted, asked, granted, is_agreed = digest_of(args), set[UUID](), set[UUID](), False
    kinds = (ApprovalAsked, ApprovalAnswered, StepIntended, NeuronBorn)
    for _, event in await log.events(trace_id, *kinds) if trace_id else ():
        match event:
            case ApprovalAsked(request=request) if _is_about(request, wanted):
                asked.add(request.id)
            case ApprovalAnswered(approval=approval) if _is_yes(approval):
                granted.add(approval.request_id)
            case StepIntended(approval_id=request_id):
                is_agreed = request_id in asked & granted
            case NeuronBorn():
                is_agreed = False
    if not is_agreed:
        raise ToolFailure(N_("nobody said yes to exactly this; nothing was adopted, adopt the folder again"))


def _is_about(request: ApprovalRequest, args_digest: str) -> bool:
    action = request.draft.action
    return (action.tool_name, action.args_digest) == (ADMIT, args_digest)


def _is_yes(approval: Approval) -> bool:
    return approval.verdict == "granted" and approval.scope == "once" and approval.decided_by != "core"

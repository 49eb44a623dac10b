"""The third answer to a question about a draft: a no that says what should be otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from attrs import field, frozen

from myclaw_core import codec
from myclaw_core.approval.types import Approval, ApprovalRequest, Reply
from myclaw_core.errors import CodecError
from myclaw_core.events.log import EventLog, LogTransaction
from myclaw_core.events.types import ApprovalAnswered
from myclaw_core.messages import N_
from myclaw_core.neurons.questions import ADMIT, DESIGN
from myclaw_core.synthesis.types import Revision
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.text import Text

__all__ = [
    "ANSWER_KIND",
    "MOST_CHARS",
    "STAGES",
    "answer_about",
    "asks_anew",
    "draft_of",
    "is_revisable",
    "misfit",
    "note_answer",
    "revision_in",
    "revision_of",
]

ANSWER_KIND = "synthesis_answer"
"""Kind of the records that tell where the last answer about a draft stands in the log, by the request's id."""

MOST_CHARS = 2000
"""How long a text may be that says what should be otherwise."""

STAGES: tuple[Literal["spec", "draft"], ...] = ("spec", "draft")
"""What can be made anew."""


@frozen(kw_only=True)
class AnsweredDraft:
    """Where a person's answer about a design or its draft stands in the log.

    Its words are there alone, so that they can be erased.

    Attributes:
        digest: Of the draft; empty for a design that was to begin.
    """

    digest: str
    request_id: UUID
    trace_id: UUID
    unknown_fields: Mapping[str, Any] = field(factory=dict)


def is_revisable(action: PlannedAction) -> bool:
    """Return whether an action lets in a draft that a synthesis made, which can be made anew."""
    return action.tool_name == ADMIT and bool(_synthesis_of(action))


def draft_of(action: PlannedAction) -> str:
    """Return the digest of the draft that an action is about; empty where there is none yet."""
    return str(action.args_preview.get("digest", ""))


def misfit(request: ApprovalRequest, reply: Reply) -> Text | None:
    """Return why the revision in an answer does not count, `None` where it does or where there is none.

    What a channel hands in may be anything.
    """
    revision: object = reply.revision
    if revision is None:
        return None
    if reply.granted or reply.reach != "once" or reply.also:
        return N_("a revision is a no to this one question; nothing was answered")
    if not request.revisable:
        return N_("this question takes no revision: answer it with yes or no")
    if not isinstance(revision, Revision) or revision.stage not in STAGES:
        return N_("say what shall be made anew: spec or draft")
    text: object = revision.text
    if not isinstance(text, str) or not text.strip():
        return N_("say in a few words what should be otherwise")
    if len(text) > MOST_CHARS:
        return N_("this text has {n} characters, at most {most} are taken", n=len(text), most=MOST_CHARS)
    return None


def revision_in(reply: Reply) -> Revision | None:
    """Return the revision of an answer that counts, without blanks around it."""
    wanted = reply.revision
    return None if wanted is None else Revision(stage=wanted.stage, text=wanted.text.strip())


async def note_answer(tx: LogTransaction, request: ApprovalRequest, approval: Approval) -> None:
    """Note where the answer to a question about a design or its draft stands, in the transaction that books it."""
    action = request.draft.action
    if action.tool_name in (ADMIT, DESIGN) and _synthesis_of(action):
        answered = AnsweredDraft(digest=draft_of(action), request_id=approval.request_id, trace_id=approval.trace_id)
        await tx.put(ANSWER_KIND, _synthesis_of(action), codec.dumps(answered))


async def asks_anew(tx: LogTransaction, request: ApprovalRequest) -> None:
    """Let the answer to an earlier question about the same draft count no more; one that was left is the same one."""
    if request.revisable and request.origin is None:
        await tx.delete(ANSWER_KIND, _synthesis_of(request.draft.action))


async def answer_about(log: EventLog, synthesis_id: UUID, digest: str) -> Approval | None:
    """Return a person's last answer about a design or its draft, however long ago and in whichever process.

    It is the answer as it was booked: a yes may still have expired before anything ran by it.

    Args:
        synthesis_id: Of the request that the draft was made for.
        digest: Of the draft; empty for the question whether it may be designed.

    Returns:
        The answer; `None` where nobody has answered, or where the answer was erased.

    Raises:
        StoreError: The log cannot be read.
    """
    raw = await log.get(ANSWER_KIND, str(synthesis_id))
    try:
        found = None if raw is None else codec.loads(AnsweredDraft, raw, N_("answer about {id}", id=str(synthesis_id)))
    except CodecError:
        return None
    if found is None or found.digest != digest:
        return None
    for _, event in await log.events(found.trace_id, ApprovalAnswered):
        if isinstance(event, ApprovalAnswered) and event.approval.request_id == found.request_id:
            return event.approval
    return None


async def revision_of(log: EventLog, synthesis_id: UUID, digest: str) -> Revision | None:
    """Return what a person wants to be otherwise about a draft, as `answer_about` finds it; `None` where nothing.

    Raises:
        StoreError: The log cannot be read.
    """
    answer = await answer_about(log, synthesis_id, digest)
    return None if answer is None else answer.revision


def _synthesis_of(action: PlannedAction) -> str:
    """Return the id of the request that a draft was made for; empty where a person wrote it."""
    found = action.args_preview.get("synthesis")
    return found if isinstance(found, str) else ""

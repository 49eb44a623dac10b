"""`/revise`: answers a question about a drafted neuron with what should be otherwise, wherever it is typed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from attrs import frozen

from myclaw_core.approval.revisions import STAGES, draft_of, is_revisable
from myclaw_core.approval.types import ApprovalRequest, Deferred, Reply
from myclaw_core.errors import UsageError
from myclaw_core.events.words import word
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _, render
from myclaw_core.runtime.answering import AnsweringChannel
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.deferred import LeftRunner, can_be_put, put_left
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.types import Turn
from myclaw_core.shown.markup import code
from myclaw_core.shown.offers import revise_id
from myclaw_core.synthesis.types import Revision
from myclaw_core.types.text import Text

__all__ = ["ReviseCommand"]

_HOW = N_("/revise ID spec TEXT or /revise ID draft TEXT; /revise alone lists the questions that take it")
_SHOWN_CHARS = 40


@frozen
class _Question:
    """A question about a draft that is open for one sender.

    Attributes:
        request: As it is shown, or as it was left.
        left: What was left, where nobody shows it to them.
    """

    request: ApprovalRequest
    left: Deferred | None = None

    def is_called(self, beginning: str) -> bool:
        """Return whether an id of it begins so."""
        request = self.request
        origin = str(request.origin.request_id) if request.origin else ""
        return any(each.startswith(beginning) for each in (str(request.id), origin, draft_of(request.draft.action)))


@frozen
class ReviseCommand:
    """The command of one session.

    Attributes:
        channel: Where it was typed.
        sender: Who types.
        new_turn: Makes the turn as which an answer is recorded, from the words that were typed.
        run: Runs what puts a question, as `Agent.run` does.
    """

    services: Services
    channel: Channel
    sender: str
    new_turn: Callable[[str], Awaitable[Turn]]
    run: Callable[[LeftRunner], Awaitable[None]]

    async def __call__(self, rest: str) -> str:
        """Answer the question that is meant, or list those that can be answered so.

        Raises:
            UsageError: The command was given wrong, or the answer does not count; the line says why.
        """
        if not rest:
            return _listed(await self._open())
        if not self.channel.attended or (await self.new_turn("")).dry_run:
            raise UsageError(N_("nobody can answer here: type /revise in a conversation"))
        wanted, revision = _parsed(rest)
        question = _chosen(await self._open(), wanted)
        refusal = await self._answer(question, revision)
        if refusal is not None:
            raise UsageError(refusal)
        what = code(visible(render(question.request.draft.summary)))
        return _("not done: {what}; you asked for a revision ({stage})", what=what, stage=word(revision.stage))

    async def _open(self) -> Sequence[_Question]:
        """Return the questions that take a revision: those that are shown to the sender, then those that were left."""
        gateway = self.services.gateway
        shown = [_Question(each) for each in gateway.shown_to(self.sender) if each.revisable]
        left = [
            _Question(each.request, each)
            for each in await can_be_put(self.services)
            if is_revisable(each.request.draft.action) and not gateway.shows(each, self.sender)
        ]
        return [*shown, *left]

    async def _answer(self, question: _Question, revision: Revision) -> Text | None:
        """Hand in the answer; return why it does not count, or `None`."""

        def reply(request: ApprovalRequest) -> Reply:
            return Reply(request_id=request.id, granted=False, by=self.sender, revision=revision)

        if question.left is None:
            return await self.services.gateway.submit(reply(question.request))
        left, answering = question.left, AnsweringChannel(name=self.channel.name, answer=reply)
        traces = await put_left(
            self.services, answering, self.new_turn, self.run, only=lambda each: each.origin == left.origin
        )
        if any(approval.revision is not None for trace in traces for approval in trace.approvals):
            return None
        errors = [step.error.message for trace in traces for step in trace.steps if step.error]
        return next(iter((*answering.refusals, *errors)), N_("this question is not open any more"))


def _parsed(rest: str) -> tuple[str, Revision]:
    wanted, typed, text = (*rest.split(maxsplit=2), "", "")[:3]
    stage = next((each for each in STAGES if each == typed.lower()), None)
    if stage is None or not text:
        raise UsageError(_HOW)
    return wanted.lower(), Revision(stage=stage, text=text)


def _chosen(open_: Sequence[_Question], wanted: str) -> _Question:
    found = [each for each in open_ if each.is_called(wanted)]
    shown = wanted[:_SHOWN_CHARS]
    if not found:
        raise UsageError(N_("no open question about a draft is called {id}; /revise lists them", id=shown))
    if len(found) > 1:
        raise UsageError(N_("several open questions begin with {id}: type more of the id", id=shown))
    return found[0]


def _listed(open_: Sequence[_Question]) -> str:
    if not open_:
        return _("No question about a draft is open.")
    lines = [f"- {code(revise_id(each.request))} {code(visible(render(each.request.draft.summary)))}" for each in open_]
    how = _("`/revise ID spec TEXT` or `/revise ID draft TEXT` says what should be otherwise.")
    return "\n".join([*lines, "", how])

"""Takes the files of a neuron through stages 4 to 7: analysis, sandbox tests, the question, and what a yes does.

The question is left for later before it is put: neither a restart nor a closed terminal loses it, and it can be
answered in every channel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from attrs import define, evolve, field, frozen

from myclaw_core.approval.types import DeferralEnding, Deferred
from myclaw_core.events.types import DeferralEnded
from myclaw_core.messages import N_
from myclaw_core.neurons import records
from myclaw_core.neurons.admission import covers_new
from myclaw_core.neurons.birth import run_birth_tests
from myclaw_core.neurons.birth_report import BirthReport
from myclaw_core.neurons.checking import check_neuron
from myclaw_core.neurons.drafts import Draft, Tested
from myclaw_core.neurons.manifest import MANIFEST_FILE, read_manifest
from myclaw_core.neurons.placing import require_replaceable
from myclaw_core.neurons.questions import ADMIT, asked_about, is_outdated
from myclaw_core.neurons.reward import adoption_reward
from myclaw_core.neurons.signing import digest_of, neuron_key
from myclaw_core.neurons.types import CodeFinding, NeuronManifest, NeuronRecord, VerifiedNeuron
from myclaw_core.neurons.verified import verified
from myclaw_core.runtime.deferred import put_left
from myclaw_core.runtime.single_call import SingleCall
from myclaw_core.runtime.types import ToolCall, Turn
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from myclaw_core.agent import Agent
    from myclaw_core.runtime.channel import Channel

__all__ = ["Adoption", "Answered"]


@frozen(kw_only=True)
class Answered:
    """How a question about a neuron stands.

    Attributes:
        state: `left` where it still waits for an answer.
        until: Until when it waits.
        reason: Why it was not adopted, where that was not a person's no.
        ended: How many questions about other versions ended with it, since they were about replacing what is no more.
    """

    state: Literal["adopted", "left", "denied", "failed"]
    until: datetime | None = None
    reason: Text = field(factory=lambda: Text(""))
    ended: int = 0


_ENDINGS: Mapping[DeferralEnding, Text] = {
    "expired": N_("nobody answered in time"),
    "crowded out": N_("too many questions waited, and the oldest was let go"),
    "dropped": N_("the question was let go"),
    "outdated": N_("another version was adopted or removed since this was asked; adopt the folder again"),
}


@define(slots=False)
class Adoption:
    """One neuron on its way in.

    Attributes:
        agent: The opened agent.
        files: Its files in their normal form.
        folder_name: The name that its manifest must have.
    """

    agent: Agent
    files: Mapping[str, bytes]
    folder_name: str
    sender: str
    _question: Deferred | None = field(default=None, init=False)

    @cached_property
    def manifest(self) -> NeuronManifest:
        """Return its manifest.

        Raises:
            UsageError: There is none that can be read.
        """
        return read_manifest(self.files[MANIFEST_FILE], self.folder_name)

    @cached_property
    def digest(self) -> str:
        """Return the digest of its files."""
        return digest_of(self.files)

    def check(self) -> Sequence[CodeFinding]:
        """Return what speaks against its code (stage 4)."""
        programs = self.agent.services.config.neurons.programs
        return check_neuron(self.files, self.folder_name, self.agent.dispatcher.analyze, programs=programs)

    async def record(self) -> NeuronRecord | None:
        """Return what is on record under its name.

        Raises:
            StoreError: That cannot be trusted.
        """
        return await records.find(self.agent.log, self.manifest.name)

    async def standing(self) -> NeuronRecord | None:
        """Return its record where exactly these files were adopted and lie in place, whatever their status is.

        Raises:
            StoreError: The record cannot be trusted, or the key cannot be used.
        """
        record = await self.record()
        if record is None or records.digest_on_record(record) != self.digest:
            return None
        home = self.agent.home
        found = verified(home.neurons / record.name, neuron_key(home.keys), digest=self.digest)
        return record if isinstance(found, VerifiedNeuron) else None

    def require_place(self) -> None:
        """Check that nothing that was never adopted would be lost.

        Raises:
            UsageError: It would; the line says what to do.
        """
        home = self.agent.home
        require_replaceable(home.neurons, self.manifest.name, self.files, neuron_key(home.keys))

    async def test(self) -> BirthReport:
        """Return what its tests show (stage 5).

        Raises:
            UnavailableError: There is no sandbox.
        """
        agent = self.agent
        return await run_birth_tests(agent.services.sandbox, self.files, self.manifest, agent.clock)

    async def stage(self, report: BirthReport) -> Draft:
        """Keep it until the question is over, with R.

        Raises:
            StoreError: It cannot be written.
        """
        agent = self.agent
        admission = agent.admission
        others = admission.around(self.manifest, "").others
        reward = adoption_reward(report, covers_new=covers_new(self.manifest, others))
        admission.drafts.sweep(await asked_about(agent.services.gateway), agent.clock.now())
        tested = Tested(digest=self.digest, at=agent.clock.now(), report=report, reward=reward)
        return admission.drafts.stage(self.files, tested)

    async def ask(self, quiet: Channel, channel: Channel | None) -> Answered:
        """Leave the question, put it where somebody is there, and return how it stands.

        Args:
            quiet: Where nobody is asked and nothing is shown.
            channel: Where it is put; `None` where it is only left.

        Raises:
            StoreError: The log cannot be written.
        """
        others = len([left for left in await self.agent.services.gateway.left() if self._is_other(left)])
        answered = await self._ask(quiet, channel)
        return evolve(answered, ended=others) if answered.state == "adopted" else answered

    async def _ask(self, quiet: Channel, channel: Channel | None) -> Answered:
        if not self.agent.services.config.approval.defer_days:
            return await self._ask_at_once(channel or quiet)
        problem = await self.leave(quiet)
        if problem is not None:
            return Answered(state="failed", reason=problem)
        if channel is not None and channel.attended:
            return await self._put(channel)
        return await self.answered()

    async def leave(self, quiet: Channel) -> Text | None:
        """Leave the question for later unless it waits already; return why that could not be, or `None`."""
        if await self._left() is not None:
            return None
        call = await self._call(quiet, attended=False)
        await self.agent.run(call)
        if await self._left() is not None:
            return None
        return (
            call.step.error.message if call.step and call.step.error else N_("the question could not be left for later")
        )

    async def answered(self) -> Answered:
        """Return how the question stands by what is on record."""
        if await self.standing() is not None:
            return Answered(state="adopted")
        left = await self._left()
        return await self._ended() if left is None else Answered(state="left", until=left.expires_at)

    async def _put(self, channel: Channel) -> Answered:
        traces = await put_left(self.agent.services, channel, self._turn, self.agent.run, only=self._is_this)
        found = await self.answered()
        errors = [step.error for trace in traces for step in trace.steps if step.error and step.error.kind != "denied"]
        return Answered(state="failed", reason=errors[0].message) if errors and found.state != "adopted" else found

    async def _ended(self) -> Answered:
        """Return how the question ended that does not wait any more and adopted nothing."""
        asked = self._question
        if asked is None:
            return Answered(state="failed", reason=N_("the question was not left for later"))
        told = [event for _, event in await self.agent.log.events(asked.origin.trace_id, DeferralEnded)]
        endings = [
            each.ending for each in told if isinstance(each, DeferralEnded) and each.request_id == asked.request.id
        ]
        ending = endings[-1] if endings else "expired"
        if ending == "denied":
            return Answered(state="denied")
        return Answered(state="failed", reason=_ENDINGS.get(ending, N_("the yes could not be followed")))

    async def _ask_at_once(self, channel: Channel) -> Answered:
        call = await self._call(channel, attended=channel.attended)
        await self.agent.run(call)
        error = call.step.error if call.step else None
        if error is None:
            return await self.answered()
        is_no = any(each.verdict == "denied" for each in call.trace.approvals)
        return Answered(state="denied") if is_no else Answered(state="failed", reason=error.message)

    async def _call(self, channel: Channel, *, attended: bool) -> SingleCall:
        turn = await self._turn(f"myclaw neurons adopt {self.manifest.name}", attended=attended)
        call = ToolCall(id=str(turn.id), tool=ADMIT, args=await self._args())
        return SingleCall(self.agent.services, turn, channel, call)

    async def _args(self) -> Mapping[str, Any]:
        manifest, replaces = self.manifest, records.digest_on_record(await self.record())
        args = {"name": manifest.name, "version": manifest.version, "digest": self.digest}
        return {**args, "replaces": replaces} if replaces else args

    async def _turn(self, text: str, *, attended: bool = True) -> Turn:
        agent = self.agent
        new_id = agent.clock.new_id()
        return Turn(
            id=new_id,
            session_id=str(new_id),
            channel="cli",
            sender=self.sender,
            autonomy=await agent.services.levels.begin_turn(),
            text=text,
            received_at=agent.clock.now(),
            roots=agent.standing_roots,
            cwd=str(agent.home.workspace),
            attended=attended,
            level_stands=True,
        )

    async def _left(self) -> Deferred | None:
        args = await self._args()
        waiting = await self.agent.services.gateway.left()
        found = next((each for each in waiting if self._is_this(each) and dict(each.sealed.args) == args), None)
        self._question = found or self._question
        return found

    def _is_other(self, left: Deferred) -> bool:
        return is_outdated(left, self.manifest.name, self.digest) and not self._is_this(left)

    def _is_this(self, left: Deferred) -> bool:
        return left.request.draft.action.tool_name == ADMIT and left.sealed.args.get("digest") == self.digest

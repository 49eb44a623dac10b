"""Takes the files of a neuron through stages 4 to 7: analysis, sandbox tests, the question, and what a yes does.

The question is left for later before it is put: neither a restart nor a closed terminal loses it, and it can be
answered in every channel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from attrs import define, evolve, field, frozen

from myclaw_core.approval.types import Deferred
from myclaw_core.messages import N_
from myclaw_core.neurons import records
from myclaw_core.neurons.birth import run_birth_tests
from myclaw_core.neurons.birth_report import BirthReport
from myclaw_core.neurons.checking import check_neuron
from myclaw_core.neurons.drafts import Draft, Tested
from myclaw_core.neurons.manifest import MANIFEST_FILE, read_manifest
from myclaw_core.neurons.placing import require_replaceable
from myclaw_core.neurons.questions import ADMIT, asked_about, is_outdated
from myclaw_core.neurons.signing import digest_of, neuron_key
from myclaw_core.neurons.types import CodeFinding, NeuronManifest, NeuronRecord, VerifiedNeuron
from myclaw_core.neurons.verified import verified
from myclaw_core.runtime.left_question import Asked, LeftQuestion
from myclaw_core.synthesis.reward import RewardDraft
from myclaw_core.synthesis.rewarding import rewarded
from myclaw_core.synthesis.types import Revision
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
        revision: What should be otherwise, where the no says so.
    """

    state: Literal["adopted", "left", "denied", "failed"]
    until: datetime | None = None
    reason: Text = field(factory=lambda: Text(""))
    ended: int = 0
    revision: Revision | None = None


_NOT_JUDGED = N_("what a person adopts is not judged")
_OUTDATED = N_("another version was adopted or removed since this was asked; adopt the folder again")


@define(slots=False)
class Adoption:
    """One neuron on its way in.

    Attributes:
        agent: The opened agent.
        files: Its files in their normal form.
        folder_name: The name that its manifest must have.
        sender: Who is asked.
        synthesis: The request it was made for; `None` where a person wrote it.
    """

    agent: Agent
    files: Mapping[str, bytes]
    folder_name: str
    sender: str
    synthesis: UUID | None = None
    _question: LeftQuestion | None = field(default=None, init=False)

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
        draft = RewardDraft(manifest=self.manifest, files=self.files)
        reward = await rewarded(agent, draft, report, judgement=None, judge=_NOT_JUDGED)
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
        self._question = None  # what it replaces may be another version since it was asked
        question = await self.question()
        others = len([left for left in await self.agent.services.gateway.left() if self._is_other(left)])
        answered = await self.after(await question.ask(quiet, channel))
        return evolve(answered, ended=others) if answered.state == "adopted" else answered

    async def question(self) -> LeftQuestion:
        """Return the question about it.

        Raises:
            StoreError: What is on record under its name cannot be trusted.
        """
        if self._question is None:
            name = self.manifest.name
            self._question = LeftQuestion(
                agent=self.agent,
                sender=self.sender,
                tool=ADMIT,
                args=await self._args(),
                words=f"myclaw neurons adopt {name}",
            )
        return self._question

    async def answered(self) -> Answered:
        """Return how the question stands by what is on record."""
        return await self.after(await (await self.question()).stands())

    async def after(self, asked: Asked) -> Answered:
        """Return how the neuron stands, with its question as it stands."""
        if await self.standing() is not None:
            return Answered(state="adopted")
        match asked.state:
            case "left":
                return Answered(state="left", until=asked.until)
            case "denied":
                return Answered(state="denied", revision=asked.revision)
            case "run":
                return Answered(state="failed", reason=N_("the yes could not be followed"))
        return Answered(state="failed", reason=_OUTDATED if asked.ending == "outdated" else asked.reason)

    async def _args(self) -> Mapping[str, Any]:
        manifest, replaces = self.manifest, records.digest_on_record(await self.record())
        args = {"name": manifest.name, "version": manifest.version, "digest": self.digest}
        if replaces:
            args["replaces"] = replaces
        if self.synthesis is not None:
            args["synthesis"] = str(self.synthesis)
        return args

    def _is_other(self, left: Deferred) -> bool:
        is_this = left.sealed.args.get("digest") == self.digest
        return is_outdated(left, self.manifest.name, self.digest) and not is_this

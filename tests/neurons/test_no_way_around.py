"""Whatever happens in whatever order: nothing can be called that a person did not say yes to, byte for byte."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from attrs import frozen
from drafted_neurons import report_of, version_of
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from mortal_program import KilledError, MortalProgram
from sampling import sampled
from signed_neurons import write_neuron

from myclaw_core.agent import Agent
from myclaw_core.approval.types import ApprovalCard, Reply
from myclaw_core.desk import SessionDesk
from myclaw_core.errors import MyclawError
from myclaw_core.events.types import ApprovalAnswered, ApprovalAsked, NeuronBorn, StepIntended
from myclaw_core.neurons import admission
from myclaw_core.neurons.adopting import Adoption
from myclaw_core.neurons.lock import changing_neurons
from myclaw_core.neurons.orders import NeuronOrders
from myclaw_core.neurons.questions import ADMIT
from myclaw_core.neurons.records import find
from myclaw_core.neurons.rotation import begin_rotation, complete_rotation
from myclaw_core.neurons.signing import digest_of, neuron_key
from myclaw_core.runtime.deferred import offer
from myclaw_core.runtime.single_call import SingleCall
from myclaw_core.runtime.types import ToolCall, Turn
from myclaw_core.synthesis.types import Revision
from myclaw_core.testing import RecordingChannel, calls, says
from myclaw_core.types.canonical import digest_of as args_digest_of

VERSIONS = {
    (name, version): version_of(version, name=name)
    for name in ("word_count", "line_count")
    for version in ("1.0.0", "1.1.0", "1.2.0")
}
WHICH = st.sampled_from(sorted(VERSIONS))
NAMES = st.sampled_from(["word_count", "word_count", "line_count"])
LEVELS = st.sampled_from(["full", "supervised", "full", "supervised", "read_only"])
ANSWERS = st.sampled_from(["yes", "yes", "yes", "no", "none", "revise", "always", "30_min", "all"])
BEFOREHAND = st.sampled_from([(), ("neuron_spawn",), ("neuron_spawn:*", "neuron_spawn:word_count"), (ADMIT,)])
DAMAGES = st.sampled_from(["body.py", "test_birth.py", "manifest.yaml", "tested.json", "swapped", "gone"])
ATTENDED = st.sampled_from([True, True, True, False])
KILL_AT = st.one_of(st.just(0), st.just(0), st.integers(1, 12))
"""After which commit the process dies; 0 for none."""
PEOPLE = st.sampled_from(["cli:me", "telegram:7"])
GREEN = report_of("passed", "passed", "passed")


@frozen
class Context:
    """As much of a `ToolContext` as the gate looks at."""

    trace_id: UUID


class Machine(RuleBasedStateMachine):
    """One home, processes that start, stop and die, people who answer, and whoever changes files."""

    def __init__(self) -> None:
        super().__init__()
        self.program = MortalProgram()
        self.home, self.clock, self.do = self.program.home, self.program.clock, self.program.do
        self.agreed: set[str] = set()
        self.channels: list[RecordingChannel] = []
        self.is_open = False

    @property
    def agent(self) -> Agent:
        return self.program.agent

    @initialize(level=st.sampled_from(["full", "supervised"]), defer_days=st.sampled_from([0, 3]))
    def first_start(self, level: str, defer_days: int) -> None:
        """Begin with a neuron that was adopted."""
        self.start(level, defer_days)
        self.it_is_adopted_as_a_person_does(("word_count", "1.0.0"), "yes", "cli:me", attended=True, kill_at=0)

    def start(self, level: str, defer_days: int) -> None:
        """Open the agent; its model wants to let in whatever there is."""
        script = self.home.root / "script.json"
        wanted = [(ADMIT, args_of(*which)) for which in VERSIONS]
        self.home.root.mkdir(parents=True, exist_ok=True)
        script.write_text(json.dumps([calls(*wanted), says("Done.")] * 20), encoding="utf-8")
        self.program.start(
            f'[agent]\nprovider = "scripted"\nlevel = "{level}"\n[scripted]\nfile = {json.dumps(str(script))}\n'
            f"[approval]\ndefer_days = {defer_days}\n"
        )
        self.is_open = True

    # --- what people do

    def channel(self, answer: str = "none", *, attended: bool = True) -> RecordingChannel:
        """Return a channel whose person answers so, and notes what they said yes to."""

        def said(card: ApprovalCard) -> bool | Reply | None:
            request = card.request
            reply: Callable[..., Reply] = lambda **how: Reply(request_id=request.id, by=request.sender, **how)  # noqa: E731
            if answer == "none":
                return None
            if answer == "no":
                return False
            if answer == "revise":
                return reply(granted=False, revision=Revision(stage="draft", text="smaller"))
            if request.draft.action.tool_name == ADMIT:
                self.agreed.add(request.draft.action.args_preview["digest"])
            if answer in ("always", "30_min"):
                return reply(granted=True, reach=answer)
            return (
                reply(granted=True, also=tuple(each.request.id for each in channel.cards)) if answer == "all" else True
            )

        channel = RecordingChannel(self.clock, said, attended=attended)
        self.channels.append(channel)
        return channel

    @rule(which=WHICH)
    def a_draft_is_made(self, which: tuple[str, str]) -> None:
        self.do(self._staged(which))

    async def _staged(self, which: tuple[str, str], sender: str = "cli:me") -> Adoption:
        adoption = Adoption(self.agent, VERSIONS[which], which[0], sender)
        await adoption.stage(GREEN)
        return adoption

    @rule(which=WHICH, answer=ANSWERS, sender=PEOPLE, attended=ATTENDED, kill_at=KILL_AT)
    def it_is_adopted_as_a_person_does(
        self, which: tuple[str, str], answer: str, sender: str, attended: bool, kill_at: int
    ) -> None:
        """Or the program dies meanwhile, after one of its commits."""

        async def adopt() -> None:
            adoption = await self._staged(which, sender)
            with suppress(MyclawError):
                adoption.require_place()
                self.program.fatal = kill_at
                await adoption.ask(self.channel(attended=False), self.channel(answer, attended=attended))

        self._may_die(adopt())

    @rule(answer=ANSWERS, sender=PEOPLE, kill_at=KILL_AT)
    def what_waits_is_answered(self, answer: str, sender: str, kill_at: int) -> None:
        async def answer_all() -> None:
            self.program.fatal = kill_at
            await offer(self.agent, self.channel(answer), sender)

        self._may_die(answer_all())

    def _may_die(self, what: Coroutine[Any, Any, Any]) -> None:
        try:
            self.do(what)
        except (KilledError, BaseExceptionGroup):
            assert self.program.dead
        self.program.fatal = 0
        if self.program.dead:
            self.program.stop()
            self.start("full", 3)

    @rule(name=NAMES, order=st.sampled_from(["disable", "rehabilitate", "remove"]))
    def the_person_orders(self, name: str, order: str) -> None:
        self.do(self._ordered(name, order))

    async def _ordered(self, name: str, order: str) -> None:
        agent = self.agent
        orders = NeuronOrders(
            log=agent.log, clock=self.clock, home=self.home, analyze=agent.dispatcher.analyze, programs=()
        )
        with suppress(MyclawError):
            if order == "rehabilitate":
                record, _ = await orders.fit(name)
                async with agent.log.transaction() as tx:
                    await orders.rehabilitate(tx, record, "cli:me", self.clock.new_id())
            else:
                await getattr(orders, order)(name, "cli:me")

    @rule()
    def the_key_is_exchanged(self) -> None:
        async def rotate() -> None:
            async with changing_neurons(self.home.state, self.clock):
                begin_rotation(self.home)
                await complete_rotation(self.home, self.agent.log)

        self.do(rotate())

    @rule(hours=st.sampled_from([0.1, 1, 80]))
    def time_passes(self, hours: float) -> None:
        self.clock.advance(seconds=timedelta(hours=hours).total_seconds())

    @rule(level=LEVELS, defer_days=st.sampled_from([0, 3]))
    def the_program_starts_anew(self, level: str, defer_days: int) -> None:
        self.program.stop()
        self.start(level, defer_days)

    # --- what others do

    @rule(which=WHICH, damage=DAMAGES)
    def a_draft_is_changed_by_hand(self, which: tuple[str, str], damage: str) -> None:
        drafts = self.home.state / "drafts"
        draft = drafts / digest_of(VERSIONS[which])
        others = [each for each in sorted(drafts.glob("*")) if each != draft] if draft.exists() else []
        if damage == "gone":
            shutil.rmtree(draft, ignore_errors=True)
        elif damage == "swapped" and others:
            shutil.copytree(others[0], draft, dirs_exist_ok=True)
        elif draft.exists() and damage != "swapped":
            place = draft / damage
            place.write_bytes(place.read_bytes().replace(b"split", b"strip").replace(b"Count", b"Mount"))

    @rule(which=WHICH, is_signed=st.booleans())
    def another_version_is_put_in_place_by_hand(self, which: tuple[str, str], is_signed: bool) -> None:
        """Such as an older one, or one that was signed with the stolen key and never shown to anybody."""
        place = self.home.neurons / which[0]
        if not is_signed and not place.exists():
            return
        key = neuron_key(self.home.keys) if is_signed else bytes(32)
        write_neuron(place, dict(VERSIONS[which]), key)

    @rule(which=WHICH)
    def a_version_is_left_where_a_dead_process_would_leave_it(self, which: tuple[str, str]) -> None:
        beside = self.home.neurons / f".{which[0]}.new"
        write_neuron(beside, dict(VERSIONS[which]), neuron_key(self.home.keys))

    @rule(which=WHICH, replaces=st.booleans(), number=st.integers(0, 5))
    def a_part_of_the_program_calls_the_gate_by_mistake(
        self, which: tuple[str, str], replaces: bool, number: int
    ) -> None:
        """With the turn of another call, or with none; nobody is asked."""

        async def called() -> None:
            record = await find(self.agent.log, which[0])
            base = record.digest if replaces and record else ""
            turns = [trace.id for channel in self.channels for trace in channel.ended if trace.approvals]
            trace_id = turns[-1 - number % len(turns)] if turns else self.clock.new_id()
            run: Any = self.agent.services.tools[ADMIT].run
            with suppress(MyclawError):
                await run({**args_of(*which), "replaces": base}, Context(trace_id))

        self.do(called())

    @rule(which=WHICH, level=LEVELS, yes_to=BEFOREHAND, answer=ANSWERS, attended=st.booleans())
    def it_is_called_with_everything_granted_beforehand(
        self, which: tuple[str, str], level: Any, yes_to: tuple[str, ...], answer: str, attended: bool
    ) -> None:
        """The call of the core's own, at any level; only the answer of a person counts."""

        async def called() -> None:
            channel = self.channel(answer, attended=attended)
            turn = self._turn(level, yes_to, attended=attended)
            call = ToolCall(id="1", tool=ADMIT, args=args_of(*which))
            single = SingleCall(self.agent.services, turn, channel, call)
            await self.agent.run(single)
            assert single.step is None or single.step.error or channel.cards

        self.do(called())

    def _turn(self, level: Any, yes_to: tuple[str, ...], *, attended: bool) -> Turn:
        new_id = self.clock.new_id()
        return Turn(
            id=new_id,
            session_id=str(new_id),
            channel="cli",
            sender="cli:me",
            autonomy=level,
            text="",
            received_at=self.clock.now(),
            roots=self.agent.standing_roots,
            cwd=str(self.home.workspace),
            attended=attended,
            yes_to=yes_to,
        )

    @rule(level=LEVELS, answer=ANSWERS)
    def the_model_wants_to_let_them_in(self, level: Any, answer: str) -> None:
        """It is offered no such tool, whatever the person would say."""

        async def talk() -> None:
            channel = self.channel(answer)
            desk = SessionDesk(
                self.agent,
                channel,
                sender="cli:me",
                roots=self.agent.standing_roots,
                cwd=str(self.home.workspace),
                level=level,
            )
            await desk.handle("Let them in")
            assert channel.cards == []

        self.do(talk())

    # --- what must hold

    @invariant()
    def nothing_can_be_called_that_nobody_said_yes_to(self) -> None:
        if self.is_open:
            self.do(self._look())

    async def _look(self) -> None:
        await self.agent.services.neurons.refresh()
        active = [tool.neuron for tool in self.agent.services.tools.values() if tool.neuron is not None]
        approved = await approved_in(self.agent)
        for neuron in active:
            digest = digest_of(neuron.files)
            assert digest == neuron.digest
            assert digest in self.agreed
            assert (neuron.name, digest) in approved

    def teardown(self) -> None:
        self.program.close()


async def approved_in(agent: Agent) -> set[tuple[str, str]]:
    """Return what the log tells: asked about, granted by a person, begun, and born from that, in one trace."""
    asked: dict[UUID, Any] = {}
    granted, begun, born = set[UUID](), dict[UUID, Any](), set[tuple[str, str]]()
    for _, event in await agent.log.since(0, 100_000):
        match event:
            case ApprovalAsked(request=request) if request.draft.action.tool_name == ADMIT:
                asked[request.id] = request.draft.action
            case ApprovalAnswered(approval=each) if each.verdict == "granted" and each.decided_by != "core":
                granted.add(each.request_id)
            case StepIntended(approval_id=request_id) if request_id in asked.keys() & granted:
                begun[event.trace_id] = asked[request_id]
            case NeuronBorn():
                assert event.trace_id is not None
                action = begun.pop(event.trace_id)
                assert action.args_preview["digest"] == event.digest
                assert action.args_digest == args_digest_of(dict(action.args_preview))
                born.add((event.name, event.digest))
    return born


def args_of(name: str, version: str) -> dict[str, str]:
    """Return the arguments with which the gate lets in a version where none is adopted."""
    return {"name": name, "version": version, "digest": digest_of(VERSIONS[name, version])}


TestMachine = pytest.mark.sampled(Machine.TestCase)
TestMachine.settings = settings(max_examples=sampled(12, 30), stateful_step_count=sampled(20, 40), deadline=None)


def test_the_machine_is_worth_something(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate that does not look for the yes is found out by the plainest of its rules."""

    async def agreed(*_args: object) -> None:
        """Take everything for agreed to."""

    monkeypatch.setattr(admission, "require_yes", agreed)
    machine = Machine()
    try:
        machine.first_start(level="full", defer_days=3)
        machine.a_draft_is_made(which=("line_count", "1.0.0"))
        machine.a_part_of_the_program_calls_the_gate_by_mistake(which=("line_count", "1.0.0"), replaces=False, number=0)
        with pytest.raises((AssertionError, KeyError)):
            machine.nothing_can_be_called_that_nobody_said_yes_to()
    finally:
        machine.teardown()

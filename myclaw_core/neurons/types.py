"""What a neuron says about itself, what is on record about it, how it stands and how it ran (neurons.md)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal
from uuid import UUID

from attrs import field, frozen

from myclaw_core.messages import N_
from myclaw_core.types.text import Text

__all__ = [
    "BodyOutcome",
    "CodeFinding",
    "Invocation",
    "NeuronEntry",
    "NeuronManifest",
    "NeuronRecord",
    "NeuronStanding",
    "NeuronStatus",
    "VerifiedNeuron",
]


@frozen(kw_only=True)
class CodeFinding:
    """One reason why the code of a neuron is refused.

    Attributes:
        file: The file, such as `body.py`.
        line: Its line, counted from 1; 0 for the file as a whole.
        rule: Names the kind of finding for programs, such as `import`.
        message: What is wrong and what to do, one line.
    """

    file: str
    line: int
    rule: str
    message: Text

    @property
    def told(self) -> Text:
        """Return it with where it is."""
        if not self.line:
            return N_("{file}: [{rule}] {message}", file=self.file, rule=self.rule, message=self.message)
        return N_(
            "{file}:{line}: [{rule}] {message}",
            file=self.file,
            line=self.line,
            rule=self.rule,
            message=self.message,
        )


@frozen(kw_only=True)
class NeuronManifest:
    """The manifest of a neuron directory.

    Attributes:
        name: `[a-z][a-z0-9_]{2,40}`, the directory's name.
        version: Semantic version of the neuron.
        purpose: What it is for, 1 to 4 sentences.
        input_schema: JSON Schema of its arguments, an object.
        output_schema: JSON Schema of its output.
        capabilities: What it may do at most, in the closed vocabulary (`fs-read:<pattern>`, `clock` …).
        may_call: Tools and neurons it may call.
        quotas: Upper limits of one run by their names (`quotas.py`), which carry the unit.
        origin: Where it comes from, for example `synthesis` or `adopted`.
        trace_id: The trace it was made from, if one was.
    """

    name: str
    version: str
    purpose: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    capabilities: tuple[str, ...]
    may_call: tuple[str, ...]
    quotas: Mapping[str, float]
    origin: str
    trace_id: UUID | None = None
    unknown_fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class VerifiedNeuron:
    """A neuron whose files are what was signed.

    Attributes:
        name: Its name, that of the folder.
        manifest: What its manifest says.
        files: The very bytes that were verified, by name of the file; use these, never the file again.
        digest: SHA-256 of the files in hex.
    """

    name: str
    manifest: NeuronManifest
    files: Mapping[str, bytes]
    digest: str

    @property
    def body_hash(self) -> str:
        """Return the SHA-256 of its body in hex: the version of the actor `neuron:<name>`."""
        return sha256(self.files["body.py"]).hexdigest()


NeuronStatus = Literal["active", "disabled", "quarantined", "removed"]


@frozen(kw_only=True)
class NeuronRecord:
    """What is on record about a neuron that was approved once: the truth about which bytes of it may run.

    Attributes:
        digest: `VerifiedNeuron.digest` of what was approved last; anything else in the folder does not run.
        status: `quarantined` and `disabled` stay until a person rehabilitates it, whatever is in the folder.
        reason: Why it has that status, one line; empty where it is active.
        at: When it came to that status.
        born_at: When the bytes were approved.
        reward: R in [0, 1] with which its trust began.
        origin: Where it came from, such as `adopted` or `synthesis`.
        strikes: Failures of its body or its sandbox since its last success.
    """

    name: str
    version: str
    digest: str
    body_hash: str
    status: NeuronStatus
    at: datetime
    born_at: datetime
    reward: float
    origin: str
    reason: Text = field(factory=lambda: Text(""))
    trace_id: UUID | None = None
    strikes: int = 0
    unknown_fields: Mapping[str, Any] = field(factory=dict)


NeuronStanding = Literal["active", "not loaded", "disabled", "quarantined", "removed", "not adopted"]


@frozen(kw_only=True)
class NeuronEntry:
    """One neuron as it stands.

    Attributes:
        state: `active` can be called; `not loaded` is active on record, but cannot be used as it is; `not adopted` is
            a folder of which nothing is on record, or that came after its neuron was removed.
        reason: Why it cannot be called; empty where it can.
        record: What is on record; `None` where that is nothing, or cannot be trusted.
        neuron: Its verified bytes where it can be called.
    """

    name: str
    state: NeuronStanding
    reason: Text = field(factory=lambda: Text(""))
    record: NeuronRecord | None = None
    neuron: VerifiedNeuron | None = None


BodyOutcome = Literal["ok", "failed", "denied", "refused", "cancelled", "timeout", "memory", "cpu", "output", "killed"]


@frozen(kw_only=True)
class Invocation:
    """One run of a neuron, as its journal keeps it.

    Attributes:
        trace_id: The turn in which it ran.
        caller: Who called it: `core` for a model's or a person's call, else `neuron:<name>`.
        outcome: How it ended; `denied` where the person or the policy kept it from its work, `refused` where it was
            given what it cannot work with, `failed` where its body raised anything else or gave no valid output, else
            the sandbox's limit that it passed.
        gap_pre: Distance to the goal before, in [0, 1]; `None` where nobody measured it. So too `gap_post`, after.
        wall_ms: Its own time, without waiting for the person.
    """

    trace_id: UUID
    at: datetime
    caller: str
    outcome: BodyOutcome
    wall_ms: int
    cost_eur: float = 0.0
    gap_pre: float | None = None
    gap_post: float | None = None

"""What the pages on policy and trust say, once more and as plainly as can be: the engine is compared with it.

It is written from those pages alone and imports nothing of the engine. Times are aware UTC, paths are written `~/…` and
have no links left in them, money is in cents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from attrs import define, field, frozen
from oracle_trust import Sample, Subject

__all__ = ["Answer", "Call", "Effect", "Fact", "Oracle", "Rights", "Settings", "Step"]

Verdict = Literal["allow", "approve_required", "deny"]
Undo = Literal["record", "snapshot", "cost", "never"]

WORKSPACE = "~/.local/share/myclaw/workspace"
CLOSED = (f"{WORKSPACE}/state", f"{WORKSPACE}/.audit", "~/.ssh", "~/.bashrc", "~/private", "/dev", "/proc")
OWN = {f"{WORKSPACE}/neurons": "self_modify", "~/.config/myclaw/config.toml": "config_change"}
PRIVATE_HOSTS = ("192.168.1.5", "localhost")
METADATA_HOST = "169.254.169.254"

READS = ("fs_read", "network_in")
FILES = ("fs_read", "fs_write", "fs_delete")
CONSENT = ("neuron_spawn", "neuron_promote", "self_modify", "config_change")
OUTBOUND = ("network_out", "network_in", "outbound_message")
TAINTABLE = ("network_out", "outbound_message", "cost_spend")
LEVELS = ("read_only", "supervised", "full")
REVERSIBILITIES = ("reversible", "reversible_with_cost", "irreversible")
BANDS = ("low", "medium", "high")
MINIMA = {"low": (0.60, 3), "medium": (0.65, 5), "high": (0.72, 15)}
KIND_BANDS = {
    "memory_write": "low",
    "neuron_invoke": "low",
    "memory_delete": "medium",
    "network_out": "medium",
    "shell_exec": "high",
    "outbound_message": "high",
    "cost_spend": "high",
}
DEAD_HEAT = 1e-9
EARLIEST = datetime.min.replace(tzinfo=UTC)
UNCHECKED = 24
"""Actions done by themselves after which one is asked about again."""


@frozen(kw_only=True)
class Fact:
    """One effect of a call, as whoever built the household knows it.

    Attributes:
        path: The real path of a file, or the folder a command may change.
        host: Of a request.
        name: What the user types to name it; a request is named by its host.
        undo: Taken back with an undo record, with a snapshot of the folder, at a cost, or never.
        linked: Whether the file has another name elsewhere.
        special: Whether it is a pipe or a device.
        opaque: Whether the command does not say plainly which program it runs.
    """

    kind: str
    scope: str = ""
    path: str = ""
    host: str = ""
    name: str = ""
    undo: Undo = "never"
    linked: bool = False
    special: bool = False
    opaque: bool = False


@frozen(kw_only=True)
class Call:
    """What a tool call would do.

    Attributes:
        clear: Whether it can be understood at all.
        secret: Whether its arguments hold a secret.
        cents: What it spends; `None` where that is no amount of money.
    """

    tool: str
    facts: tuple[Fact, ...] = ()
    clear: bool = True
    secret: bool = False
    cents: int | None = 0


@frozen(kw_only=True)
class Rights:
    """What one turn runs with.

    Attributes:
        said: What the user named.
        undoable: Whether undo records can be made.
        recordable: Whether anything can be recorded.
        grants: Classes and kinds granted for this run.
    """

    sender: str
    level: str
    said: frozenset[str] = frozenset()
    tainted: bool = False
    undoable: bool = True
    recordable: bool = True
    grants: tuple[str, ...] = ()


@frozen(kw_only=True)
class Settings:
    """The configuration and the plugins.

    Attributes:
        roots: Open folders, the workspace among them.
        limits: Actions per minute and per day of a class, then of a sender.
        gates: What a plugin says about a tool.
        thresholds: What a plugin wants of a kind: score, samples, highest level.
    """

    roots: tuple[str, ...]
    closed_paths: tuple[str, ...] = ()
    closed_hosts: tuple[str, ...] = ()
    open_hosts: tuple[str, ...] = ()
    limits: tuple[int, int, int, int] = (120, 5_000, 240, 20_000)
    soft_cents: int = 200
    hard_cents: int = 500
    gates: Mapping[str, Verdict] = field(factory=dict)
    thresholds: Mapping[str, tuple[float, int, str]] = field(factory=dict)


@frozen(kw_only=True)
class Effect:
    """One effect with its kind and reversibility worked out."""

    fact: Fact
    kind: str
    reversibility: str
    named: bool

    @property
    def effect_class(self) -> str:
        """Return the class trust counts by."""
        return "invoke" if self.kind == "neuron_invoke" else f"{self.kind}:{self.fact.scope}"

    @property
    def changes(self) -> bool:
        """Return whether it is a side effect."""
        return self.kind not in READS

    @property
    def weight(self) -> tuple[bool, int]:
        """Return how bad it is; of equally bad ones the first counts."""
        return self.changes, REVERSIBILITIES.index(self.reversibility)


@frozen(kw_only=True)
class Answer:
    """A verdict, the check that decided, and the effect it is about where it is about one.

    Attributes:
        law: The law that would be broken.
        dead_heat: Whether a figure met its limit so exactly that rounding decides.
    """

    verdict: Verdict
    via: str
    effect_class: str = ""
    law: str = ""
    dead_heat: bool = False


@define
class Window:
    """Actions counted in one minute or day, from the first of them on."""

    length: timedelta
    start: datetime
    count: int = 0

    def holds(self, now: datetime) -> int:
        """Return the actions counted; a clock set back starts the wait anew and forgets nothing."""
        self.start = min(self.start, now)
        if now >= self.start + self.length:
            self.count = 0
        return self.count

    def add(self, now: datetime) -> None:
        """Count one more."""
        if self.holds(now) == 0:
            self.start = now
        self.count += 1


@define(kw_only=True)
class Step:
    """What became of one call.

    Attributes:
        law: The law it ran up against, and nobody agreed.
    """

    call: Call
    effects: Sequence[Effect]
    law: str = ""
    approval: bool | None = None
    ran: bool = False
    success: bool = False


@define
class Oracle:
    """The verdict on every call of one household, from its settings and what happened so far."""

    settings: Settings
    never: set[tuple[str, str, str]] = field(factory=set)
    spent_cents: dict[str, int] = field(factory=lambda: defaultdict(int))
    reserved_cents: dict[str, int] = field(factory=lambda: defaultdict(int))
    windows: dict[str, tuple[Window, Window]] = field(factory=dict)
    subjects: dict[tuple[str, str], Subject] = field(factory=lambda: defaultdict(Subject))
    newest: datetime = field(default=EARLIEST)
    dead_heat: bool = False

    # The decision.

    def decide(self, call: Call, rights: Rights, now: datetime) -> Answer:
        """Return what the seven checks, in their order, say about a call."""
        self.dead_heat = False
        effects = self.effects(call, rights)
        if effects is None:
            return Answer(verdict="deny", via="resolve")
        law = self.law(call, effects, rights)
        asking = ""
        for via, verdict in self._checks_0_to_4(call, effects, rights, law, now):
            if verdict == "deny":
                return Answer(verdict="deny", via=via, law=law)
            if verdict == "approve_required":
                asking = asking or via
        zones = [self._zone(effect, rights) for effect in effects]
        denied = [effect for effect, zone in zip(effects, zones, strict=True) if zone == "deny"]
        if denied:
            is_outside = any(effect.fact.path and not self._holders(effect.fact.path) for effect in denied)
            law = "law.0" if is_outside else law
            return Answer(verdict="deny", via="autonomy", effect_class=worst(denied).effect_class, law=law)
        asked = [effect for effect, zone in zip(effects, zones, strict=True) if zone == "approve_required"]
        unanswered = [effect for effect in asked if not self._is_granted(effect, rights)]
        refused = [effect for effect in unanswered if not self._is_promoted(effect, call, rights, now)]
        if asking:
            return Answer(verdict="approve_required", via=asking, law=law)
        if refused:
            left = worst(refused)
            via = "trust" if left.changes else "autonomy"
            return Answer(verdict="approve_required", via=via, effect_class=left.effect_class, dead_heat=self.dead_heat)
        if unanswered:
            return Answer(verdict="allow", via="trust_promoted", dead_heat=self.dead_heat)
        return Answer(verdict="allow", via="grant" if asked else self._via_of_the_zone(effects))

    def _via_of_the_zone(self, effects: Sequence[Effect]) -> str:
        if not effects:
            return "pure"
        return "autonomy_full" if worst(effects).changes else "autonomy"

    def _checks_0_to_4(
        self, call: Call, effects: Sequence[Effect], rights: Rights, law: str, now: datetime
    ) -> Iterator[tuple[str, str]]:
        classes = [effect.effect_class for effect in effects] or ["pure"]
        yield "constitution", {"": "pass", "law.2": "approve_required"}.get(law, "deny")
        yield "finding", self.settings.gates.get(call.tool, "pass")
        yield "forbidden", "deny" if any(self._is_forbidden(effect) for effect in effects) else "pass"
        yield "never", "deny" if any(self._is_on_the_never_list(call, rights, each) for each in classes) else "pass"
        yield "rate", "deny" if any(self._is_over_the_rate(rights, each, now) for each in classes) else "pass"
        yield "budget", self._budget(call.cents or 0, now)

    # What the effects are.

    def effects(self, call: Call, rights: Rights) -> list[Effect] | None:
        """Return the effects of a call; `None` where it is not clear what it means."""
        if not call.clear:
            return None
        effects = []
        for fact in call.facts:
            named = bool(fact.name) and fact.name in rights.said
            kind = self._kind(fact, named=named)
            if fact.kind == "shell_exec" and fact.path not in self.settings.roots and self._holders(fact.path):
                return None  # only an open folder itself is snapshot
            reversibility = self._reversibility(fact, kind, rights)
            effects.append(Effect(fact=fact, kind=kind, reversibility=reversibility, named=named))
        return effects

    def _kind(self, fact: Fact, *, named: bool) -> str:
        if fact.kind == "network_in" and not named:
            return "network_out"
        if fact.kind in ("fs_write", "fs_delete"):
            for place, kind in OWN.items():
                if is_under(fact.path, place) or (fact.kind == "fs_delete" and is_under(place, fact.path)):
                    return kind
        return fact.kind

    def _reversibility(self, fact: Fact, kind: str, rights: Rights) -> str:
        if kind in READS:
            return "reversible"
        if kind == "self_modify":
            return "irreversible"
        if fact.kind == "network_in" or fact.undo == "cost":
            return "reversible_with_cost"
        if fact.undo == "never" or not rights.undoable:
            return "reversible" if kind == "neuron_invoke" else "irreversible"
        return "reversible_with_cost" if fact.undo == "snapshot" else "reversible"

    # 0 to 4.

    def law(self, call: Call, effects: Sequence[Effect], rights: Rights) -> str:
        """Return the law that a call breaks, those that deny first."""
        if call.secret and any(effect.kind in OUTBOUND for effect in effects):
            return "law.0"
        if any(self._destroys(effect) for effect in effects):
            return "law.1"
        if not rights.recordable:
            return "law.3"
        if call.cents is None:
            return "law.4"
        return "law.2" if any(effect.kind in CONSENT for effect in effects) else ""

    def _destroys(self, effect: Effect) -> bool:
        path, is_final = effect.fact.path, effect.reversibility == "irreversible"
        if not path or not effect.changes or effect.kind == "shell_exec":
            return False
        if effect.fact.kind == "fs_delete" and any(is_under(kept, path) for kept in (*self.settings.roots, "~")):
            return True
        if (effect.kind == "fs_delete" and is_final) or is_under(path, "/dev"):
            return True
        return is_final and "/backups/" in path

    def _is_forbidden(self, effect: Effect) -> bool:
        fact, settings = effect.fact, self.settings
        if fact.host:
            closed = any(fact.host == host or fact.host.endswith(f".{host}") for host in settings.closed_hosts)
            private = fact.host in PRIVATE_HOSTS and fact.host not in settings.open_hosts
            return closed or private or fact.host == METADATA_HOST
        places = (*CLOSED, *settings.closed_paths)
        if not fact.path:
            return False
        goes_whole = fact.kind == "fs_delete" and any(is_under(place, fact.path) for place in places)
        return fact.special or goes_whole or any(is_under(fact.path, place) for place in places)

    def _is_on_the_never_list(self, call: Call, rights: Rights, effect_class: str) -> bool:
        kind = effect_class.partition(":")[0]
        return any((rights.sender, call.tool, each) in self.never for each in (effect_class, f"{kind}:*"))

    def _is_over_the_rate(self, rights: Rights, effect_class: str, now: datetime) -> bool:
        of_class, of_class_a_day, of_sender, of_sender_a_day = self.settings.limits
        return any(
            minute.holds(now) >= per_minute or day.holds(now) >= per_day
            for (minute, day), per_minute, per_day in (
                (self._windows(f"class {effect_class}", now), of_class, of_class_a_day),
                (self._windows(f"sender {rights.sender}", now), of_sender, of_sender_a_day),
            )
        )

    def _windows(self, key: str, now: datetime) -> tuple[Window, Window]:
        if key not in self.windows:
            self.windows[key] = Window(timedelta(minutes=1), now), Window(timedelta(days=1), now)
        return self.windows[key]

    def _budget(self, cents: int, now: datetime) -> str:
        if cents == 0:
            return "pass"
        day = now.date().isoformat()
        if self.spent_cents[day] + self.reserved_cents[day] + cents > self.settings.hard_cents:
            return "deny"
        return "approve_required" if self.spent_cents[day] + cents > self.settings.soft_cents else "pass"

    # 5: the green zone, and the grants that answer its questions.

    def _zone(self, effect: Effect, rights: Rights) -> Verdict:
        fact = effect.fact
        if fact.path and not self._holders(fact.path):
            return "deny" if effect.changes else "approve_required"
        if not effect.changes:
            return "approve_required" if fact.linked else "allow"
        if rights.level == "read_only":
            return "deny"
        if rights.level == "supervised" or fact.linked or self._is_hidden(fact):
            return "approve_required"
        if effect.reversibility == "irreversible" or self._is_tainted(effect, rights):
            return "approve_required"
        return "allow"

    def _holders(self, path: str) -> list[str]:
        return [root for root in self.settings.roots if is_under(path, root)]

    def _is_hidden(self, fact: Fact) -> bool:
        holders = self._holders(fact.path) if fact.path else []
        return bool(holders) and all("/." in fact.path.removeprefix(root) for root in holders)

    def _is_tainted(self, effect: Effect, rights: Rights) -> bool:
        return rights.tainted and effect.kind in TAINTABLE and not effect.named

    def _is_granted(self, effect: Effect, rights: Rights) -> bool:
        if effect.reversibility == "irreversible" or (rights.tainted and effect.kind in TAINTABLE):
            return False
        if effect.fact.linked:
            return False
        kind = effect.effect_class.partition(":")[0]
        return effect.effect_class in rights.grants or kind in rights.grants

    # 6: trust.

    def _is_promoted(self, effect: Effect, call: Call, rights: Rights, now: datetime) -> bool:
        if not effect.changes or effect.reversibility == "irreversible":
            return False
        if effect.fact.linked or effect.fact.opaque or self._is_tainted(effect, rights):
            return False
        if effect.kind == "outbound_message" and not effect.named:
            return False
        limit = self._threshold(effect)
        if limit is None or LEVELS.index(rights.level) > LEVELS.index(limit[2]):
            return False
        now = max(now, self.newest)  # a clock that was set back takes nothing back
        own = self.subjects.get((call.tool, effect.effect_class))
        parent = None if effect.kind == "neuron_invoke" else self.subjects.get((call.tool, f"{effect.kind}:*"))
        if own is not None and own.is_kept_from_running(limit[1]):
            return False
        own = own if own is not None and own.ordered() else None
        levels = [level for level in (own, parent) if level is not None]
        if not levels or (parent or levels[0]).went_wrong():
            return False
        if not any(self._meets(level, limit, now) for level in levels):
            return False
        if any(self._is_below_a_floor(level, now) for level in levels):
            return False
        if own is not None and own.unasked() >= UNCHECKED:
            return False
        return effect.named or (own is not None and own.approvals(now) >= approvals_needed(effect))

    def _threshold(self, effect: Effect) -> tuple[float, int, str] | None:
        band = KIND_BANDS.get(effect.kind)
        if effect.kind in FILES:
            band = "low" if effect.fact.scope.startswith(f"{WORKSPACE}/") else "medium"
        if band is None:
            return None
        if effect.reversibility == "reversible_with_cost":
            band = BANDS[min(BANDS.index(band) + 1, 2)]
        score, samples = MINIMA[band]
        wanted_score, wanted_samples, cap = self.settings.thresholds.get(effect.kind, (0.0, 0, "full"))
        return max(score, wanted_score), max(samples, wanted_samples), cap

    def _meets(self, level: Subject, limit: tuple[float, int, str], now: datetime) -> bool:
        score, samples, _ = limit
        if level.n_ran() < samples or level.days() < 2:
            return False
        return self._reaches(level.component("success", now)[1], samples) and self._reaches(level.score(now), score)

    def _is_below_a_floor(self, level: Subject, now: datetime) -> bool:
        if level.n_ran() < 3:
            return False
        success, clean = level.component("success", now)[0], level.component("clean", now)[0]
        return not (self._reaches(success, 0.6) and self._reaches(clean, 0.8))

    def _reaches(self, figure: float, limit: float) -> bool:
        """Compare a figure, and note where rounding alone decides."""
        self.dead_heat = self.dead_heat or abs(figure - limit) < DEAD_HEAT
        return figure >= limit

    # What happens.

    def counted(self, effects: Sequence[Effect], rights: Rights, now: datetime) -> None:
        """Count one action against its sender, and each of its side effects against its class."""
        keys = {f"class {effect.effect_class}" for effect in effects if effect.changes} | {f"sender {rights.sender}"}
        for key in keys:
            for window in self._windows(key, now):
                window.add(now)

    def closed(self, steps: Sequence[Step], at: datetime, trace: int, *, paid: bool) -> None:
        """Take one sample a subject from a closed trace: the worst of its steps."""
        self.newest = max(self.newest, at)
        clean = min((_clean(step.law) for step in steps), default=1.0)
        by_subject: dict[tuple[str, str], list[tuple[Step, Effect]]] = defaultdict(list)
        wider = set[tuple[str, str]]()  # of the effects of one step and kind only the first counts for the parent
        for step in steps:
            if step.ran or step.approval is False:
                firsts = {parent_of(effect.effect_class): effect for effect in reversed(step.effects)}
                wider |= {(step.call.tool, effect.effect_class) for effect in firsts.values()}
                for effect in step.effects:
                    by_subject[step.call.tool, effect.effect_class].append((step, effect))
        for (actor, effect_class), pairs in by_subject.items():
            answers = [step.approval for step, _ in pairs if step.approval is not None]
            sample = Sample(
                place=(at, trace, effect_class),
                ran=any(step.ran for step, _ in pairs),
                success=all(step.success for step, _ in pairs if step.ran),
                clean=clean,
                cost=0.5 if paid else 1.0,
                approval=all(answers) if answers else None,
            )
            self.subjects[actor, effect_class].samples.append(sample)
            if effect_class != "invoke" and (actor, effect_class) in wider:
                self.subjects[actor, parent_of(effect_class)].samples.append(sample)

    def undone(self, steps: Sequence[Step], closed_at: datetime, trace: int, at: datetime, undo: int) -> None:
        """Take in that steps of a trace were undone: in time it counts against them, the destination is forgotten."""
        in_time = at - closed_at <= timedelta(minutes=10)
        at = max(at, closed_at + timedelta(microseconds=1))
        self.newest = max(self.newest, at)
        for step in steps:
            for effect in step.effects:
                subject = self.subjects[step.call.tool, effect.effect_class]
                subject.forgotten.append((at, undo, effect.effect_class))
                for sample in subject.samples:
                    if sample.place[1] == trace and in_time:
                        sample.undone = True

    def ordered(self, kind: str, actor: str, effect_class: str, at: datetime, order: int) -> None:
        """Take in an order about one subject, and about all that is known of it."""
        subject = self.subjects[actor, effect_class]
        newest = subject.newest()
        at = at if newest is None else max(at, newest + timedelta(microseconds=1))
        self.newest = max(self.newest, at)
        subject.orders.append(((at, order, effect_class), kind))


def parent_of(effect_class: str) -> str:
    """Return the class that sums up a kind."""
    return effect_class.partition(":")[0] + ":*"


def _clean(law: str) -> float:
    return {"": 1.0, "law.3": 0.5, "law.4": 0.5}.get(law, 0.0)


def worst(effects: Sequence[Effect]) -> Effect:
    """Return the effect that decides; of equally bad ones the first."""
    return max(effects, key=lambda effect: effect.weight)


def approvals_needed(effect: Effect) -> int:
    """Return how many approvals make a destination known."""
    if effect.kind == "neuron_invoke":
        return 3
    return 2 if effect.reversibility == "reversible_with_cost" else 1


def is_under(path: str, place: str) -> bool:
    """Return whether a path is a place or lies in it."""
    return path == place or path.startswith(place.rstrip("/") + "/")

"""Builders of cards and traces, and a way to run the driver on a real terminal."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pexpect
import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from myclaw_core.approval.cards import Asked, Cards
from myclaw_core.approval.types import ApprovalCard, ApprovalRequest
from myclaw_core.clock import Clock
from myclaw_core.messages import add_catalogues, use_language
from myclaw_core.policy.types import Evidence, PolicyDecision
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, ToolResult
from myclaw_core.testing import FakeClock
from myclaw_core.types.action import ApprovalRequestDraft, PlannedAction
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text

DRIVER = Path(__file__).with_name("driver.py")
NOW = FakeClock().now()
ITALIAN = {
    "yes": "sì",
    "no": "no",
    "details": "dettagli",
    "type {yes}, {no} or {details}, or {further}": "scrivi {yes}, {no} o {details}, o {further}",
    ("… {n} more; {details} shows all",) * 2: ("… ancora {n}; {details} mostra tutto",) * 2,
    "to what": "su che cosa",
    "arguments": "argomenti",
    "undo": "annullabile",
    "only reads, nothing to undo": "solo lettura, niente da annullare",
    "why asked": "perché si chiede",
    "done:": "fatto:",
    "not done:": "non è stato fatto:",
    "{what} – you said no": "{what} – hai detto di no",
    "undo: {command}": "per annullare: {command}",
    ("{n} step", "{n} steps"): ("{n} passo", "{n} passi"),
    "no cost": "nessun costo",
    ("went well {n} time, {last_asked}", "went well {n} times, {last_asked}"): (
        "è andato bene {n} volta, {last_asked}",
        "è andato bene {n} volte, {last_asked}",
    ),
    ("last asked {n} day ago", "last asked {n} days ago"): ("chiesto {n} giorno fa", "chiesto {n} giorni fa"),
    "read first, {n} s left": "prima leggi, ancora {n} s",
}
"""Enough Italian for these tests; what the program ships is checked elsewhere."""


class Terminal(io.StringIO):
    """A terminal held in memory."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """Return that this is one."""
        return True


class Build:
    """Makes values with the fields that a test does not care about filled in."""

    def cards(self, cards: Iterable[ApprovalCard], clock: Clock) -> Cards:
        """Return cards as a channel is given them."""
        together = Cards(clock)
        together.add(Asked(card=card, cwd="/srv") for card in cards)
        return together

    def effect(self, target: str = "/srv/notes/a.md", **changes: Any) -> Effect:
        """Return a reversible write of `target`."""
        values: dict[str, Any] = {
            "kind": "fs_write",
            "scope": "/srv/notes/*",
            "target": target,
            "reversibility": "reversible",
        }
        return Effect(**(values | changes))

    def action(self, *effects: Effect, **changes: Any) -> PlannedAction:
        """Return the action of one `fs_write` call."""
        preview = changes.pop("args_preview", {"path": "a.md"})
        values: dict[str, Any] = {
            "tool_name": "fs_write",
            "args": {},
            "args_preview": preview,
            "effects": effects or (self.effect(),),
            "sender": "cli:me",
            "trace_id": UUID(int=1),
            "session_id": "s",
            "autonomy": "supervised",
            "planned_at": NOW,
        }
        return PlannedAction.from_tool_call(**(values | changes))

    def card(
        self,
        summary: str = "Write /srv/notes/a.md",
        *effects: Effect,
        diff: str = "",
        record: tuple[str, ...] = ("fs_write in /srv/notes/*: 2 of 2 went well, score 0.41",),
        reasons: tuple[str, ...] = ("not enough history yet",),
        tutor: bool = False,
        batchable: bool = False,
        standing: bool = False,
        revisable: bool = False,
        number: int = 1,
        now: datetime = NOW,
        pause_s: float = 0.0,
        **changes: Any,
    ) -> ApprovalCard:
        """Return the card of one request."""
        action = self.action(*effects, **changes)
        draft = ApprovalRequestDraft(
            action=action,
            effect_class=action.effect_class,
            summary=Text("{s}", {"s": summary}),
            risk="low",
            policy_reasons=tuple(Text(reason) for reason in reasons),
        )
        request = ApprovalRequest(
            id=UUID(int=100 + number),
            draft=draft,
            channel="terminal",
            sender="cli:me",
            created_at=now,
            expires_at=now + timedelta(minutes=30),
            not_before=now + timedelta(seconds=pause_s),
            tutor=tutor,
            batchable=batchable,
            standing=standing,
            revisable=revisable,
        )
        return ApprovalCard(request=request, diff=diff, record=record)

    def step(
        self, *effects: Effect, via: str = "grant", evidence: tuple[Evidence, ...] = (), **changes: Any
    ) -> ActionStep:
        """Return a done step that can be undone."""
        effects = effects or (self.effect(),)
        action = self.action(*effects)
        decision = PolicyDecision(
            verdict="allow",
            via=via,  # type: ignore[arg-type]
            reason=Text("because"),
            reasons=(),
            action=action,
            effects=effects,
            kind=action.kind,
            effect_class=action.effect_class,
            evidence=evidence,
        )
        values: dict[str, Any] = {
            "index": 0,
            "tool_name": "fs_write",
            "args": {},
            "args_digest": "d",
            "actor": "fs_write",
            "actor_version": "1",
            "model": "m",
            "state": "done",
            "kind": action.kind,
            "effect_class": action.effect_class,
            "effects": effects,
            "started_at": NOW,
            "decision": decision,
            "exec_result": ToolResult(text="ok"),
            "undo_id": UUID(int=7),
        }
        return ActionStep(**(values | changes))

    def evidence(self, **changes: Any) -> Evidence:
        """Return figures that earned a promotion."""
        values: dict[str, Any] = {
            "effect_class": "fs_write:/srv/notes/*",
            "score": 0.9,
            "n_samples": 40,
            "effective_count": 20.0,
            "parent_score": 0.0,
            "parent_n_samples": 0,
            "known": True,
            "named": False,
            "min_score": 0.6,
            "min_samples": 5,
            "level": "subject",
            "last_asked_days": 3.2,
        }
        return Evidence(**(values | changes))

    def trace(self, *steps: ActionStep, **changes: Any) -> ExecutionTrace:
        """Return a closed trace of `steps`."""
        values: dict[str, Any] = {
            "id": UUID(int=1),
            "session_id": "s",
            "channel": "terminal",
            "sender": "cli:me",
            "autonomy": "supervised",
            "started_at": NOW,
            "steps": list(steps),
            "outcome": "success",
            "wall_time_ms": 1200,
        }
        return ExecutionTrace(**(values | changes))


@contextmanager
def speaking(folder: Path, translations: Mapping[Any, Any] = ITALIAN) -> Iterator[None]:
    """Let messages be rendered by one catalogue alone, that lies in `folder`."""
    write_catalogue(folder, translations)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("myclaw_core.messages._folders", {})
        add_catalogues("terminal_tests", folder)
        use_language("it")
        yield
    use_language("en")


def write_catalogue(folder: Path, translations: Mapping[Any, Any] = ITALIAN) -> None:
    """Write a compiled catalogue of the domain `terminal_tests`."""
    made = Catalog(locale="it")
    made.mime_headers = [("Plural-Forms", "nplurals=2; plural=(n != 1);")]
    for english, translated in translations.items():
        made.add(english, translated)
    path = folder / "it" / "LC_MESSAGES" / "terminal_tests.mo"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_mo(file, made)


@pytest.fixture(autouse=True)
def english() -> None:
    """Speak English, whatever the environment of the tests says."""
    use_language("en")


@pytest.fixture
def italian(tmp_path: Path) -> Iterator[Path]:
    """Speak Italian; return where its catalogue lies."""
    with speaking(tmp_path / "locale"):
        yield tmp_path / "locale"


@pytest.fixture(scope="session")
def speak() -> Callable[..., Any]:
    """Return the way to speak by other translations for a while."""
    return speaking


@pytest.fixture
def build() -> Build:
    """Return the builders."""
    return Build()


@pytest.fixture
def terminal() -> Terminal:
    """Return a terminal in memory."""
    return Terminal()


@pytest.fixture
def spawn(tmp_path: Path) -> Iterator[Callable[..., pexpect.spawn[str]]]:
    """Return a function that runs the driver on a pseudo-terminal."""
    children: list[pexpect.spawn[str]] = []

    def start(scenario: str, **environ: str) -> pexpect.spawn[str]:
        env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES")}
        env |= {
            "TERM": "xterm-256color",
            "PROMPT_TOOLKIT_NO_CPR": "1",
            "PYTHONUTF8": "1",
            "LANGUAGE": "en",
            "DRIVER_HISTORY": str(tmp_path / "state" / "history"),
        }
        child = pexpect.spawn(
            sys.executable,
            [str(DRIVER), scenario],
            env=env | environ,
            encoding="utf-8",
            timeout=20,
            dimensions=(24, 80),
        )
        child.logfile_read = io.StringIO()
        children.append(child)
        return child

    yield start
    for child in children:
        child.close(force=True)

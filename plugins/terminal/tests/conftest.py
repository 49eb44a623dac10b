"""Builders of cards and traces, and a way to run the driver on a real terminal."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pexpect
import pytest

from myclaw_core.approval.types import ApprovalCard, ApprovalRequest
from myclaw_core.policy.types import Evidence, PolicyDecision
from myclaw_core.runtime.types import ActionStep, ExecutionTrace, ToolResult
from myclaw_core.testing import FakeClock
from myclaw_core.types.action import ApprovalRequestDraft, PlannedAction
from myclaw_core.types.effect import Effect
from myclaw_core.types.text import Text

DRIVER = Path(__file__).with_name("driver.py")
NOW = FakeClock().now()


class Terminal(io.StringIO):
    """A terminal held in memory."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """Return that this is one."""
        return True


class Build:
    """Makes values with the fields that a test does not care about filled in."""

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
        number: int = 1,
        now: datetime = NOW,
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
            not_before=now,
            tutor=tutor,
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

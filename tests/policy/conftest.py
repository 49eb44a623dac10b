"""A small world to judge in: real folders, real files, a registry of plain tools, and ports that a test can set."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from attrs import define, field

from myclaw_core.constitution.engine import Constitution
from myclaw_core.paths import Home
from myclaw_core.policy.engine import Policy
from myclaw_core.policy.forbidden import ForbiddenPlaces
from myclaw_core.policy.never import NeverList
from myclaw_core.policy.ports import no_grants
from myclaw_core.policy.rates import RateBook
from myclaw_core.policy.types import Evidence, Finding, PolicyDecision, Situation
from myclaw_core.runtime.tool import EffectSpec, Tool
from myclaw_core.runtime.types import ExecutionTrace, ToolCall, ToolResult
from myclaw_core.testing import FakeClock
from myclaw_core.trust.promotion import Promotion
from myclaw_core.types.text import Text


def _tool(name: str, *effects: EffectSpec, plan: bool = False, undeclared: bool = False) -> Tool:
    return Tool(
        name=name,
        description=name,
        schema={"type": "object"},
        effects=None if undeclared else effects,
        run=lambda args, context: ToolResult(text=""),
        plan=(lambda args, context: ()) if plan else None,
    )


TOOLS = (
    _tool("note"),
    _tool("mystery", undeclared=True),
    _tool("fs_read", EffectSpec(kind="fs_read", arg="path")),
    _tool("fs_list", EffectSpec(kind="fs_read", arg="path", default=".")),
    _tool("fs_write", EffectSpec(kind="fs_write", arg="path"), plan=True),
    _tool("fs_delete", EffectSpec(kind="fs_delete", arg="path"), plan=True),
    _tool("fs_wipe", EffectSpec(kind="fs_delete", arg="path")),
    _tool("fs_scribble", EffectSpec(kind="fs_write", arg="path", reversibility="reversible")),
    _tool("fs_move", EffectSpec(kind="fs_delete", arg="src"), EffectSpec(kind="fs_write", arg="dst"), plan=True),
    _tool("fetch", EffectSpec(kind="network_in", arg="url")),
    _tool("get", EffectSpec(kind="network_out", arg="url", reversibility="reversible_with_cost")),
    _tool("post", EffectSpec(kind="network_out", arg="url")),
    _tool("send", EffectSpec(kind="outbound_message", arg="to", reversibility="reversible_with_cost")),
    _tool("spend", EffectSpec(kind="cost_spend", arg="eur")),
    _tool("spawn", EffectSpec(kind="neuron_spawn", arg="name")),
    _tool("promote", EffectSpec(kind="neuron_promote", arg="name")),
    _tool("setting", EffectSpec(kind="config_change", arg="key"), plan=True),
    _tool("invoke", EffectSpec(kind="neuron_invoke", arg="name")),
    _tool("copy", EffectSpec(kind="fs_read", arg="src"), EffectSpec(kind="fs_write", arg="dst"), plan=True),
)


class NoBudgetProblem:
    """A ledger with room; a test sets `answer` to change that."""

    def __init__(self) -> None:
        self.answer: Any = None

    def objection(self, est_cost_eur: float, now: Any) -> Any:
        return self.answer


@define
class World:
    """One installation with a policy over it."""

    user_home: Path
    home: Home
    clock: FakeClock = field(factory=FakeClock)
    rates: RateBook = field(factory=RateBook)
    never: NeverList = field(factory=NeverList)
    budget: NoBudgetProblem = field(factory=NoBudgetProblem)
    findings: Sequence[Finding] = ()
    promoted: bool = False
    unrecordable: Text | None = None
    tainted: bool = False
    typed_text: str = ""
    extra_roots: tuple[str, ...] = ()
    overrides: dict[str, Any] = field(factory=dict)

    @property
    def workspace(self) -> Path:
        return self.home.workspace

    @property
    def situation(self) -> Situation:
        return Situation(
            roots=(str(self.workspace), *self.extra_roots),
            cwd=str(self.workspace),
            typed_text=self.typed_text,
            tainted=self.tainted,
        )

    async def gates(self, action: Any, trace: Any) -> Sequence[Finding]:
        await asyncio.sleep(0)
        return self.findings

    def promotion(self, effect: Any, action: Any, now: Any) -> Promotion:
        evidence = Evidence(
            effect_class=effect.effect_class,
            score=1.0 if self.promoted else 0.0,
            n_samples=40,
            effective_count=12.0,
            parent_score=0.0,
            parent_n_samples=0,
            known=True,
            named=False,
            min_score=0.6,
            min_samples=3,
        )
        return Promotion(promoted=self.promoted, reason=Text("trust spoke"), evidence=evidence, risk="medium")

    def policy(self) -> Policy:
        parts: dict[str, Any] = {
            "tools": {tool.name: tool for tool in TOOLS},
            "constitution": Constitution(),
            "gates": self.gates,
            "promotion": self.promotion,
            "budget": self.budget,
            "recordable": lambda: self.unrecordable,
            "redact": lambda value: value,
            "rates": self.rates,
            "never": self.never,
            "places": ForbiddenPlaces(self.home, self.user_home),
            "clock": self.clock,
            "home": self.home,
            "user_home": self.user_home,
            "grants": no_grants,
            **self.overrides,
        }
        return Policy(**parts)

    async def judge(
        self, tool: Any, args: Any = None, *, level: Any = "supervised", irreversible: Text | None = None
    ) -> PolicyDecision:
        return await self.policy().evaluate(
            ToolCall(id="1", tool=tool, args={} if args is None else args),
            self.trace(level),
            "cli:me",
            level,
            self.situation,
            irreversible=irreversible,
        )

    def trace(self, level: Any = "supervised") -> ExecutionTrace:
        return ExecutionTrace(
            id=UUID(int=7),
            session_id="s",
            channel="cli",
            sender="cli:me",
            autonomy=level,
            started_at=self.clock.now(),
        )


def make_world(base: Path) -> World:
    user_home = base / "home" / "me"
    home = Home(user_home / ".local/share/myclaw", user_home / ".config/myclaw/config.toml")
    user_home.mkdir(parents=True)
    home.create()
    return World(user_home, home)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture(scope="session")
def shared_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One world for property tests, which must not change it."""
    return make_world(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def tool() -> Callable[..., Tool]:
    """Return the builder of plain tools."""
    return _tool

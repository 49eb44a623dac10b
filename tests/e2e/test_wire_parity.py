"""One conversation, two wire formats: the trace does not tell which, apart from what no two runs share."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from wire_anthropic import WireServer as AnthropicServer
from wire_openai import WireServer as OpenAIServer

from myclaw_core import codec
from myclaw_core.agent import Agent
from myclaw_core.approval.types import ApprovalCard
from myclaw_core.desk import SessionDesk
from myclaw_core.paths import Home
from myclaw_core.runtime.types import ExecutionTrace
from myclaw_core.testing import FakeClock, RecordingChannel

NOTE = "notes/list.md"
SCRIPT: Sequence[dict[str, Any]] = (
    {
        "text": "I read the list first. ",
        "tool_calls": [{"tool": "fs_read", "args": {"path": NOTE}}, {"tool": "fs_list", "args": {"path": "notes"}}],
        "usage": {"input_tokens": 900, "cached_tokens": 100, "output_tokens": 40},
    },
    {
        "tool_calls": [
            {"tool": "fs_edit", "args": {"path": NOTE, "old": "- milk\n", "new": "- milk\n- très bon pain\n"}}
        ]
    },
    {"text": "Now the old one. ", "tool_calls": [{"tool": "fs_delete", "args": {"path": "notes/old.md"}}]},
    {"tool_calls": [{"tool": "fs_read", "args": {"file": 7}}]},
    {"text": "Bread is on the list; the old one was kept."},
)


def _plain(value: Any, ids: dict[str, str]) -> Any:
    """Return a trace without model names, times, tokens and costs, each id replaced by its number in order."""
    if isinstance(value, dict):
        return {name: _plain(part, ids) for name, part in value.items() if not _varies(name)}
    if isinstance(value, list | tuple):
        return [_plain(part, ids) for part in value]
    if isinstance(value, str) and (value.startswith(("toolu_", "call_")) or _is_uuid(value)):
        return ids.setdefault(value, f"id-{len(ids)}")
    return value


def _varies(name: str) -> bool:
    return name in {"usage", "model", "provider", "config_digest"} or name.endswith(("_at", "_ms")) or "cost" in name


def _is_uuid(text: str) -> bool:
    return len(text) == 36 and text.count("-") == 4


@pytest.fixture
def converse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Hold the conversation through one provider in a fresh home, with a person who keeps the old list."""
    root = tmp_path / "home"

    async def held(provider: str, config: str = "") -> tuple[ExecutionTrace, RecordingChannel]:
        shutil.rmtree(root, ignore_errors=True)
        home = Home.at(root)
        notes = home.workspace / "notes"
        notes.mkdir(parents=True)
        (notes / "list.md").write_text("- milk\n", encoding="utf-8")
        (notes / "old.md").write_text("- tea\n", encoding="utf-8")
        home.config_file.write_text(f'[agent]\nprovider = "{provider}"\n{config}', encoding="utf-8")
        clock = FakeClock()

        def keeps_the_old_list(card: ApprovalCard) -> bool:
            return card.request.draft.action.tool_name != "fs_delete"

        channel = RecordingChannel(clock, keeps_the_old_list)
        async with Agent.open(home, clock=clock) as agent:
            agent.require_model()
            trace = await _turn(agent, channel)
        assert (notes / "list.md").read_text(encoding="utf-8") == "- milk\n- très bon pain\n"
        assert (notes / "old.md").exists()
        return trace, channel

    for name in ("OPENAI_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return held


async def _turn(agent: Agent, channel: RecordingChannel) -> ExecutionTrace:
    desk = SessionDesk(
        agent,
        channel,
        sender="test:me",
        roots=agent.standing_roots,
        cwd=str(agent.home.workspace),
        level="supervised",
    )
    trace = await desk.handle("Add bread to my list and delete the old one")
    assert trace is not None
    return trace


async def test_the_same_conversation_gives_the_same_trace_through_both_wire_formats(
    converse, monkeypatch: pytest.MonkeyPatch
) -> None:
    with AnthropicServer(SCRIPT) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
        one, one_channel = await converse("anthropic")
    with OpenAIServer(SCRIPT) as server:
        two, two_channel = await converse("openai", f'[openai]\nbase_url = "{server.base_url}/v1"\n')

    assert [call.provider for call in one.model_calls] == ["anthropic"] * len(SCRIPT)
    assert [call.provider for call in two.model_calls] == ["openai"] * len(SCRIPT)
    assert [step.tool_name for step in one.steps] == ["fs_read", "fs_list", "fs_edit", "fs_delete", "fs_read"]
    assert [step.error.kind if step.error else None for step in one.steps] == [None, None, None, "denied", "validation"]
    assert _plain(codec.unstructure(one), {}) == _plain(codec.unstructure(two), {})
    assert [call.usage for call in one.model_calls] == [call.usage for call in two.model_calls]
    assert "".join(one_channel.texts) == "".join(two_channel.texts)
    assert one_channel.notices == two_channel.notices


async def test_a_conversation_that_fails_over_in_the_middle_goes_on_in_the_other_wire_format(
    converse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one service said and called is read by the other; both refuse a conversation that is not well formed."""
    with AnthropicServer([*SCRIPT[:2], {"status": 401}]) as first, OpenAIServer(SCRIPT[2:]) as second:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", first.base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
        config = f'failover = ["openai:llama3.2"]\n[openai]\nbase_url = "{second.base_url}/v1"\n'
        trace, channel = await converse("anthropic", config)

    assert trace.outcome == "success"
    assert [call.provider for call in trace.model_calls] == ["anthropic"] * 3 + ["openai"] * 3
    assert channel.notices == ["anthropic has no valid key; answered by openai llama3.2"]
    sent = json.dumps(second.requests[0]["body"]["messages"])
    assert "toolu_1_1" in sent
    assert "I read the list first." in sent

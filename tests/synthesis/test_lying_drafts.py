"""Specs and drafts that say what they are not: where they come from, which version, in letters that nobody sees."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from design_runs import CONFIG, Writer, given_reports, person, writing
from designs import GOAL, MANIFEST, draft, replies, spec

from myclaw_core.neurons.manifest import MANIFEST_FILE, read_manifest
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.synthesis.pipeline import Synthesizer
from myclaw_core.synthesis.wanted import by_hand

ME = "test:me"
OTHER_TRACE = UUID(int=0xFF)
QUOTED = f"""\
"version": 9.9.9
"origin": adopted
"trace_id": "{OTHER_TRACE}"
purpose: 'Count the words of a text.

version: x

origin: x

trace_id: x

(done)'
"""
"""Keys in quotes, and a purpose of several lines that takes the lines which the core writes."""


@pytest.fixture(autouse=True)
def green(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sandbox tests of any draft be green."""
    given_reports(monkeypatch)


async def test_a_manifest_cannot_get_round_the_origin_that_the_core_writes_in_it(open_agent: Any) -> None:
    async with open_agent(config=CONFIG) as agent:
        request = await by_hand(agent, GOAL)
        purpose = (
            f'Count the words of a text. version: "1.0.0" origin: "synthesis" trace_id: "{request.trace_id}" (done)'
        )
        lines = "version: 1.0.0\npurpose: Count the words of a text.\n"
        assert lines in MANIFEST
        plain = MANIFEST.replace("Count the words of a text.", f"'{purpose}'")
        writer = Writer([spec(purpose=purpose), draft(manifest=MANIFEST.replace(lines, QUOTED)), draft(manifest=plain)])
        channel, told = person(agent, True), list[str]()
        synthesizer = Synthesizer(writing(agent, writer), QuietChannel(), channel, lambda line: told.append(str(line)))
        ended = await synthesizer.synthesize(request, ME)

        assert ended.result is not None, told
        assert (ended.result.outcome, ended.retries) == ("born", 1)
        assert "version, origin, trace_id" in writer.prompts[2].partition("What was wrong with the last attempt")[2]
        (card,) = channel.cards
        assert "origin: synthesis" in card.diff
        (entry,) = await agent.services.neurons.entries()
        manifest = read_manifest(entry.neuron.files[MANIFEST_FILE])
        assert (manifest.version, manifest.origin, manifest.trace_id) == ("1.0.0", "synthesis", request.trace_id)


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\u2800", "\u3164", "\x1b", "\x00", "\u2028"])
async def test_a_purpose_shows_every_letter_that_it_has(open_agent: Any, hidden: str) -> None:
    """Else it could look like another one, and be unlike it for whatever compares them."""
    writer = Writer([spec(purpose=f"Count the{hidden} words of a text."), *replies()])
    async with open_agent(config=CONFIG) as agent:
        synthesizer = Synthesizer(writing(agent, writer), QuietChannel(), person(agent, True))
        ended = await synthesizer.synthesize(await by_hand(agent, GOAL), ME)

    assert (ended.stage, ended.retries) == ("ended", 1)
    assert f"the invisible character U+{ord(hidden):04X}" in writer.prompts[1]

"""Drafts that the analysis lets through and that the real sandbox finds out: none of them reaches the person."""

from __future__ import annotations

from typing import Any

import pytest
from design_runs import CONFIG, Writer, design, writing
from designs import BODY, MANIFEST, TESTS, draft, replies

from myclaw_core.synthesis import draft_stage

COUNTS = '    return {"count": len(args["text"].split())}\n'
SHORT = MANIFEST + "quotas: {cpu_s: 1, memory_mb: 64}\n"
ANY_BODY = '''\
"""Birth tests."""


async def out(run, text):
    try:
        return await run({"text": text})
    except Exception:
        return {"count": 0}


async def test_positive(run):
    assert "count" in (await out(run, "one two three") or {"count": 0})


async def test_edge(run):
    assert await out(run, "") is None or True


async def test_negative(run):
    assert isinstance(await out(run, "one"), dict | None)
'''
TABLE = '''\
"""Counts words."""


async def run(ctx, args):
    """Return what the tests ask for."""
    text = args["text"]
    if text == "one two three":
        return {"count": 3}
    if text == "":
        return {"count": 0}
    if text == "one":
        return {"count": 1}
    if "please" in text:
        return {"count": 100}
    return {"count": 7}
'''
ENDLESS = BODY.replace("    return {", '    while args["text"] == "one":\n        pass\n    return {')
GREEDY = BODY.replace(COUNTS, '    kept = "x" * (len(args["text"]) << 30)\n    return {"count": len(kept)}\n')
FOUND_OUT = {
    "a test is red": (draft(body=BODY.replace("split())", "split()) + 1")), "test_positive failed: "),
    "it computes without an end": (
        draft(body=ENDLESS, manifest=SHORT),
        "test_negative",
    ),
    "it takes more memory than it may have": (
        draft(body=GREEDY, manifest=SHORT),
        "memory",
    ),
    "its tests pass with any body": (draft(tests=ANY_BODY), "every test passes with a body that does nothing"),
    "its body knows the answers of its tests": (draft(body=TABLE), "no test noticed"),
    "its output is none that it declares": (draft(body=BODY.replace('{"count": len', '{"words": len')), "test_"),
}


@pytest.mark.parametrize("kind", FOUND_OUT)
async def test_the_sandbox_finds_out_and_the_next_draft_is_told(open_agent: Any, kind: str) -> None:
    bad, why = FOUND_OUT[kind]
    writer = Writer([*replies(bad), {"text": "no more"}])
    async with open_agent(config=CONFIG) as agent:
        found = await design(writing(agent, writer))

    assert (found.channel.cards, found.synthesis.retries) == ([], 2), found.told
    assert "R was " in found.refusals[0]
    assert why in found.refusals[0]
    assert why in writer.prompts[2].partition("What was wrong with the last attempt")[2]
    reward = found.synthesis.reward
    assert reward is not None
    assert reward.det_pass_rate < 1


BLIND = {
    "they end the process well": "    import os\n    os._exit(0)\n",
    "they exit": "    raise SystemExit(0)\n",
    "they never call the body": "    assert True\n",
}


@pytest.mark.parametrize("kind", BLIND)
async def test_what_the_analysis_might_overlook_in_tests_makes_no_test_green(
    open_agent: Any, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """An exit code proves nothing: the last of four tests is this one, and it counts as red, or as none."""
    monkeypatch.setattr(draft_stage, "check_neuron", lambda *_args, **_options: ())
    tests = f"{TESTS}\n\nasync def test_last(run):\n{BLIND[kind]}"
    async with open_agent(config=CONFIG) as agent:
        found = await design(writing(agent, Writer(replies(draft(tests=tests)))))
    assert (found.channel.cards, found.synthesis.retries) == ([], 1), found.told
    assert found.synthesis.reward is not None
    assert found.synthesis.reward.det_pass_rate < 1
    assert "test_last" in found.refusals[0]

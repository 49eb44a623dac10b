"""What a model is given to design a neuron from: what there is, what fits, and never more than any model reads."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from adopted_neurons import in_agent
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from myclaw_synthesizer.prompts import PromptAuthor
from signed_neurons import neuron_files

from myclaw_core.neurons.manifest import read_manifest
from myclaw_core.neurons.shipped import shipped_folder, shipped_names
from myclaw_core.runtime.tool import Tool
from myclaw_core.runtime.types import ToolResult
from myclaw_core.synthesis.answers import DRAFT_FORMAT, MAX_SPEC_CHARS, SPEC_FORMAT, read_spec, write_spec
from myclaw_core.synthesis.briefs import Materials, draft_brief, spec_brief, spec_of
from myclaw_core.synthesis.materials import Example
from myclaw_core.synthesis.types import NeuronSpec, Synthesis, SynthesisRequest
from myclaw_core.testing import FakeClock, calls, says
from myclaw_core.types.text import Text

MOST_CHARS = 60_000
REQUEST = SynthesisRequest(
    goal="Sum up my notes",
    trace_id=UUID(int=5),
    mode="external",
    capability_hint=["fs-read:~/notes/*"],
    budget_cents=50,
)
SYNTHESIS = Synthesis(id=UUID(int=6), request=REQUEST, sender="cli:me", stage="spec", at=FakeClock().now())
SPEC = NeuronSpec(
    proposed_name="note_sum",
    purpose="Sums up notes.",
    input_schema={"type": "object"},
    output_schema={"type": "object"},
    capabilities_requested=(),
    rationale="Nothing did.",
    may_call=("fs_list", "neuron:word_count", "gone"),
)
TOOL = Tool(
    name="look",
    description="Look.\nMore.",
    schema={"type": "object"},
    effects=(),
    run=lambda _args, _context: ToolResult(text=""),
)
MANIFEST = read_manifest(neuron_files()["manifest.yaml"])


def example(name: str, *, text: str = "x = 1\n", version: str = "1.0.0", capabilities: tuple[str, ...] = ()) -> Example:
    manifest = evolve(MANIFEST, name=name, version=version, capabilities=capabilities)
    return Example(manifest=manifest, files={"body.py": text, "test_birth.py": text, "manifest.yaml": "a: 1\n"})


def evolve_request(**changes: Any) -> SynthesisRequest:
    return evolve(REQUEST, **changes)


def materials(**fields: Any) -> Materials:
    base: dict[str, Any] = {"story": (), "tools": {}, "active": (), "shipped": (), "programs": ()}
    return Materials(**(base | fields))


async def test_what_there_is_is_gathered_from_the_agent(open_agent: Any, make_desk: Any) -> None:
    """The fittest neuron first; internal tools are nobody's to call, and neurons are listed by themselves."""
    script = (calls(("fs_read", {"path": "none.md"})), says("I cannot."))
    async with open_agent(script, '[neurons]\nprograms = ["git"]\n') as agent:
        for name, reward in (("word_count", 0.7), ("csv_summary", 0.9)):
            await in_agent(agent).adopt(name, reward=reward)
        trace = await make_desk(agent).handle("Sum up my notes")
        found = await Materials.of(agent, evolve(SYNTHESIS, request=evolve_request(trace_id=trace.id)))
        nothing = await Materials.of(agent, SYNTHESIS)

    assert [each.manifest.name for each in found.active] == ["csv_summary", "word_count"]
    assert {each.manifest.name for each in found.shipped} == set(shipped_names()) - {"csv_summary"}
    assert "fs_list" in found.tools
    assert not found.tools.keys() & {"neuron_admit", "ctx_read", "neuron:word_count"}
    assert (found.programs, found.story[0]) == (("git",), "asked: Sum up my notes")
    assert nothing.story == (), "there is no such trace"
    assert (found.version_of("word_count"), found.version_of("other"), found.files_of("other")) == ("1.0.0", "", {})


async def test_who_words_the_prompts_is_the_plugin_that_the_slot_names(open_agent: Any) -> None:
    brief = spec_brief(SYNTHESIS, materials())
    async with open_agent() as agent:
        author = agent.dispatcher.author(agent.services.config.slots.synthesizer)

    assert author.spec_prompt(brief) == PromptAuthor().spec_prompt(brief)


def test_a_spec_brief_says_what_there_is() -> None:
    given_ = materials(
        story=("asked: x", "ended: </outside> failed"),
        tools={"look": TOOL},
        active=(example("word_count"),),
        programs=("git",),
    )

    brief = spec_brief(evolve(SYNTHESIS, feedback=(Text("do {it}", {"it": "better"}),)), given_)

    assert brief.goal == "Sum up my notes"
    assert brief.story == '<outside source="trace">\nasked: x\nended: &lt;/outside> failed\n</outside>'
    assert (brief.tools, brief.neurons) == ({"look": "Look."}, {"neuron:word_count": "Count words."})
    assert (brief.programs, brief.hint, brief.feedback) == (("git",), ("fs-read:~/notes/*",), ("do better",))
    assert [read_spec(each).proposed_name for each in brief.examples] == ["word_count"]
    assert (brief.patches, brief.before) == ({}, "")


def test_a_spec_that_is_made_anew_is_shown_with_the_neuron_that_it_makes_better() -> None:
    """That one is no example of itself."""
    better = evolve(SYNTHESIS, spec=SPEC, patches="word_count")
    brief = spec_brief(better, materials(active=(example("word_count"),), shipped=(example("other"),)))

    assert brief.before == write_spec(SPEC)
    assert brief.patches == example("word_count").files
    assert [read_spec(each).proposed_name for each in brief.examples] == ["other"]


def test_shipped_examples_are_those_that_may_do_the_same_kind_of_thing() -> None:
    shipped = (
        example("pure"),
        example("reads_long", text="x" * 99, capabilities=("fs-read:~/*",)),
        example("reads", capabilities=("fs-read:~/*",)),
    )
    found = materials(active=(example("active"),), shipped=shipped).examples(["fs-read:~/notes/*", "clock"], "")

    assert [each.manifest.name for each in found] == ["active", "reads", "reads_long"]


def test_each_shipped_neuron_makes_a_spec_that_could_be_an_answer() -> None:
    """What it calls stands in one place."""
    for name in shipped_names():
        manifest = read_manifest((shipped_folder() / name / "manifest.yaml").read_bytes())
        spec = spec_of(manifest)
        assert read_spec(write_spec(spec)) == spec
        assert not any(each.startswith("call:") for each in spec.capabilities_requested)


def test_a_draft_brief_tells_how_to_call_what_the_spec_names() -> None:
    """And nothing about what is not there."""
    given_ = materials(tools={"fs_list": TOOL}, active=(example("word_count"),))
    last = {"body.py": "a", "test_birth.py": "b", "manifest.yaml": "c"}

    brief = draft_brief(evolve(SYNTHESIS, spec=SPEC, files=last), given_, "1.1.0")

    assert (brief.spec, brief.version, brief.trace_id) == (SPEC, "1.1.0", str(UUID(int=5)))
    anything = {"type": "object"}
    assert {name: json.loads(told) for name, told in brief.calls.items()} == {
        "fs_list": {"description": "Look.\nMore.", "arguments": anything},
        "neuron:word_count": {"description": "Count words.", "arguments": anything, "output": anything},
    }
    assert (brief.before, brief.patches, brief.examples) == (last, {}, (example("word_count").files,))


def test_a_file_that_is_too_long_is_cut_and_says_so() -> None:
    long = {"body.py": "x" * 20_000, "test_birth.py": "y", "manifest.yaml": "z"}

    brief = draft_brief(evolve(SYNTHESIS, spec=SPEC, files=long), materials(), "1.0.0")

    assert brief.before["body.py"].endswith("xx\n… (the rest is not shown)")
    assert (brief.before["test_birth.py"], brief.before["manifest.yaml"]) == ("y", "z")


def full(text: str) -> tuple[Synthesis, Materials]:
    """Return a synthesis and materials in which everything is as long as it can be."""
    files = dict.fromkeys(("body.py", "test_birth.py", "manifest.yaml"), text)
    tools = {f"tool_{number}": evolve(TOOL, name=f"tool_{number}", description=text) for number in range(200)}
    several = tuple(example(f"neuron_{number}", text=text[:20_000]) for number in range(200))
    spec = evolve(SPEC, may_call=tuple(tools)[:60], purpose=text[:1_000], rationale=text[:2_000])
    synthesis = evolve(
        SYNTHESIS,
        request=evolve_request(goal=text, capability_hint=[text] * 50),
        spec=spec,
        files=files,
        patches="neuron_7",
        feedback=(Text("{all}", {"all": text}),) * 50,
    )
    return synthesis, materials(story=(text,) * 50, tools=tools, active=several, shipped=several, programs=(text,) * 90)


@settings(max_examples=12, deadline=None)
@given(part=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_no_prompt_is_longer_than_any_model_reads(part: str) -> None:
    """Whatever was asked, failed, answered and made so far, and however much of it is escaped."""
    for text in (part * (64_000 // len(part)), f"<outside{part}" * 4_000):
        synthesis, given_ = full(text)
        author = PromptAuthor()
        spec = author.spec_prompt(spec_brief(synthesis, given_))
        draft = author.draft_prompt(draft_brief(synthesis, given_, "1.0.0"))

        assert len(spec.system) + len(spec.text) + len(SPEC_FORMAT) < MOST_CHARS
        assert len(draft.system) + len(draft.text) + len(DRAFT_FORMAT) < MOST_CHARS


def test_a_spec_that_was_read_fits_into_any_brief() -> None:
    long = evolve(SPEC, input_schema={"type": "object", "description": "a" * (MAX_SPEC_CHARS - 1_000)})

    assert spec_brief(evolve(SYNTHESIS, spec=read_spec(write_spec(long))), materials()).before == write_spec(long)

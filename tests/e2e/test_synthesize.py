"""A neuron is designed as a person sees it: after a turn that failed, or by hand, up to each of its ends."""

from __future__ import annotations

import io
import json
import re
from string import Formatter
from typing import Any

import pytest
from babel.messages.pofile import read_po
from catalogues import domains
from designs import BODY, GOAL, TESTS, draft, replies, spec

from .conftest import finish, shown
from .test_chat import PROMPT, say

QUESTION = "How many words are in 'one two three'?"
MISSES = [{"tool_calls": [{"tool": "fs_read", "args": {"path": "none.txt"}}]}] * 3
ANSWERS = [
    {"tool_calls": [{"tool": "neuron:word_counter", "args": {"text": "one two three"}}]},
    {"text": "There are 3 words."},
]
RED = draft(tests=TESTS.replace('"count": 3', '"count": 4'))
IMPORTS = draft(body=BODY.replace("from myclaw", "import os\n\nfrom myclaw", 1))
STAGES = [
    "a neuron is designed for it; its model calls may cost up to 0.5 EUR",
    "spec: word_counter: Count the words of a text.",
    "draft: three files, 905 bytes",
    "analysis: nothing found",
]
BORN = "born: the neuron word_counter can be called"
GREEN = "tests: 3 of 3 passed; R is 0."
ID = re.compile(r"--resume ([0-9a-f]{12})'")
LONG = 14
"""So many characters of a message are no accident."""
DIRECTION = "yes / no / details >"
DOSSIER = "yes / no / details / revise >"


def synthesize(console: Any, *args: str) -> Any:
    """Start a design at a terminal."""
    return console.spawn("neurons", "synthesize", *(args or (GOAL,)))


def answer(child: Any, prompt: str, said: str) -> None:
    """Wait for a question and answer it."""
    child.expect_exact(prompt)
    child.send(f"{said}\r")


def is_listed(console: Any, stage: str) -> str:
    """Return the end of the id of the one design on record, which is at this stage."""
    head, row, *_rest = console.run("neurons", "proposals").out.splitlines()
    assert head.split() == ["id", "since", "stage", "goal"]
    assert row.split()[3] == stage
    return row.split()[0]


def test_a_goal_that_fails_in_a_chat_becomes_a_neuron_that_the_next_turn_calls(console, script) -> None:
    """Two questions on the way, and one before the neuron is called; the record is whole."""
    script(*MISSES, *replies(), *ANSWERS)
    child = console.spawn()
    say(child, QUESTION)
    child.expect_exact("the turn failed")
    child.expect_exact("the turn went in circles; tried: fs_read – you are asked whether a neuron may be designed")
    child.expect_exact("up to 0.50 EUR of model calls")
    answer(child, DIRECTION, "yes")
    for line in (*STAGES[1:], GREEN):
        child.expect_exact(line)
    answer(child, DOSSIER, "yes")
    child.expect_exact(BORN)
    say(child, QUESTION)
    child.expect_exact("call the neuron word_counter")
    answer(child, DIRECTION, "yes")
    child.expect_exact("There are 3 words.")
    child.expect(PROMPT)
    child.sendeof()
    assert finish(child) == 0
    assert is_listed(console, "born")
    assert console.run("audit", "verify").code == 0


def test_a_goal_that_fails_in_ask_becomes_a_neuron_too(console, script) -> None:
    """The turn itself has failed, which its exit code says."""
    script(*MISSES, *replies(), *ANSWERS)
    child = console.spawn("ask", QUESTION)
    answer(child, DIRECTION, "yes")
    answer(child, DOSSIER, "yes")
    child.expect_exact(BORN)
    assert finish(child) == 1
    script(*ANSWERS)
    child = console.spawn("ask", QUESTION)
    answer(child, DIRECTION, "yes")
    assert finish(child) == 0
    assert "There are 3 words." in shown(child)


def test_a_no_to_the_direction_asks_no_model_and_is_not_asked_again_that_day(console, script) -> None:
    script(*MISSES)
    child = console.spawn("ask", QUESTION)
    answer(child, DIRECTION, "no")
    child.expect_exact("not made: you did not want it")
    assert finish(child) == 1
    assert is_listed(console, "rejected_direction")
    ended = console.run("ask", QUESTION)
    assert ended.code == 1
    assert "designed" not in ended.out + ended.err
    assert console.json("neurons", "proposals", "--json")[0]["cost_eur"] == 0


def test_a_goal_by_hand_becomes_a_neuron_after_one_yes(console, script) -> None:
    """A line a stage, the dossier, the end, and what it cost."""
    script(*replies())
    child = synthesize(console)
    for line in (*STAGES, GREEN):
        child.expect_exact(line)
    child.expect_exact("let the neuron word_counter 1.0.0 in")
    answer(child, DOSSIER, "yes")
    assert finish(child) == 0
    *_, end, cost = shown(child).splitlines()
    assert end.endswith(BORN)
    assert cost == "cost: 0.0000 EUR, retries: 0"
    again = console.run("neurons", "synthesize", "--resume", is_listed(console, "born"))
    assert (again.code, again.out.splitlines()) == (0, [BORN, cost])
    assert "made for: count the words of a text" in console.run("neurons", "dossier", "word_counter").out


def test_without_a_terminal_the_question_is_left_and_can_be_read_and_put(console, script) -> None:
    """What a program reads is one JSON document; the dossier is what the card shows."""
    script(*replies())
    left = console.json("neurons", "synthesize", GOAL, "--json")
    assert (left["stage"], left["result"], left["retries"]) == ("approval", None, 0)
    named = is_listed(console, "approval")
    assert left["id"].endswith(named)
    dossier = console.run("neurons", "dossier", named).out
    for part in ("purpose: Count the words", "test_positive: passed, ", "+async def run(", "total", "0.00 EUR so far"):
        assert part in dossier
    document = console.json("neurons", "dossier", named, "--json")
    assert document["tested"]["reward"]["det_pass_rate"] == 1
    assert document["proposal"]["id"] == left["id"]
    waits = console.run("neurons", "synthesize", "--resume", named)
    assert (waits.code, waits.err) == (0, "")
    assert waits.out == f"it waits; 'myclaw neurons synthesize --resume {named}' goes on with it\n"
    again = console.run("neurons", "synthesize", GOAL)
    assert (again.code, again.out) == (2, "")
    assert f"--resume {named}' goes on with it" in again.err
    child = synthesize(console, "--resume", named)
    answer(child, DOSSIER, "yes")
    child.expect_exact("born: ")
    assert finish(child) == 0


@pytest.mark.parametrize(
    ("played", "refusal", "why"),
    [
        pytest.param([spec(), *[IMPORTS] * 4], "refused, attempt 3 of 4: body.py:5: [", "os", id="analysis"),
        pytest.param(
            [spec(), *[RED] * 4], "refused, attempt 1 of 4: R was 0.5", "test_positive failed: line 5", id="sandbox"
        ),
        pytest.param(
            [spec(capabilities_requested=["fs-read:~/.ssh/*"])] * 3,
            "forbidden, which costs no attempt: ",
            "what it would need is forbidden",
            id="forbidden",
        ),
    ],
)
def test_what_is_refused_again_and_again_ends_without_a_neuron(console, script, played, refusal, why) -> None:
    """Exit 1; why, what it cost and from when on it may be tried again; the same for a program."""
    script(*played)
    ended = console.run("neurons", "synthesize", GOAL)
    *_, last, cost, rest = ended.out.splitlines()
    assert (ended.code, ended.err) == (1, "")
    assert refusal in ended.out
    assert last.startswith("not made: ")
    assert why in last
    assert re.fullmatch(r"cost: 0\.0000 EUR, retries: [03]", cost)
    assert re.fullmatch(r"no neuron is designed for about the same before \d{4}-\d\d-\d\d \d\d:\d\d", rest)
    named = is_listed(console, "abandoned")
    assert last in console.run("neurons", "dossier", named).out.splitlines()
    result = console.json("neurons", "dossier", named, "--json")["proposal"]["result"]
    assert f"not made: {result['rejection_reason']}" == last
    again = console.run("neurons", "synthesize", GOAL, "--json")
    assert (again.code, again.out) == (2, "")
    assert "this was given up lately and rests until" in again.err


def test_a_draft_whose_r_is_too_low_ends_without_a_neuron(console, script) -> None:
    """Although each of its tests is green."""
    script(*replies(*[draft()] * 4), config="[reward]\ngate = 0.8\n")
    ended = console.run("neurons", "synthesize", GOAL, "--json")
    assert (ended.code, ended.err) == (1, "")
    document = json.loads(ended.out)
    assert document["result"]["outcome"] == "abandoned"
    assert "and 0.80 is needed" in document["result"]["rejection_reason"]
    assert document["result"]["final_reward"]["det_pass_rate"] == 1


def test_a_no_to_the_draft_is_an_end_with_a_rest(console, script) -> None:
    script(*replies())
    child = synthesize(console)
    answer(child, DOSSIER, "no")
    assert finish(child) == 1
    *_, last, _cost, rest = shown(child).splitlines()
    assert last.strip() == "not made: you did not let it in"
    assert rest.startswith("no neuron is designed for about the same before ")
    assert "word_counter" not in console.run("neurons", "list").out


def test_what_was_typed_at_the_card_is_in_the_next_prompt(console, model) -> None:
    """The second draft is another one, and is asked about anew."""
    other = draft(body=BODY.replace("Counts words", "Word counts"))
    server = model([spec(), draft(), other])
    child = synthesize(console)
    answer(child, DOSSIER, "revise")
    answer(child, "what is made anew: spec / draft >", "draft")
    answer(child, "what should be otherwise, in one line >", "say it the other way round")
    child.expect_exact("refused, attempt 1 of 4: the person wants it otherwise: say it the other way round")
    answer(child, DOSSIER, "yes")
    child.expect_exact("retries: 1")
    assert finish(child) == 0
    assert "say it the other way round" in json.dumps(server.requests[2]["body"]["messages"])
    assert "Word counts" in (console.home / "workspace" / "neurons" / "word_counter" / "body.py").read_text()


def test_what_costs_more_than_its_budget_is_not_asked_and_may_be_given_more(console, model) -> None:
    """Nothing was sent; a larger budget can be given at once."""
    server = model([spec(), draft()])
    ended = console.run("neurons", "synthesize", GOAL, "--budget", "0.0001")
    assert (ended.code, server.requests) == (1, [])
    first, why, cost = ended.out.splitlines()
    assert first.endswith("may cost up to 0.0001 EUR")
    assert re.fullmatch(
        r"not made: another call may cost 0\.\d{4} EUR, and the budget of the request leaves 0\.0001 EUR; "
        r"--budget or \[synthesis\] budget_eur sets it",
        why,
    )
    assert cost == "cost: 0.0000 EUR, retries: 0"
    more = console.run("neurons", "synthesize", GOAL, "--budget", "1")
    assert more.code == 0
    assert "your answer is waited for" in more.out
    assert console.json("neurons", "proposals", "--json")[0]["cost_eur"] > 0


def test_a_design_that_was_stopped_in_a_call_goes_on_with_the_next_one(console, model) -> None:
    """It says how, and the spec is not written twice."""
    server = model([spec(), {"silent": True}, draft()])
    child = synthesize(console)
    assert server.waiting.wait(60)
    child.sendintr()
    child.expect_exact("myclaw: stopped; 'myclaw neurons synthesize --resume ")
    assert finish(child) == 130
    named = ID.findall(shown(child))[0]
    assert is_listed(console, "draft") == named
    assert "purpose: Count the words" in console.run("neurons", "dossier", named).out
    child = synthesize(console, "--resume", named)
    answer(child, DOSSIER, "yes")
    child.expect_exact("born: ")
    assert finish(child) == 0
    assert len(server.requests) == 3


def test_a_model_that_refuses_the_key_leaves_the_design_as_it_is(console, model) -> None:
    """The exit code says that nothing failed for good."""
    model([{"status": 401}])
    ended = console.run("neurons", "synthesize", GOAL)
    assert ended.code == 0
    assert "it cannot go on now: " in ended.out
    assert ended.out.splitlines()[-1].startswith("it waits; 'myclaw neurons synthesize --resume ")
    assert is_listed(console, "spec")


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ((), "give GOAL"),
        (("  ",), "give GOAL"),
        ((GOAL, "--resume", "abc"), "give GOAL"),
        ((GOAL, "--budget", "0"), "--budget must be"),
        ((GOAL, "--budget", "nan"), "--budget must be"),
        (("--resume", "abc", "--budget", "1"), "--budget goes with GOAL"),
        (("--resume", "abc"), "there is no proposal abc; 'myclaw neurons proposals' lists them"),
    ],
)
def test_what_cannot_be_meant_is_told_in_one_line(console, script, args, why) -> None:
    script()
    ended = console.run("neurons", "synthesize", *args)
    assert (ended.code, ended.out, len(ended.said)) == (2, "", 1)
    assert why in ended.err


def test_what_fails_five_times_is_proposed_at_night_and_made_after_two_answers(console, script) -> None:
    """Each answer is asked for by the command that the digest and the list name."""
    script(*MISSES * 5, config='[synthesis]\nafter_failure = "off"\n')
    child = console.spawn()
    for _time in range(5):
        say(child, QUESTION)
        child.expect_exact("the turn failed")
    child.expect(PROMPT)
    child.sendeof()
    assert finish(child) == 0
    assert "designed" not in shown(child)
    night = console.run("nightly")
    assert (
        f"  failed 5 times in 30 days: {QUESTION}; 'myclaw neurons proposals' shows what may be designed" in night.out
    )
    named = is_listed(console, "direction")
    assert "--resume ID' asks you" in console.run("neurons", "proposals").out
    script(*replies())
    child = synthesize(console, "--resume", named)
    child.expect_exact("turns that failed at about the same in 30 days: 5")
    answer(child, DIRECTION, "yes")
    answer(child, DOSSIER, "yes")
    child.expect_exact(BORN)
    assert finish(child) == 0


def test_no_sentence_of_ours_is_english_where_the_person_speaks_italian(console, script) -> None:
    """From the turn that fails to the birth, with a draft that is refused on the way."""
    console.environ |= {"LANG": "it_IT.UTF-8", "LANGUAGE": "it"}
    script(*MISSES, *replies(RED, draft()))
    child = console.spawn("ask", QUESTION)
    answer(child, "sì / no / dettagli >", "sì")
    answer(child, "sì / no / dettagli / rivedi >", "sì")
    child.expect_exact("nato: ")
    assert finish(child) == 1
    assert english_in("born: the neuron x can be called")
    listed = console.run("neurons", "proposals").out + console.run("neurons", "dossier", "word_counter").out
    assert english_in(f"{shown(child)}\n{listed}") == []


def english_in(output: str) -> list[str]:
    """Return the pieces of English messages in an output that their translations do not have."""
    flat = " ".join(output.split())
    found: list[str] = []
    for domain in domains():
        if not domain.po("it").is_file():
            continue
        for message in read_po(io.BytesIO(domain.po("it").read_bytes())):
            told, said = (one if isinstance(one, tuple) else (one,) for one in (message.id, message.string))
            pieces = [piece.strip() for one in told if all(said) for piece, *_field in Formatter().parse(one)]
            found += [each for each in pieces if len(each) >= LONG and each in flat and each not in " ".join(said)]
    return found

"""What the analysis refuses and what it lets pass."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.neurons.analysis import analyze_body, analyze_tests
from myclaw_core.neurons.analysis.limits import MAX_BYTES

RUN = b"async def run(ctx, args):\n    return {}\n"
BOMBS = {
    "many bytes": RUN + b"#" * MAX_BYTES,
    "a long line": RUN + b"X = '" + b"a" * 3_000 + b"'\n",
    "many signs": RUN + b"X = " + b"-" * 1_900 + b"1\n",
    "many nots": RUN + b"X = " + b"not " * 400 + b"1\n",
    "many brackets": RUN + b"X = " + b"(" * 400 + b"1" + b")" * 400 + b"\n",
    "many lists": RUN + b"X = " + b"[" * 100 + b"]" * 100 + b"\n",
    "a long sum": RUN + b"X = (" + b"1 +\n" * 5_000 + b"1)\n",
    "a long chain": RUN + b"X = (run\n" + b".a\n" * 5_000 + b")\n",
    "many lambdas": RUN + b"X = " + b"lambda: " * 200 + b"1\n",
    "deep blocks": RUN + b"".join(b" " * n + b"if 1:\n" for n in range(60)) + b" " * 60 + b"pass\n",
    "a long elif": RUN + b"def f(x):\n    if x:\n        pass\n" + b"    elif x:\n        pass\n" * 2_000,
    "a number of many digits": RUN + b"X = (" + b"9" * 1_900 + b"\n" + b"9" * 1_900 + b")\n",
    "a number of too many digits": RUN + b"X = " + b"9" * 5_000 + b"\n",
    "many statements": RUN + b"x=1\n" * 15_000,
    "null bytes": RUN + b"\x00",
    "an open bracket": RUN + b"(",
    "an open string": RUN + b"'''",
    "names of names of names": b"async def run(ctx, args):\n"
    + b"".join(b"    x%d = x%d\n" % (n % 9, n % 9 + 1) for n in range(900))
    + b"    return ctx.open(x0)\n",
    "not Python": b"this is no Python",
}
ODD = {
    "another coding": b"# -*- coding: latin-1 -*-\n" + RUN,
    "another coding in line 2": b"\n# vim: set fileencoding=utf-7 :\n" + RUN,
    "no UTF-8": RUN + b"# \xff\n",
    "a mark in front": b"\xef\xbb\xbf" + RUN,
    "a bidi control": RUN + "# \u202e\n".encode(),
    "a zero-width space": RUN + "X = 'a\u200bb'\n".encode(),
    "a control character": RUN + b"# \x1b[2J\n",
    "a form feed": b"\x0c" + RUN,
    "a line separator": RUN + "# \u2028x\n".encode(),
    "a name in wide letters": "async def run(ctx, args):\n    return \uff45val('1')\n".encode(),
    "a name in mathematical letters": "async def run(ctx, args):\n    return \U0001d428pen('x')\n".encode(),
    "an attribute in other letters": "def run(ctx, args):\n    return args.\uff3f\uff3fclass\uff3f\uff3f\n".encode(),
    "a name with an accent": "async def run(ctx, args):\n    perch\u00e9 = 1\n    return perch\u00e9\n".encode(),
    "a tag character": RUN + "# \U000e0041\n".encode(),
}
TESTS = b"""\
async def test_counts(run):
    out = await run({"text": "a b"})
    assert out == {"n": 2}

async def test_of_nothing(run):
    assert (await run({"text": ""}))["n"] == 0

async def test_refuses_no_text(run):
    try:
        await run({})
    except KeyError as error:
        assert "text" in str(error)
    else:
        assert False, "it must refuse"
"""


def test_every_attack_is_refused(attack: Any) -> None:
    """Whatever an attack tries, there is a finding."""
    assert analyze_body(attack.source.encode(), attack.capabilities, attack.may_call)


def test_an_attack_is_refused_for_itself_and_not_for_its_form(attack: Any) -> None:
    """The attacks are Python of the right version, or they would prove nothing."""
    found = analyze_body(attack.source.encode(), attack.capabilities, attack.may_call)

    assert not any(finding.rule == "fault" for finding in found)
    compile(attack.source, "body.py", "exec")


def test_every_honest_body_passes(honest: Any) -> None:
    """Ordinary code needs no tricks to be let through."""
    assert analyze_body(honest.source.encode(), honest.capabilities, honest.may_call) == ()


@pytest.mark.parametrize("name", BOMBS)
def test_what_would_break_a_parser_is_refused(name: str) -> None:
    """A file made to exhaust the parser is a finding."""
    assert analyze_body(BOMBS[name], (), ())


@pytest.mark.parametrize("name", ODD)
def test_text_that_shows_something_else_than_it_is_is_refused(name: str) -> None:
    """What a person reads in the dossier is what runs."""
    assert analyze_body(ODD[name], (), ())


def test_good_birth_tests_pass() -> None:
    """Three tests that call `run` and assert are what is asked for."""
    assert analyze_tests(TESTS) == ()


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        (b"test_of_nothing", b"check_of_nothing", "tests"),
        (b"test_of_nothing(run)", b"test_of_nothing(ctx)", "tests"),
        (b"test_of_nothing(run)", b"test_of_nothing(run, x=1)", "tests"),
        (b"test_of_nothing", b"test_counts", "tests"),
        (b'    assert out == {"n": 2}', b"    return out", "tests"),
        (b'    out = await run({"text": "a b"})', b'    out = {"n": 2}', "tests"),
        (b'    out = await run({"text": "a b"})', b"    import os\n    os._exit(0)", "import"),
        (b"async def test_counts", b"import sys\nasync def test_counts", "import"),
        (b"async def test_counts", b"import pytest\n@pytest.mark.skip\nasync def test_counts", "import"),
        (b'    out = await run({"text": "a b"})', b"    raise SystemExit(0)\n    run", "name"),
        (b'    out = await run({"text": "a b"})', b"    out = await run(ctx)", "ctx"),
    ],
)
def test_birth_tests_that_prove_nothing_or_reach_out_are_refused(old: bytes, new: bytes, rule: str) -> None:
    """The tests are held to the same rules as the body, and to what makes them tests."""
    assert old in TESTS
    assert rule in {finding.rule for finding in analyze_tests(TESTS.replace(old, new))}


def test_a_finding_names_file_line_and_rule() -> None:
    """A person finds the place at once."""
    (finding,) = analyze_body(b"import os\n" + RUN, (), ())

    assert (finding.file, finding.line, finding.rule) == ("body.py", 1, "import")
    assert str(finding.message) == "the module os may not be imported"


WORDS = st.sampled_from(
    (
        *("async def run(ctx, args):\n    ", "return", "eval", "import os", "\n", "\n    ", "lambda x:", "[", "]", "{"),
        *("}", "'", '"', "f'", "=", "==", ".", "open", ".format", "class A:", "match x:", "case _:", "__x", "await"),
        *("yield", "if", "for x in", "while", "try:", "except", "with", "as", "@", "->", ":=", "**", "*", "#", "\\"),
        *("\t", "0x", "ctx", "ctx.open(", ")", "(", "'~/a'", ",", "\u200b", "\u00e9", "run", "args", "9" * 50),
    )
)
TEXT = st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass"))
DECLARED = st.lists(st.text(max_size=20), max_size=3)


@given(st.one_of(st.binary(max_size=400), TEXT))
def test_no_bytes_make_the_analysis_raise(data: bytes) -> None:
    """Whatever the bytes, there are findings or none, never an error."""
    assert all(finding.rule != "fault" for finding in (*analyze_body(data, (), ()), *analyze_tests(data)))


@given(st.lists(WORDS, max_size=40), DECLARED, DECLARED)
def test_no_words_make_the_analysis_raise(words: list[str], capabilities: list[str], may_call: list[str]) -> None:
    """Neither does anything that looks like Python, nor what is declared beside it."""
    data = " ".join(words).encode()

    assert all(finding.rule != "fault" for finding in analyze_body(data, capabilities, may_call))

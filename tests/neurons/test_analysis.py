"""What the analysis refuses and what it lets pass."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.neurons.analysis import analyze_body, analyze_tests
from myclaw_core.neurons.analysis.limits import MAX_BYTES
from myclaw_core.neurons.checking import check_body

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
    "a long chain of calls": RUN + b"X = (run\n" + b"()\n" * 5_000 + b")\n",
    "a long chain of places": RUN + b"X = (run\n" + b"[0]\n" * 5_000 + b")\n",
    "a long chain of powers": RUN + b"X = (2\n" + b"** 2\n" * 5_000 + b")\n",
    "a long chain of comparisons": RUN + b"X = (1\n" + b"< 2\n" * 8_000 + b")\n",
    "a long chain of conditions": RUN + b"X = (1\n" + b"if 1 else 0\n" * 5_000 + b")\n",
    "a long chain of awaits": b"async def run(ctx, args):\n    return (" + b"await\n" * 5_000 + b"args)\n",
    "many decorators": b"@property\n" * 6_000 + RUN,
    "many f-strings in one another": RUN + b"X = " + b"f'{f\"{" * 30 + b"1" + b"}\"}'" * 30 + b"\n",
    "many patterns": RUN
    + b"def f(x):\n    match x:\n"
    + b"".join(b"        case [%d, *_]: pass\n" % n for n in range(2_000)),
    "deep patterns": RUN + b"def f(x):\n    match x:\n        case " + b"[" * 90 + b"]" * 90 + b": pass\n",
    "deep comprehensions": RUN + b"X = " + b"[x for x in " * 90 + b"[]" + b"]" * 90 + b"\n",
    "deep subscripts": RUN + b"X = " + b"run[" * 90 + b"0" + b"]" * 90 + b"\n",
    "deep calls": RUN + b"X = " + b"run(" * 90 + b"0" + b")" * 90 + b"\n",
    "deep dictionaries": RUN + b"X = " + b"{0: " * 90 + b"0" + b"}" * 90 + b"\n",
    "deep functions": RUN + b"".join(b" " * n + b"def f():\n" for n in range(90)) + b" " * 90 + b"pass\n",
    "a number of too many digits after a point": RUN + b"X = 1" + b"0" * 1_990 + b".0e" + b"9" * 4_000 + b"\n",
    "NUL in a text": RUN + b"X = b'\x00'\n",
    "a backslash at the end": RUN + b"X = \\",
}
SEED = b"import random\nasync def run(ctx, args):\n%s    x7 = 1\n    random.Random(x0)\n    return {}\n"
TANGLES = {
    "seeds of seeds": SEED % b"".join(b"    x%d = x%d\n" % (n // 250, n // 250 + 1) for n in range(7 * 250)),
    "seeds that may be any": SEED
    % b"".join(b"    x%d = (%s)\n" % (n, b" or\n".join([b"x%d" % (n + 1)] * 400)) for n in range(7)),
    "many generators of one seed": b"import random\n"
    + RUN
    + b"def f(x):\n"
    + b"    x = x\n" * 500
    + b"    random.Random(x)\n" * 900,
    "a chain of enumerations": b"import enum\n"
    + RUN
    + b"class A2000(enum.Enum):\n  x = 1\n"
    + b"".join(b"class A%d(A%d):\n  x = 1\n" % (n, n + 1) for n in range(1_500)),
    "many imports": RUN + b"".join(b"import a.b%d\n" % n for n in range(2_500)) + b"def f():\n" + b"    a.x\n" * 1_000,
}
"""Files with much to follow: each is followed once, else this would not end."""
BEYOND_THE_GRAMMAR = {
    "return outside of a function": b"return 1\n",
    "await in a plain function": b"def f(ctx):\n    return await ctx\n",
    "yield outside of a function": b"x = (yield)\n",
    "break outside of a loop": b"def f():\n    break\n",
    "a parameter twice": b"def f(a, a):\n    pass\n",
    "a keyword twice": b"def f():\n    return dict(a=1, a=2)\n",
    "nonlocal at the top": b"nonlocal x\n",
    "nonlocal of nothing": b"def f():\n    nonlocal x\n",
    "two stars": b"*a, *b = []\n",
    "a star alone": b"*a\n",
    "an assignment to a call": b"f() = 1\n",
    "an assignment to None": b"None = 1\n",
    "a name in two ways in a pattern": b"def f(x):\n    match x:\n        case [a, a]: pass\n",
    "names that differ in a pattern": b"def f(x):\n    match x:\n        case [a] | [b]: pass\n",
    "a case that is never reached": b"def f(x):\n    match x:\n        case a: pass\n        case 1: pass\n",
    "a future that there is not": b"from __future__ import braces\n",
    "a future with a star": b"from __future__ import *\n",
    "a future too late": b"X = 1\nfrom __future__ import annotations\n",
    "a star import inside": b"def f():\n    from math import *\n",
    "a type statement": b"type X = int\n",
    "type parameters": b"def f[T](x: T) -> T:\n    return x\n",
    "the quotes of an f-string inside": b"def f(x):\n    return f'{x['a']}'\n",
    "a backslash in an f-string": b"def f(x):\n    return f'{x + \"\\n\"}'\n",
    "exec of Python 2": b"exec 'import os'\n",
    "print of Python 2": b"print 'x'\n",
    "tabs and blanks": b"def f(x):\n\tif x:\n        return 1\n",
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
    "a name in wide letters in an f-string": "def run(ctx, args):\n    return f\"{\uff45val('1')}\"\n".encode(),
    "a method in wide letters in an f-string": "def run(ctx, args):\n    return f'{ctx.\uff4eow()}'\n".encode(),
    "a name in wide letters as the form of an f-string": "def run(ctx, args):\n    return f'{1:{\uff41}}'\n".encode(),
    "a wide line in an f-string": "def run(ctx, args):\n    return f'{args\uff3fx}'\n".encode(),
    "a wide letter that is exchanged for itself": "def run(ctx, args):\n    return \uff31\n".encode(),
    "a wide letter in an import": "import \uff4dath\n".encode() + RUN,
    "a wide letter in a keyword": "def run(ctx, args):\n    return dict(\uff41=1)\n".encode(),
    "a wide letter in a pattern": b"def run(ctx, args):\n    match args:\n        case "
    + "int(re\uff41l=x): pass\n".encode(),
    "a ligature": "def run(ctx, args):\n    \ufb01le = 1\n    return \ufb01le\n".encode(),
    "a filler": RUN + "X = 'a\u3164b'\n".encode(),
    "a filler as a name": "def run(ctx, args):\n    \u3164 = 1\n".encode(),
    "a blank of Braille": RUN + "# \u2800\n".encode(),
    "a soft hyphen": RUN + "X = 'a\u00adb'\n".encode(),
    "a mark of the order of bytes inside": RUN + "X = 'a\ufeffb'\n".encode(),
    "a blank that is none": b"def run(ctx, args):\n    return" + "\u00a01\n".encode(),
    "a line end of old machines": b"# x\rimport os\n" + RUN,
    "a line end of old machines at the end": RUN + b"# x\r",
    "a vertical tab": RUN + b"# \x0b\n",
    "a form feed before code": RUN + b"\x0cX = 1\n",
    "the end of a file of DOS": RUN + b"\x1a",
    "a backspace": RUN + b"# eval\x08\x08\x08\x08\n",
    "a delete": RUN + b"# \x7f\n",
    "a second half of a pair": RUN + b"# \xed\xb0\x80\n",
    "a letter written longer than needed": RUN + b"# \xc1\xa1\n",
    "UTF-16": b"\xff\xfe" + RUN.decode().encode("utf-16-le"),
    "a coding behind a form feed": b"\x0c# coding: latin-1\n" + RUN,
    "a coding of UTF-8 with a mark": b"# coding: utf-8-sig\n" + RUN,
    "a coding that unpacks": b"# coding: rot13\n" + RUN,
    "a coding that escapes": b"# coding: unicode_escape\n" + RUN,
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


def test_every_attack_is_refused_for_what_it_is(attack: Any) -> None:
    """By the rule that it breaks; it is Python of the right version, or it would prove nothing."""
    found = analyze_body(attack.source.encode(), attack.capabilities, attack.may_call)

    assert {*attack.rule} <= {finding.rule for finding in found} - {"fault"}
    assert len(attack.rule) == 1
    compile(attack.source, "body.py", "exec")


def test_there_are_enough_bodies_and_none_is_there_twice(corpus: Any) -> None:
    """The bar is 100 attacks and 40 honest ones."""
    for kind, least in (("attacks", 500), ("honest", 80)):
        bodies = corpus(kind)
        assert len(bodies) >= least
        apart = {(body.source, body.capabilities, body.may_call) for body in bodies}
        assert len({body.name for body in bodies}) == len(apart) == len(bodies)


def test_every_honest_body_passes(honest: Any) -> None:
    """Ordinary code needs no tricks to be let through."""
    assert analyze_body(honest.source.encode(), honest.capabilities, honest.may_call) == ()


@pytest.mark.parametrize("name", BOMBS)
def test_what_would_break_a_parser_is_refused(name: str) -> None:
    """A file made to exhaust the parser is a finding."""
    assert analyze_body(BOMBS[name], (), ())


@pytest.mark.parametrize("name", TANGLES)
def test_what_would_go_on_and_on_is_read_to_its_end(name: str) -> None:
    """No rule is left out for that: none of these is too big to be read."""
    rules = {finding.rule for finding in analyze_body(TANGLES[name], (), ())}

    assert not rules & {"depth", "size", "fault"}


@pytest.mark.parametrize("name", BEYOND_THE_GRAMMAR)
def test_what_this_python_would_not_compile_is_refused(name: str) -> None:
    """Said here, not where it is run."""
    data = RUN + BEYOND_THE_GRAMMAR[name]
    with pytest.raises(SyntaxError):
        compile(data, "body.py", "exec")

    assert "syntax" in {finding.rule for finding in analyze_body(data, (), ())}


def test_line_ends_of_any_machine_are_the_same_code() -> None:
    """What is analysed, signed and run has those of this one."""
    body = b"import os\n# x\n" + RUN
    for end in (b"\n", b"\r\n", b"\r"):
        found = check_body(body.replace(b"\n", end), (), (), lambda files: ())
        assert [(each.line, each.rule) for each in found] == [(1, "import")]


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

"""Honest birth tests, in every style that there is, and what is told of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from births import GREEN, born, named, reasons
from myclaw_bwrap.sandbox import Bubblewrap

from myclaw_core.clock import SystemClock
from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.neurons.birth import run_birth_tests
from myclaw_core.neurons.birth_report import BirthTest
from myclaw_core.neurons.checking import check_neuron
from myclaw_core.neurons.manifest import read_manifest
from myclaw_core.sandbox.sandbox import NoSandbox


async def test_each_result_is_told_once_as_it_comes() -> None:
    """Those with an emptied body are told to nobody."""
    told: list[BirthTest] = []
    report = await born(GREEN, tell=told.append)

    assert told == list(report.tests)


async def test_honest_tests_are_green_and_an_emptied_body_is_noticed() -> None:
    """Every test has its time, its memory and the runs that the host saw."""
    report = await born(GREEN)

    assert report.ok
    assert (report.det_pass_rate, report.stub, report.problems) == (1.0, "noticed", ())
    assert [test.name for test in report.tests] == ["test_green_positive", "test_green_edge", "test_green_negative"]
    assert [test.line for test in report.tests] == [2, 5, 8]
    assert all(test.runs == 1 and test.peak_memory_bytes > 1_000_000 and test.cpu_s > 0 for test in report.tests)
    assert [(each.name, each.outcome) for each in report.sandbox.tests] == [(t.name, t.outcome) for t in report.tests]
    assert report.sandbox.outcome == "ok"
    assert report.cpu_s > sum(test.cpu_s for test in report.tests)


async def test_plain_functions_helpers_loops_and_classes_are_all_styles_of_tests() -> None:
    """A plain test gets the output at once, an `async` one awaits it; helpers do either."""
    report = await born(
        """
        from dataclasses import dataclass
        from myclaw.runtime import NeuronContext, UndeclaredSynapseError

        CASES = (("a", 1), ("a b", 2))

        @dataclass
        class Case:
            text: str
            n: int

            def check(self, run):
                assert run({"text": self.text})["n"] == self.n, self.text

        async def counted(run, text):
            return (await run({"text": text}))["n"]

        def test_plain(run):
            assert run({"text": "a b c"}) == {"n": 3}

        def test_class(run):
            Case("x y", 2).check(run)

        async def test_loop(run):
            for text, n in CASES:
                assert await counted(run, text) == n

        async def test_inside_an_expression(run):
            assert [await counted(run, text) for text, _ in CASES] == [1, 2]
            assert (await run({"text": "a"}))["n"] < (await run({"text": "a b"}))["n"] < 3
        """
    )

    assert reasons(report) == {}
    assert report.ok
    assert [test.runs for test in report.tests] == [1, 1, 2, 4]


async def test_a_red_test_says_where_and_why() -> None:
    """One line each: the line of the file, the condition, and what stood on its sides."""
    report = await born(
        """
        async def test_sides(run):
            assert (await run({"text": "a b"}))["n"] == 3
        async def test_value(run):
            out = await run({"text": ""})
            assert out["n"]
        async def test_message(run):
            assert not await run({"text": "a"}), "a word is there"
        async def test_chain(run):
            n = (await run({"text": "a"}))["n"]
            assert 5 < n < 9
        async def test_of_the_body(run):
            await run({})
        async def test_of_the_test(run):
            assert (await run({"text": "a"}))["m"] == 1
        async def test_raised_by_hand(run):
            await run({"text": "a"})
            raise AssertionError("by hand")
        async def test_without_words(run):
            raise ValueError
        """
    )

    assert reasons(report) == {
        "test_sides": "line 3: (await run({'text': 'a b'}))['n'] == 3 did not hold: 2 on the left, 3 on the right",
        "test_value": "line 6: out['n'] did not hold: it was 0",
        "test_message": "line 8: not await run({'text': 'a'}) did not hold: a word is there",
        "test_chain": "line 11: 5 < n < 9 did not hold: it was False",
        "test_of_the_body": "line 13: line 2 of its body raised KeyError: 'text'",
        "test_of_the_test": "line 15: KeyError: 'm'",
        "test_raised_by_hand": "line 18: AssertionError: by hand",
        "test_without_words": "line 20: ValueError was raised",
    }
    assert (report.ok, report.det_pass_rate, report.stub, report.problems) == (False, 0.0, "not_run", ())


async def test_the_pass_rate_is_green_tests_of_all() -> None:
    """One red test of four."""
    report = await born(GREEN + "\nasync def test_red(run):\n    assert await run({'text': ''}) == {'n': 1}\n")

    assert report.det_pass_rate == 0.75
    assert [test.outcome for test in report.tests] == ["passed", "passed", "passed", "failed"]


async def test_files_are_given_and_what_is_written_stands_in_the_same_mapping() -> None:
    """Text stays text, bytes stay bytes, a new file is text where it can be; what no test gave is not there."""
    report = await born(
        """
        async def test_text(run):
            files = {"~/notes/a.md": "one\\n"}
            await run({"path": "~/notes/a.md", "more": "two\\n"}, files=files)
            assert files == {"~/notes/a.md": "one\\ntwo\\n"}
        async def test_bytes(run):
            files = {"~/notes/a.md": b"one\\xff"}
            await run({"path": "~/notes/a.md", "more": "two"}, files=files)
            assert files == {"~/notes/a.md": b"one\\xfftwo"}
        async def test_new(run):
            files = {}
            await run({"path": "~/notes/new.md", "more": "x"}, files=files)
            assert files == {"~/notes/new.md": "x"}
        async def test_no_text(run):
            files = {"~/notes/a.md": "one"}
            await run({"path": "~/notes/a.md", "raw": [255]}, files=files)
            assert files == {"~/notes/a.md": b"one\\xff"}
        async def test_a_file_is_kept_that_was_closed_before_the_error(run):
            files = {}
            try:
                await run({"path": "~/notes/a.md", "more": "x", "fails": True}, files=files)
            except ValueError:
                assert files == {"~/notes/a.md": "x"}
        async def test_nobody_looks(run):
            assert await run({"path": "~/notes/a.md", "more": "x"}) is None
        async def test_missing(run):
            try:
                await run({"path": "~/notes/none.md"})
            except FileNotFoundError as error:
                assert "none.md" in str(error)
        async def test_not_declared(run):
            try:
                await run({"path": "~/other.md"}, files={"~/other.md": "x"})
            except PermissionError as error:
                assert "fs-read:~/other.md" in str(error)
        """,
        """
        async def run(ctx, args):
            if "more" not in args and "raw" not in args:
                return ctx.open(args["path"]).read()
            with ctx.open(args["path"], "ab") as file:
                file.write(args["more"].encode() if "more" in args else bytes(args["raw"]))
            if "fails" in args:
                raise ValueError("after the file")
        """,
        capabilities=("fs-read:~/notes/*", "fs-write:~/notes/*"),
    )

    assert reasons(report) == {}
    assert report.ok


async def test_pages_calls_answers_time_and_chance_are_those_that_the_test_gives() -> None:
    """What it does not give is an error in the body that says what to give."""
    report = await born(
        """
        from datetime import datetime, timezone
        AT = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
        URL = "https://example.org/a"
        async def test_fetch(run):
            assert await run({"do": "fetch"}, fetch={URL: "page"}) == "page"
        async def test_call(run):
            assert await run({"do": "call"}, calls={"mail_search": {"data": [1, 2]}}) == {"data": [1, 2]}
        async def test_llm(run):
            assert await run({"do": "llm"}, llm=["one", "two"]) == ["one", "two"]
        async def test_now(run):
            assert await run({"do": "now"}, now=AT) == "2026-01-31T12:00:00+00:00"
            assert await run({"do": "now"}, now="2026-01-31T14:00:00+02:00") == "2026-01-31T12:00:00+00:00"
        async def test_random(run):
            assert await run({"do": "random"}) == await run({"do": "random"})
        async def test_nothing_given(run):
            for do, given in (("fetch", "fetch"), ("call", "calls"), ("llm", "llm"), ("now", "now")):
                try:
                    await run({"do": do})
                except OSError as error:
                    assert f"give it in {given}" in str(error)
                else:
                    assert False, do
        async def test_undeclared(run):
            try:
                await run({"do": "other"}, calls={"mail_send": 1})
            except PermissionError as error:
                assert "mail_send" in str(error)
        """,
        """
        async def run(ctx, args):
            if args["do"] == "fetch":
                return await ctx.fetch("https://example.org/a")
            if args["do"] == "call":
                return await ctx.call("mail_search", n=1)
            if args["do"] == "other":
                return await ctx.call("mail_send")
            if args["do"] == "llm":
                return [await ctx.llm("a"), await ctx.llm("b")]
            return ctx.now().isoformat() if args["do"] == "now" else ctx.random()
        """,
        capabilities=("network:https://example.org/*", "llm", "clock", "random"),
        may_call=("mail_search",),
    )

    assert reasons(report) == {}
    assert report.ok


async def test_what_the_body_raises_is_raised_in_the_test_as_what_python_knows_by_that_name() -> None:
    """Its own classes, and whatever ends it from outside, come as a `RuntimeError` that names them."""
    report = await born(
        """
        async def raised(run, kind):
            try:
                await run({"kind": kind})
            except Exception as error:
                return error
        async def test_builtin(run):
            error = await raised(run, "ValueError")
            assert type(error) is ValueError
            assert str(error) == "bad: ValueError"
        async def test_own(run):
            error = await raised(run, "OwnError")
            assert isinstance(error, RuntimeError)
            assert str(error) == "OwnError: bad: OwnError"
        async def test_one_that_takes_more_than_words(run):
            error = await raised(run, "UnicodeDecodeError")
            assert isinstance(error, RuntimeError)
            assert "UnicodeDecodeError" in str(error)
        async def test_exit(run):
            error = await raised(run, "SystemExit")
            assert isinstance(error, RuntimeError)
            assert "SystemExit" in str(error)
        async def test_stopped(run):
            error = await raised(run, "loop")
            assert isinstance(error, RuntimeError)
            assert "processor time" in str(error)
        async def test_output_that_does_not_fit(run):
            error = await raised(run, "none")
            assert isinstance(error, RuntimeError)
            assert "output_schema" in str(error)
        """,
        """
        class OwnError(ValueError):
            pass

        def run(ctx, args):
            kind = args["kind"]
            if kind == "none":
                return None
            if kind == "UnicodeDecodeError":
                b"\\xff".decode()
            while kind == "loop":
                pass
            raise {"ValueError": ValueError, "OwnError": OwnError, "SystemExit": SystemExit}[kind](f"bad: {kind}")
        """,
        quotas={"cpu_s": 1},
        output_schema={"type": "object"},
    )

    assert reasons(report) == {}
    assert report.ok


async def test_a_body_that_is_stopped_costs_only_the_test_that_ran_it() -> None:
    """The others run on; what stopped it is the reason."""
    report = await born(
        GREEN + "\nasync def test_memory(run):\n    await run({'text': 'x' * 7})\n",
        "def run(ctx, args):\n"
        "    text = args['text']\n"
        "    return {'n': len(text.split()) if len(text) < 7 else len('x' * (1 << 30))}\n",
        quotas={"memory_mb": 64},
    )

    assert reasons(report) == {"test_memory": "line 15: it needed more than 64 MB of memory"}
    assert named(report, "test_memory").runs == 1


async def test_what_run_is_given_wrong_is_told_to_the_author() -> None:
    """It is an error at the line of the call, and the body is not run."""
    report = await born(
        """
        async def test_args(run):
            await run([1])
        async def test_files(run):
            await run({}, files={"~/a": 1})
        async def test_fetch(run):
            await run({}, fetch={"https://a.example/": 1})
        async def test_now(run):
            await run({}, now="2026-01-31")
        async def test_no_json(run):
            await run({"a": {1, 2}})
        async def test_no_number(run):
            await run({"a": float("nan")})
        async def test_unknown(run):
            await run({}, file={})
        async def test_half_a_character(run):
            await run({"a": ["\\ud800"]})
        async def test_half_a_character_in_a_key(run):
            await run({}, calls={"\\udfff": 1})
        async def test_too_deep(run):
            args = {}
            for _ in range(5000):
                args = {"a": args}
            await run(args)
        async def test_in_itself(run):
            args = {}
            args["a"] = args
            await run(args)
        async def test_a_time_before_all_times(run):
            await run({}, now="0001-01-01T00:00:00+23:00")
        """
    )

    half = "'utf-8' codec can't encode character '\\u{}' in position 0: surrogates not allowed"
    deep = "run was given something wrong: it is nested more than 60 levels deep"
    assert reasons(report) == {
        "test_args": "line 3: TypeError: run was given something wrong: args must be a mapping",
        "test_files": "line 5: TypeError: files must map each path to text or bytes",
        "test_fetch": "line 7: TypeError: run was given something wrong: fetch must map texts to texts",
        "test_now": "line 9: ValueError: run was given something wrong: "
        "now must have a time zone, such as 2026-01-31T12:00:00Z",
        "test_no_json": "line 11: TypeError: a value of type set is no JSON",
        "test_no_number": "line 13: ValueError: Out of range float values are not JSON compliant",
        "test_unknown": "line 15: TypeError: run() got an unexpected keyword argument 'file'",
        "test_half_a_character": f"line 17: UnicodeEncodeError: {half.format('d800')}",
        "test_half_a_character_in_a_key": f"line 19: UnicodeEncodeError: {half.format('dfff')}",
        "test_too_deep": f"line 24: ValueError: {deep}",
        "test_in_itself": f"line 28: ValueError: {deep}",
        "test_a_time_before_all_times": "line 30: OverflowError: run was given something wrong: "
        "date value out of range",
    }
    assert all(test.runs == 0 for test in report.tests)
    assert report.problems == ()


async def test_the_calls_that_the_body_made_stand_in_the_list_that_was_given() -> None:
    """In their order, with their arguments, also where one of them failed; nobody has to look."""
    report = await born(
        """
        SENT = {"name": "mail_send", "args": {"to": "anna", "lines": ["a", "b"]}}
        async def test_made(run):
            made = []
            await run({"n": 2}, calls={"mail_send": "sent"}, made=made)
            assert made == [SENT, SENT]
        async def test_failed(run):
            made = ["before"]
            try:
                await run({"n": 1}, made=made)
            except OSError:
                assert made == ["before", SENT]
        async def test_none(run):
            made = []
            assert await run({"n": 0}, made=made) == 0
            assert made == []
        async def test_nobody_looks(run):
            assert await run({"n": 1}, calls={"mail_send": "sent"}) == 1
        """,
        """
        async def run(ctx, args):
            for _ in range(args["n"]):
                await ctx.call("mail_send", to="anna", lines=["a", "b"])
            return args["n"]
        """,
        may_call=("mail_send",),
    )

    assert reasons(report) == {}
    assert report.ok


async def test_what_the_body_said_stands_with_the_test_that_ran_it() -> None:
    """The lines of all its runs, no more than anybody reads."""
    report = await born(
        GREEN + "\nasync def test_many(run):\n    for _ in range(3):\n        await run({'text': 'x', 'n': 30})\n",
        """
        def run(ctx, args):
            for n in range(args.get("n", 1)):
                ctx.log(f"log {n}")
                print("printed", n)
            return {"n": len(args["text"].split())}
        """,
    )

    assert (report.tests[0].log, report.tests[0].printed) == (("log 0",), ("printed 0",))
    many = named(report, "test_many")
    assert many.log == (*(f"log {n}" for n in range(30)), *(f"log {n}" for n in range(20)))
    assert len(many.printed) == 50


async def test_more_than_a_test_can_take_back_is_an_error_in_that_test() -> None:
    """The others are not touched by it."""
    report = await born(
        GREEN + "\nasync def test_much(run):\n    await run({'text': '', 'mb': 13}, files={})\n",
        """
        def run(ctx, args):
            if "mb" in args:
                with ctx.open("~/big", "w") as file:
                    file.write("x" * (args["mb"] << 20))
            return {"n": len(args["text"].split())}
        """,
        capabilities=("fs-write:~/big",),
    )

    assert reasons(report) == {"test_much": "line 15: ValueError: what the body gave back is too much for a test"}


async def test_without_a_sandbox_nothing_is_known() -> None:
    """No weaker mode: it is an error that says what is missing."""
    files = {"body.py": b"", "test_birth.py": b"def test_a(run): pass\n"}

    with pytest.raises(UnavailableError, match="bubblewrap is missing"):
        await run_birth_tests(NoSandbox(N_("bubblewrap is missing")), files, None, SystemClock())  # type: ignore[arg-type]


async def test_the_example_of_the_documentation_passes_the_analysis_and_its_tests() -> None:
    """What a reader copies from there can be adopted."""
    text = (Path(__file__).parents[2] / "docs" / "reference" / "birth-tests.md").read_text(encoding="utf-8")
    files = {name: code.encode() for name, code in re.findall(r"`([a-z_.]+)`:\n\n```\w+\n(.*?)```", text, re.DOTALL)}
    clock = SystemClock()

    assert check_neuron(files, "note_count", lambda _files: ()) == ()
    report = await run_birth_tests(Bubblewrap(clock), files, read_manifest(files["manifest.yaml"]), clock)

    assert reasons(report) == {}
    assert (report.ok, report.det_pass_rate, report.survivors) == (True, 1.0, ())

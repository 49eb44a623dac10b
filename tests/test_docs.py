"""What the documentation says is true: its links, its commands, its code, its figures and its tables.

`python tests/test_docs.py` writes the list of commands into docs/reference/commands.md again.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest

from myclaw_core import errors
from myclaw_core.cli.parser import parse, whole_parser
from myclaw_core.plugins import FIRST_PARTY
from myclaw_core.policy.types import CheckName
from myclaw_core.trust import promotion
from myclaw_core.trust.decayed_mean import HALF_LIFE_DAYS, SEED_WEIGHTS, DecayedMean
from myclaw_core.trust.state import COMPONENTS
from myclaw_core.trust.types import TraceSignals

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "plugins/*/README.md",
        "contrib/*/README.md",
        "benchmarks/*.md",
        "neurons/*.md",
    )
    for path in ROOT.glob(pattern)
)
COMMANDS_PAGE = ROOT / "docs/reference/commands.md"
GENERATED = re.compile(r"(?<=<!-- generated: commands -->\n).*?(?=<!-- end -->)", re.DOTALL)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, language: str) -> list[str]:
    """Return the fenced code blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text_of(page), re.MULTILINE | re.DOTALL)


def prose(page: Path) -> str:
    """Return a page without its fenced code."""
    return re.sub(r"^(`{3,}).*?^\1$", "", text_of(page), flags=re.MULTILINE | re.DOTALL)


def table(page: str, header: str) -> list[list[str]]:
    """Return the rows of the table whose header starts with `header`, cells without code marks."""
    _, _, rest = text_of(ROOT / "docs" / page).partition(f"\n| {header} |")
    assert rest, header
    lines = rest.splitlines()[2:]
    rows = lines[: next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))]
    return [[cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


# --- links ---------------------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as repository hosts make them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> list[str]:
    found = re.findall(r"\]\(([^)\s]+)\)", prose(page))
    return [link for link in found if not re.match(r"[a-z]+:", link)]


LINKS = sorted({(name_of(page), link) for page in PAGES for link in links(page)})


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_a_link_leads_to_a_file_and_a_heading(page: str, link: str) -> None:
    file, _, anchor = link.partition("#")
    target = (ROOT / page).parent / file if file else ROOT / page
    assert target.exists()
    assert not anchor or anchor in anchors(target)


def test_every_page_of_docs_is_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    todo = [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        seen.add(page)
        targets = {(page.parent / link.partition("#")[0]).resolve() for link in links(page) if not link.startswith("#")}
        todo += [target for target in targets - seen if target.suffix == ".md" and target.exists()]
    assert [name_of(page) for page in PAGES if page.is_relative_to(ROOT / "docs") and page not in seen] == []


# --- commands ------------------------------------------------------------------------------------------------------


def command_lines(page: Path) -> Iterator[str]:
    """Yield every `myclaw …` that can be typed: in shell blocks and as inline code."""
    for block in (*blocks(page, "sh"), *blocks(page, "bash"), *blocks(page, "console")):
        for line in block.replace("\\\n", " ").splitlines():
            yield from re.findall(r"(?:^|&& |\| |; )(?:\$ )?(?:\w+=\S* )*(?:uv run )?(myclaw(?: .*)?)$", line)
    yield from re.findall(r"`(?:uv run )?(myclaw(?: [^`\n]+)?)`", prose(page))


def arguments(command: str) -> list[str]:
    """Return the words that follow `myclaw` in the first command of a line."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words = list(lexer)[1:]
    end = next((number for number, word in enumerate(words) if word and set(word) <= set("|&;<>")), len(words))
    return [word.strip("[]") for word in words[:end] if word != "[]"]


COMMAND_LINES = sorted({(name_of(page), command) for page in PAGES for command in command_lines(page)})


@pytest.mark.parametrize(("page", "command"), COMMAND_LINES)
def test_a_command_line_can_be_typed(page: str, command: str) -> None:
    words = arguments(command)
    if " ".join(words) not in {name for name, _ in parsers()}:  # a text may speak of a command without its arguments
        assert refusal(words) == ""


def refusal(words: list[str]) -> str:
    """Return what the parser has against a command line."""
    complaint = io.StringIO()
    with (
        contextlib.redirect_stderr(complaint),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        parse(words)
    return complaint.getvalue()


def test_a_command_line_that_cannot_be_typed_would_be_noticed() -> None:
    assert "invalid choice: 'frobnicate'" in refusal(["frobnicate"])
    assert "--yes" in refusal(["undo", "--yes"])


@cache
def everything() -> argparse.ArgumentParser:
    """Return the parser with the commands of plugins."""
    return whole_parser()


def parsers(parser: argparse.ArgumentParser | None = None, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every parser by its words, a group before its verbs."""
    parser = parser or everything()
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, child in action.choices.items():
                yield from parsers(child, f"{name} {word}".strip())


def rendered_commands() -> str:
    """Return the list of commands as the page holds it."""
    helps: dict[str, str] = {}
    parts = []
    for name, parser in parsers():
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                helps |= {f"{name} {each.dest}".strip(): each.help or "" for each in action._choices_actions}
        if "command" not in parser._defaults:
            continue
        about = dict.fromkeys(_sentence(line) for line in (helps.get(name, ""), parser.description or "") if line)
        rows = [row for action in parser._actions if (row := _row(action))]
        parts.append(f"### `{f'myclaw {name}'.strip()}`\n")
        parts.extend(f"{line}\n" for line in about)
        if rows:
            parts.append("\n".join(("| argument | meaning |", "|---|---|", *rows)) + "\n")
    return "\n" + "\n".join(parts) + "\n"


def _row(action: argparse.Action) -> str:
    if isinstance(action, argparse._SubParsersAction | argparse._HelpAction):
        return ""
    value = str(action.metavar or action.dest.upper())
    if action.option_strings:
        spelled = action.option_strings[0] + ("" if action.nargs == 0 else f" {value}")
    else:
        spelled = {"+": f"{value} …", "*": f"[{value} …]", "?": f"[{value}]"}.get(str(action.nargs), value)
    notes = [(action.help or "") % vars(action)]
    if action.choices:
        notes.append("one of " + ", ".join(f"`{choice}`" for choice in action.choices))
    if isinstance(action, argparse._AppendAction):
        notes.append("may be given several times")
    return f"| `{spelled}` | {'; '.join(notes)} |"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def test_the_reference_lists_every_command_and_option_as_the_parser_has_them() -> None:
    """If it does not: `python tests/test_docs.py` writes it again."""
    found = GENERATED.search(text_of(COMMANDS_PAGE))
    assert found
    assert found[0] == rendered_commands()


def test_the_exit_codes_are_those_of_the_errors() -> None:
    of_errors = {
        cls.exit_code for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, errors.MyclawError)
    }
    assert {int(row[0]) for row in table("reference/commands.md", "exit code")} == of_errors | {0, 130}


def test_the_page_on_policy_check_names_what_it_reads() -> None:
    from myclaw_core.cli.policy import _KEYS

    assert {row[0] for row in table("reference/commands.md", "key of a line")} == _KEYS


# --- code ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_blocks_are_well_formed(page: Path) -> None:
    """A lone signature, as the reference of hooks shows them, counts as a function without a body."""
    for code in blocks(page, "python"):
        body = f"{code.rstrip()}: ..." if re.fullmatch(r"(?:async )?def [^\n]*[^:]\n", code) else code
        compile(body, name_of(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    for code in blocks(page, "toml"):
        tomllib.loads(code)
    for code in blocks(page, "json"):
        json.loads(code)
    for code in blocks(page, "jsonl"):
        for line in code.splitlines():
            json.loads(line)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages_name_no_registry_and_no_folder_of_somebodys_machine(page: Path) -> None:
    text = text_of(page)
    assert re.findall(r"\b[\w.-]*(?:pypi|pythonhosted|testpypi|anaconda|conda-forge|npmjs)\.\w+", text) == []
    assert re.findall(r"(?<![\w~.])/(?:work|root|tmp|home|Users)/[\w.]+\S*", text) == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages_speak_of_settings_and_variables_that_exist(page: Path) -> None:
    settings = text_of(ROOT / "docs/reference/settings.md")
    sections = re.split(r"^## `\[(.+)\]`$", settings, flags=re.MULTILINE)
    known = {
        f"{section}.{key}"
        for section, text in zip(sections[1::2], sections[2::2], strict=True)
        for key in re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    }
    named = re.findall(r"\[([a-z]\w*)\] ([a-z]\w+)`", prose(page))
    assert {f"{section}.{key}" for section, key in named} <= known
    assert set(re.findall(r"\bMYCLAW_[A-Z]+\b", text_of(page))) <= set(re.findall(r"`(MYCLAW_[A-Z]+)`", settings))


# --- plugins -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plugin", FIRST_PARTY)
def test_a_plugin_has_a_readme_and_stands_in_the_changelog(plugin: str) -> None:
    readme = text_of(ROOT / "plugins" / plugin / "README.md")
    assert readme.startswith(f"# {FIRST_PARTY[plugin]}\n")
    assert len(readme.split()) >= 5
    assert re.search(rf"\b{plugin}\b", text_of(ROOT / "CHANGELOG.md"))


# --- how a decision is made ----------------------------------------------------------------------------------------


def test_the_checks_are_told_in_the_order_in_which_they_run() -> None:
    told = [row[1] for row in table("explanation/decisions.md", "#")]
    assert told == [check for check in get_args(CheckName) if check not in {"resolve", "fault"}]


def test_the_reasons_that_a_how_to_explains_are_reasons_that_are_given() -> None:
    source = " ".join(path.read_text(encoding="utf-8") for path in (ROOT / "myclaw_core").rglob("*.py"))
    for row in table("how-to/see-why.md", "the reason says"):
        words = max(re.split(r"…|\d+", row[0]), key=len).strip()
        assert words in source, row[0]


# --- how trust is earned -------------------------------------------------------------------------------------------

SUBJECT = ("fs_write", "fs_write:~/.local/share/myclaw/workspace/*")
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
MEAN = DecayedMean()
EARNING = "explanation/earned-trust.md"


def good_sample() -> TraceSignals:
    """A step that was asked about, granted, ran well, cost nothing and broke no law."""
    return TraceSignals(
        subject=SUBJECT,
        tool_success=1.0,
        cost_efficiency=1.0,
        constitution_clean=1.0,
        human_approval_delta=1.0,
        undo_flag=0.0,
        asked=True,
    )


def test_the_worked_example_is_what_the_estimator_gives() -> None:
    state = MEAN.initial(SUBJECT)
    expected = []
    for day in range(3):
        now = START + timedelta(days=day)
        state = MEAN.update(state, good_sample(), now)
        means = [f"{getattr(state, name).mean:.3f}" for name in COMPONENTS]
        score, count = f"{MEAN.score(state, now):.3f}", f"{MEAN.effective_count(state, now):.2f}"
        expected.append([str(day + 1), *means, score, count])
    assert table(EARNING, "day") == expected


def test_the_example_of_fading_is_what_the_estimator_gives() -> None:
    state = MEAN.initial(SUBJECT)
    for day in range(3):
        state = MEAN.update(state, good_sample(), START + timedelta(days=day))
    last = START + timedelta(days=2)
    rows = table(EARNING, "days without use")
    assert rows
    for days, score, count in rows:
        now = last + timedelta(days=int(days))
        assert (score, count) == (f"{MEAN.score(state, now):.3f}", f"{MEAN.effective_count(state, now):.2f}")


def uses_before_promotion(every_days: float, min_score: float, min_samples: int) -> str:
    """Return how many good, asked uses come before the first one that needs no question."""
    state = MEAN.initial(SUBJECT)
    for use in range(500):
        now = START + timedelta(days=every_days * use)
        enough = state.n_samples >= min_samples and MEAN.effective_count(state, now) >= min_samples
        if enough and state.days >= 2 and MEAN.score(state, now) >= min_score:
            return str(use)
        state = MEAN.update(state, good_sample(), now)
    return "never"


def test_how_often_something_must_be_used_is_what_the_estimator_gives() -> None:
    from myclaw_defaults.thresholds import threshold_for

    bands = [
        threshold_for(effect_class, "reversible", "~/workspace")
        for effect_class in ("fs_write:~/workspace/*", "fs_write:~/notes/*", "shell_exec:ls @ ~/notes")
    ]
    minima = [(band.min_score, band.min_samples) for band in bands if band]
    every = {"daily": 1.0, "every second day": 2.0, "weekly": 7.0, "monthly": 30.0}
    rows = table(EARNING, "used")
    assert [row[0] for row in rows] == list(every)
    for used, *uses in rows:
        assert uses == [uses_before_promotion(every[used], *minimum) for minimum in minima]
    told = {row[0]: (float(row[1]), int(row[2])) for row in table(EARNING, "band")}
    assert list(told.values()) == minima
    assert list(told) == [band.risk_band for band in bands if band]


def test_weights_floors_and_days_are_those_of_the_code() -> None:
    assert {row[0]: float(row[1]) for row in table(EARNING, "component")} == dict(SEED_WEIGHTS)
    page = " ".join(text_of(ROOT / "docs" / EARNING).split())
    assert f"halves in {HALF_LIFE_DAYS:.0f} days" in page
    assert f"`tool_success` below {promotion.SUCCESS_FLOOR}" in page
    assert f"`constitution_clean` below {promotion.CLEAN_FLOOR}" in page
    assert f"in the last {promotion.KNOWN_DAYS} days" in page


if __name__ == "__main__":
    COMMANDS_PAGE.write_text(GENERATED.sub(lambda _: rendered_commands(), text_of(COMMANDS_PAGE)), encoding="utf-8")

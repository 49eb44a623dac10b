"""The programs that a command runs: named where that is plain, opaque otherwise, never fewer than bash would run."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bashlex.ast
import pytest
from bashlex.errors import ParsingError
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.policy.commands import MAX_BYTES, simple_commands


def names(text: str) -> list[str] | None:
    """Return the names as scopes spell them."""
    found = simple_commands(text)
    return None if found is None else [command.name for command in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ls -la", ["ls"]),
        ("git status", ["git status"]),
        ("git clean -fdx", ["git clean"]),
        ("npm run build && npm test", ["npm run", "npm test"]),
        ("a && b || c; d | e", ["a", "b", "c", "d", "e"]),
        ("a; a; a", ["a"]),
        ("! a", ["a"]),
        ("(cd x; make -j2)", ["cd", "make"]),
        ("for f in *.txt; do cp $f ${f}; done", ["cp"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("case $x in y) ls;; esac", ["ls"]),
        ('echo "today $(date) `id`"', ["echo", "date", "id"]),
        ("cat <<END\n$(rm x)\nEND\n", ["cat", "rm"]),
        ("cat <<'END'\n`rm x`\nEND\nls", ["cat", "ls"]),
        ("cat <<-END > a\n\tx\n\tEND\n", ["cat", ">"]),
        ("cat <<< x", ["cat"]),
        ("cat < a", ["cat"]),
        ("ls 2>&1 # all of it", ["ls"]),
        ("cat a > b", ["cat", ">"]),
        ("cat a &> b", ["cat", ">"]),
        ("cat a >| b", ["cat", ">"]),
        ("echo a > $(rm x)", ["echo", ">", "rm"]),
        ("find . -name x", ["find"]),
        ("printf '%s' x", ["printf"]),
    ],
)
def test_a_plain_command_is_named_by_what_it_runs(text: str, expected: list[str]) -> None:
    """One name a simple command; a redirection that writes has one of its own."""
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing",
        "ls (",
        "ls 'x",
        "ls\rrm x",
        "ls\x0brm",
        "ls\u00a0x",
        "ls\u2003x",
        "echo a\\ b",
        'echo "\\$x"',
        '"ls" a',
        "l$x a",
        "$x",
        "./ls",
        "/bin/ls",
        "FOO=1 make",
        "PATH=. ls",
        "a=b",
        "export A=b",
        "declare x=$(rm y)",
        "f() { ls; }; f",
        "function f { ls; }",
        "((x=1))",
        "echo $((1+$(rm x)))",
        "echo ${a:-$(rm x)}",
        "echo ${x@P}",
        "echo ${a[$(rm x)]}",
        "[[ 'a[$(rm x)]' -eq 0 ]]",
        "test -v 'a[$(rm x)]'",
        "read 'a[$(rm x)]'",
        "printf -v 'a[$(rm x)]' x",
        "let 'a[$(rm x)]=1'",
        "echo $'\\x41'",
        "ls 3<>x",
        "> f rm x",
        "< f rm x",
        "cat > f x y",
        "aa || {}",
        "l`echo s`",
        'l"s"',
        "for PATH in ./x; do ls; done",
        "select PATH in ./x; do ls; done",
        "cat {PATH}<f; ls",
        "cat {PATH}<<<f; ls",
        "cat <<E\n`rm x`\nE\n",
        "cat <<E\n$x`rm x`\nE\n",
        "cat <<E'O'F\nx\nEOF\nrm y\nE'O'F\n",
        "cat <<E\n  E\necho '\nE\nrm x\n'",
        "cat <<E\nE \necho '\nE\nrm x\n'",
        "cat <<E;rm x\nE\nls",
        "cat <<E; ls <<F\nx\nE\ny\nF\nrm z",
        "echo $(cat <<E\nE)\nrm x\nE\n)",
        "cat <<E\nx",
        "diff <(sort a) <(sort b)",
        "ls;;eval x" * 100,
        "a " * MAX_BYTES,
        "cat <<E\n" * 100,
    ],
)
def test_what_is_not_plainly_understood_is_opaque(text: str) -> None:
    """Parse errors, odd blanks, backslashes, names that are no plain words, variables set, and hidden evaluation."""
    assert names(text) is None


@pytest.mark.parametrize(
    "wrapper",
    [
        "eval x", "exec x", "trap x EXIT", "alias a=b", "time x", "coproc x", "command x", "builtin x", "source x",
        ". x", "sudo x", "env x", "xargs x", "sh -c x", "bash -c x", "rbash -c x", "python -c x", "python3.11 -c x",
        "perl -e x", "node -e x", "chrt 1 x", "prlimit x", "choom x", "linux32 x", "linux64 x", "setarch x",
        "x86_64 x", "i386 x", "sg a x", "start-stop-daemon x", "fakeroot x", "dbus-run-session x", "uv run x",
        "uvx x", "npx x", "npm exec x", "pnpm dlx x", "poetry run x", "gosu a x", "torsocks x", "enable -f x y",
        "fakeroot-tcp x", "mapfile -C x y",
        "compgen -C x", "nohup x", "nodejs -e x", "vim.tiny x",
        "bash-static x", "busybox-static x", "ipython3 -c x", "mawk.real x", "watch.procps x", "xterm -e x",
        "timeout 1 x", "busybox sh", "SUDO x", "hash -p x ls", "set -- x", "shopt -s x",
        "jobs -x x", "fc -s", "history -s x", "chronic x", "cmake -E rm x", "rename x y", "dpkg-architecture -c x",
    ],
)  # fmt: skip
def test_a_program_that_runs_its_arguments_is_opaque(wrapper: str) -> None:
    """Also in the middle of a plain command, and inside a substitution."""
    assert names(wrapper) is None
    assert names(f"ls && {wrapper}") is None
    assert names(f"echo $({wrapper})") is None


@pytest.mark.parametrize(
    "text",
    [
        "find . -delete",
        "find . '-delete'",
        "find . -execdir x ;",
        "find $X",
        "find *",
        "tar -xf a --to-command=x",
        "tar -Ix -f a",
        "rsync --delete a b",
        "rsync -e x a b",
        "sort --compress-program=x",
        "git -c alias.x=!y x",
        "git -C x status",
        "git $x",
        "git rebase --exec x",
        "git config alias.x y",
        "git",
        "make SHELL=x",
        "split --filter=x y",
        "split --filt=x y",
        "sort --comp=x y",
        "tar xf a --to-c=x",
        "tar -xIx -f a",
        "rsync -ave x a b",
        "fd -Hx y",
        "git grep -nOx y",
        "git grep --open-files=x y",
        "git fetch --upload-pac=x y",
        "git clone -u x y",
        "uv --quiet run x",
        "git submodule foreach x",
        "anything --exec x",
        'anything "--exec=x"',
        "a|" * 513,
    ],
)
def test_an_option_that_runs_or_deletes_makes_a_plain_name_opaque(text: str) -> None:
    """An option that nobody can know beforehand does, too."""
    assert names(text) is None


@pytest.mark.parametrize(
    "text", ["rm -r x", "find x -delete", "python -c 'shutil.rmtree(1)'", "git clean -fdx", "mv a b"]
)
def test_five_spellings_of_a_deletion_share_no_name_with_anything_harmless(text: str) -> None:
    """Trust in reading with `find`, `git` or `python` covers none of them."""
    harmless = {"find", "git", "git status", "git log", "python", "ls", "cat", "cp"}
    assert harmless.isdisjoint(names(text) or ())


@given(st.text(max_size=200))
def test_any_text_is_answered(text: str) -> None:
    """Nothing raises."""
    simple_commands(text)


_WORDS = [
    "aa", "bb", "cc", "dd", "x", "-n", "$v", "${v}", "*", "'q s'", '"d $v"', "$(", ")", "`", "(", ")", "{", "}", ";",
    "&&", "||", "|", "|&", "&", "\n", ">", "f", "<", "2>&1", "!", "if", "then", "else", "fi", "for", "i", "in", "do",
    "done", "while", "case", "esac", "y)", ";;", "<<E", "E", "#", "<(", '"', "'", "~", "=", "v=1", "[[", "]]", "$((",
    "))", "function", "time", "coproc", "eval", "\\", "$'", "${", "}", "<<<", "<<E\n", "<<'E'\n", "\nE\n", "`cc`", "{}",
]  # fmt: skip


def _random_commands(seed: int, number: int) -> Iterator[str]:
    chosen = random.Random(seed)
    for _ in range(number):
        words = chosen.choices(_WORDS, k=chosen.randint(1, 9))
        yield "".join(word + chosen.choice(["", " ", " ", " "]) for word in words)


def test_no_program_that_another_parser_sees_is_left_out() -> None:
    """Where both understand a command, ours names at least what bashlex does."""
    understood = 0
    for text in _random_commands(seed=1, number=20_000):
        ours = names(text)
        if ours is None or "#" in text:  # bashlex takes some comments for programs
            continue
        try:
            theirs = {name for tree in bashlex.parse(text) for name in _programs(tree)}
        except (ParsingError, NotImplementedError, AttributeError, TypeError, AssertionError, IndexError):
            continue
        understood += 1
        assert theirs <= set(ours), text
    assert understood > 500


def _programs(tree: Any) -> Iterator[str]:
    if isinstance(tree, bashlex.ast.node):
        if tree.kind == "command":
            words = [part for part in tree.parts if part.kind == "word"]
            if words:
                yield words[0].word
        for value in vars(tree).values():
            yield from _programs(value)
    elif isinstance(tree, list | tuple):
        for item in tree:
            yield from _programs(item)


def test_no_program_that_bash_itself_runs_is_left_out(tmp_path: Path) -> None:
    """The programs have names that no machine knows; bash reports each that it looks for."""
    checked = 0
    log = tmp_path / "log"
    script = f'command_not_found_handle() {{ echo "$1" >> {log}; }}\nPATH=/nowhere\nv=\ncd "$1"\neval "$2"\nwait\n'
    plain = [text for text in _random_commands(seed=2, number=20_000) if names(text) and "while" not in text]
    for number, text in enumerate(plain[:300]):
        log.write_text("", encoding="utf-8")
        folder = tmp_path / str(number)
        folder.mkdir()
        command = ["/bin/bash", "--noprofile", "--norc", "-c", script, "bash", str(folder), text]
        subprocess.run(command, input="", capture_output=True, text=True, timeout=20, check=False)
        ran = set(log.read_text(encoding="utf-8").split())
        assert ran <= set(names(text) or ()), text
        checked += bool(ran)
    assert checked > 100

"""Names the programs that a command runs, by a shell grammar; what is not plainly understood is opaque.

The name is what trust is earned for, so it has to be what runs: a program that runs other programs, or code from its
arguments, has no name of its own here. What a command *can* do is bounded by the sandbox, not by this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from attrs import frozen

from myclaw_core.policy.heredocs import are_read_alike

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

__all__ = ["MAX_BYTES", "REDIRECTION", "SimpleCommand", "simple_commands"]

MAX_BYTES = 8192
"""A longer command is opaque, unread: the grammar can take ten seconds for 64 KB of hostile text."""

REDIRECTION = ">"
"""Stands for the program of a redirection that writes a file: trust in `cat` does not cover what is written over."""

_MAX_HEREDOCS = 32  # the grammar takes seconds for thousands of them
_MAX_BARS = 512  # and a second for 4000 in a pipeline that does not end
_MAX_COMMANDS = 64

_PROGRAM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9-]*")
_FAMILY = re.compile(r"[a-z]+")  # `vim` of `vim.tiny`, `bash` of `bash-static`
_LITERAL = re.compile(r"[A-Za-z0-9_./:=+,@%^-]+")
_RUNNING_OPTION = re.compile(r"--?[a-z-]*(?:exec|execdir|ok|okdir|command|program|filter|rsh|action|shell)(?:=.*)?")
_PLAIN_EXPANSION = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_NAMED_DESCRIPTOR = re.compile(rb"\}[<>]")  # `{PATH}<f` sets a variable
_LOOP_VARIABLE = re.compile(r"[a-z][a-z0-9_]*")  # others, such as PATH, change what is found or done
_INTERPRETER = re.compile(r"(?:python|pypy|perl|ruby|lua|node|php|tclsh|ld-linux)[0-9.x_-]*(?:\.so(?:\.[0-9]+)?)?")

# Programs whose arguments are programs or code, or that give out a shell, and the shell's own words that run something.
_RUNNING_PROGRAMS = """
. aarch64 alias apptainer ash at awk bash batch bind bpftrace builtin bun bunx busybox bwrap capsh catchsegv choom
chpst chronic chroot chrt cmake command compgen complete coproc cpulimit crontab csh daemonize dash dbus-launch
dbus-run-session dc deno direnv distrobox doas docker dotnet dpkg-architecture dtach dumb-init eatmydata ed editor
elixir emacs enable entr env envdir erl eval ex exec expect fakechroot fakeroot fakeroot-sysv fakeroot-tcp faketime fc
file-rename firejail fish flatpak flock gawk gdb getopts ghc ghci gio git-shell gjs gnuplot gosu groovy guile guix
hash history hyperfine i386 iex ifne ionice ipython irb java jexec jjs jobs julia ksh lckdo ld.so ldd less let lftp
linux32 linux64 ltrace lua luajit m4 mail mailx man mapfile mariadb mawk mispipe mksh mongosh more mutt mysql nawk nc
ncat newgrp nice nix nix-shell node nodejs nodemon nohup npx nsenter nu numactl nvim ocaml octave osascript parallel
pdksh pee perf perl php pipx pkexec pnpx podman prename prlimit proot proxychains proxychains4 psql pwsh python r
rbash read readarray rename rlwrap rscript ruby run-one run-parts runcon runghc runhaskell runuser rview rvim sage
sbcl scala schroot scp screen script sed sem set setarch setpriv setsid setuidgid sftp sg sh shopt snap socat
softlimit source sqlite3 ssh ssh-agent start start-stop-daemon stdbuf strace su su-exec sudo sudoedit swipl
systemd-inhibit systemd-nspawn systemd-run taskset tclsh tcsh test time timeout tini tmux torsocks toybox trap trickle
tsocks uname26 unbuffer unset unshare uvx valgrind vi view viewer vim vimdiff wait watch watchexec wish
x-terminal-emulator x86_64 xargs xterm xvfb-run yash zsh
"""


_RUNNING_GIT = """
bisect clone config daemon difftool filter-branch for-each-repo gui help hook instaweb mergetool rebase send-email
shell submodule web--browse
"""

# Of these the first argument belongs to the name; those that run what they are given are listed, too.
_SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    "apt": frozenset(),
    "apt-get": frozenset(),
    "brew": frozenset({"exec", "sh", "irb", "ruby"}),
    "bundle": frozenset({"exec"}),
    "cargo": frozenset({"run"}),
    "conda": frozenset({"run"}),
    "gh": frozenset({"alias", "extension"}),
    "git": frozenset(_RUNNING_GIT.split()),
    "go": frozenset({"generate", "run", "tool"}),
    "hatch": frozenset({"run", "shell"}),
    "hg": frozenset({"debugshell"}),
    "kubectl": frozenset({"exec", "debug", "plugin"}),
    "npm": frozenset({"exec", "explore", "x"}),
    "pdm": frozenset({"run"}),
    "pip": frozenset(),
    "pip3": frozenset(),
    "pipenv": frozenset({"run", "shell"}),
    "pnpm": frozenset({"dlx", "exec"}),
    "poetry": frozenset({"run", "shell"}),
    "rustup": frozenset({"run"}),
    "svn": frozenset(),
    "systemctl": frozenset({"edit"}),
    "uv": frozenset({"run", "tool"}),
    "yarn": frozenset({"dlx", "exec", "node"}),
}

# Options by which a program of a plain name runs another one, or does what its name does not say.
_RUNNING_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "fd": ("-x", "--exec", "-X"),
    "find": ("-exec", "-ok", "-delete", "-fprint", "-fls"),
    "git": ("--exec", "--config-env", "--upload-pack", "--receive-pack", "-O", "--open-files-in-pager"),
    "install": ("--strip-program",),
    "make": ("--eval", "SHELL=", "-E"),
    "printf": ("-v",),
    "rg": ("--pre", "--hostname-bin"),
    "rsync": ("-e", "--rsh", "--rsync-path", "--delete", "--del", "--remove"),
    "sort": ("--compress-program",),
    "split": ("--filter",),
    "tar": ("-I", "--use-compress", "--to-command", "--checkpoint-action", "--rsh-command", "--info-script", "-F"),
    "zip": ("-T", "-m", "--unzip-command"),
}

_OF_PARTS = """
program list pipeline redirected_statement negated_command subshell compound_statement do_group for_statement
while_statement if_statement elif_clause else_clause case_statement case_item command_substitution
string concatenation heredoc_body heredoc_redirect command_name
"""

_OF_WORDS = """
word number raw_string string_content simple_expansion variable_name special_variable_name comment file_descriptor
heredoc_start heredoc_end heredoc_content
"""

_REDIRECTS = frozenset({"file_redirect", "herestring_redirect"})
_READING = frozenset({"<", "<&", "<<<"})

_RUNS_OTHERS = frozenset(_RUNNING_PROGRAMS.split())
_CONTAINERS = frozenset(_OF_PARTS.split())
_SILENT = frozenset(_OF_WORDS.split())


class _OpaqueError(Exception):
    """Raised inside where a command is not plainly understood."""


@frozen(kw_only=True)
class SimpleCommand:
    """One program that a command runs.

    Attributes:
        program: Its plain name, or `REDIRECTION`.
        subcommand: First argument of a program that is many in one (`git`), else empty.
    """

    program: str
    subcommand: str = ""

    @property
    def name(self) -> str:
        """Return program and subcommand as a scope spells them."""
        return f"{self.program} {self.subcommand}".rstrip()


def simple_commands(text: str) -> tuple[SimpleCommand, ...] | None:
    """Return the distinct programs that a bash command runs, in order; `None` where that is not plain.

    Args:
        text: The command as for `bash -c`.
    """
    source = text.encode("utf-8", "replace")
    if len(source) > MAX_BYTES or source.count(b"<<") > _MAX_HEREDOCS or source.count(b"|") > _MAX_BARS:
        return None
    if _holds_odd_blanks(text):
        return None
    if _NAMED_DESCRIPTOR.search(source):
        return None
    root = _parsed(source)
    if root is None or root.has_error or _escapes(root, source) or not are_read_alike(root, source):
        return None
    try:
        found = tuple(dict.fromkeys(_walk(root)))
    except _OpaqueError:
        return None
    return found if 0 < len(found) <= _MAX_COMMANDS else None


def _parsed(source: bytes) -> Node | None:
    """Return the tree, or `None` as soon as there is an error in it: to mend errors is what takes the grammar long."""
    parser = _parser()
    try:
        return parser.parse(lambda offset, _: source[offset:], progress_callback=lambda _, failed: failed).root_node
    except ValueError:
        parser.reset()
        return None


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def _holds_odd_blanks(text: str) -> bool:
    """Return whether a character may separate words for one reader and not for another."""
    return any(
        (char < " " and char not in "\n\t") or char == "\x7f" or (char > "~" and char.isspace()) for char in text
    )


def _walk(root: Node) -> Iterator[SimpleCommand]:
    """Yield what each part of a tree runs, in the order of the text."""
    left = [root]
    while left:
        node = left.pop()
        kind = node.type
        if kind == "command":
            yield _command(node)
        elif kind in _REDIRECTS:
            if _writes(node):
                yield SimpleCommand(program=REDIRECTION)
        elif kind == "for_statement" and not _LOOP_VARIABLE.fullmatch(_text(node.child_by_field_name("variable"))):
            raise _OpaqueError
        elif kind == "compound_statement" and not node.named_children:
            raise _OpaqueError  # `{}` is a name
        elif kind == "redirected_statement" and node.named_children[0].type in _REDIRECTS:
            raise _OpaqueError  # the grammar takes the program behind it for a second target
        elif node.is_named and kind not in _CONTAINERS and kind not in _SILENT and not _is_plain_expansion(node):
            raise _OpaqueError
        left.extend(reversed(node.children))


def _escapes(root: Node, source: bytes) -> bool:
    """Return whether there is a backslash outside single quotes: it joins words or lines that look apart."""
    left, quoted = [root], 0
    while left:
        node = left.pop()
        if node.type == "raw_string":
            quoted += (node.text or b"").count(b"\\")
        left.extend(node.children)
    return quoted != source.count(b"\\")


def _is_plain_expansion(node: Node) -> bool:
    """Return whether a node is `${name}`: what may follow the name can run things that no grammar shows."""
    return node.type == "expansion" and _PLAIN_EXPANSION.fullmatch(_text(node)) is not None


def _writes(redirect: Node) -> bool:
    """Return whether a redirection writes a file; `2>&1` only joins descriptors."""
    targets = [child for child in redirect.named_children if child.type != "file_descriptor"]
    operators = {child.type for child in redirect.children if not child.is_named}
    if len(targets) != 1 or len(operators) != 1:
        raise _OpaqueError
    joins = operators == {">&"} and targets[0].type == "number"
    return not joins and operators.isdisjoint(_READING)


def _command(node: Node) -> SimpleCommand:
    """Return what one simple command runs."""
    name, *arguments = node.named_children or (None,)
    if name is None or name.type != "command_name" or [child.type for child in name.children] != ["word"]:
        raise _OpaqueError  # also an assignment before the name: it may change what is found
    if arguments and arguments[0].start_byte == name.end_byte and arguments[0].type not in _REDIRECTS:
        raise _OpaqueError  # one word for bash: ``l`echo s` `` runs `ls`
    program = _text(name)
    known = program.lower()
    if not _PROGRAM.fullmatch(program) or _runs_others(known):
        raise _OpaqueError
    if any(_RUNNING_OPTION.fullmatch(_unquoted(argument)) for argument in arguments):
        raise _OpaqueError
    options = _RUNNING_OPTIONS.get(known, ())
    if options or known in _SUBCOMMANDS:
        words = [_literal(argument) for argument in arguments]
        if any(_may_mean(word, option) for word in words for option in options):
            raise _OpaqueError
        return SimpleCommand(program=program, subcommand=_subcommand(known, words))
    return SimpleCommand(program=program)


def _runs_others(program: str) -> bool:
    """Return whether a program, or the one of which its name says that it is a variant, runs what it is given."""
    family = _FAMILY.match(program)
    named = {program, family[0]} if family else {program}
    return not named.isdisjoint(_RUNS_OTHERS) or _INTERPRETER.match(program) is not None


def _unquoted(argument: Node) -> str:
    """Return a word as a program sees it; quotes hide no option."""
    return _text(argument).replace('"', "").replace("'", "")


def _may_mean(word: str, option: str) -> bool:
    """Return whether a program may take a word for an option: as it is, shortened, or as one of several letters."""
    if word.startswith(option):
        return True
    if word.startswith("--"):
        return word != "--" and option.startswith(word.partition("=")[0])
    letter = option.removeprefix("-")
    return len(letter) == 1 and word.startswith("-") and letter in word


def _text(node: Node | None) -> str:
    return "" if node is None else (node.text or b"").decode()


def _literal(argument: Node) -> str:
    """Return the one value that an argument has whatever the folder and the variables hold."""
    text = _text(argument)
    if argument.type in {"word", "number"} and _LITERAL.fullmatch(text):
        return text
    if argument.type == "raw_string":
        return text[1:-1]
    if argument.type == "string" and all(child.type == "string_content" for child in argument.named_children):
        return text[1:-1]
    raise _OpaqueError


def _subcommand(program: str, words: Sequence[str]) -> str:
    running = _SUBCOMMANDS.get(program)
    if running is None:
        return ""
    if not words or not _SUBCOMMAND.fullmatch(words[0]) or words[0] in running:
        raise _OpaqueError
    return words[0]

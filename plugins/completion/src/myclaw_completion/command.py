"""`myclaw completion` as it is typed, and what it prints."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter

from myclaw_core.cli.command import Command
from myclaw_core.messages import N_, _

__all__ = ["COMMAND"]

_SHELLS = ("bash", "zsh", "fish")
_LINES = (
    """  ~/.bashrc                   eval "$(myclaw completion bash)\"""",
    """  ~/.zshrc, after compinit    eval "$(myclaw completion zsh)\"""",
    """  ~/.config/fish/config.fish  myclaw completion fish | source""",
)


def _add_arguments(parser: ArgumentParser) -> None:
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = "\n".join((_("in the file that the shell reads when it starts:"), *_LINES))
    parser.add_argument("shell", choices=_SHELLS, help=_("the shell that is to read it"))


def _run(args: Namespace) -> int:
    from myclaw_completion.script import script_for

    sys.stdout.write(script_for(args.shell))
    return 0


COMMAND = Command(
    name="completion",
    about=N_("Prints what lets a shell complete commands, their verbs, options, choices and folders."),
    add_arguments=_add_arguments,
    run=_run,
)

"""`myclaw setup`: what a new home needs, asked one by one or given as options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from myclaw_core.cli.asking import says_yes
from myclaw_core.cli.config import set_all
from myclaw_core.cli.setup_answers import Answers, Known, ask, folder_of, token_of
from myclaw_core.cli.setup_service import write_service
from myclaw_core.errors import UsageError
from myclaw_core.messages import N_, _, render
from myclaw_core.paths import Home

if TYPE_CHECKING:
    from myclaw_core.config import Config
    from myclaw_core.runtime.model import ModelProvider

__all__ = ["run"]

_TOKEN = "telegram.token"  # noqa: S105 - the name of the file


def run(args: argparse.Namespace) -> int:
    """Set up what is asked for; 1 where the person said no.

    Raises:
        UsageError: A value is none, or nobody can be asked.
    """
    home = Home.find()
    given = _given(args)
    if given == Answers():
        if args.service:
            return write_service(home, agreed=args.yes, force=args.force)
        return _wizard(home, args)
    _keep(home, given)
    return write_service(home, agreed=args.yes, force=args.force) if args.service else 0


def _given(args: argparse.Namespace) -> Answers:
    return Answers(
        provider=args.provider or "",
        model=args.model or "",
        daily_eur=args.daily or "",
        folders=tuple(map(folder_of, args.root)),
        token=_token(args.telegram_token) if args.telegram_token else "",
    )


def _token(file: str) -> str:
    """Return the token that a file holds; `-` is stdin."""
    try:
        text = sys.stdin.readline() if file == "-" else Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or _("not UTF-8 text")
        raise UsageError(N_("--telegram-token {file}: {reason}", file=file, reason=reason)) from error
    return token_of(text)


def _wizard(home: Home, args: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            N_(
                "nobody can be asked here; say what to set: --provider, --model, --daily, --root, --telegram-token, "
                "--service --yes"
            )
        )
    known, _models = _known(home)
    try:
        answers = ask(known)
    except EOFError:
        print()
        print(_("nothing was written"))
        return 1
    _keep(home, answers)
    if says_yes(_("Run 'myclaw serve' as a service of your session? [y/N] ")):
        return write_service(home, agreed=args.yes, force=args.force)
    return 0


def _keep(home: Home, answers: Answers) -> None:
    """Write what was answered, and say what a start still lacks."""
    from myclaw_core.serve.unit import environment_file

    known, models = _known(home)
    if wanted := answers.settings(known):
        changed = set_all(home, wanted)
        file = str(home.config_file)
        print(_("{file} is written", file=file) if changed else _("{file} is so already", file=file))
        for key, (value, *_more) in wanted:
            if key == "budget.soft_eur":
                print(_("the soft cap, beyond which spending needs a yes, is {eur} EUR a day now", eur=value))
    if answers.key:
        variable, path = answers.variable(known), environment_file(home)
        _keep_secret(home, path, _with_line(path, variable, answers.key))
        told = _(
            "{file} has {variable} for the service; in your own shell set it yourself",
            file=str(path),
            variable=variable,
        )
        print(told)
    if answers.token:
        _keep_secret(home, home.keys / _TOKEN, f"{answers.token}\n")
        print(_("{file} has the token; 'myclaw pair telegram' lets you in", file=str(home.keys / _TOKEN)))
    provider = models.get(answers.provider or known.provider)
    if not answers.key and provider is not None and (missing := provider.missing()) is not None:
        print(render(missing))


def _known(home: Home) -> tuple[Known, Mapping[str, ModelProvider]]:
    from myclaw_core.cli.config import loaded

    dispatcher, config = loaded(home)
    models = dispatcher.models()
    return _standing(config, tuple(sorted(models)), has_telegram="telegram" in config.sections), models


def _standing(config: Config, providers: tuple[str, ...], *, has_telegram: bool) -> Known:
    return Known(
        provider=config.agent.provider,
        model=config.agent.model,
        soft_eur=config.budget.soft_eur,
        hard_eur=config.budget.hard_eur,
        folders=config.policy.roots,
        providers=providers,
        has_telegram=has_telegram,
    )


def _with_line(path: Path, variable: str, value: str) -> str:
    """Return a file of variables with one set."""
    known = path.read_text(encoding="utf-8") if path.exists() else ""
    others = [line for line in known.splitlines() if not line.startswith(f"{variable}=")]
    return "\n".join([*others, f"{variable}={value}"]) + "\n"


def _keep_secret(home: Home, path: Path, text: str) -> None:
    """Write a file that only its owner can read."""
    from myclaw_core.atomic import replace_file

    home.create()
    if path.exists():
        path.chmod(0o600)
    replace_file(path, text.encode("utf-8"))

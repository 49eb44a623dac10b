"""`myclaw models list | add`: which models are asked for what, whether they can be, and one more of them."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from attrs import frozen

from myclaw_core.errors import UnavailableError, UsageError
from myclaw_core.messages import N_, _, render
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from myclaw_core.config import Config
    from myclaw_core.runtime.model import ModelProvider

__all__ = ["chosen", "run"]

_READY = N_("ready")
_INDENT = "    "


@frozen(kw_only=True)
class _Line:
    """A model that is set, or a provider of which none is.

    Attributes:
        tier: What it is asked for; empty where it is not.
        problem: Why it cannot be asked, or `None`.
    """

    tier: str
    provider: str
    model: str
    problem: Text | None


def run(args: argparse.Namespace) -> int:
    """Run one of the commands."""
    return _add(args) if args.command == "models add" else asyncio.run(_list(args))


async def _list(args: argparse.Namespace) -> int:
    from myclaw_core.cli.config import loaded
    from myclaw_core.paths import Home

    dispatcher, config = loaded(Home.find())
    providers = dispatcher.models()
    try:
        lines = [*_lines(config, providers)]
    finally:
        for provider in providers.values():
            await provider.close()
    if args.json:
        print(json.dumps([*map(_json, lines)], ensure_ascii=False, indent=2))
    else:
        print("\n".join(_table(lines)))
    return 1 if any(line.problem and line.tier for line in lines) else 0


def _lines(config: Config, providers: Mapping[str, ModelProvider]) -> Iterator[_Line]:
    agent = config.agent
    answering = [(agent.provider, agent.model), *map(_parts, agent.failover)]
    local = [*map(_parts, agent.local)]
    for tier, models in (("frontier", answering), ("local-fast", local)):
        for name, model in models:
            problem = _problem(config, providers, name, model)
            yield _Line(tier=tier, provider=name, model=model, problem=problem)
    for name in sorted(providers.keys() - {name for name, _model in (*answering, *local)}):
        yield _Line(tier="", provider=name, model="", problem=providers[name].missing())


def _problem(config: Config, providers: Mapping[str, ModelProvider], name: str, model: str) -> Text | None:
    """Return why a model cannot be asked, as far as that is known without asking it."""
    from myclaw_core.budget.prices import PriceTable
    from myclaw_core.budget.types import PriceUnknownError
    from myclaw_core.config.load import nearest
    from myclaw_core.runtime.local import LocalProvider

    if name not in providers:
        hint = nearest(name, providers)
        return N_("no plugin offers the provider {provider}; {hint}", provider=repr(name), hint=hint)
    provider = providers[name]
    if problem := provider.missing():
        return problem
    if isinstance(provider, LocalProvider) and (problem := provider.lacks(model)):
        return problem
    try:
        if not provider.free:
            PriceTable(config.budget.prices).price_of(model)
    except PriceUnknownError as error:
        return error.text
    return None


def _table(lines: Sequence[_Line]) -> Iterator[str]:
    from myclaw_core.columns import columns
    from myclaw_core.files.visible import visible

    head = (_("tier"), _("provider"), _("model"), _("state"))
    not_ready = _("not ready")
    rows = [
        (line.tier or "–", line.provider, line.model or "–", not_ready if line.problem else render(_READY))
        for line in lines
    ]
    first, *others = columns([head, *rows])
    yield first
    for line, row in zip(lines, others, strict=True):
        yield visible(row)
        if line.problem:
            yield _INDENT + visible(render(line.problem))


def _json(line: _Line) -> dict[str, str]:
    return {
        "tier": line.tier,
        "provider": line.provider,
        "model": line.model,
        "state": "not_ready" if line.problem else "ready",
        "problem": str(line.problem or ""),
    }


def _add(args: argparse.Namespace) -> int:
    """Check the model and set it as `myclaw config set` would."""
    from myclaw_core.cli import config as config_command
    from myclaw_core.cli.config import loaded
    from myclaw_core.paths import Home
    from myclaw_core.runtime.local import LocalProvider

    dispatcher, config = loaded(Home.find())
    name, model = chosen(args.model)
    provider = _offered(name, dispatcher.models())
    if not provider.free:
        raise UsageError(
            N_("models of {provider} cost; only what costs nothing is added for work on this machine", provider=name)
        )
    if isinstance(provider, LocalProvider) and (problem := provider.lacks(model)):
        raise UnavailableError(N_("{problem}; nothing was changed", problem=problem))
    wanted = [*dict.fromkeys((*config.agent.local, args.model))]
    typed = argparse.Namespace(command="config set", key="agent.local", value=wanted, unset=False, json=args.json)
    code = config_command.run(typed)
    if not args.json and (lacking := provider.missing()):
        print(render(lacking))
    return code


def chosen(text: str) -> tuple[str, str]:
    """Return the provider and the model that were typed.

    Raises:
        UsageError: They were not.
    """
    name, model = _parts(text)
    if not (name.strip() and model.strip()):
        raise UsageError(N_("write PROVIDER:MODEL, such as {example}", example="llama:~/models/small.gguf"))
    return name, model


def _parts(text: str) -> tuple[str, str]:
    name, _colon, model = text.partition(":")
    return name, model


def _offered(name: str, providers: Mapping[str, ModelProvider]) -> ModelProvider:
    from myclaw_core.config.load import nearest

    if name not in providers:
        hint = nearest(name, providers)
        raise UsageError(N_("no plugin offers the provider {provider}; {hint}", provider=repr(name), hint=hint))
    return providers[name]

"""Puts plugins and configuration together: what is on, and what it is told."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from myclaw_core.clock import Clock
from myclaw_core.config import Config, disabled_plugins, load_config
from myclaw_core.config.load import read_config
from myclaw_core.config.source import parse_source
from myclaw_core.dispatch import Dispatcher
from myclaw_core.errors import ConfigError, UnavailableError
from myclaw_core.events.types import PluginFault
from myclaw_core.host import Host
from myclaw_core.messages import use_language
from myclaw_core.paths import Home
from myclaw_core.plugins import ConsentBook, PluginSet
from myclaw_core.plugins import load_plugins as load_installed
from myclaw_core.plugins.trace import hook_trace

if TYPE_CHECKING:
    from myclaw_core.embedding.book import EmbeddingBook
    from myclaw_core.events.log import EventLog
    from myclaw_core.trust.book import TrustBook
    from myclaw_core.trust.store import TrustBackend
    from myclaw_core.trust.thresholds import Thresholds

__all__ = ["configured_dispatcher", "embedding_book", "load_plugins", "open_log", "trust_book"]


def load_plugins(home: Home, *, lenient: bool = False, environ: Mapping[str, str] | None = None) -> PluginSet:
    """Return the installed plugins, loaded where the configuration leaves them on and the person agreed to them.

    Args:
        lenient: Whether a configuration that does not say which those are is taken as one that leaves all of them on.
        environ: Where `MYCLAW_PLUGINS` may name the only plugins to load; the process's own by default.

    Raises:
        ConfigError: The configuration cannot be read.
    """
    try:
        disabled = disabled_plugins(home.config_file)
    except ConfigError:
        if not lenient:
            raise
        disabled = frozenset()
    return load_installed(disabled, environ, ConsentBook(home).objection)


@asynccontextmanager
async def open_log(home: Home, dispatcher: Dispatcher, config: Config, clock: Clock) -> AsyncIterator[EventLog]:
    """Open the event log and close it at the end.

    Raises:
        UnavailableError: No plugin keeps it.
        StoreError: It cannot be opened.
    """
    from myclaw_core.events.keys import load_or_create_key
    from myclaw_core.events.log import EventLog

    home.create()
    key = load_or_create_key(home.keys / "events.key")
    log = EventLog(dispatcher.store("events", config.slots.events), key, clock, anchor=home.state / "events.head")
    try:
        await log.open()
        yield log
    finally:
        await log.close()


def trust_book(
    home: Home,
    dispatcher: Dispatcher,
    config: Config,
    clock: Clock,
    *,
    backend: TrustBackend | None = None,
    thresholds: Thresholds | None = None,
) -> TrustBook:
    """Return the trust book, not yet opened.

    Args:
        backend: Keeps it, not yet opened; what `[slots]` names by default.
        thresholds: Whose answers it keeps beside the scores; none where nothing is judged.

    Raises:
        UnavailableError: No plugin keeps it, or none offers the estimator that is named.
    """
    from myclaw_core.events.keys import load_or_create_key
    from myclaw_core.trust.book import TrustBook
    from myclaw_core.trust.estimators import chosen_estimator

    trust = config.trust
    return TrustBook(
        backend or dispatcher.store("trust", config.slots.trust),
        load_or_create_key(home.keys / "trust.key"),
        clock,
        anchor=home.state / "trust.head",
        estimator=chosen_estimator(trust.estimator, trust.weights, dispatcher.estimators),
        thresholds=thresholds,
    )


def configured_dispatcher(
    home: Home,
    plugins: PluginSet,
    clock: Clock,
    on_fault: Callable[[PluginFault], None],
    *,
    on_broken: Callable[[ConfigError], None] | None = None,
) -> tuple[Dispatcher, Config]:
    """Return the caller of hooks and the checked configuration; messages are in its language from now on.

    Args:
        on_broken: Is told why the configuration does not load; the defaults are taken then.

    Raises:
        ConfigError: Something in the configuration is not known or not valid.
    """
    config = Config()

    def host_for(plugin: str) -> Host:
        return Host(
            plugin=plugin,
            config=config.sections.get(plugin, {}),
            home=home,
            clock=clock,
            emit=lambda line: on_fault(PluginFault(plugin=plugin, hook="emit", detail=line)),
        )

    dispatcher = Dispatcher(plugins, clock, on_fault, host_for=host_for, on_call=hook_trace(os.environ))
    schemas = dispatcher.config()
    try:
        config = load_config(home.config_file, schemas, idle=plugins.idle)
    except ConfigError as error:
        if on_broken is None:
            raise
        on_broken(error)
        config = read_config(parse_source(home.config_file, ""), schemas)
    else:
        use_language(config.agent.language)
    return dispatcher, config


def embedding_book(dispatcher: Dispatcher, config: Config, clock: Clock) -> EmbeddingBook:
    """Return what tells how alike texts are, with the core's own embedder where the chosen one cannot be used."""
    from myclaw_core.embedding.book import EmbeddingBook
    from myclaw_core.embedding.choice import chosen

    try:
        store = dispatcher.store("vectors", config.slots.vectors)
    except UnavailableError:
        store = None
    return EmbeddingBook(chosen(dispatcher, config.slots.embedder).embedder, store, clock)

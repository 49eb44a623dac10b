"""A person reads the language of the configuration; the model, programs and the record stay English."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from myclaw_core.agent import Agent
from myclaw_core.errors import ConfigError, UsageError
from myclaw_core.events.types import TraceClosed
from myclaw_core.messages import N_, render, use_language
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, RecordingChannel, calls, says

ITALIAN = {
    "what can be typed here": "che cosa si può scrivere qui",
    "Anything else is a message. Ctrl-C stops a running turn, Ctrl-D leaves.": "Tutto il resto è un messaggio.",
    "level: {level}": "livello: {level}",
    "there is no command {name}; /help lists them": "non c'è il comando {name}; /help li elenca",
    "then: {ending}": "poi: {ending}",
    "then: you said no": "poi: hai detto di no",
    "then: granted by {who}, {ending}": "poi: concesso da {who}, {ending}",
    "done": "fatto",
    "success": "riuscito",
    "there is no file {path}": "{path} non c'è",
    "the person said no; it was not done": "la persona ha detto di no; non è stato fatto",
    "undone": "annullato",
    "removed {path}": "tolto {path}",
    "the same call failed {n} times": "la stessa chiamata è fallita {n} volte",
    "stopped: {reason}": "fermato: {reason}",
}
FORMS = ("last turn: {outcome}, {n} step, trace `{trace}`", "last turn: {outcome}, {n} steps, trace `{trace}`")
WRITE = calls(("fs_write", {"path": "a.md", "content": "x\n"}))


@pytest.fixture
def speak_italian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Know a few messages in Italian, and no others."""
    catalogue = Catalog(locale="it")
    catalogue.mime_headers = [("Plural-Forms", "nplurals=2; plural=(n != 1);")]
    for english, italian in ITALIAN.items():
        catalogue.add(english, italian)
    catalogue.add(FORMS, ("ultimo turno: {outcome}, {n} passo", "ultimo turno: {outcome}, {n} passi"))
    folder = tmp_path / "locale" / "it" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    with (folder / "few.mo").open("wb") as file:
        write_mo(file, catalogue)
    monkeypatch.setattr("myclaw_core.messages._folders", {"few": tmp_path / "locale"})
    yield
    use_language("en")


OpenItalian = Callable[..., AbstractAsyncContextManager[Agent]]


@pytest.fixture
def open_italian(home: Home, clock: FakeClock, speak_italian: None) -> OpenItalian:
    """Open an agent whose configuration asks for Italian."""

    def opened(*replies: dict[str, Any]) -> AbstractAsyncContextManager[Agent]:
        home.root.mkdir(parents=True, exist_ok=True)
        script = home.root / "script.json"
        script.write_text(json.dumps(replies), encoding="utf-8")
        agent = '[agent]\nprovider = "scripted"\nlanguage = "it"\n'
        home.config_file.write_text(f"{agent}[scripted]\nfile = {json.dumps(str(script))}\n", encoding="utf-8")
        return Agent.open(home, clock=clock)

    return opened


async def shown(desk: Any, channel: RecordingChannel, command: str) -> str:
    """Return the answer to a slash command."""
    await desk.handle(command)
    return channel.shown[-1]


async def test_slash_commands_answer_in_the_language_of_the_configuration(
    open_italian: OpenItalian, make_desk: Any, clock: FakeClock
) -> None:
    """Sentences, words for states, and the plural that fits."""
    channel = RecordingChannel(clock)
    async with open_italian(WRITE, says("Done.")) as agent:
        desk = make_desk(agent, channel)
        await desk.handle("Write")

        assert "- `/help`: che cosa si può scrivere qui\n" in await shown(desk, channel, "/help")
        assert channel.shown[-1].endswith("\n\nTutto il resto è un messaggio.")
        assert "- ultimo turno: riuscito, 1 passo" in await shown(desk, channel, "/status")
        assert "- livello: supervised\n" in channel.shown[-1]
        assert "\npoi: concesso da test:me, fatto\n" in await shown(desk, channel, "/why")
        assert "a.md`: annullato (`tolto " in await shown(desk, channel, "/undo")


async def test_an_unknown_command_is_refused_in_the_language_of_the_person(
    open_italian: OpenItalian, make_desk: Any
) -> None:
    """The error itself stays English for programs."""
    async with open_italian() as agent:
        with pytest.raises(UsageError, match=r"^there is no command /frob; ") as raised:
            await make_desk(agent).handle("/frob")

    assert render(raised.value) == "non c'è il comando /frob; /help li elenca"


async def test_the_model_reads_english_whatever_the_person_reads(
    open_italian: OpenItalian, make_desk: Any, clock: FakeClock
) -> None:
    """A refusal and a failure are messages for the person and English words for the model."""
    channel = RecordingChannel(clock, answer=lambda card: False)
    missing = calls(("fs_read", {"path": "missing.md"}))
    async with open_italian(WRITE, missing, says("No.")) as agent:
        desk = make_desk(agent, channel)
        trace = await desk.handle("Write")
        why = await shown(desk, channel, f"/why {trace.id}")
        ((_, closed),) = await agent.log.events(trace.id, TraceClosed)

    refused, failed = (step.error.message for step in trace.steps)
    assert render(refused) == "la persona ha detto di no; non è stato fatto"
    assert str(refused) in "".join(message.text for message in trace.messages)
    assert "there is no file missing.md" in trace.messages[-2].text
    assert render(failed).endswith("missing.md non c'è")
    assert "\npoi: hai detto di no\n" in why
    assert "missing.md non c'è\n" in why
    assert [step.error for step in closed.trace.steps] == [step.error for step in trace.steps]


async def test_why_a_turn_was_stopped_is_one_message(open_italian: OpenItalian, make_desk: Any) -> None:
    """The reason inside it is translated with it."""
    missing = calls(("fs_read", {"path": "missing.md"}))
    async with open_italian(missing, missing, missing) as agent:
        channel = NoticeKeeper(agent.clock)
        await make_desk(agent, channel).handle("Read")

    assert [render(notice) for notice in channel.kept] == ["fermato: la stessa chiamata è fallita 3 volte"]


class NoticeKeeper(RecordingChannel):
    """A channel that keeps its notices as they come."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.kept: list[Any] = []

    def notice(self, text: Any) -> None:
        """Keep a notice."""
        self.kept.append(text)


async def test_the_next_agent_speaks_its_own_language(
    open_italian: OpenItalian, open_agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A configuration that names none leaves the choice to the environment."""
    monkeypatch.setenv("LANGUAGE", "en")
    async with open_italian():
        pass
    async with open_agent([]) as agent:
        assert agent.services.config.agent.language == ""

    assert render(UsageError("done")) == "done"


async def test_a_configuration_that_does_not_load_leaves_the_language_as_it_was(
    home: Home, clock: FakeClock, speak_italian: None
) -> None:
    """The defaults that stand in for it say nothing about the person."""
    home.root.mkdir(parents=True)
    home.config_file.write_text('[agent]\nprovidr = "x"\nlanguage = "it"\n', encoding="utf-8")
    use_language("it")
    broken: list[ConfigError] = []
    async with Agent.open(home, clock=clock, on_broken=broken.append):
        pass

    assert len(broken) == 1
    assert render(UsageError(N_("done"))) == "fatto"

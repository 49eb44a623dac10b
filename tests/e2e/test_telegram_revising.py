"""A draft is revised on Telegram, from the words that a person types to the record; no button takes part."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from uuid import UUID

import pytest
from bot_api import BotApi
from drafted_neurons import report_of, version_of
from telegram_service import Serving, serving

from myclaw_core.approval.revisions import revision_of
from myclaw_core.neurons.adopting import Adoption
from myclaw_core.paths import Home
from myclaw_core.runtime.quiet import QuietChannel
from myclaw_core.synthesis.types import Revision

SYNTHESIS = UUID(int=77)


@pytest.fixture
def server() -> Iterator[BotApi]:
    """A Bot API server on this machine."""
    with BotApi() as running:
        yield running


@pytest.fixture
async def daemon(home: Home, server: BotApi) -> AsyncIterator[Serving]:
    """A daemon without anything to do."""
    async with serving(home, server, []) as running:
        yield running


async def test_the_line_on_the_card_is_completed_and_sent(daemon: Serving) -> None:
    """Words of somebody who is not served change nothing; afterwards nothing is open."""
    ada = await daemon.person()
    adoption = Adoption(daemon.agent, version_of("1.0.0"), "word_count", "cli:me", synthesis=SYNTHESIS)
    await adoption.stage(report_of("passed", "passed", "passed"))
    await adoption.ask(QuietChannel(name="quiet"), None)
    card = await daemon.asked(ada)
    (line,) = [row for row in card.text.splitlines() if "/revise" in row]
    command = line.partition(": ")[2]
    assert command == f"/revise {adoption.digest[:8]} spec|draft TEXT"

    daemon.server.user(9, "Eve").says(command.replace("spec|draft TEXT", "draft delete everything"))
    ada.says(command.replace("spec|draft TEXT", "spec it should count characters, too"))
    await daemon.until(lambda: "→ no, it is to be made anew" in card.text)
    wanted = Revision(stage="spec", text="it should count characters, too")
    assert await revision_of(daemon.agent.log, SYNTHESIS, adoption.digest) == wanted
    await daemon.until(lambda: any("you asked for a revision (spec)" in each for each in daemon.server.texts(ada)))
    assert card.keyboard == []
    assert await daemon.agent.services.gateway.left() == []
    ada.says("/revise")
    await daemon.until(lambda: "No question about a draft is open." in daemon.server.texts(ada))

"""The messenger as the service runs it: what it lacks, what it serves, and how it ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from bot_api import BotApi
from myclaw_telegram import plugin
from myclaw_telegram.api import TokenError
from myclaw_telegram.messenger import TelegramMessenger

from myclaw_core.errors import MyclawError
from myclaw_core.host import Host
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock

TOKEN = "42:TEST"
VARIABLE = "MYCLAW_TELEGRAM_TOKEN"


@define
class Bench:
    """A messenger with a home of its own.

    Attributes:
        faults: What it recorded.
        environ: Its environment.
        config: Its section of the configuration.
    """

    home: Home
    clock: FakeClock
    environ: dict[str, str] = field(factory=dict)
    config: dict[str, Any] = field(factory=lambda: {key.name: key.default for key in plugin.myclaw_config().keys})
    faults: list[str] = field(factory=list)
    faulted: asyncio.Event = field(factory=asyncio.Event)
    _made: TelegramMessenger | None = None
    _task: asyncio.Task[None] | None = None

    @property
    def file(self) -> Path:
        """Return where the token is looked for."""
        return self.home.keys / "telegram.token"

    @property
    def messenger(self) -> TelegramMessenger:
        """Return the messenger, the same one each time."""
        if self._made is None:
            host = Host(plugin="telegram", config=self.config, home=self.home, clock=self.clock, emit=self.emit)
            self._made = TelegramMessenger(host, self.environ)
        return self._made

    def emit(self, fault: str) -> None:
        """Take note of a fault."""
        self.faults.append(fault)
        self.faulted.set()

    def write(self, token: str = TOKEN, mode: int = 0o600) -> None:
        """Write the file with the token."""
        self.file.write_text(token)
        self.file.chmod(mode)

    def start(self, core: Any) -> asyncio.Task[None]:
        """Serve."""
        self._task = asyncio.create_task(self.messenger.serve(core))
        return self._task

    async def stop(self) -> None:
        """Serve no more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError, MyclawError):
                await self._task
        if self._made is not None and self._made._line is not None:
            await self._made._line.close()


@pytest.fixture
async def bench(tmp_path: Path, clock: FakeClock, server: BotApi) -> AsyncIterator[Bench]:
    """A bench whose service is the local server."""
    home = Home.at(tmp_path)
    home.create()
    made = Bench(home, clock)
    made.config["api_url"] = server.url
    yield made
    await made.stop()


# -- what it lacks -----------------------------------------------------------------------------------------------------


def test_a_token_comes_from_the_environment_or_from_a_file(bench: Bench) -> None:
    assert str(bench.messenger.missing()) == (
        f"no bot token: write the one of @BotFather to {bench.file} (readable only by you) or set {VARIABLE}"
    )
    bench.write(f"{TOKEN}\n")
    assert bench.messenger.missing() is None
    bench.file.unlink()
    bench.environ[VARIABLE] = f" {TOKEN} "
    assert bench.messenger.missing() is None


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_file_that_others_can_read_is_refused(bench: Bench, mode: int) -> None:
    bench.write(mode=mode)
    assert str(bench.messenger.missing()) == f"{bench.file} can be read by others; run `chmod 600 {bench.file}`"


def test_a_link_and_a_folder_in_its_place_are_refused(bench: Bench, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(TOKEN)
    bench.file.symlink_to(elsewhere)
    assert "cannot be read" in str(bench.messenger.missing())
    bench.file.unlink()
    bench.file.mkdir()
    assert "is not a file" in str(bench.messenger.missing())


@pytest.mark.parametrize("token", ["42", "42:", "42:a b", "x:abc", "42:abc\n43:def", "42:é", "42:" + "a" * 300])
def test_what_cannot_be_a_token_is_told_without_it(bench: Bench, token: str) -> None:
    bench.write(token)
    assert str(bench.messenger.missing()) == (
        f"{bench.file} holds something that cannot be a bot token: copy it again from @BotFather"
    )


@pytest.mark.parametrize("entry", ["7", "-", "--7", "family", "-1.5", "", "-٣", str(-(2**52))])
def test_what_is_no_group_is_told(bench: Bench, entry: str) -> None:
    bench.write()
    bench.config["groups"] = ("-1001", entry)
    assert str(bench.messenger.missing()) == (
        f"[telegram] groups has {entry}, which is no group: ids of groups look like -1001234"
    )


@pytest.mark.parametrize(
    ("url", "is_fine"),
    [
        ("", True),
        ("https://bots.example.org", True),
        ("http://127.0.0.1:8081", True),
        ("http://localhost:8081", True),
        ("http://[::1]:8081", True),
        ("http://bots.example.org", False),
        ("http://192.168.1.2:8081", False),
        ("bots.example.org", False),
        ("https://", False),
        ("https://x:99999", False),
        ("https://x?token=", False),
    ],
)
def test_the_token_is_sent_only_where_nobody_on_the_way_can_read_it(bench: Bench, url: str, is_fine: bool) -> None:
    bench.write()
    bench.config["api_url"] = url
    assert (bench.messenger.missing() is None) == is_fine


async def test_serving_without_a_token_ends_with_the_same_line(bench: Bench, core: Any) -> None:
    with pytest.raises(MyclawError, match="no bot token"):
        await bench.messenger.serve(core)


# -- serving -----------------------------------------------------------------------------------------------------------


async def test_messages_come_and_answers_go(server: BotApi, bench: Bench, core: Any) -> None:
    bench.write()
    ada = server.user(7)
    ada.says("hello")
    bench.start(core)
    await core.until(lambda: core.received)

    [incoming] = core.received
    bench.messenger.channel(incoming.sender, incoming.place).show("Good **morning**")
    await server.until(lambda: server.texts(ada) == ["Good morning"])
    await server.until(lambda: server.commands)

    assert server.commands == [("help", "What there is."), ("revoke_trust", "Take trust back.")]
    assert bench.faults == []


async def test_news_go_to_the_chat_of_the_person(server: BotApi, bench: Bench) -> None:
    bench.write()
    ada = server.user(7)
    channel = bench.messenger.channel("telegram:7", "")
    channel.show("good night")
    await server.until(lambda: server.texts(ada) == ["good night"])

    assert bench.messenger.channel("telegram:7", "7") is channel


async def test_a_group_of_the_configuration_is_read(server: BotApi, bench: Bench, core: Any) -> None:
    bench.write()
    group = server.group(-1001)
    bench.config["groups"] = ("-1001",)
    server.user(7).says("/help", group=group)
    bench.start(core)
    await core.until(lambda: core.received)

    assert core.received[0].place == "-1001"


async def test_a_token_that_was_mended_counts_from_the_next_start_on(server: BotApi, bench: Bench, core: Any) -> None:
    """Also for the conversations that were there before."""
    bench.write("42:WRONG")
    channel = bench.messenger.channel("telegram:7", "7")
    with pytest.raises(TokenError):
        await bench.messenger.serve(core)
    assert core.state == "down"

    bench.write()
    ada = server.user(7)
    ada.says("hello")
    bench.start(core)
    await core.until(lambda: core.received)
    assert core.state == "ok"
    channel.show("hello yourself")
    await server.until(lambda: server.texts(ada) == ["hello yourself"])
    assert bench.messenger.channel("telegram:7", "7") is channel


async def test_a_menu_that_is_refused_stops_nothing(server: BotApi, bench: Bench, core: Any) -> None:
    bench.write()
    server.fail("setMyCommands", status=400, description="Bad Request: BOT_COMMAND_INVALID")
    bench.start(core)
    await core.until(lambda: core.state == "ok")
    server.user(7).says("hello")
    await core.until(lambda: core.received)
    await bench.faulted.wait()

    assert bench.faults == ["Telegram refused the message: bot_command_invalid"]


async def test_the_end_of_serving_sends_what_waits(server: BotApi, bench: Bench, core: Any) -> None:
    bench.write()
    ada = server.user(7)
    bench.start(core)
    await core.until(lambda: core.state == "ok")
    bench.messenger.channel("telegram:7", "7").show("the last word")

    await bench.stop()

    assert server.texts(ada) == ["the last word"]


async def test_a_restart_serves_on_with_the_same_channels(server: BotApi, bench: Bench, core: Any) -> None:
    bench.write()
    ada = server.user(7)
    channel = bench.messenger.channel("telegram:7", "7")
    for number in range(3):
        bench.start(core)
        ada.says(str(number))
        await core.until(lambda number=number: core.texts[-1:] == [str(number)])
        await bench.stop()
    channel.show("still here")
    await server.until(lambda: server.texts(ada) == ["still here"])
    bench.start(core)
    await core.until(lambda: core.state == "ok")

    assert core.texts == ["0", "1", "2"]


# -- hooks -------------------------------------------------------------------------------------------------------------


def test_hook_myclaw_config_describes_groups_and_address() -> None:
    schema = plugin.myclaw_config()

    assert schema.section == "telegram"
    assert {key.name: key.default for key in schema.keys} == {"groups": (), "poll_timeout_s": 30, "api_url": ""}


def test_hook_myclaw_messengers(tmp_path: Path) -> None:
    """It offers Telegram."""
    config = {"groups": (), "poll_timeout_s": 30, "api_url": ""}
    ignore: Callable[[str], None] = lambda line: None  # noqa: E731
    host = Host(plugin="telegram", config=config, home=Home.at(tmp_path), clock=FakeClock(), emit=ignore)

    [messenger] = plugin.myclaw_messengers(host)

    assert messenger.name == "telegram"


def test_nothing_heavy_is_imported_before_it_serves() -> None:
    """Hooks, constructor and `missing` run in every start of the program."""
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from types import SimpleNamespace\n"
        "from myclaw_core.paths import Home\n"
        "from myclaw_telegram import plugin\n"
        "plugin.myclaw_config()\n"
        "config = {'groups': ('-1',), 'poll_timeout_s': 30, 'api_url': 'https://x'}\n"
        "host = SimpleNamespace(clock=None, config=config, home=Home.at(Path('/nonexistent')), emit=None)\n"
        "[messenger] = plugin.myclaw_messengers(host)\n"
        "messenger.missing()\n"
        "print([name for name in ('telegram', 'httpx', 'asyncio', 'markdown_it') if name in sys.modules])\n"
    )

    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"

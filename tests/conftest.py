"""A whole agent in a temporary home: real plugins, real SQLite, a scripted model and a fake clock."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from myclaw_core.agent import Agent
from myclaw_core.desk import SessionDesk
from myclaw_core.paths import Home
from myclaw_core.testing import FakeClock, RecordingChannel

OpenAgent = Callable[..., AbstractAsyncContextManager[Agent]]
MakeDesk = Callable[..., SessionDesk]


@pytest.fixture
def clock() -> FakeClock:
    """A clock that the test moves."""
    return FakeClock()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An empty home."""
    return Home.at(tmp_path / "home")


@pytest.fixture
def open_agent(home: Home, clock: FakeClock) -> OpenAgent:
    """Open an agent whose model plays `replies`."""

    @asynccontextmanager
    async def opened(replies: Sequence[dict[str, Any]] = (), config: str = "", **options: Any) -> AsyncIterator[Agent]:
        home.root.mkdir(parents=True, exist_ok=True)
        script = home.root / "script.json"
        script.write_text(json.dumps(list(replies)), encoding="utf-8")
        home.config_file.write_text(
            f'[agent]\nprovider = "scripted"\n[scripted]\nfile = {json.dumps(str(script))}\n{config}', encoding="utf-8"
        )
        async with Agent.open(home, clock=clock, **options) as agent:
            yield agent

    return opened


@pytest.fixture
def make_desk(clock: FakeClock) -> MakeDesk:
    """Make a session on a recording channel."""

    def made(agent: Agent, channel: RecordingChannel | None = None, **options: Any) -> SessionDesk:
        settings: dict[str, Any] = {
            "sender": "test:me",
            "roots": agent.standing_roots,
            "cwd": str(agent.home.workspace),
            "level": "supervised",
        }
        return SessionDesk(agent, channel or RecordingChannel(clock), **(settings | options))

    return made


@pytest.fixture(scope="session")
def birth_report(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the birth tests of the good draft of `designs` show, run once for real."""
    from designing import tested_report

    return asyncio.run(tested_report(tmp_path_factory.mktemp("tested")))


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Return a function that puts a distribution with one plugin first on the path, as an installer would."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    before = set(sys.modules)

    def run(
        name: str,
        distribution: str,
        body: str = "",
        *,
        manifest: str | None = 'name = "{name}"\nsummary = "A test."\nhooks = ["myclaw_config"]\n',
        leave: str = "",
        value: str = "",
    ) -> Path:
        package = f"fake_{distribution}".replace("-", "_")
        info = site / f"{distribution.replace('-', '_')}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[myclaw.plugins]\n{name} = {value or package + '.plugin'}\n")
        if leave != "metadata":
            (site / package).mkdir()
            (site / package / "__init__.py").write_text("")
            (site / package / "plugin.py").write_text(f"from myclaw_core import hookimpl\n{body}\n")
            if manifest is not None:
                (site / package / "plugin.toml").write_text(manifest.format(name=name))
        _record(site, info, site / package)
        return site / package

    yield run
    for module in set(sys.modules) - before:
        if module.startswith("fake_"):
            del sys.modules[module]


def _record(site: Path, *folders: Path) -> None:
    """Write the RECORD of a distribution that consists of two folders."""
    rows = []
    for path in (path for folder in folders if folder.exists() for path in sorted(folder.iterdir())):
        digest = urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).decode().rstrip("=")
        rows.append(f"{path.relative_to(site)},sha256={digest},{path.stat().st_size}\n")
    record = folders[0] / "RECORD"
    record.write_text("".join([*rows, f"{record.relative_to(site)},,\n"]))

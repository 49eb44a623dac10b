"""How tests are run: the whole suite on all cores, and every test in English, whatever the language of the machine."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from myclaw_core.messages import use_language


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run the whole suite on all cores; what is named on the command line runs in this process, and starts at once.

    Neighbours stay on one core, so that what a file makes once is made once, until a core has nothing left to do.
    """
    is_worker = "PYTEST_XDIST_WORKER" in os.environ  # which calls this hook too, and must not start workers of its own
    is_whole = config.args_source is not pytest.Config.ArgsSource.ARGS
    if is_whole and not is_worker and config.getoption("numprocesses", 0) is None:
        config.option.numprocesses = "auto"
        config.option.dist = "worksteal"


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Speak English unless the test chooses another language."""
    monkeypatch.setenv("LANGUAGE", "en")
    use_language("")


settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")  # no test depends on how busy the machine is

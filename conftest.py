"""Every test speaks English, in this process and in those that it starts, whatever the language of the machine."""

from __future__ import annotations

import pytest
from hypothesis import settings

from myclaw_core.messages import use_language


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Speak English unless the test chooses another language."""
    monkeypatch.setenv("LANGUAGE", "en")
    use_language("")


settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")  # no test depends on how busy the machine is

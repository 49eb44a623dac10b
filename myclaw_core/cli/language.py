"""The language of a command's words: that of the configuration, where it names one."""

from __future__ import annotations

from contextlib import suppress

__all__ = ["speak"]


def speak() -> None:
    """Use the language that `[agent] language` names; what is wrong with the file is told by who needs all of it."""
    from myclaw_core.config.edit import value_at
    from myclaw_core.config.source import read_source
    from myclaw_core.errors import MyclawError
    from myclaw_core.messages import use_language
    from myclaw_core.paths import Home

    with suppress(MyclawError):
        language = value_at(read_source(Home.find().config_file), ("agent", "language"))
        use_language(language if isinstance(language, str) else "")

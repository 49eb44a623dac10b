"""Has an author of a plugin word a prompt: bounded in time and size, contained, and read strictly."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_
from myclaw_core.plugins.contain import PluginError, contained
from myclaw_core.runtime.storable import storable_text
from myclaw_core.synthesis.author import Prompt

__all__ = ["LIMIT_S", "MOST_CHARS", "worded"]

LIMIT_S = 10.0
"""Seconds in which a prompt must be worded; it is text made from text."""
MOST_CHARS = 200_000
"""Of a prompt as a whole; its brief holds at most a fourth of that."""


def worded(author: str, word: Callable[[], Prompt], *, limit_s: float = LIMIT_S) -> Prompt:
    """Return what an author words, of a form that can be sent.

    Args:
        author: The plugin that offers it.
        word: Asks it.

    Raises:
        UnavailableError: It failed, took too long, or gave no prompt; the design goes on once it can.
        KeyboardInterrupt: The person pressed Ctrl-C meanwhile.
    """
    try:
        return contained(lambda: _read(word()), limit_s)
    except PluginError as error:
        raise UnavailableError(
            N_(
                "the author of prompts of the plugin {name} {problem}; name another plugin in [slots] synthesizer",
                name=author,
                problem=error.text,
            )
        ) from error


def _read(answer: Any) -> Prompt:
    if isinstance(answer, Coroutine):
        answer.close()
    if type(answer) is not Prompt or not isinstance(answer.system, str) or not isinstance(answer.text, str):
        raise PluginError(N_("gave no Prompt of two texts"))
    if len(answer.system) + len(answer.text) > MOST_CHARS:
        raise PluginError(N_("gave a prompt of more than {n} characters", n=MOST_CHARS))
    return Prompt(system=storable_text(answer.system), text=storable_text(answer.text))

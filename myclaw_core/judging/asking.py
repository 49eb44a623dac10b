"""Asks a judge or a critic of a plugin once: bounded in time, contained, and read strictly."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar, get_args

from attrs import evolve

from myclaw_core.clock import Clock
from myclaw_core.errors import UnavailableError
from myclaw_core.files.visible import visible
from myclaw_core.judging.judge import Critic, Judge, LocalModel
from myclaw_core.judging.types import Comparison, JudgedItem, Judgement, Preference
from myclaw_core.messages import N_
from myclaw_core.plugins.contain import PluginError, contained, contained_await
from myclaw_core.runtime.received import guarded_briefly, received_error
from myclaw_core.types.text import Text

__all__ = ["LIMIT_S", "asked_critic", "asked_judge"]

LIMIT_S = 600.0
"""Seconds that one judgement or comparison may take; it may be several passes of a slow model."""

_STEP_S = 30.0
"""Seconds for which code of a plugin may keep all else from going on."""
_MOST_REASON_CHARS = 600
_MOST_REASON_LINES = 3
_MOST_LAWS = 8
_MOST_LAW_CHARS = 40
T = TypeVar("T")


async def asked_judge(
    judge: Judge, item: JudgedItem, local: LocalModel, clock: Clock, limit_s: float = LIMIT_S
) -> Judgement:
    """Return what a judge says, of a form that can be shown and recorded.

    Raises:
        UnavailableError: It cannot, took too long, failed, or gave no judgement.
        asyncio.CancelledError: Whoever asks was cancelled.
    """
    who = N_("the judge {name}", name=_name(judge))
    # Of a class of its own nothing is taken: it could say one thing when it is checked and another when it is used.
    answer: Any = await _asked(who, partial(judge.judge, item, local), clock, limit_s)
    if type(answer) is not Judgement or not _is_share(answer.score) or not _are_laws(answer.laws):
        raise UnavailableError(N_("{who} gave no score between 0 and 1 with its laws", who=who))
    _require_words(who, answer.reasoning)
    laws = tuple(visible(law)[:_MOST_LAW_CHARS] for law in answer.laws[:_MOST_LAWS])
    return evolve(answer, reasoning=_told(answer.reasoning), laws=laws)


async def asked_critic(
    critic: Critic, task: str, left: str, right: str, local: LocalModel, clock: Clock, limit_s: float = LIMIT_S
) -> Comparison:
    """Return what a critic says of two answers in this order, of a form that can be shown and recorded.

    Raises:
        UnavailableError: It cannot, took too long, failed, or gave no comparison.
        asyncio.CancelledError: Whoever asks was cancelled.
    """
    who = N_("the critic {name}", name=_name(critic))
    answer: Any = await _asked(who, partial(critic.compare, task, left, right, local), clock, limit_s)
    if type(answer) is not Comparison or answer.winner not in get_args(Preference):
        raise UnavailableError(N_("{who} named neither left, right nor tie", who=who))
    _require_words(who, answer.reason)
    return evolve(answer, reason=_told(answer.reason))


async def _asked(who: Text, ask: Callable[[], Awaitable[T]], clock: Clock, limit_s: float) -> T:
    async def answer() -> T:
        return await contained_await(contained(ask, _STEP_S), limit_s, clock, step_s=_STEP_S)

    try:
        return await guarded_briefly(who, answer())
    except PluginError as error:
        if isinstance(error.__cause__, UnavailableError):
            raise error.__cause__ from None
        raise UnavailableError(N_("{who} {problem}", who=who, problem=error.text)) from error
    except Exception as error:
        raise UnavailableError(N_("{who} failed: {error}", who=who, error=received_error(error))) from error


def _name(who: Judge | Critic) -> str:
    return visible(str(who.name))[:_MOST_LAW_CHARS]


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1  # NaN compares with nothing


def _are_laws(value: Any) -> bool:
    return type(value) in (list, tuple) and all(type(law) is str for law in value)


def _require_words(who: Text, reason: Any) -> None:
    if type(reason) is not str:
        raise UnavailableError(N_("{who} gave no reason in words", who=who))


def _told(text: str) -> str:
    """Return at most three lines of what was said; nothing in them acts on a screen."""
    lines = [line for line in text[: _MOST_REASON_CHARS * 2].splitlines() if line.strip()]
    return "\n".join(map(visible, lines[:_MOST_REASON_LINES]))[:_MOST_REASON_CHARS]

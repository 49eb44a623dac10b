"""How well a judge or a critic does on the labelled items: measured with a model, by language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from attrs import frozen

from myclaw_core.clock import Clock
from myclaw_core.judging.asking import asked_judge
from myclaw_core.judging.comparing import compared
from myclaw_core.judging.exam import items_digest, labelled_items, labelled_pairs, pairs_digest
from myclaw_core.judging.judge import Critic, Judge, LocalModel
from myclaw_core.judging.types import Calibration, Language

__all__ = ["Progress", "auc", "calibrate_critic", "calibrate_judge"]

Progress = Callable[[int, int], None]
"""Is told how many items are done, and of how many."""

_WORTH = {"left": 1.0, "tie": 0.5, "right": 0.0}


@frozen
class _Scored:
    language: Language
    sound: bool
    score: float


def auc(sound: Collection[float], unsound: Collection[float]) -> float:
    """Return how often a sound item scores above an unsound one, ties as half: the area under the ROC curve.

    It is U / (n·m) of Mann and Whitney (1947), the area by Hanley and McNeil (1982), from the ranks of all scores
    together, those of equal scores averaged: U = Σ ranks of the sound − n(n + 1)/2.

    Args:
        sound: Scores of the n sound items, at least one.
        unsound: Scores of the m unsound items, at least one.
    """
    places = defaultdict(list)
    for rank, score in enumerate(sorted([*sound, *unsound]), start=1):
        places[score].append(rank)
    ranks = sum(sum(places[score]) / len(places[score]) for score in sound)
    n, m = len(sound), len(unsound)
    return (ranks - n * (n + 1) / 2) / (n * m)


async def calibrate_judge(judge: Judge, local: LocalModel, clock: Clock, progress: Progress) -> Calibration:
    """Return how well a judge tells the sound items of the exam from the others.

    Raises:
        UnavailableError: It could not judge one of them; nothing is known of it then.
        asyncio.CancelledError: It was cancelled.
    """
    items, scored = labelled_items(), []
    for done, each in enumerate(items):
        progress(done, len(items))
        judgement = await asked_judge(judge, each.item, local, clock)
        scored.append(_Scored(each.language, each.sound, judgement.score))
    return Calibration(
        kind="judge",
        name=judge.name,
        rubric=judge.rubric,
        model=local.model,
        items=items_digest(),
        n=len(scored),
        auc=_auc(scored),
        by_language={
            language: _auc([each for each in scored if each.language == language])
            for language in sorted({each.language for each in scored})
        },
        at=clock.now(),
    )


async def calibrate_critic(critic: Critic, local: LocalModel, clock: Clock, progress: Progress) -> Calibration:
    """Return of how many pairs of the exam a critic names the better answer, ties as half.

    Every other pair is put the other way.

    Raises:
        UnavailableError: It could not compare one of them; nothing is known of it then.
        asyncio.CancelledError: It was cancelled.
    """
    pairs, worth = labelled_pairs(), defaultdict[str, list[float]](list)
    for done, pair in enumerate(pairs):
        progress(done, len(pairs))
        answers = (pair.better, pair.worse) if done % 2 else (pair.worse, pair.better)
        found = await compared(critic, pair.task, *answers, local, clock)
        value = _WORTH[found.winner]
        worth[pair.language].append(value if done % 2 else 1 - value)
    return Calibration(
        kind="critic",
        name=critic.name,
        rubric=critic.rubric,
        model=local.model,
        items=pairs_digest(),
        n=len(pairs),
        auc=_mean([each for values in worth.values() for each in values]),
        by_language={language: _mean(values) for language, values in sorted(worth.items())},
        at=clock.now(),
    )


def _auc(scored: Sequence[_Scored]) -> float:
    return auc([each.score for each in scored if each.sound], [each.score for each in scored if not each.sound])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)

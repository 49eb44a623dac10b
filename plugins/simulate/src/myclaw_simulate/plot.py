"""Draws questions and harm over the days as an SVG that can be read on light and on dark ground."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from math import ceil, floor, log10

from attrs import frozen

from myclaw_core.messages import _
from myclaw_simulate.compare import Run
from myclaw_simulate.report import ATTACKER_WORDS, rule_words

__all__ = ["drawn"]

_WIDTH, _LEFT, _RIGHT = 760, 52, 20
_TOP, _PLOT_HEIGHT, _GAP = 64, 150, 64
_LEGEND_COLUMN, _LEGEND_ROW = 140, 20
_MOST_TICKS, _DAY_TICK = 5, 10
_ROUNDING = 1e-9
_SMOOTHED_DAYS = 7
_LINES = (
    ("#0b62b8", "#6cb2ff", "none"),
    ("#b3470a", "#ff9d5c", "8 3"),
    ("#5b6570", "#a9b4bf", "2 3"),
    ("#a01f7a", "#f08fd0", "10 3 2 3"),
    ("#1d7a3e", "#6fd08c", "5 5"),
    ("#6b5a00", "#e0c850", "1 5"),
)
"""One line each: its colour on light ground, on dark ground, and its dashes, so that colour is not all that tells."""

_STYLE = """
text{{fill:#1f2328;font:12px system-ui,sans-serif}} .b{{fill:#fff}}
.t{{font-weight:600}} .e{{text-anchor:end}} .m{{text-anchor:middle}}
.g{{stroke:#d5dae0;stroke-width:1}} .i{{fill:#eef1f4}} path{{fill:none;stroke-width:2;stroke-linejoin:round}}
{light}
@media(prefers-color-scheme:dark){{text{{fill:#e6edf3}} .b{{fill:#0d1117}} .g{{stroke:#30363d}} .i{{fill:#1b222b}}
{dark}}}
"""


_Line = Sequence[float | None]


@frozen(kw_only=True)
class _Panel:
    """One drawing: a title and one line for each rule."""

    title: str
    lines: Sequence[_Line]


def drawn(runs: Sequence[Run]) -> str:
    """Return the drawing; equal runs give equal bytes."""
    attackers = list(dict.fromkeys(run.attacker for run in runs))
    first = [run for run in runs if run.attacker == attackers[0]]
    panels = [_Panel(title=_("Questions a day, mean of 7 days"), lines=[_smoothed(run) for run in first])]
    for attacker in attackers:
        lines = [run.harm_so_far() for run in runs if run.attacker == attacker]
        title = _("{attacks}: let through so far, a household", attacks=ATTACKER_WORDS[attacker])
        panels.append(_Panel(title=title, lines=lines))
    return "\n".join(_svg(panels, [rule_words(run.rule) for run in first], runs[0])) + "\n"


def _svg(panels: Sequence[_Panel], names: Sequence[str], run: Run) -> Iterator[str]:
    height = _TOP + len(panels) * (_PLOT_HEIGHT + _GAP)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">'
    title = escape(_("Questions and harm over {n} days", n=run.days))
    yield f"<title>{title}</title>"
    yield f"<style>{_style()}</style>"
    yield '<rect class="b" width="100%" height="100%"/>'
    yield from _legend(names)
    for number, panel in enumerate(panels):
        yield from _panel(panel, _TOP + number * (_PLOT_HEIGHT + _GAP) + 20, run)
    yield "</svg>"


def _style() -> str:
    light = (f".l{n}{{stroke:{on_light};stroke-dasharray:{dash}}}" for n, (on_light, _dark, dash) in enumerate(_LINES))
    dark = (f".l{n}{{stroke:{on_dark}}}" for n, (_light, on_dark, _dash) in enumerate(_LINES))
    return _STYLE.format(light=" ".join(light), dark=" ".join(dark))


def _legend(names: Sequence[str]) -> Iterator[str]:
    columns = (_WIDTH - _LEFT) // _LEGEND_COLUMN
    for number, name in enumerate(names):
        x, y = _LEFT + number % columns * _LEGEND_COLUMN, 22 + number // columns * _LEGEND_ROW
        yield f'<path class="{_line(number)}" d="M{x} {y - 4}h28"/><text x="{x + 34}" y="{y}">{escape(name)}</text>'


def _panel(panel: _Panel, top: int, run: Run) -> Iterator[str]:
    bottom = top + _PLOT_HEIGHT
    most = max((value for line in panel.lines for value in line if value is not None), default=0.0)
    step = _step(most)
    ticks = max(ceil(most / step - _ROUNDING), 1)

    def x(day: float) -> float:
        return _LEFT + (day - 1) / max(run.days - 1, 1) * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return bottom - value / (ticks * step) * _PLOT_HEIGHT

    yield f'<text class="t" x="{_LEFT}" y="{top - 10}">{escape(panel.title)}</text>'
    idle = [day for day in range(1, run.days + 1) if run.world.is_idle(day)]
    if idle:
        width = x(idle[-1]) - x(idle[0])
        yield f'<rect class="i" x="{x(idle[0]):.1f}" y="{top}" width="{width:.1f}" height="{_PLOT_HEIGHT}"/>'
        middle, words = x((idle[0] + idle[-1]) / 2), escape(_("no use"))
        yield f'<text class="m" x="{middle:.1f}" y="{top + 16}">{words}</text>'
    for tick in range(ticks + 1):
        at = y(tick * step)
        yield f'<path class="g" d="M{_LEFT} {at:.1f}H{_WIDTH - _RIGHT}"/>'
        yield f'<text class="e" x="{_LEFT - 6}" y="{at + 4:.1f}">{tick * step:g}</text>'
    for day in (1, *range(_DAY_TICK, run.days + 1, _DAY_TICK)):
        yield f'<text class="m" x="{x(day):.1f}" y="{bottom + 16}">{day}</text>'
    below = escape(_("day"))
    yield f'<text class="e" x="{_WIDTH - _RIGHT}" y="{bottom + 32}">{below}</text>'
    for number, line in enumerate(panel.lines):
        yield f'<path class="{_line(number)}" d="{_path(line, x, y)}"/>'


def _path(line: _Line, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    """Return a line with a gap where it has no value."""
    parts = []
    for day, value in enumerate(line, 1):
        if value is not None:
            joined = day > 1 and line[day - 2] is not None
            parts.append(f"{'L' if joined else 'M'}{x(day):.1f} {y(value):.1f}")
    return "".join(parts)


def _line(number: int) -> str:
    return f"l{number % len(_LINES)}"


def _step(most: float) -> float:
    """Return the round distance of the marks on an axis that reaches to `most`."""
    if most <= 0:
        return 1.0
    unit = float(10 ** floor(log10(most / _MOST_TICKS)))
    return next(factor * unit for factor in (1, 2, 2.5, 5, 10) if factor * unit * _MOST_TICKS >= most - _ROUNDING)


def _smoothed(run: Run) -> _Line:
    """Return the questions of each day as the mean of those days of the week up to it on which the agent was used."""
    values = run.a_day("questions")
    return [
        None if run.world.is_idle(day) else _mean(values[at - 1] for at in _week(run, day))
        for day in range(1, run.days + 1)
    ]


def _week(run: Run, day: int) -> Sequence[int]:
    return [at for at in range(max(day - _SMOOTHED_DAYS, 0) + 1, day + 1) if not run.world.is_idle(at)]


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)

"""Draws questions and harm over the days as an SVG that can be read on light and on dark ground."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
_TICKS, _DAY_TICK = 4, 10
_SMOOTHED_DAYS = 7
_LINES = (
    ("#0b62b8", "#6cb2ff", ""),
    ("#b3470a", "#ff9d5c", "8 3"),
    ("#5b6570", "#a9b4bf", "2 3"),
    ("#a01f7a", "#f08fd0", "10 3 2 3"),
    ("#1d7a3e", "#6fd08c", "5 5"),
    ("#6b5a00", "#e0c850", "1 5"),
)
"""One line each: its colour on light ground, on dark ground, and its dashes, so that colour is not all that tells."""

_STYLE = """
svg{{background:#fff;color:#1f2328;font:12px system-ui,sans-serif}}
text{{fill:currentColor}} .t{{font-weight:600}} .e{{text-anchor:end}} .m{{text-anchor:middle}}
.g{{stroke:#d5dae0;stroke-width:1}} .i{{fill:#eef1f4}} path{{fill:none;stroke-width:2;stroke-linejoin:round}}
{light}
@media(prefers-color-scheme:dark){{svg{{background:#0d1117;color:#e6edf3}} .g{{stroke:#30363d}} .i{{fill:#1b222b}}
{dark}}}
"""


@frozen(kw_only=True)
class _Panel:
    """One drawing: a title and one line for each rule."""

    title: str
    lines: Sequence[Sequence[float]]


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
    yield f"<title>{escape(_('Questions and harm over {n} days', n=run.days))}</title>"
    yield f"<style>{_style()}</style>"
    yield from _legend(names)
    for number, panel in enumerate(panels):
        yield from _panel(panel, _TOP + number * (_PLOT_HEIGHT + _GAP) + 20, run)
    yield "</svg>"


def _style() -> str:
    light = " ".join(
        f".l{n}{{stroke:{light};stroke-dasharray:{dash or 'none'}}}" for n, (light, _d, dash) in _numbered()
    )
    dark = " ".join(f".l{n}{{stroke:{dark}}}" for n, (_l, dark, _dash) in _numbered())
    return _STYLE.format(light=light, dark=dark)


def _numbered() -> Iterable[tuple[int, tuple[str, str, str]]]:
    return enumerate(_LINES)


def _legend(names: Sequence[str]) -> Iterator[str]:
    columns = (_WIDTH - _LEFT) // _LEGEND_COLUMN
    for number, name in enumerate(names):
        x, y = _LEFT + number % columns * _LEGEND_COLUMN, 22 + number // columns * _LEGEND_ROW
        yield f'<path class="{_line(number)}" d="M{x} {y - 4}h28"/><text x="{x + 34}" y="{y}">{escape(name)}</text>'


def _panel(panel: _Panel, top: int, run: Run) -> Iterator[str]:
    bottom = top + _PLOT_HEIGHT
    step = _step(max((max(line, default=0.0) for line in panel.lines), default=0.0))
    most = step * _TICKS

    def x(day: float) -> float:
        return _LEFT + (day - 1) / max(run.days - 1, 1) * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return bottom - value / most * _PLOT_HEIGHT

    yield f'<text class="t" x="{_LEFT}" y="{top - 10}">{escape(panel.title)}</text>'
    idle = [day for day in range(1, run.days + 1) if run.world.is_idle(day)]
    if idle:
        width = x(idle[-1]) - x(idle[0])
        yield f'<rect class="i" x="{x(idle[0]):.1f}" y="{top}" width="{width:.1f}" height="{_PLOT_HEIGHT}"/>'
    for tick in range(_TICKS + 1):
        at = y(tick * step)
        yield f'<path class="g" d="M{_LEFT} {at:.1f}H{_WIDTH - _RIGHT}"/>'
        yield f'<text class="e" x="{_LEFT - 6}" y="{at + 4:.1f}">{tick * step:g}</text>'
    for day in (1, *range(_DAY_TICK, run.days + 1, _DAY_TICK)):
        yield f'<text class="m" x="{x(day):.1f}" y="{bottom + 16}">{day}</text>'
    yield f'<text class="e" x="{_WIDTH - _RIGHT}" y="{bottom + 32}">{escape(_("day"))}</text>'
    for number, line in enumerate(panel.lines):
        points = "L".join(f"{x(day):.1f} {y(value):.1f}" for day, value in enumerate(line, 1))
        yield f'<path class="{_line(number)}" d="M{points}"/>'


def _line(number: int) -> str:
    return f"l{number % len(_LINES)}"


def _step(most: float) -> float:
    """Return the round distance of the marks on an axis that reaches at least to `most`."""
    if most <= 0:
        return 1.0
    least = most / _TICKS
    unit = float(10 ** floor(log10(least)))
    factor = next(factor for factor in (1, 2, 2.5, 5, 10) if factor * unit >= least * (1 - 1e-9))
    return float(f"{factor * unit:.6g}") if factor else ceil(least)


def _smoothed(run: Run) -> Sequence[float]:
    """Return the questions of each day as the mean of the seven days up to it."""
    values = run.a_day("questions")
    windows = (values[max(day - _SMOOTHED_DAYS, 0) : day] for day in range(1, len(values) + 1))
    return [sum(window) / len(window) for window in windows]

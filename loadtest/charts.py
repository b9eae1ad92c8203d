"""Charts as inline SVG: no script, no font, nothing to fetch. Pure: numbers in, markup out."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# The drawing's own units; the page scales it to its width.
_WIDTH, _HEIGHT = 1120, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 16, 14, 40
# Labels along the x axis, at most; and the factors of ten that make round numbers.
_MOST_TICKS = 10
_ROUND = (1, 2, 4, 6, 8, 10)
_INNER_WIDTH, _INNER_HEIGHT = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM


@dataclass(frozen=True, slots=True)
class Series:
    """One line, or one layer of a stack. `values` has one number for each x; None is a gap."""

    name: str
    color: str
    values: Sequence[float | None]


def lines(xs: Sequence[float], series: Sequence[Series], x_title: str, y_title: str) -> str:
    """A line for each series over shared xs (at least one x)."""
    top = _nice(max((value or 0.0 for one in series for value in one.values), default=0.0))
    span = max(xs) or 1.0
    drawn = []
    for one in series:
        for run in _runs(one.values):
            points = " ".join(f"{_x(xs[at], span)},{_y(one.values[at] or 0.0, top)}" for at in run)
            drawn.append(f'<polyline points="{points}" fill="none" stroke="{one.color}" stroke-width="2"/>')
        drawn += [
            f'<circle cx="{_x(x, span)}" cy="{_y(value, top)}" r="3" fill="{one.color}">'
            f"<title>{escape(one.name)} at {x:g} s: {value:,.0f}</title></circle>"
            for x, value in zip(xs, one.values, strict=True)
            if value is not None
        ]
    return _frame("".join(drawn), span, top, x_title, y_title)


def stacked(xs: Sequence[float], width: float, series: Sequence[Series], x_title: str, y_title: str) -> str:
    """A bar for each x (from x to x + width), the series on top of each other."""
    totals = [sum(one.values[at] or 0.0 for one in series) for at in range(len(xs))]
    top, span = _nice(max(totals, default=0.0)), max(xs) + width
    drawn, base = [], [0.0] * len(xs)
    bar = max(1.0, width / span * _INNER_WIDTH - 2)
    for one in series:
        for at, x in enumerate(xs):
            value = one.values[at] or 0.0
            if value:
                upper = _y(base[at] + value, top)
                drawn.append(
                    f'<rect x="{_x(x, span)}" y="{upper}" width="{bar:.1f}" '
                    f'height="{_y(base[at], top) - upper:.1f}" fill="{one.color}">'
                    f"<title>{escape(one.name)} at {x:g} s: {value:,.0f}</title></rect>"
                )
                base[at] += value
    return _frame("".join(drawn), span, top, x_title, y_title)


def requests_and_writes(pairs: Sequence[tuple[str, int, int]], colors: tuple[str, str, str]) -> str:
    """For each key (name, requests, writes) a bar of its requests, and a mark at its writes.

    `colors`: of the bars, of a mark that stands at one write, of any other mark. The scale is logarithmic
    (1 is the base line), since a key may have one request or thousands.
    """
    most = max((requests for _, requests, _ in pairs), default=1)
    top = float(max(10, 10 ** len(str(max(1, most) - 1))))
    step = _INNER_WIDTH / max(1, len(pairs))
    drawn = []
    for at, (name, requests, writes) in enumerate(pairs):
        x = _LEFT + at * step
        upper = _log_y(requests, top)
        color = colors[1] if writes == 1 else colors[2]
        drawn.append(
            f"<g><title>{escape(name)}: {requests:,} requests, {writes} writes</title>"
            f'<rect x="{x:.1f}" y="{upper:.1f}" width="{max(0.6, step - 0.6):.1f}" '
            f'height="{_log_y(0.5, top) - upper:.1f}" fill="{colors[0]}"/>'
            f'<rect x="{x:.1f}" y="{_log_y(writes, top) - 2:.1f}" width="{max(0.8, step - 0.2):.1f}" '
            f'height="4" fill="{color}"/></g>'
        )
    marks = [10.0**power for power in range(len(str(int(top))))]
    grid = "".join(_grid(_log_y(mark, top), f"{mark:,.0f}") for mark in marks)
    title = _titles(f"each of {len(pairs)} pairs of tenant and key, most requests first", "count, log scale")
    return _svg(grid + "".join(drawn) + title)


def _runs(values: Sequence[float | None]) -> list[list[int]]:
    """Indices of values in a row without a gap."""
    found: list[list[int]] = [[]]
    for at, value in enumerate(values):
        if value is None:
            found.append([])
        else:
            found[-1].append(at)
    return [run for run in found if len(run) > 1]


def _frame(drawn: str, span: float, top: float, x_title: str, y_title: str) -> str:
    grid = "".join(_grid(_y(top * part / 4, top), f"{top * part / 4:,g}") for part in range(5))
    step = _nice(span / _MOST_TICKS)
    ticks = "".join(
        f'<text x="{_x(at * step, span)}" y="{_HEIGHT - 24}" text-anchor="middle">{at * step:g}</text>'
        for at in range(int(span / step) + 1)
    )
    return _svg(grid + ticks + drawn + _titles(x_title, y_title))


def _grid(y: float, label: str) -> str:
    return (
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
        f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
    )


def _titles(x_title: str, y_title: str) -> str:
    middle = _TOP + _INNER_HEIGHT / 2
    turned = f'transform="rotate(-90 14 {middle})"'
    return (
        f'<text x="{_LEFT + _INNER_WIDTH / 2}" y="{_HEIGHT - 6}" text-anchor="middle">'
        f"{escape(x_title)}</text>"
        f'<text x="14" y="{middle}" text-anchor="middle" {turned}>{escape(y_title)}</text>'
    )


def _svg(content: str) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">{content}</svg>'


def _x(value: float, span: float) -> float:
    return round(_LEFT + value / span * _INNER_WIDTH, 1)


def _y(value: float, top: float) -> float:
    return round(_TOP + (1 - value / top) * _INNER_HEIGHT, 1)


def _log_y(value: float, top: float) -> float:
    """0.5 (which stands for nothing at all) is the base line, `top` the upper edge."""
    part = (log10(max(0.5, value)) - log10(0.5)) / (log10(top) - log10(0.5))
    return _TOP + (1 - part) * _INNER_HEIGHT


def _nice(most: float) -> float:
    """The next round number at or above `most` (at least 1), one whose quarters read well too."""
    scale = 1.0
    while scale * 10 <= most:
        scale *= 10
    return next(scale * factor for factor in _ROUND if scale * factor >= max(most, 1.0))

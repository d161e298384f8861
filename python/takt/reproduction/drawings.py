"""Distributions and schedules of ours, as pictures without a program."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from takt.reproduction.runs import Line
from takt.text.formatting import significant
from takt.text.pages import html

WIDTH, HEIGHT, LANE = 640, 220, 16
"""In pixels: of a picture, of a distribution's, and of a line of a schedule."""
LEFT, BELOW = 230, 20
"""Room for names, and for the scale."""
TICKS = 6
COLOURS = ("#0d74ce", "#ce2c31", "#218358", "#ad5700", "#8e4ec6", "#60646c", "#008573", "#d6409f")
DASHES = ("", "6 3", "2 3")
"""When the colours are used up, the curves are dashed."""


def of(lines: Sequence[Line]) -> str:
    """Distributions of one unit in one picture, each schedule in its own."""
    parts = [
        _curves([line for line in lines if line.samples and line.unit == unit], unit)
        for unit in dict.fromkeys(line.unit for line in lines if line.samples)
    ]
    parts += [_schedule(line) for line in lines if line.spans]
    return "".join(parts)


def _curves(lines: Sequence[Line], unit: str) -> str:
    """Cumulative: the share of ours that is at most as large as what the scale below says."""
    low = min(min(line.samples) for line in lines)
    high = max(max(line.samples) for line in lines)
    scale = _Scale(low, high, 0)
    inner = list(scale.ticks(HEIGHT, unit))
    legend = []
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        dash = DASHES[number // len(COLOURS) % len(DASHES)]
        points = " ".join(_steps(sorted(line.samples), scale))
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        inner.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"'
            f"{dashed}></polyline>"
        )
        sample = "╌╌" if dash else "━━"
        legend.append(f'<span style="color:{colour}">{sample}</span> {html(line.what)}')
    caption = f"Ours, cumulative: the share that is at most so many {html(unit)}. "
    return _figure(HEIGHT, inner, caption + " &nbsp; ".join(legend))


def _steps(values: Sequence[float], scale: _Scale) -> Iterator[str]:
    for number, value in enumerate(values):
        for share in (number, number + 1):
            height = (HEIGHT - BELOW) * (1 - share / len(values))
            yield f"{scale.at(value)},{round(height, 1)}"


def _schedule(line: Line) -> str:
    """A line for each that runs, in the order in which they run first."""
    lanes = list(dict.fromkeys(who for who, _, _ in line.spans))
    height = LANE * len(lanes) + BELOW
    first, last = (min(span[1] for span in line.spans), max(span[2] for span in line.spans))
    scale = _Scale(first, last, LEFT)
    inner = list(scale.ticks(height, line.unit))
    for number, lane in enumerate(lanes):
        top = number * LANE
        inner.append(f'<text x="0" y="{top + LANE - 4}" fill="currentColor">{html(lane)}</text>')
        for who, start, end in line.spans:
            if who == lane:
                width = round(max(1.0, scale.at(end) - scale.at(start)), 1)
                inner.append(
                    f'<rect x="{scale.at(start)}" y="{top + 2}" width="{width}" '
                    f'height="{LANE - 4}" fill="{COLOURS[number % len(COLOURS)]}"/>'
                )
    return _figure(height, inner, html(line.what))


class _Scale:
    """From values to pixels."""

    def __init__(self, low: float, high: float, left: int) -> None:
        self._low, self._high, self._left = low, max(high, low + 1e-9), left

    def at(self, value: float) -> float:
        width = WIDTH - self._left - 30
        return round(self._left + width * (value - self._low) / (self._high - self._low), 1)

    def ticks(self, height: int, unit: str) -> Iterator[str]:
        """Lines at round values, with what they mean below."""
        size = 10 ** math.floor(math.log10((self._high - self._low) / TICKS))
        step = next(n * size for n in (1, 2, 5, 10) if (self._high - self._low) <= n * size * TICKS)
        for number in range(math.ceil(self._low / step), math.floor(self._high / step) + 1):
            x = self.at(number * step)
            yield (
                f'<line x1="{x}" x2="{x}" y1="0" y2="{height - BELOW}" stroke="#8884"/>'
                f'<text x="{x}" y="{height - 5}" text-anchor="middle" fill="currentColor">'
                f"{significant(number * step)}</text>"
            )
        yield f'<text x="{WIDTH}" y="{height - 5}" text-anchor="end">{html(unit)}</text>'


def _figure(height: int, inner: Sequence[str], caption: str) -> str:
    return (
        f'<figure><svg width="{WIDTH}" height="{height}" role="img" font-size="11" '
        f'fill="currentColor">{"".join(inner)}</svg><figcaption>{caption}</figcaption></figure>'
    )

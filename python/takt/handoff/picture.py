"""A picture of a design, as SVG: its sets, and the worst trajectory that an adversary found."""

from __future__ import annotations

import html
from collections.abc import Callable

import numpy

from takt.handoff.attack import Outcome
from takt.handoff.design import Design
from takt.handoff.expressions import Array
from takt.handoff.regions import Region
from takt.text.formatting import printable

WIDTH, HEIGHT = 860, 400
_LEFT, _TOP, _SIZE = 60, 50, 300
_SECOND = 480
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1b1f24 }
.title { font-size: 15px; font-weight: 600 } .quiet { fill: #57606a }
rect { shape-rendering: crispEdges } .frame { fill: none; stroke: #8c959f }
.safe { fill: #dbe7f6 } .reach { fill: #8db8ee }
.back { fill: #8db8ee } .bound { stroke: #cf222e; stroke-dasharray: 5 4 }
.path { fill: none; stroke: #1b1f24; stroke-width: 1.4 } .window { fill: #cf222e; fill-opacity: .1 }
.leaving { fill: none; stroke: #cf222e; stroke-width: 2 }
"""
MOST_POINTS = 400
_Scale = Callable[[float], float]


def svg(design: Design, worst: Outcome) -> str:
    """Left the sets in the plane of the first two states (of state and estimate, if there is only
    one), right the error over time.
    """
    parts = [
        f'<text x="{_LEFT}" y="24" class="title">{_text(design.plant.name)}</text>',
        f'<text x="{WIDTH - 20}" y="24" text-anchor="end" class="quiet">{_text(_summary(design))}'
        "</text>",
        *_sets(design, worst),
        *_errors(design, worst),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img"><style>{_STYLE}</style>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _summary(design: Design) -> str:
    limits = ", ".join(
        f"{low:.3g} ≤ {name} ≤ {high:.3g}"
        for name, low, high in zip(
            design.plant.inputs, design.decision.lower, design.decision.upper, strict=True
        )
    )
    return f"linear while {limits}; hand-over {design.window.length / 1e6:g} ms"


def _sets(design: Design, worst: Outcome) -> list[str]:
    plant = design.plant
    if len(plant.states) == 1:
        low, high = numpy.tile(plant.domain.lower, 2), numpy.tile(plant.domain.upper, 2)
        if design.safe is not None:
            low, high = design.safe.grid.lower, design.safe.grid.upper
        names = (plant.states[0], f"{plant.states[0]}, estimated")
        sets = [("safe", design.safe), ("reach", design.reach)]
        points: Array = numpy.array([])
    else:
        low, high = plant.domain.lower[:2], plant.domain.upper[:2]
        names = (plant.states[0], plant.states[1])
        sets = [("back", design.back)]
        points = numpy.array([state[:2] for _, state, _ in worst.trajectory])

    def x(value: float) -> float:
        return _LEFT + _SIZE * float((value - low[0]) / (high[0] - low[0]))

    def y(value: float) -> float:
        return _TOP + _SIZE * float(1 - (value - low[1]) / (high[1] - low[1]))

    parts: list[str] = []
    for kind, region in sets:
        if region is not None:
            parts += _cells(kind, region, x, y, plant.state)
    if len(plant.states) == 1:
        parts += _back_line(design, x, y)
    if len(points) and points.shape[1] == 2:
        inside = numpy.array([at < worst.left_at for at, _, _ in worst.trajectory])
        split = max(int(inside.sum()), 1)
        parts += _path("path", points[:split], x, y) + _path("leaving", points[split - 1 :], x, y)
    frame = f'<rect class="frame" x="{_LEFT}" y="{_TOP}" width="{_SIZE}" height="{_SIZE}"/>'
    legend = "light: safe set; blue: linear region; line: the way back"
    if len(plant.states) > 1:
        legend = "blue: the way back is allowed; line: the worst sequence"
    return [
        *parts,
        frame,
        *_ticks(low[0], high[0], x, horizontal=True),
        *_ticks(low[1], high[1], y, horizontal=False),
        f'<text x="{_LEFT + _SIZE / 2}" y="{_TOP + _SIZE + 32}" text-anchor="middle">'
        f"{_text(names[0])}</text>",
        f'<text x="{_LEFT}" y="{_TOP - 8}">{_text(names[1])}</text>',
        f'<text x="{_LEFT}" y="{HEIGHT - 2}" class="quiet">{legend}</text>',
    ]


def _cells(kind: str, region: Region, x: _Scale, y: _Scale, centre: Array) -> list[str]:
    """Runs of nodes inside, as rectangles; further states are at the operating point."""
    shape = region.grid.shape
    values = (region.values + region.error).reshape(shape)
    axes = region.grid.axes()
    if len(shape) == 2 and min(shape) <= 3:  # a box
        corners = region.grid.lower, region.grid.upper
        return [_rectangle(kind, corners[0], corners[1], x, y)]
    while values.ndim > 2:
        middle = int(numpy.argmin(abs(axes[values.ndim - 1] - centre[values.ndim - 1])))
        values = values[..., middle]
    half = region.grid.spacing[:2] / 2
    parts = []
    for row, at in enumerate(axes[0]):
        inside = numpy.concatenate([[False], values[row] <= 0, [False]])
        edges = numpy.flatnonzero(inside[1:] != inside[:-1])
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            lower = numpy.array([at - half[0], axes[1][first] - half[1]])
            upper = numpy.array([at + half[0], axes[1][last - 1] + half[1]])
            parts.append(_rectangle(kind, lower, upper, x, y))
    return parts


def _rectangle(kind: str, lower: Array, upper: Array, x: _Scale, y: _Scale) -> str:
    left, right, top, bottom = x(lower[0]), x(upper[0]), y(upper[1]), y(lower[1])
    left, right = max(left, _LEFT), min(right, _LEFT + _SIZE)
    top, bottom = max(top, _TOP), min(bottom, _TOP + _SIZE)
    return (
        f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 0):.1f}" '
        f'height="{max(bottom - top, 0):.1f}"/>'
    )


def _back_line(design: Design, x: _Scale, y: _Scale) -> list[str]:
    """The region of duplicated points [x, x] of one state: a piece of the diagonal."""
    back = design.back
    inside = back.grid.nodes()[back.values + back.error <= 0][:, 0]
    if not len(inside):
        return []
    return _path("leaving", numpy.array([[v, v] for v in (inside.min(), inside.max())]), x, y)


def _errors(design: Design, worst: Outcome) -> list[str]:
    last = worst.trajectory[-1][0]
    first = max(0.0, worst.left_at - 3 * max(last - worst.left_at, 0.25 * last))
    shown = [(at, error) for at, _, error in worst.trajectory if at >= first]
    top = 1.1 * max(1.0, *(error for _, error in shown))

    def x(value: float) -> float:
        return _SECOND + _SIZE * (value - first) / max(last - first, 1e-12)

    def y(value: float) -> float:
        return _TOP + _SIZE * (1 - value / top)

    return [
        f'<rect class="window" x="{x(worst.left_at):.1f}" y="{_TOP}" '
        f'width="{x(last) - x(worst.left_at):.1f}" height="{_SIZE}"/>',
        *_path("path", numpy.array(shown), x, y),
        f'<line class="bound" x1="{_SECOND}" x2="{_SECOND + _SIZE}" y1="{y(1):.1f}" '
        f'y2="{y(1):.1f}"/>',
        f'<rect class="frame" x="{_SECOND}" y="{_TOP}" width="{_SIZE}" height="{_SIZE}"/>',
        *_ticks(first, last, x, horizontal=True),
        *_ticks(0, top, y, horizontal=False, at=_SECOND),
        f'<text x="{_SECOND + _SIZE / 2}" y="{_TOP + _SIZE + 32}" text-anchor="middle">time, s'
        "</text>",
        f'<text x="{_SECOND}" y="{_TOP - 8}">error of the linear estimate, share of its bound'
        "</text>",
        f'<text x="{_SECOND}" y="{HEIGHT - 2}" class="quiet">the worst of {worst.sequences} '
        "sequences; pink: the hand-over</text>",
    ]


def _path(kind: str, points: Array, x: _Scale, y: _Scale) -> list[str]:
    step = max(len(points) // MOST_POINTS, 1)
    kept = [*points[::step], points[-1]]
    places = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in kept)
    return [f'<polyline class="{kind}" points="{places}"/>']


def _ticks(
    low: float, high: float, scale: _Scale, *, horizontal: bool, at: float = _LEFT
) -> list[str]:
    step = 10.0 ** numpy.floor(numpy.log10((high - low) / 2))
    if (high - low) / step > 8:
        step *= 2.5 if (high - low) / step > 12 else 2
    first = int(numpy.ceil(low / step - 1e-9))
    parts = []
    while first * step <= high + 1e-9 * step:
        value, label = scale(first * step), f"{first * step:.4g}"
        place = (
            f'x="{value:.1f}" y="{_TOP + _SIZE + 16}" text-anchor="middle"'
            if horizontal
            else f'x="{at - 6}" y="{value + 4:.1f}" text-anchor="end"'
        )
        parts.append(f'<text {place} class="quiet">{label}</text>')
        first += 1
    return parts


def _text(text: str) -> str:
    return html.escape(printable(text))

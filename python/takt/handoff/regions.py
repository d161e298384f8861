"""Sets of points as value functions on grids: what the membership test at run time reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy

from takt.handoff.expressions import Array
from takt.handoff.grids import Grid

ROUNDING = 1e-9
"""Relative amount by which boxes are shrunk: more than writing and reading numbers changes."""


@dataclass(frozen=True)
class Region:
    """Where the interpolated values plus `error` are at most 0."""

    space: str
    """state: [x] stands for [x, x]; augmented: [x, x^]."""
    grid: Grid
    values: Array
    error: float

    def contains(self, points: Array) -> numpy.ndarray[Any, numpy.dtype[numpy.bool_]]:
        interpolation = self.grid.interpolation(numpy.atleast_2d(points))
        inside: numpy.ndarray[Any, numpy.dtype[numpy.bool_]] = (
            interpolation.linear(self.values) + self.error <= 0
        )
        inside &= ~interpolation.outside
        return inside

    def share(self) -> float:
        """The share of nodes that lie in it."""
        return float((self.values + self.error <= 0).mean())

    def document(self) -> dict[str, Any]:
        # Far outside only the sign matters, and long numbers make long documents.
        values = numpy.clip(self.values, -1e6, 1e6)
        rounded = [float(f"{value:.7g}") for value in values]
        error = self.error + 1e-6 * float(abs(values[values <= 1]).max(initial=0.0))
        return {
            "space": self.space,
            "axes": [
                {"first": float(low), "last": float(high), "count": int(count)}
                for low, high, count in zip(
                    self.grid.lower, self.grid.upper, self.grid.shape, strict=True
                )
            ],
            "values": rounded,
            "error": error,
        }


def box(lower: Array, upper: Array) -> Region:
    """A box of states: the largest distance from its centre, relative to its size, minus 1.

    Interpolated from three nodes along each axis that is exactly 0 on the border.
    """
    middle, half = (lower + upper) / 2, (upper - lower) / 2 * (1 - ROUNDING)
    grid = Grid(middle - half, middle + half, [3] * len(lower))
    return Region("state", grid, _distance(grid.nodes(), middle, half), 0.0)


def pairs(grid: Grid, middle: Array, half: Array) -> Region:
    """A box of (x, e) as a set of [x, x^], on a grid of these. The distance from its centre is
    convex, so interpolation makes the set smaller, never larger.
    """
    nodes = grid.nodes()
    n = nodes.shape[1] // 2
    with_error = numpy.hstack([nodes[:, :n], nodes[:, n:] - nodes[:, :n]])
    return Region("augmented", grid, _distance(with_error, middle, half * (1 - ROUNDING)), 0.0)


def _distance(points: Array, middle: Array, half: Array) -> Array:
    safe: Array = (abs(points - middle) / numpy.maximum(half, 1e-300)).max(axis=1) - 1.0
    return safe

"""Value functions on grids, by the semi-Lagrangian scheme.

One step of the Hamilton-Jacobi equation  V_t + max_d grad V . Psi(x, d) = 0  (backwards) is

    V(x) <- max over d of V(where x is after a step with d),

with V between nodes interpolated. It is stable for any step, and a step is a product with a sparse
matrix. Interpolation is cubic, cut off so that it makes no new extremes; where it is cut off the
value comes out too high rather than too low, and the set where it is at most 0 too small.

In many dimensions it is linear, which is at least the function where that is convex. Where it is
concave it is too low by at most the sum over the axes of (second difference) / 8, which `Grid.lift`
tells and which is added before each step.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence

import numpy
import scipy.sparse

from takt.handoff.expressions import Array

OUTSIDE = 4.0
"""The value outside of the grid, in units of the bound: clearly above it, but not by more than
needed, because interpolation spreads it to neighbours. All values are cut off there.
"""
CUBIC = 3
"""Dimensions up to which interpolation is cubic, with 4 nodes along each."""
Choice = Callable[..., Array]


class Grid:
    """Equally spaced nodes in a box."""

    def __init__(
        self, lower: Sequence[float] | Array, upper: Sequence[float] | Array, counts: Sequence[int]
    ) -> None:
        self.lower, self.upper = numpy.asarray(lower, float), numpy.asarray(upper, float)
        self.shape = tuple(counts)
        self.spacing = (self.upper - self.lower) / (numpy.array(counts) - 1)

    @property
    def size(self) -> int:
        return int(numpy.prod(self.shape))

    @property
    def interpolation_bytes(self) -> int:
        """The memory of an interpolation at as many points as there are nodes."""
        dimensions = len(self.shape)
        neighbours = 2**dimensions + (4**dimensions if dimensions <= CUBIC else 0)
        # Each has a weight and the number of its node.
        return int(self.size * neighbours * 12)

    def axes(self) -> list[Array]:
        return [
            numpy.linspace(low, high, count)
            for low, high, count in zip(self.lower, self.upper, self.shape, strict=True)
        ]

    def nodes(self) -> Array:
        """One row each, the last axis fastest."""
        return numpy.stack([a.ravel() for a in numpy.meshgrid(*self.axes(), indexing="ij")], axis=1)

    def interpolation(self, points: Array) -> Interpolation:
        return Interpolation(self, points)

    def lift(self, values: Array) -> Array:
        """How far linear interpolation may be below a function with these values, at each node.

        `values`: nodes, or nodes by columns.
        """
        shaped = values.reshape(*self.shape, -1)
        total = numpy.zeros_like(shaped)
        for axis, count in enumerate(self.shape):
            if count < 3:
                continue
            moved = shaped.swapaxes(axis, 0)
            concave = numpy.maximum(2 * moved[1:-1] - moved[2:] - moved[:-2], 0) / 8
            into = total.swapaxes(axis, 0)
            into[1:-1] += concave
            into[0] += concave[0]
            into[-1] += concave[-1]
        lifts: Array = total.reshape(values.shape)
        return lifts

    def around(self, values: Array) -> Array:
        """The largest value at each node and its neighbours, also those across."""
        shaped = values.reshape(self.shape)
        for axis in range(len(self.shape)):
            moved = shaped.swapaxes(axis, 0)
            largest = moved.copy()
            numpy.maximum(largest[1:], moved[:-1], out=largest[1:])
            numpy.maximum(largest[:-1], moved[1:], out=largest[:-1])
            shaped = largest.swapaxes(axis, 0)
        found: Array = numpy.ascontiguousarray(shaped).reshape(values.shape)
        return found


class Interpolation:
    """The values at some points from those at the nodes, for functions as columns."""

    def __init__(self, grid: Grid, points: Array) -> None:
        finite = numpy.isfinite(points).all(axis=1)
        slack = 1e-9 * (grid.upper - grid.lower)  # rounding of a foot on the border
        low, high = grid.lower - slack, grid.upper + slack
        inside = finite & ((points >= low) & (points <= high)).all(axis=1)
        self.outside = ~inside
        self._grid = grid
        places = numpy.where(inside[:, None], points, grid.lower)
        cells = (places - grid.lower) / grid.spacing
        counts = numpy.array(grid.shape)
        index = numpy.clip(cells.astype(numpy.int64), 0, counts - 2)
        part = numpy.clip(cells - index, 0.0, 1.0)
        linear = numpy.stack([1 - part, part], axis=2)
        self._linear = _matrix(grid, *_stencil(grid, index, linear))
        strides = [int(numpy.prod(grid.shape[axis + 1 :])) for axis in range(len(counts))]
        self._cells = index @ strides
        self._places = cells

    @functools.cached_property
    def _cubic(self) -> scipy.sparse.csr_matrix | None:
        counts = numpy.array(self._grid.shape)
        if len(counts) > CUBIC or counts.min() < 4:
            return None
        base = numpy.clip(self._places.astype(numpy.int64) - 1, 0, counts - 4)
        return _matrix(self._grid, *_stencil(self._grid, base, _lagrange(self._places - base)))

    def linear(self, values: Array) -> Array:
        """Interpolates linearly, as the membership test at run time does."""
        found: Array = self._linear @ values
        found[self.outside] = OUTSIDE
        return found

    def __call__(self, surface: Surface) -> Array:
        """Cubic along each axis, but not below the lowest corner of the cell, nor above the highest
        one by more than the function's curvature allows; linear in many dimensions.
        """
        found: Array
        if self._cubic is None:
            found = self._linear @ surface.lifted
        else:
            found = self._cubic @ surface.values
            numpy.maximum(found, surface.low[self._cells], out=found)
            numpy.minimum(found, surface.high[self._cells], out=found)
        found[self.outside] = OUTSIDE
        return numpy.minimum(found, OUTSIDE, out=found)


class Surface:
    """Values at the nodes (as columns) that interpolation needs, computed once a step."""

    def __init__(self, grid: Grid, values: Array) -> None:
        self.values = values
        lift = grid.lift(values)
        self.lifted = values + lift
        if len(grid.shape) <= CUBIC:
            shape = (*grid.shape, -1)
            self.low = _of_cells(values.reshape(shape), numpy.minimum).reshape(values.shape)
            self.high = _of_cells(self.lifted.reshape(shape), numpy.maximum).reshape(values.shape)


def _of_cells(values: Array, choose: Choice) -> Array:
    """The smallest or largest of each cell's corners, at its lowest node."""
    for axis in range(values.ndim - 1):
        moved = values.swapaxes(axis, 0)
        found = moved.copy()
        choose(moved[:-1], moved[1:], out=found[:-1])
        values = found.swapaxes(axis, 0)
    return numpy.ascontiguousarray(values)


def _stencil(grid: Grid, base: Array, weights: Array) -> tuple[Array, Array]:
    """The nodes around each point, and their weights: products of those along each axis."""
    count, dimensions, width = weights.shape
    strides = [int(numpy.prod(grid.shape[axis + 1 :])) for axis in range(dimensions)]
    columns = numpy.empty((count, width**dimensions), numpy.int32)
    products = numpy.ones((count, width**dimensions))
    for number, corner in enumerate(itertools.product(range(width), repeat=dimensions)):
        columns[:, number] = (base + corner) @ strides
        for axis, place in enumerate(corner):
            products[:, number] *= weights[:, axis, place]
    return columns, products


def _lagrange(place: Array) -> Array:
    """Weights of four nodes at 0, 1, 2, 3 for a place among them."""
    t0, t1, t2, t3 = place, place - 1, place - 2, place - 3
    return numpy.stack(
        [-t1 * t2 * t3 / 6, t0 * t2 * t3 / 2, -t0 * t1 * t3 / 2, t0 * t1 * t2 / 6], axis=2
    )


def _matrix(grid: Grid, columns: Array, weights: Array) -> scipy.sparse.csr_matrix:
    count, width = columns.shape
    rows = numpy.arange(0, count * width + 1, width, dtype=numpy.int64)
    return scipy.sparse.csr_matrix(
        (weights.ravel(), columns.ravel(), rows), shape=(count, grid.size)
    )


def largest_over_time(
    grid: Grid,
    feet: Sequence[Array],
    obstacle: Array,
    steps: int,
    choose: Choice = numpy.maximum,
) -> Array:
    """sup over times of at most `steps` steps, and over inputs, of a function along trajectories.

    feet: for each input, where each node is after a step. obstacle: the function at the nodes; it
    is taken into account at every step, so leaving and coming back counts. `choose` is what the
    input does: the largest value (numpy.maximum) for one that must be feared. The smallest one,
    printed in the dissertation, finds harm only where the kindest input does harm.
    """
    moves = [grid.interpolation(foot) for foot in feet]
    values = obstacle
    for _ in range(steps):
        surface = Surface(grid, values)
        after = moves[0](surface)
        for move in moves[1:]:
            after = choose(after, move(surface))
        values = numpy.maximum(obstacle, after)
    return values


def reached(grid: Grid, feet_before: Sequence[Array], start: Array, steps: int) -> Array:
    """Forward reachable set: {V <= 0} from {start <= 0}, by following inputs backwards in time.

    feet_before: for each input, where each node was a step earlier.
    """
    moves = [grid.interpolation(foot) for foot in feet_before]
    values = start
    for _ in range(steps):
        surface = Surface(grid, values)
        for move in moves:
            values = numpy.minimum(values, move(surface))
    return values

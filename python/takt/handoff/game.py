"""The largest error that inputs can cause, on a grid of the true state alone.

For a direction p the error after k steps from (x, e) is at most  p M^k e + v(x, k)  with

    v(x, 0) = 0,    v(x, k + 1) = max over u of  v(Phi(x, u), k) + p M^k rho(x, u),

(takt.handoff.linear has Phi, M and rho). Linear mode begins with an error within some half-widths
w, of which at most |p M^k| w is left k steps later. The set of errors that are allowed is an
intersection of half-spaces p e <= bound, one for each direction, so it suffices to look at each by
itself.

The last steps are the window, in which any physical input may come; those before are in linear
mode, with inputs in the decision bound. As the decision bound is part of the physical inputs, "at
most k steps, the last N of them in the window" covers all moments at which an input may leave it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from takt.handoff.expressions import Array
from takt.handoff.grids import OUTSIDE, Grid, Interpolation, Surface
from takt.handoff.linear import Motion, sum_of_powers
from takt.handoff.plant import Plant

POLYGON = 16
"""Directions for the Euclidean norm of two states; the polygon lies inside the circle."""
FORGOTTEN = 1e-3
"""A start is forgotten when the linear error has shrunk to this share."""
UNCHANGED = 1e-6
"""Share of the bound: a value function that changes by less in a step has converged."""
LONGEST_RUN = 20_000
BETWEEN_LOOKS = 8
BETWEEN_FORECASTS = 2_000
"""Steps over which the change of a value function is compared, to tell if it will converge."""
Progress = Callable[[int, int], None] | None


@dataclass(frozen=True)
class Directions:
    """Half-spaces p e <= 1 (in units of epsilon), one row each; all of them together lie in the set
    of allowed errors.
    """

    rows: Array
    share: float
    """How much of the allowed set's extent they keep; 1: exactly that set."""


def directions(plant: Plant) -> Directions:
    weighted = numpy.flatnonzero(plant.weights)
    scale = numpy.diag(plant.weights)[weighted] / plant.epsilon
    if plant.norm == "maximum" or len(weighted) == 1:
        return Directions(numpy.vstack([scale, -scale]), 1.0)
    if len(weighted) == 2:
        angles = 2 * math.pi * numpy.arange(POLYGON) / POLYGON
        circle = numpy.stack([numpy.cos(angles), numpy.sin(angles)], axis=1)
        share = math.cos(math.pi / POLYGON)
        return Directions(circle @ scale / share, share)
    # A cube inside the ball: rough, but simple for three and more states.
    share = 1 / math.sqrt(len(weighted))
    return Directions(numpy.vstack([scale, -scale]) / share, share)


@dataclass(frozen=True)
class Moves:
    """One step with each of some inputs, from each node."""

    interpolations: list[Interpolation]
    drives: list[Array]
    """rho of each input."""
    error_matrix: Array


def moves(grid: Grid, motion: Motion, controls: Array) -> Moves:
    nodes, found = grid.nodes(), Moves([], [], motion.error_matrix)
    for control in controls:
        after, rho = motion(nodes, control)
        # An error without a value counts as one that breaks the bound.
        defined = numpy.asarray(numpy.isfinite(rho).all(axis=1))
        after[~defined] = numpy.nan
        found.interpolations.append(grid.interpolation(after))
        found.drives.append(numpy.where(defined[:, None], rho, 0.0))
    return found


class Values:
    """v of all directions and how it grew, step by step."""

    def __init__(self, grid: Grid, rows: Array, half_widths: Array) -> None:
        self.grid, self.half_widths = grid, half_widths
        self.costate = rows.copy()
        """p M^k, one row for each direction."""
        self.steps = 0
        self.now = numpy.zeros((grid.size, len(rows)))
        self.largest = numpy.full(grid.size, float(self._begun().max()) - 1.0)
        """sup over the steps so far and all directions of the error, minus 1: at most 0 where the
        bound holds for any first error within the half-widths.
        """

    def _begun(self) -> Array:
        """The largest part of the first error that can remain now, along each direction."""
        return numpy.asarray(abs(self.costate) @ self.half_widths)

    def advance(self, with_inputs: Moves, count: int = 1) -> None:
        for _ in range(count):
            surface, after = Surface(self.grid, self.now), None
            for move, rho in zip(with_inputs.interpolations, with_inputs.drives, strict=True):
                one = move(surface) + rho @ self.costate.T
                after = one if after is None else numpy.maximum(after, one)
            assert after is not None
            self.now = numpy.minimum(after, OUTSIDE)
            self.costate = self.costate @ with_inputs.error_matrix
            self.steps += 1
            error = (self.now + self._begun()).max(axis=1)
            numpy.maximum(self.largest, error - 1.0, out=self.largest)

    def worst(self, with_inputs: Moves) -> numpy.ndarray[Any, numpy.dtype[numpy.uint8]]:
        """The number of the input that leads to the largest error, at each node for each direction,
        if a step is followed by those so far.
        """
        scores = [
            move.linear(self.now) + rho @ self.costate.T
            for move, rho in zip(with_inputs.interpolations, with_inputs.drives, strict=True)
        ]
        return numpy.asarray(numpy.argmax(scores, axis=0), numpy.uint8)

    def copy(self) -> Values:
        other = Values(self.grid, self.costate, self.half_widths)
        other.steps, other.now, other.largest = self.steps, self.now.copy(), self.largest.copy()
        return other


def settle(values: Values, linear_mode: Moves, start: Array, progress: Progress = None) -> bool:
    """Advances in linear mode, so that `values.largest` holds for all later steps as well.

    First it advances until the error of k steps ago is forgotten. Whatever linear mode has done to
    the error until then, what is `left` of it is at most a sum of powers of M. The error k steps
    later is then at most left + v(y, k), where y is the true state, however it got there. So the
    bound holds for ever if y never reaches a state where this is above 1. That is a value function
    of the true state alone, iterated until it does not change.

    False if the search was given up: the bound is broken at `start`, or the end was too far.
    """
    powers = sum_of_powers(linear_mode.error_matrix)
    if powers is None:
        return False
    at_start = values.grid.interpolation(start[None, :])
    left = _left(values, linear_mode, powers)
    first = float(left.max())
    while left.max() > FORGOTTEN:
        values.advance(linear_mode, BETWEEN_LOOKS)
        left = _left(values, linear_mode, powers)
        if float(at_start.linear(values.largest)[0]) > 0 or values.steps > LONGEST_RUN:
            return False
        if progress is not None:
            share = math.log(max(float(left.max()), FORGOTTEN) / first)
            progress(int(50 * share / math.log(FORGOTTEN / first)), 100)
    here = (values.now + left).max(axis=1) - 1.0
    later = here
    before = math.inf
    for number in range(LONGEST_RUN):
        surface, after = Surface(values.grid, later[:, None]), here
        for move in linear_mode.interpolations:
            after = numpy.maximum(after, move(surface)[:, 0])
        after = numpy.maximum(after, later)
        inside = (later <= 0) & (values.largest <= 0)
        changed = float((after - later)[inside].max(initial=0.0))
        later = after
        if changed < UNCHANGED and number >= BETWEEN_LOOKS:
            values.largest = numpy.maximum(values.largest, later)
            return True
        if float(at_start.linear(later)[0]) > 0:
            break
        if number % BETWEEN_FORECASTS == 0:
            # Shrinking as it does, will it be small enough before the longest run ends? In the
            # first half the change may still speed up and slow down.
            left_over = (LONGEST_RUN - number) / BETWEEN_FORECASTS
            shrunk = changed * min(changed / before, 1.0) ** left_over
            if number >= LONGEST_RUN // 2 and shrunk >= UNCHANGED:
                break
            before = changed
    values.largest = numpy.maximum(values.largest, later)
    return False


def _left(values: Values, linear_mode: Moves, powers: Array) -> Array:
    """What may be left, along each direction, of an error that began within the half-widths and was
    driven for any number of steps, in states where the bound holds.
    """
    within = values.now.max(axis=1) <= 1.0
    driven = [abs(rho[within]).max(axis=0, initial=0.0) for rho in linear_mode.drives]
    reach = values.half_widths + numpy.max(driven, axis=0)
    return numpy.asarray(abs(values.costate) @ powers @ reach)

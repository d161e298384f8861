"""The largest decision bound on a grid, and the regions that go with it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy

from takt.errors import UserError
from takt.handoff import expressions, game
from takt.handoff.expressions import Array
from takt.handoff.game import Moves, Progress, Values
from takt.handoff.grids import Grid
from takt.handoff.linear import NANOSECONDS, Linear, Motion, affine_inputs
from takt.handoff.plant import Box, Plant

NODES = {1: 801, 2: 121, 3: 41, 4: 19}
"""Nodes along each axis if the plant does not say: as many as a minute and a gigabyte allow."""
STEPS_PER_TIME_CONSTANT = 25
LEAST_STEPS = 4
"""The least steps of a window."""
BETWEEN_CORNERS = 13
"""Values of each input that an adversary tries if the plant is not affine in it. With half as many,
what the halving changes tells how much is left between them.
"""
MARGIN = 0.01
"""The share of the bound that the search leaves free at the operating point. The value is lowest
there, so without a margin any error of the computation would empty the region.
"""
PRECISION = 1e-3
"""Precision of the decision's scale."""


@dataclass(frozen=True)
class Found:
    """What a design on a grid consists of. Values are in units of the error bound."""

    scale: float
    grid: Grid
    linear: Array
    """The largest error to come, in linear mode or a window after it, from a true state and any
    first error within the half-widths; minus 1.
    """
    back: Array
    """The same, and from any physical input in the return window; minus 1."""
    error: float
    """How far `linear` and `back` may be too low between nodes."""
    at_start: float
    """`linear` at the operating point: the largest error, minus 1."""
    steps: int
    errors: dict[str, float]
    """The parts whose sum is `error`."""


class Search:
    """The game of a plant on one grid, with one step length."""

    def __init__(self, plant: Plant, linear: Linear, window: int, coarse: bool = False) -> None:
        """`coarse`: with half as many nodes along each axis, half as many steps if their number is
        free, and half as many values of inputs between their ends.
        """
        self.plant, self.linear, self.window = plant, linear, window
        n = len(plant.states)
        nodes = plant.nodes or NODES[n]
        if nodes < 5:
            raise UserError(f"{plant.source}: method.nodes: at least 5")
        if coarse:
            nodes = (nodes + 1) // 2
        self.grid = Grid(plant.domain.lower, plant.domain.upper, [nodes] * n)
        self.directions = game.directions(plant)
        self.fixed_step = linear.corrects or linear.continuous is None
        period = plant.timing.period * NANOSECONDS
        self.affine = affine_inputs(plant)
        self.between = (BETWEEN_CORNERS + 1) // 2 if coarse else BETWEEN_CORNERS
        self._check_memory()
        returning = max(plant.timing.return_window or window, window)
        if self.fixed_step:
            step = window_step = period
            self.window_steps = math.ceil(window / plant.timing.period)
            self.return_steps = math.ceil(returning / plant.timing.period)
        else:
            step = free_step(plant, linear)
            seconds = window * NANOSECONDS
            self.window_steps = max(math.ceil(seconds / step), LEAST_STEPS)
            if coarse:
                step, self.window_steps = 2 * step, math.ceil(self.window_steps / 2)
            window_step = seconds / self.window_steps
            self.return_steps = self.window_steps + math.ceil(
                (returning - window) * NANOSECONDS / window_step - 1e-9
            )
        self.motion = Motion(plant, linear, step)
        self.physical_motion = Motion(plant, linear, window_step)
        self.physical = game.moves(self.grid, self.physical_motion, self.controls(plant.physical))
        self.after_window = Values(self.grid, self.directions.rows, linear.half_widths)
        self.after_window.advance(self.physical, self.window_steps)
        longer = self.after_window.copy()
        longer.advance(self.physical, self.return_steps - self.window_steps)
        self.returning: Array = longer.largest

    def controls(self, box: Box) -> Array:
        """The inputs that an adversary may want: rows."""
        axes = [
            sorted({low, high}) if affine else numpy.linspace(low, high, self.between)
            for low, high, affine in zip(box.lower, box.upper, self.affine, strict=True)
        ]
        return numpy.stack([a.ravel() for a in numpy.meshgrid(*axes, indexing="ij")], axis=1)

    def _check_memory(self) -> None:
        """UserError if a step with each of the inputs takes more memory than there is."""
        combinations = math.prod(2 if affine else self.between for affine in self.affine)
        # Physical inputs, and those of the decision bound.
        needed = 2 * combinations * self.grid.interpolation_bytes
        if needed > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
            raise UserError(
                f"{self.plant.source}: inputs: {combinations} combinations of them on a grid of "
                f"{self.grid.size} nodes need {needed / 1e9:.0f} GB of memory; fewer nodes "
                "(method.nodes), fewer inputs or method: {kind: zonotope} need less"
            )

    def linear_mode(self, scale: float) -> Moves:
        decision = self.plant.decision.scaled(self.plant.input, scale)
        return game.moves(self.grid, self.motion, self.controls(decision))

    def at_start(self, values: Array) -> float:
        return float(self.grid.interpolation(self.plant.state[None, :]).linear(values)[0])

    def values(self, scale: float, progress: Progress = None) -> tuple[Values, bool]:
        """The values of linear mode for ever followed by a window, and whether they converged."""
        values = self.after_window.copy()
        return values, game.settle(values, self.linear_mode(scale), self.plant.state, progress)

    def safe_steps(self) -> Iterator[tuple[Array, Array]]:
        """(v, p M^k) of each step of a window, of which the augmented sets are made. All of them
        together can be too many for the memory.
        """
        values = Values(self.grid, self.directions.rows, self.linear.half_widths)
        yield values.now, values.costate
        for _ in range(self.window_steps):
            values.advance(self.physical)
            yield values.now, values.costate

    def linear_steps(self, scale: float, steps: int) -> Iterator[tuple[Array, Array]]:
        """As safe_steps, for the steps of linear mode before a window, up to `steps` in all."""
        values, moves = self.after_window.copy(), self.linear_mode(scale)
        while values.steps < steps:
            values.advance(moves)
            yield values.now, values.costate

    def holds(self, scale: float) -> bool:
        values, settled = self.values(scale)
        return settled and self.at_start(values.largest) <= -MARGIN


def jumps(plant: Plant) -> bool:
    """Whether dynamics or outputs are discontinuous somewhere."""
    return any(map(expressions.jumps, plant.with_values((*plant.dynamics, *plant.outputs))))


def free_step(plant: Plant, linear: Linear) -> float:
    """The length of a step, in seconds, where the period does not give it."""
    period = plant.timing.period * NANOSECONDS
    return Motion(plant, linear, period).time_constant() / STEPS_PER_TIME_CONSTANT


def longest(plant: Plant, linear: Linear) -> float:
    """The longest window, in seconds, that a search may have."""
    period = plant.timing.period * NANOSECONDS
    fixed = linear.corrects or linear.continuous is None
    return game.LONGEST_RUN * (period if fixed else free_step(plant, linear))


def largest_scale(search: Search, progress: Progress = None) -> float:
    """The largest scale at which R of the decision bound lies in S, by bisection; 0: none."""
    if search.at_start(search.after_window.largest) > -MARGIN:
        return 0.0
    if search.holds(1.0):
        return 1.0
    low, high = 0.0, 1.0
    rounds = math.ceil(math.log2(1 / PRECISION))
    for number in range(rounds):
        middle = (low + high) / 2
        low, high = (middle, high) if search.holds(middle) else (low, middle)
        if progress is not None:
            progress(number + 1, rounds)
    return low


def regions(fine: Search, coarse: Search, scale: float) -> Found:
    """The regions for a scale that holds, with a bound on their errors."""
    values, settled = fine.values(scale)
    rough, _ = coarse.values(scale)
    linear, back = values.largest, numpy.maximum(values.largest, fine.returning)
    if jumps(fine.plant):
        # Where in a cell the plant jumps, interpolation cannot know: the worst corner counts.
        linear, back = fine.grid.around(linear), fine.grid.around(back)
    near = linear <= 0
    # The scheme is at least of first order in the step and the spacing: half of both leaves at most
    # half of the error, so what is left is at most what the halving changed.
    again = fine.grid.interpolation(coarse.grid.nodes()).linear(values.largest)
    difference = abs(again - rough.largest)
    both = (rough.largest <= 0) & (again <= 0)
    lifts = [float(fine.grid.lift(one)[near].max(initial=0.0)) for one in (linear, back)]
    errors = {
        "steps_and_spacing": float(difference[both].max(initial=0.0)),
        "interpolation": max(lifts),
    }
    return Found(
        scale=scale,
        grid=fine.grid,
        linear=linear,
        back=back,
        error=sum(errors.values()) if settled else numpy.inf,
        at_start=fine.at_start(linear),
        steps=values.steps,
        errors=errors,
    )

"""Adversarial inputs against a design: what its value functions say is worst.

A sequence begins with an estimate that the guard lets pass and a true state anywhere in its
confidence set. It keeps to the decision bound for a while, then leaves it with any physical input.
With the guard the nonlinear estimator takes over a window later, so that the sequence ends: the
estimator that people run plays it (takt::estimation::Rehearsal). Without the guard the linear
estimate goes on.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy

import takt_estimators
from takt.handoff import document, game
from takt.handoff.design import Design
from takt.handoff.expressions import Array
from takt.handoff.grids import Grid
from takt.handoff.linear import NANOSECONDS, Linear, Motion
from takt.handoff.plant import Box, Plant
from takt.handoff.search import Search

AT_ONCE = 500
"""Sequences that are simulated together, and are of similar length."""
GOLDEN = (math.sqrt(5) - 1) / 2
"""Its multiples fill the interval from 0 to 1 evenly, so that few batches have many lengths."""
DIRECTIONS = 4
"""The number of directions along which the error is driven."""
MOST_ENTRIES = 50_000_000
"""Entries of the table of worst inputs; for longer sequences the last steps are repeated."""
AFTER = 3.0
"""How many windows or time constants the input stays outside without the guard."""
LARGEST = 1e6
"""Larger errors, and those without a value, count as this, in units of the bound."""
BORDERS = 4_000
"""Estimates on the border of what the guard lets pass, near which sequences begin."""
WITHIN = 1 - 1e-9
"""Rounding must not make a confidence set wider than it may be."""

_Integers = numpy.ndarray[Any, numpy.dtype[numpy.int64]]
_Booleans = numpy.ndarray[Any, numpy.dtype[numpy.bool_]]


@dataclass(frozen=True)
class Outcome:
    sequences: int
    violations: int
    """Sequences in which the error exceeded its bound."""
    largest: float
    """The largest error, in units of the bound."""
    trajectory: list[tuple[float, list[float], float]]
    """The worst sequence: time in seconds, state, error in units of the bound."""
    left_at: float
    """When its input left the decision bound."""


class Attack:
    """An adversary who knows the design's value functions."""

    def __init__(self, design: Design, half_widths: Array | None = None) -> None:
        """`half_widths`: of confidence sets; other ones than those of the design show what happens
        if it leaves no room for them.
        """
        if half_widths is not None:
            design = replace(design, linear=replace(design.linear, half_widths=half_widths))
        self.plant: Plant = design.plant
        self.linear: Linear = design.linear
        self.design = design
        self.half_widths = design.linear.half_widths
        self.handoff = takt_estimators.parse_handoff(
            json.dumps(document.document(design, [])), self.plant.source
        )
        self.motion = Motion(self.plant, self.linear, self.plant.timing.period * NANOSECONDS)
        self.decision = design.decision
        self.during = self.plant.timing.load_periods
        self._shape = self.plant.weights / self.plant.epsilon
        self._know()
        self._borders = self._find_borders()

    def _know(self) -> None:
        """The worst inputs at each node, by the number of periods that are left."""
        search = Search(self.plant, self.linear, self.design.window.length, coarse=True)
        self.grid: Grid = search.grid
        rows = search.directions.rows
        rows = rows[:: max(len(rows) // DIRECTIONS, 1)]
        values = game.Values(self.grid, rows, self.half_widths)
        costates, tables, self.controls = [rows], [], []
        allowed = abs(rows).max()
        for box in (self.plant.physical, self.decision):
            controls = search.controls(box)
            moves = game.moves(self.grid, self.motion, controls)
            self.controls.append(controls)
            while True:
                tables.append(values.worst(moves))
                values.advance(moves)
                costates.append(values.costate)
                forgotten = abs(values.costate).max() <= game.FORGOTTEN * allowed
                full = len(tables) * self.grid.size * len(rows) > MOST_ENTRIES
                if len(tables) >= self.during and (box is self.plant.physical or forgotten or full):
                    break
        self.costates, self.tables = numpy.array(costates), numpy.array(tables)
        self.steps = len(tables) - self.during

    def run(
        self, sequences: int, seed: int, guard: bool = True, progress: game.Progress = None
    ) -> Outcome:
        """Plays at least so many sequences."""
        generator = numpy.random.default_rng(seed)
        violations, worst = 0, Outcome(0, 0, -1.0, [], 0.0)
        batch, done = 0, 0
        while done < sequences:
            # The longest come first; long ones are rare, as the first error is forgotten soon.
            longest = int((self.steps + 1) ** ((1 - batch * GOLDEN % 1) ** 2)) - 1
            batch += 1
            one = self._together(generator, longest, guard)
            violations += one.violations
            worst = one if one.largest > worst.largest else worst
            done += one.sequences
            if progress is not None:
                progress(min(done, sequences), sequences)
        return Outcome(done, violations, worst.largest, worst.trajectory, worst.left_at)

    def _together(self, generator: numpy.random.Generator, longest: int, guard: bool) -> Outcome:
        """`longest`: periods in the decision bound."""
        count = AT_ONCE
        direction = generator.integers(0, self.costates.shape[1], count)
        before = generator.integers(longest // 2, longest + 1, count)
        during = self.during if guard else self.during + int(AFTER * max(self.during, 25))
        widths = self._widths(generator, count)
        estimates = self._estimates(generator, count)
        first = estimates - self._first_errors(generator, widths, before, direction)
        # Some sequences always take the worst input; others now and then a random one.
        whim = generator.choice([0.0, 0.0, 0.02, 0.2, 1.0], count)
        states, errors = first, estimates - first
        history = [(states, self._norm(errors))]
        played = numpy.empty((count, longest + during, len(self.plant.inputs)))
        for number in range(longest + during):
            control = self._worst(states, direction, before - number)
            other = generator.random(count) < whim
            control[other] = self._random(generator, (number >= before)[other])
            played[:, number] = control
            states, rho = self.motion(states, control)
            errors = errors @ self.motion.error_matrix.T + rho
            history.append((states, self._norm(errors)))
        if guard:
            told = self.handoff.rehearse(estimates, widths, first, played.reshape(count, -1))
            largest = numpy.where(numpy.isnan(told), -1.0, numpy.minimum(told, LARGEST))
        else:
            largest = numpy.max([error for _, error in history], axis=0)
        worst = int(largest.argmax())
        trajectory = [
            (number * self.motion.step, state[worst].tolist(), float(error[worst]))
            for number, (state, error) in enumerate(history[: before[worst] + during + 1])
        ]
        passed, broken = int((largest >= 0).sum()), int((largest > 1).sum())
        left_at = float(before[worst] * self.motion.step)
        return Outcome(passed, broken, float(largest[worst]), trajectory, left_at)

    def _random(self, generator: numpy.random.Generator, outside: _Booleans) -> Array:
        low = numpy.where(outside[:, None], self.plant.physical.lower, self.decision.lower)
        high = numpy.where(outside[:, None], self.plant.physical.upper, self.decision.upper)
        return generator.uniform(low, high)

    def _widths(self, generator: numpy.random.Generator, count: int) -> Array:
        """Of confidence sets: mostly as wide as they may be."""
        share = numpy.where(generator.random((count, 1)) < 0.7, 1.0, generator.random((count, 1)))
        widths: Array = WITHIN * share * self.half_widths
        return widths

    def _estimates(self, generator: numpy.random.Generator, count: int) -> Array:
        """A quarter at the operating point, a quarter between it and the border of what the guard
        lets pass, the others on the border.
        """
        borders = self._borders[generator.integers(0, len(self._borders), count)]
        place = generator.choice([0.0, numpy.nan, 1.0, 1.0], (count, 1))
        place = numpy.where(numpy.isnan(place), generator.random((count, 1)), place)
        estimates: Array = self.plant.state + place * (borders - self.plant.state)
        return estimates

    def _find_borders(self) -> Array:
        """Along rays from the operating point, the last estimates whose widest box is inside."""
        generator, n = numpy.random.default_rng(0), len(self.plant.states)
        grid, start = self.design.back.grid, self.plant.state
        ends = generator.uniform(grid.lower, grid.upper, (BORDERS, n))
        low, high = numpy.zeros((BORDERS, 1)), numpy.ones((BORDERS, 1))
        corners = Box(-self.half_widths, self.half_widths).corners()
        for _ in range(20):
            middle = (low + high) / 2
            at = start + middle * (ends - start)
            inside = numpy.ones(BORDERS, bool)
            for corner in corners:
                inside &= self.design.back.contains(at + corner)
            low = numpy.where(inside[:, None], middle, low)
            high = numpy.where(inside[:, None], high, middle)
        borders: Array = start + low * (ends - start)
        return borders

    def _first_errors(
        self,
        generator: numpy.random.Generator,
        widths: Array,
        before: _Integers,
        direction: _Integers,
    ) -> Array:
        """Half where they do most harm when the window ends, the others anywhere in the box, often
        on its border.
        """
        last = numpy.minimum(before + self.during, len(self.costates) - 1)
        harmful = numpy.sign(self.costates[last, direction])
        anywhere = numpy.clip(generator.uniform(-1.5, 1.5, widths.shape), -1, 1)
        errors: Array = widths * numpy.where(
            generator.random((len(widths), 1)) < 0.5, harmful, anywhere
        )
        return errors

    def _worst(self, states: Array, direction: _Integers, before: _Integers) -> Array:
        """The inputs that lead to the largest error, as they are at the nearest nodes. before: the
        periods until the input leaves the decision bound.
        """
        grid = self.grid
        cells = numpy.nan_to_num((states - grid.lower) / grid.spacing)
        nodes = numpy.clip(numpy.rint(cells), 0, numpy.array(grid.shape) - 1).astype(numpy.int64)
        strides = [math.prod(grid.shape[axis + 1 :]) for axis in range(len(grid.shape))]
        left = before + self.during
        left = numpy.where(left > 0, numpy.minimum(left, len(self.tables)), self.during)
        number = self.tables[left - 1, nodes @ strides, direction]
        physical, decision = self.controls
        worst: Array = numpy.where((before > 0)[:, None], decision[number], physical[number])
        return worst

    def _norm(self, errors: Array) -> Array:
        weighted = errors * self._shape
        if self.plant.norm == "maximum":
            found = abs(weighted).max(axis=1)
        else:
            found = numpy.linalg.norm(weighted, axis=1)
        return numpy.where(found < LARGEST, found, LARGEST)

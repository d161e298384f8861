"""Adversarial inputs against a design: what the value function's gradient says is worst, bang-bang.

Sequences keep to the decision bound for a while, then leave it with any physical input. With the
guard the nonlinear estimator takes over a window later, so that the sequence ends; without it the
linear one goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy

from takt.handoff import game
from takt.handoff.design import Design
from takt.handoff.expressions import Array
from takt.handoff.linear import Linear, Motion
from takt.handoff.plant import Plant
from takt.handoff.search import Search

AT_ONCE = 5_000
"""Sequences that are simulated together, and leave the decision bound at one time."""
DIRECTIONS = 4
"""The number of directions along which the error is driven."""
AFTER = 3.0
"""How many windows or time constants the input stays outside without the guard."""
LARGEST = 1e6
"""Larger errors, and those without a value, count as this, in units of the bound."""


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
    """When its input left the decision bound, in seconds."""


class Attack:
    """An adversary who knows the design's value functions."""

    def __init__(self, design: Design) -> None:
        self.plant: Plant = design.plant
        self.linear: Linear = design.linear
        self.design = design
        coarse = Search(design.plant, design.linear, design.window.length, coarse=True)
        self.search = coarse
        rows = coarse.directions.rows
        rows = rows[:: max(len(rows) // DIRECTIONS, 1)]
        values = game.Values(coarse.grid, rows)
        self.values: list[Array] = []
        self.costates: list[Array] = []
        physical = coarse.physical
        decision = coarse.linear_mode(design.scale)
        known, _ = coarse.values(design.scale)
        self.steps = known.steps - coarse.window_steps
        for number in range(known.steps):
            self._keep(values)
            values.advance(physical if number < coarse.window_steps else decision)
        self._keep(values)
        self.in_window = coarse.physical_motion
        self.in_linear = coarse.motion
        self._shape = self.plant.weights / self.plant.epsilon

    def _keep(self, values: game.Values) -> None:
        self.values.append(values.now.astype(numpy.float32))
        self.costates.append(values.costate.copy())

    def run(
        self, sequences: int, seed: int, guard: bool = True, progress: game.Progress = None
    ) -> Outcome:
        generator = numpy.random.default_rng(seed)
        violations, worst = 0, Outcome(0, 0, -1.0, [], 0.0)
        done = 0
        while done < sequences:
            count = min(AT_ONCE, sequences - done)
            one = self._together(generator, count, guard)
            violations += one.violations
            worst = one if one.largest > worst.largest else worst
            done += count
            if progress is not None:
                progress(done, sequences)
        return Outcome(sequences, violations, worst.largest, worst.trajectory, worst.left_at)

    def _together(self, generator: numpy.random.Generator, count: int, guard: bool) -> Outcome:
        plant, search = self.plant, self.search
        n = len(plant.states)
        states = self._starts(generator, count)
        errors = numpy.zeros((count, n))
        direction = generator.integers(0, len(self.costates[0]), count)
        # Some sequences always take the worst input; others now and then a random one.
        whim = generator.choice([0.0, 0.0, 0.02, 0.2, 1.0], count)
        before = int(generator.integers(0, self.steps + 1))
        during = search.window_steps
        if not guard:
            during += int(AFTER * max(during, 25))
        decision = plant.decision.scaled(plant.input, self.design.scale)
        largest = numpy.zeros(count)
        history = [(0.0, states.copy(), errors.copy())]
        time = 0.0
        for number in range(before + during):
            in_window = number >= before
            to_go = max(search.window_steps + before - number, 1)
            if number >= before + search.window_steps:
                to_go = max(search.window_steps, 1)
            motion = self.in_window if in_window else self.in_linear
            box = plant.physical if in_window else decision
            after, rho = self._worst(motion, states, box.corners(), direction, to_go - 1)
            other = generator.random(count) < whim
            free = generator.uniform(box.lower, box.upper, (int(other.sum()), len(box.lower)))
            after[other], rho[other] = motion(states[other], free)
            states = after
            errors = errors @ motion.error_matrix.T + rho
            time += motion.step
            numpy.maximum(largest, self._norm(errors), out=largest)
            history.append((time, states, errors))
        worst = int(largest.argmax())
        trajectory = [
            (at, state[worst].tolist(), float(self._norm(error[worst : worst + 1])[0]))
            for at, state, error in history
        ]
        left = before * self.in_linear.step
        return Outcome(count, int((largest > 1).sum()), float(largest[worst]), trajectory, left)

    def _starts(self, generator: numpy.random.Generator, count: int) -> Array:
        """Half at the operating point, half where the way back to linear mode is allowed."""
        plant, back = self.plant, self.design.back
        states = numpy.repeat(plant.state[None, :], count, axis=0)
        wanted = generator.uniform(
            back.grid.lower, back.grid.upper, (count // 2, len(plant.states))
        )
        inside = back.contains(wanted)
        states[: len(wanted)][inside] = wanted[inside]
        return states

    def _worst(
        self, motion: Motion, states: Array, corners: Array, direction: Any, left: int
    ) -> tuple[Array, Array]:
        """Advances each state by a step, with the corner input that leads to the largest error."""
        values, costate = self.values[left], self.costates[left]
        everyone = numpy.arange(len(states))
        best = numpy.full(len(states), -numpy.inf)
        state, drive = numpy.empty_like(states), numpy.empty_like(states)
        for corner in corners:
            after, rho = motion(states, corner)
            there = self.search.grid.interpolation(after).linear(values)
            score = there[everyone, direction] + (rho * costate[direction]).sum(axis=1)
            # Where the plant has no value there is no worse input.
            score = numpy.where(numpy.isnan(score), numpy.inf, score)
            better = score > best
            best[better], state[better], drive[better] = score[better], after[better], rho[better]
        return state, drive

    def _norm(self, errors: Array) -> Array:
        weighted = errors * self._shape
        if self.plant.norm == "maximum":
            found = abs(weighted).max(axis=1)
        else:
            found = numpy.linalg.norm(weighted, axis=1)
        return numpy.where(found < LARGEST, found, LARGEST)

"""Cooperative plants: extreme inputs give extreme states, so no grid is needed.

The augmented state z = (x, e) moves by  x' = f(x, u),  e' = A (x + e) + B u - f(x, u)  in
deviations from the operating point. If, with some signs s_i, each s_i s_j dz_i'/dz_j (i /= j) and
each s_i t_j dz_i'/du_j is at least 0 everywhere, the order s z is kept: the input that is largest
in the order of t keeps z above every other one's. The signs are proved by interval arithmetic over
the domain. Derivatives show no jumps, so there must be none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy
import scipy.integrate
import scipy.optimize
import sympy

from takt.handoff import expressions, intervals
from takt.handoff.expressions import Array
from takt.handoff.linear import NANOSECONDS, Linear
from takt.handoff.plant import Box, Plant

PRECISION = 1e-10
"""Relative precision of integrations."""
SCALE_PRECISION = 1e-7
SETTLED = 40.0
"""Slowest time constants after which a trajectory has come to rest: e^-40 is below rounding."""


@dataclass(frozen=True)
class Order:
    """Signs under which a plant is cooperative."""

    states: Array
    errors: Array
    inputs: Array


def order(plant: Plant, linear: Linear) -> Order | None:
    """None: the plant is not known to be cooperative, or the shortcut does not apply to it."""
    if linear.continuous is None or linear.corrects:
        return None
    if plant.norm == "euclidean" and numpy.count_nonzero(plant.weights) > 1:
        return None
    n, m = len(plant.states), len(plant.inputs)
    errors = sympy.symbols(f"takt_error_0:{n}", real=True)
    rates = _rates(plant, linear, errors)
    box = intervals.over(plant.state_symbols, plant.domain)
    box |= intervals.over(plant.input_symbols, plant.physical)
    for rate in plant.with_values(plant.dynamics):
        if expressions.jumps(rate) or not math.isfinite(intervals.enclose(rate, box).magnitude):
            return None
    variables = [*plant.state_symbols, *errors, *plant.input_symbols]
    links: list[tuple[int, int, int]] = []
    for i, rate in enumerate(rates):
        for j, variable in enumerate(variables):
            if i == j:
                continue
            slope = sympy.simplify(expressions.derivative(rate, variable))
            if slope == 0:
                continue
            if slope.free_symbols & set(errors):
                return None
            found = intervals.enclose(slope, box)
            if not math.isfinite(found.magnitude):
                return None
            # The linear estimate's slope is a difference of two rounded numbers at the centre.
            slack = 1e-12 * (1 + found.magnitude)
            if found.low >= -slack:
                links.append((i, j, 1))
            elif found.high <= slack:
                links.append((i, j, -1))
            else:
                return None
    signs = _signs(2 * n + m, links)
    return None if signs is None else Order(signs[:n], signs[n : 2 * n], signs[2 * n :])


def _rates(plant: Plant, linear: Linear, errors: tuple[sympy.Symbol, ...]) -> list[sympy.Expr]:
    assert linear.continuous is not None
    a, b = linear.continuous
    dynamics = plant.with_values(plant.dynamics)
    dx = [s - float(v) for s, v in zip(plant.state_symbols, plant.state, strict=True)]
    du = [s - float(v) for s, v in zip(plant.input_symbols, plant.input, strict=True)]
    found = list(dynamics)
    for i, rate in enumerate(dynamics):
        linear_rate = sum(_exact(a[i, j]) * (dx[j] + errors[j]) for j in range(len(dx)))
        linear_rate += sum(_exact(b[i, j]) * du[j] for j in range(len(du)))
        found.append(sympy.expand(linear_rate - rate))
    return found


def _exact(value: float) -> sympy.Expr:
    # A whole number stays one, so that equal terms cancel.
    return sympy.Integer(int(value)) if float(value).is_integer() else sympy.Float(value)


def _signs(count: int, links: list[tuple[int, int, int]]) -> Array | None:
    """Signs with s_i s_j = sign for each link; None if they contradict each other."""
    signs = numpy.zeros(count)
    for first in range(count):
        if signs[first]:
            continue
        signs[first] = 1
        waiting = [first]
        while waiting:
            here = waiting.pop()
            for i, j, sign in links:
                for one, other in ((i, j), (j, i)):
                    if one != here:
                        continue
                    if not signs[other]:
                        signs[other] = sign * signs[here]
                        waiting.append(other)
                    elif signs[other] != sign * signs[here]:
                        return None
    return signs


class Extremes:
    """The extreme trajectories of a cooperative plant."""

    def __init__(self, plant: Plant, linear: Linear, found: Order) -> None:
        assert linear.continuous is not None
        self.plant, self.order = plant, found
        self.a, self.b = linear.continuous
        self.half_widths = linear.half_widths
        states, inputs = plant.state_symbols, plant.input_symbols
        self._dynamics = expressions.function(plant.with_values(plant.dynamics), states, inputs)
        self._slowest = 1 / max(-numpy.linalg.eigvals(self.a).real.max(), 1e-9)

    def settled(self, decision: Box, upward: bool) -> Array | None:
        """Where (x, e) comes to rest with the extreme input of a decision bound; None: it leaves
        the domain.
        """
        rest = numpy.concatenate([self.plant.state, numpy.zeros_like(self.plant.state)])
        return self._integrate(rest, self._extreme(decision, upward), SETTLED * self._slowest)

    def largest_error(self, decision: Box, window: float) -> float:
        """The largest weighted error when the input leaves the decision bound for a window, from
        the extreme states of linear mode and first errors within the half-widths; infinite if the
        domain is left.
        """
        worst = 0.0
        for upward in (True, False):
            state = self.settled(decision, upward)
            if state is None:
                return numpy.inf
            carried = self._carried(state)
            if window > 0:
                extreme = self._extreme(self.plant.physical, upward)
                # Errors grow all the way, as the order is kept and the start was at rest.
                state = self._integrate(state, extreme, window)
            if state is None:
                return numpy.inf
            n = len(self.plant.state)
            worst = max(worst, float(numpy.max(self.plant.weights * (abs(state[n:]) + carried))))
        return worst

    def _carried(self, settled: Array) -> Array:
        """What a first error may ever add to the errors that begin where linear mode comes to rest.

        A first error up to that one adds nothing, as the order is kept. What is beyond, delta,
        moves by the linear estimate alone: in the order's signs by a matrix M whose entries beside
        the diagonal are at least 0. So -M^-1 is at least 0, too, and d = -M^-1 max(-M delta, 0) is
        at least delta. As M d is at most 0, what begins below d never grows beyond it.
        """
        signs = self.order.errors
        matrix = signs[:, None] * self.a * signs
        excess = numpy.maximum(self.half_widths - abs(settled[len(signs) :]), 0.0)
        return numpy.asarray(-numpy.linalg.solve(matrix, numpy.maximum(-matrix @ excess, 0.0)))

    def _extreme(self, box: Box, upward: bool) -> Array:
        return numpy.where((self.order.inputs > 0) == upward, box.upper, box.lower)

    def _integrate(self, start: Array, control: Array, seconds: float) -> Array | None:
        n = len(self.plant.state)
        centre, domain = self.plant.state, self.plant.domain
        driven = self.b @ (control - self.plant.input)

        def rates(_: float, z: Array) -> Array:
            moving = self._dynamics(z[:n], control)[0]
            error = self.a @ (z[:n] - centre + z[n:]) + driven - moving
            return numpy.concatenate([moving, error])

        def margin(_: float, z: Array) -> float:
            return float(min((z[:n] - domain.lower).min(), (domain.upper - z[:n]).min()))

        margin.terminal = True  # type: ignore[attr-defined]
        done = scipy.integrate.solve_ivp(
            rates,
            (0.0, seconds),
            start,
            method="LSODA",
            rtol=PRECISION,
            atol=PRECISION * self.plant.epsilon,
            events=margin,
        )
        if done.status != 0 or not numpy.isfinite(done.y[:, -1]).all():
            return None
        return numpy.asarray(done.y[:, -1])


def largest_scale(plant: Plant, extremes: Extremes, window: int) -> float:
    """The largest scale of the decision's shape that keeps the bound; 0: none does."""
    seconds = window * NANOSECONDS

    def excess(scale: float) -> float:
        decision = plant.decision.scaled(plant.input, scale)
        return min(extremes.largest_error(decision, seconds) / plant.epsilon - 1.0, 1.0)

    if excess(1.0) <= 0:
        return 1.0
    if excess(0.0) > 0:
        return 0.0
    low, high = 0.0, 1.0
    while high - low > SCALE_PRECISION:
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) <= 0 else (low, middle)
    return low

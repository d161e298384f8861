"""Reachable sets as zonotopes, for plants of more states than grids can have.

In deviations from the operating point the plant is its linearisation and a remainder,

    dx+ = A dx + B du + w,      e+ = M e + rho,

where w and rho are integrals of phi = f - (its linearisation), and phi is enclosed over a box of
states and inputs by interval arithmetic. A linear system driven by intervals reaches a zonotope,
whose extent along p is the sum of |p A^k G| over its generators. The box of states must contain
what it implies: it is a fixed point.

Inputs are in the decision bound for ever, then any physical one for a window. Linear mode begins
with an error within the half-widths w, of which |p M^k| w is left after k steps. The result is safe
and coarse: the remainder's range is wider than its values on trajectories.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy
import scipy.linalg
import sympy

from takt.errors import UserError
from takt.handoff import expressions, intervals
from takt.handoff.expressions import Array
from takt.handoff.game import directions
from takt.handoff.linear import NANOSECONDS, Linear, Motion, spectral_radius, sum_of_powers
from takt.handoff.plant import Box, Plant

ROUNDS = 200
"""Rounds of the fixed-point iteration: it either settles soon or grows geometrically."""
GROWTH = 1e-6
"""Relative amount by which a box is enlarged, to be a fixed point in spite of rounding."""
FORGOTTEN = 1e-6
LONGEST_RUN = 20_000
SCALE_PRECISION = 1e-4
QUADRATURE = 16
STEPS_PER_TIME_CONSTANT = 100

_Implied = Callable[[Array], Array]
_Test = Callable[[float], bool]


class Sums:
    """Sums of |rows M^k G| over k: the first ones by number, and all of them."""

    def __init__(self, rows: Array, matrix: Array, generators: Array, steps: int) -> None:
        powers = sum_of_powers(matrix)
        if powers is None:
            raise UserError("states that hardly settle have no zonotope that holds them")
        terms: list[Array] = []
        power = numpy.eye(len(matrix))
        for _ in range(steps):
            terms.append(abs(rows @ power @ generators))
            power = power @ matrix
        self.first = numpy.concatenate([numpy.zeros_like(terms[:1]), numpy.cumsum(terms, axis=0)])
        self.all = self.first[-1] + abs(rows @ power) @ powers @ abs(generators)

    def drive(self, steps: int, recent: Array, earlier: Array) -> Array:
        """The extent when the last `steps` have magnitudes `recent`, those before `earlier`."""
        during = self.first[min(steps, len(self.first) - 1)]
        extent: Array = during @ recent + (self.all - during) @ earlier
        return extent

    def drives(self, steps: int, recent: Array, earlier: Array) -> Array:
        """The extent after 0, 1, 2, ... steps and, last, after any number of them."""
        during = numpy.minimum(numpy.arange(len(self.first)), steps)
        first = self.first[during] @ recent + (self.first - self.first[during]) @ earlier
        return numpy.concatenate([first, self.drive(steps, recent, earlier)[None]])


@dataclass(frozen=True)
class Reached:
    """Half-widths of what linear mode and a window reach, and the largest error (in units of the
    bound).
    """

    linear: Array
    window: Array
    error: float


class Zonotopes:
    """A plant's linearisation over one step, and the ranges of its remainders."""

    def __init__(self, plant: Plant, linear: Linear, window: int) -> None:
        self.plant = plant
        period = plant.timing.period * NANOSECONDS
        step = period
        if linear.continuous is not None and not linear.corrects:
            usual = Motion(plant, linear, period).time_constant() / STEPS_PER_TIME_CONSTANT
            step = window * NANOSECONDS / max(math.ceil(window * NANOSECONDS / usual), 1)
        self.window_steps = math.ceil(window * NANOSECONDS / step - 1e-9)
        motion = Motion(plant, linear, step)
        a, by_input, by_remainder = _over_step(plant, linear, step)
        n = len(a)
        rows, everywhere = directions(plant).rows, numpy.eye(n)
        m, keep = motion.error_matrix, everywhere - linear.gain @ linear.output_matrix
        steps = max(_horizon(plant, a), _horizon(plant, m), self.window_steps + 1)
        self.by_input = Sums(everywhere, a, by_input, steps)
        self.by_remainder = Sums(everywhere, a, by_remainder, steps)
        self.error_by_remainder = Sums(rows, m, abs(keep) @ by_remainder, steps)
        self.error_by_output = Sums(rows, m, linear.gain, steps)
        self.begun = _left_of(rows, m, linear.half_widths, steps)
        power, forget = everywhere, everywhere
        for _ in range(steps):
            power = power @ a
            forget = numpy.maximum(forget, abs(power))
        self.forget = forget
        """The largest of |A^k|, entry by entry."""
        self._dynamics = [_Remainder(plant, one) for one in plant.with_values(plant.dynamics)]
        self._outputs = [_Remainder(plant, one) for one in plant.with_values(plant.outputs)]

    def reached(self, decision: Box, start: Array) -> Reached | None:
        """From |x - x0| <= start with e within the half-widths. None: the domain is left, or no
        bound was found.
        """
        physical = self.plant.physical
        kept, possible = self._half(decision), self._half(physical)
        begun = self.forget @ start
        linear = self._fixed_point(
            decision, begun + self.by_input.all @ kept, lambda w: self.by_remainder.all @ w
        )
        if linear is None:
            return None
        inner, steps = self._ranges(decision, linear), self.window_steps
        driven = begun + self.by_input.drive(steps, possible, kept)
        window = self._fixed_point(
            physical,
            numpy.maximum(driven, linear),
            lambda w: self.by_remainder.drive(steps, w, inner[0]),
            driven,
        )
        if window is None:
            return None
        outer = self._ranges(physical, window)
        error = self.begun + self.error_by_remainder.drives(steps, outer[0], inner[0])
        error = error + self.error_by_output.drives(steps, outer[1], inner[1])
        return Reached(linear, window, float(error.max()))

    def _fixed_point(
        self, inputs: Box, first: Array, implied_by: _Implied, driven: Array | None = None
    ) -> Array | None:
        """Half-widths, at least `first`, that contain what they imply."""
        driven = first if driven is None else driven
        plant, half = self.plant, first
        limit = numpy.minimum(plant.domain.upper - plant.state, plant.state - plant.domain.lower)
        for _ in range(ROUNDS):
            half = half * (1 + GROWTH)
            if (half > limit).any():
                return None
            implied = driven + implied_by(self._ranges(inputs, half)[0])
            if (implied <= half).all():
                return half
            half = numpy.maximum(implied, half)
        return None

    def _ranges(self, inputs: Box, half: Array) -> tuple[Array, Array]:
        """Magnitudes of the remainders of dynamics and outputs over a box of states."""
        plant = self.plant
        box = intervals.over(plant.state_symbols, Box(plant.state - half, plant.state + half))
        box |= intervals.over(plant.input_symbols, inputs)
        return (
            numpy.array([one.magnitude(box) for one in self._dynamics]),
            numpy.array([one.magnitude(box) for one in self._outputs]),
        )

    def _half(self, box: Box) -> Array:
        return numpy.maximum(box.upper - self.plant.input, self.plant.input - box.lower)


class _Remainder:
    """An expression less its linearisation."""

    def __init__(self, plant: Plant, expression: sympy.Expr) -> None:
        symbols = [*plant.state_symbols, *plant.input_symbols]
        centre = [sympy.Float(v) for v in (*plant.state, *plant.input)]
        at = dict(zip(symbols, centre, strict=True))
        slopes = [expressions.derivative(expression, symbol) for symbol in symbols]
        linear = expression.subs(at) + sum(
            slope.subs(at) * (symbol - value)
            for slope, symbol, value in zip(slopes, symbols, centre, strict=True)
        )
        self._distances = list(zip(symbols, map(float, centre), strict=True))
        self._direct = sympy.expand(expression - linear)
        self._has_kinks = expressions.has_kinks(expression)
        self._second = [
            (expressions.derivative(slope, symbol), i, j)
            for i, slope in enumerate(slopes)
            for j, symbol in enumerate(symbols)
        ]

    def magnitude(self, box: dict[sympy.Symbol, intervals.Interval]) -> float:
        """The smaller of two bounds: by interval arithmetic on it, and by Lagrange's form if it has
        second derivatives.
        """
        direct = intervals.enclose(self._direct, box).magnitude
        if self._has_kinks:
            return float(direct)
        away = [
            max(abs(box[symbol].low - value), abs(box[symbol].high - value))
            for symbol, value in self._distances
        ]
        lagrange = sum(
            0.5 * intervals.enclose(second, box).magnitude * away[i] * away[j]
            for second, i, j in self._second
            if second != 0
        )
        return float(min(direct, lagrange))


def largest_scale(zonotopes: Zonotopes) -> float:
    """The largest scale of the decision's shape that keeps the bound; 0: none does."""
    plant, here = zonotopes.plant, numpy.zeros(len(zonotopes.plant.states))

    def holds(scale: float) -> bool:
        found = zonotopes.reached(plant.decision.scaled(plant.input, scale), here)
        return found is not None and found.error <= 1

    if holds(1.0):
        return 1.0
    return _bisect(holds) if holds(0.0) else 0.0


def largest_start(zonotopes: Zonotopes, decision: Box, shape: Array) -> Array:
    """Half-widths of the largest box of that shape from which linear mode may begin."""

    def holds(scale: float) -> bool:
        found = zonotopes.reached(decision, scale * shape)
        return found is not None and found.error <= 1

    return _bisect(holds) * shape


def _bisect(holds: _Test) -> float:
    low, high = 0.0, 1.0
    while high - low > SCALE_PRECISION:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _over_step(plant: Plant, linear: Linear, step: float) -> tuple[Array, Array, Array]:
    """A, and how inputs and remainders enter, whatever they do during the step."""
    if linear.continuous is None:
        return linear.state_matrix, abs(linear.input_matrix), numpy.eye(len(plant.states))
    a, b = linear.continuous
    by_input, by_remainder = numpy.zeros(b.shape), numpy.zeros(a.shape)
    for part in range(QUADRATURE):
        # |e^(As)| over a part, from that at its middle; the norm of A bounds how it differs.
        width = step / QUADRATURE
        flow = scipy.linalg.expm(a * (part + 0.5) * width)
        slack = math.exp(numpy.linalg.norm(a, 2) * width / 2)
        by_input += abs(flow @ b) * width * slack
        by_remainder += abs(flow) * width * slack
    return scipy.linalg.expm(a * step), by_input, by_remainder


def _left_of(rows: Array, matrix: Array, half_widths: Array, steps: int) -> Array:
    """|p M^k| w after k = 0, 1, ... steps and, last, what it is at most after more of them."""
    powers, power = sum_of_powers(matrix), numpy.eye(len(matrix))
    assert powers is not None
    found = []
    for _ in range(steps + 1):
        found.append(abs(rows @ power) @ half_widths)
        power = power @ matrix
    return numpy.array([*found, abs(rows @ power) @ powers @ half_widths])


def _horizon(plant: Plant, matrix: Array) -> int:
    radius = spectral_radius(matrix)
    steps = math.log(FORGOTTEN) / math.log(radius) if 0 < radius < 1 else 1.0
    if radius >= 1 or steps > LONGEST_RUN:
        raise UserError(
            f"{plant.source}: states that hardly settle (spectral radius {radius:.8f} over one "
            "step) have no zonotope that holds them"
        )
    return math.ceil(steps) + 1

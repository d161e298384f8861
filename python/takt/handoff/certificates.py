"""Barrier certificates for polynomial plants: polynomials of z = (x, e), B and V_1, ..., V_m, with

    B(operating point) = -1,
    dB/dt <= -r B          for inputs in the decision bound,
    dV/dt <= 0             for physical inputs, V being B = V_0 when a hand-over begins, V_m when it
                           has ended, and linear in time between one and the next,
    V > 0                  where a state leaves its interval or the error its bound,

the second and third where none of that has happened. In linear mode B stays at most 0 then, and so
does V in a hand-over, which therefore never comes to where the bound is broken: this is a proof.

With the rate r chosen all is linear in the polynomials, and "at least 0 on a set" is proved by
sums of squares. As the plant is affine in its inputs, the corners of their boxes suffice; and as
dV/dt is linear in time between V_j and V_j+1, so do these two moments.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy

from takt.handoff import polynomials
from takt.handoff.expressions import Array
from takt.handoff.game import Progress
from takt.handoff.grids import Grid
from takt.handoff.linear import Linear, is_affine_in_inputs
from takt.handoff.plant import Box, Plant
from takt.handoff.polynomials import Polynomial
from takt.handoff.sums_of_squares import Program, Unknown

MOST_STATES = 3
DEGREE = 4
"""The degree of the polynomials if the plant does not say."""
NODES = {1: 401, 2: 121, 3: 41}
"""Nodes along each axis of the grid for the region of the way back, by the number of states."""
PIECES = {1: 4, 2: 2, 3: 1}
"""m, the number of parts of a hand-over, by the number of states."""
RATES = (0.6, 1.0)
"""Values tried for r, as shares of the slowest mode's rate."""
ROUNDS = 8
"""Rounds of the bisection: the scale is found to 0.4 %."""
ABOVE = Fraction(1, 10**6)
"""The margin by which V is above 0."""


@dataclass(frozen=True)
class Certificate:
    """V_0, V_1, ... in units: z = (x - middle) / half of its interval, e / the largest allowed."""

    barriers: list[Polynomial]
    rate: float

    def document(self, search: Certificates) -> dict[str, object]:
        return {
            "middle": search.middle.tolist(),
            "half": search.half.tolist(),
            "allowed": search.allowed.tolist(),
            "rate": self.rate,
            "barriers": [
                [[list(powers), float(value)] for powers, value in sorted(one.items())]
                for one in self.barriers
            ],
        }


def applies(plant: Plant, linear: Linear) -> str:
    """Why there is no certificate for a plant; empty: there may be one."""
    if linear.continuous is None or linear.corrects:
        return "certificates are for plants in continuous time with gain: none"
    if len(plant.states) > MOST_STATES:
        return f"certificates are for at most {MOST_STATES} states"
    if not (plant.weights > 0).all():
        return "certificates need a weight above 0 for the error of each state"
    if not is_affine_in_inputs(plant):
        return "certificates need dynamics that are affine in the inputs"
    symbols = [*plant.state_symbols, *plant.input_symbols]
    unit = {symbol: polynomials.variable(0, 1) for symbol in symbols}
    if any(polynomials.of(one, unit) is None for one in plant.with_values(plant.dynamics)):
        return "certificates need dynamics that are polynomials"
    return ""


class Certificates:
    """The search for certificates of one plant."""

    def __init__(self, plant: Plant, linear: Linear, window: int) -> None:
        """`window`: the longest hand-over, there and back, in nanoseconds."""
        assert linear.continuous is not None
        self.plant, self.linear = plant, linear
        self.window = Fraction(window, 10**9)
        n = self.n = len(plant.states)
        self.middle = (plant.domain.upper + plant.domain.lower) / 2
        self.half = (plant.domain.upper - plant.domain.lower) / 2
        self.allowed = plant.epsilon / plant.weights
        units = [polynomials.variable(i, 2 * n) for i in range(2 * n)]
        self.states = [
            polynomials.total(
                [polynomials.constant(self.middle[i], 2 * n), _times(units[i], self.half[i])]
            )
            for i in range(n)
        ]
        self.errors = [_times(units[n + i], self.allowed[i]) for i in range(n)]
        self.units = units
        self.degree = plant.degree or DEGREE
        self.basis = polynomials.monomials(2 * n, self.degree)
        rates = -numpy.linalg.eigvals(linear.continuous[0]).real
        self.rates = [share * float(rates.min()) for share in RATES]
        self.in_window = [self._flow(corner) for corner in plant.physical.corners()]

    def find(self, decision: Box) -> Certificate | None:
        """A certificate for inputs in a decision bound; None: none was found."""
        for rate in self.rates:
            found = self._with_rate(decision, rate)
            if found is not None:
                # A rate that worked once is likely to work again.
                self.rates.sort(key=lambda one: one != rate)
                return found
        return None

    def _with_rate(self, decision: Box, rate: float) -> Certificate | None:
        n, pieces = self.n, PIECES[self.n]
        one = polynomials.constant(1, 2 * n)
        here = [Fraction(float(value)) for value in (self.plant.state - self.middle) / self.half]
        program = Program()
        # B = -1 + sum of b_i (a monomial less its value at the operating point).
        centred = [_centred(powers, here + [Fraction(0)] * n) for powers in self.basis]
        first = Unknown(_times(one, -1), program.numbers_for(filter(None, centred)))
        barriers = [first]
        for _ in range(pieces):
            free = program.numbers_for({powers: Fraction(1)} for powers in self.basis)
            barriers.append(Unknown({}, free))
        inside, everything = self._inside(), range(2 * n)
        for corner in decision.corners():
            flow = self._flow(corner)
            program.require(-first.along(flow) - Fraction(rate) * first, inside, everything)
        length = self.window / pieces
        for before, after in itertools.pairwise(barriers):
            change = (1 / length) * (after - before)
            for flow in self.in_window:
                for moment in (before, after):
                    program.require(-change - moment.along(flow), inside, everything)
        for barrier in barriers:
            self._above_on_the_border(program, barrier)
        numbers = program.solve()
        if numbers is None:
            return None
        return Certificate([barrier.with_numbers(numbers) for barrier in barriers], rate)

    def _above_on_the_border(self, program: Program, barrier: Unknown) -> None:
        n, inside = self.n, self._inside()
        above = barrier - Unknown(polynomials.constant(ABOVE, 2 * n), {})
        faces = range(n if self.plant.norm == "euclidean" else 2 * n)
        for index in faces:
            for side in (Fraction(-1), Fraction(1)):
                where = [polynomials.at(g, index, side) for g in inside]
                left = [place for place in range(2 * n) if place != index]
                there = above.map(functools.partial(polynomials.at, index=index, value=side))
                program.require(there, [g for g in where if any(map(any, g))], left)
        if self.plant.norm == "euclidean":
            # On the sphere, any multiple of the polynomial that is 0 there may be added.
            *boxes, ball = inside
            multiples = polynomials.monomials(2 * n, self.degree - 2)
            free = program.numbers_for(
                polynomials.times({powers: Fraction(1)}, ball) for powers in multiples
            )
            program.require(above - Unknown({}, free), boxes, range(2 * n))

    def _inside(self) -> list[Polynomial]:
        """Polynomials that are at least 0 while state and error are within their bounds."""
        n = self.n
        squares = [_times(polynomials.times(unit, unit), -1) for unit in self.units]
        one = polynomials.constant(1, 2 * n)
        boxes = [polynomials.total([one, square]) for square in squares]
        if self.plant.norm == "maximum":
            return boxes
        return [*boxes[:n], polynomials.total([one, *squares[n:]])]

    def _flow(self, control: Array) -> list[Polynomial]:
        """dz/dt with a constant input, in z."""
        plant, n = self.plant, self.n
        assert self.linear.continuous is not None
        a, b = self.linear.continuous
        parts = dict(zip(plant.state_symbols, self.states, strict=True)) | {
            symbol: polynomials.constant(float(value), 2 * n)
            for symbol, value in zip(plant.input_symbols, control, strict=True)
        }
        moving = [polynomials.of(one, parts) for one in plant.with_values(plant.dynamics)]
        driven = b @ (control - plant.input)
        flow = []
        for rate, half in zip(moving, self.half, strict=True):
            assert rate is not None
            flow.append(_times(rate, 1 / Fraction(float(half))))
        for i, (rate, allowed) in enumerate(zip(moving, self.allowed, strict=True)):
            assert rate is not None
            predicted = [polynomials.constant(float(driven[i]), 2 * n), _times(rate, -1)]
            for j in range(n):
                deviation = polynomials.total(
                    [
                        self.states[j],
                        self.errors[j],
                        polynomials.constant(-float(plant.state[j]), 2 * n),
                    ]
                )
                predicted.append(_times(deviation, float(a[i, j])))
            flow.append(_times(polynomials.total(predicted), 1 / Fraction(float(allowed))))
        return flow

    def region(self, found: Certificate) -> tuple[Grid, Array, float]:
        """A bound of B(x, e) for all e within the half-widths, on a grid of the states, and how far
        linear interpolation may be below it: along each axis at most an eighth of the spacing's
        square times the second derivative.

        B is a sum of monomials of e, each times a polynomial of x. The bound has the monomial's
        largest magnitude, times the magnitude of the polynomial.
        """
        n = self.n
        grid = Grid(self.plant.domain.lower, self.plant.domain.upper, [NODES[n]] * n)
        nodes = (grid.nodes() - self.middle) / self.half
        width = self.linear.half_widths / self.allowed
        by_error: dict[tuple[int, ...], Array] = {}
        error = 0.0
        for powers, value in found.barriers[0].items():
            of_state, of_error = powers[:n], powers[n:]
            term = float(value) * numpy.prod(width ** numpy.array(of_error))
            part = by_error.setdefault(of_error, numpy.zeros(len(nodes)))
            part += term * numpy.prod(nodes ** numpy.array(of_state), axis=1)
            # No unit is above 1, so this bounds all second derivatives, and rounding.
            for power, spacing in zip(of_state, grid.spacing / self.half, strict=True):
                error += spacing**2 / 8 * power * (power - 1) * abs(term)
            error += 1e-12 * abs(term)
        values = numpy.zeros(len(nodes))
        for of_error, part in by_error.items():
            values += abs(part) if any(of_error) else part
        return grid, values, float(error)


def largest(search: Certificates, progress: Progress = None) -> tuple[float, Certificate] | None:
    """The largest scale of the decision's shape for which there is a certificate; None: none."""
    plant = search.plant

    def certificate(scale: float) -> Certificate | None:
        return search.find(plant.decision.scaled(plant.input, scale))

    return _bisect(certificate, progress)


def _bisect(
    certificate: Callable[[float], Certificate | None], progress: Progress
) -> tuple[float, Certificate] | None:
    best = certificate(1.0)
    if best is not None:
        return 1.0, best
    low, high = 0.0, 1.0
    for number in range(ROUNDS):
        middle = (low + high) / 2
        found = certificate(middle)
        if found is None:
            high = middle
        else:
            low, best = middle, found
        if progress is not None:
            progress(number + 1, ROUNDS)
    return None if best is None else (low, best)


def _centred(powers: Sequence[int], here: list[Fraction]) -> Polynomial:
    """The monomial less its value at a point."""
    value = math.prod(
        (place**power for place, power in zip(here, powers, strict=True)), start=Fraction(1)
    )
    return polynomials.total(
        [{tuple(powers): Fraction(1)}, polynomials.constant(-value, len(here))]
    )


_times = polynomials.scaled

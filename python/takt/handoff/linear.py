"""The linear estimator of a plant, and how its error moves.

The estimate is x^ and the error e = x^ - x. Over one step,

    x+ = Phi(x, u),    e+ = M e + rho(x, u),

so the error is linear in itself and driven by a function of the true state and the input alone.
This is what makes 2n dimensions n of them (docs/estimation.md, "Half the dimensions").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy
import scipy.linalg
import sympy

from takt.errors import UserError
from takt.handoff import expressions
from takt.handoff.expressions import Array
from takt.handoff.plant import Plant, is_finite

NANOSECONDS = 1e-9
EQUILIBRIUM = 1e-9
"""How far, relative to the size of the domain, an operating point may move in a second or a step:
more than rounding, less than any intended motion.
"""
STABLE = 1.0 - 1e-9
RUNGE_KUTTA_STEPS = 4
"""The fewest within one step of a design, which usually is a small part of the fastest time
constant. A period can be many time constants.
"""
RUNGE_KUTTA_STEPS_PER_TIME_CONSTANT = 10
MOST_RUNGE_KUTTA_STEPS = 1000
ABOVE_SETTLED = 1.5
"""How much wider than it settles a confidence set may be for the way back by default; but it is"""
LEAST_SHARE, MOST_SHARE = 0.1, 0.25
"""within these shares of the allowed error, and the first if no noise says how wide it settles."""
FADED = 0.5
"""The spectral radius of |M^K| at which powers of M are no longer added up one by one."""
MOST_POWERS = 20_000


@dataclass(frozen=True)
class Linear:
    """Matrices at the operating point."""

    continuous: tuple[Array, Array] | None
    """A and B of the time derivative; None: the plant is discrete."""
    state_matrix: Array
    """A over one period."""
    input_matrix: Array
    output_matrix: Array
    feedthrough_matrix: Array
    gain: Array
    """Constant, n by p; zero: measurements correct nothing."""
    settled: Array | None
    """Half-widths of the confidence set when the Kalman filter has settled; None: it does not, or
    nothing says how uncertain it is.
    """
    half_widths: Array
    """The error with which linear mode may begin, along each state: designs leave room for it, and
    a confidence set that is wider is refused the way back.
    """

    @property
    def corrects(self) -> bool:
        return bool(self.gain.any())

    @property
    def error_matrix(self) -> Array:
        """M over one period, (I - L C) A."""
        n = len(self.state_matrix)
        return (numpy.eye(n) - self.gain @ self.output_matrix) @ self.state_matrix


def linearise(plant: Plant) -> Linear:
    """UserError if the operating point is no equilibrium, or the error would grow for ever."""
    states, inputs = plant.state_symbols, plant.input_symbols
    dynamics, outputs = plant.with_values(plant.dynamics), plant.with_values(plant.outputs)
    at = (states, inputs, plant.state, plant.input)
    a = expressions.matrix(expressions.jacobian(dynamics, states), *at)
    b = expressions.matrix(expressions.jacobian(dynamics, inputs), *at)
    c = expressions.matrix(expressions.jacobian(outputs, states), *at)
    d = expressions.matrix(expressions.jacobian(outputs, inputs), *at)
    rest = expressions.function(dynamics, states, inputs)(plant.state, plant.input)[0]
    if not all(map(is_finite, (a, b, c, d, rest))):
        raise UserError(f"{plant.source}: the dynamics have no derivative at the operating point")
    _check_equilibrium(plant, rest)
    if plant.discrete:
        over_period = a, b
    else:
        n, m = b.shape
        both = numpy.zeros((n + m, n + m))
        both[:n, :n], both[:n, n:] = a, b
        step = scipy.linalg.expm(both * plant.timing.period * NANOSECONDS)
        over_period = step[:n, :n], step[:n, n:]
    stationary = _stationary(plant, over_period[0], c)
    gain, settled = numpy.zeros((len(a), len(c))), None
    if stationary is not None:
        found, covariance = stationary
        spread = numpy.sqrt(numpy.maximum(numpy.diag(covariance), 0.0))
        settled = numpy.array(plant.confidence["deviations"]) * spread
        gain = found if plant.gain == "kalman" else gain
    elif plant.gain == "kalman":
        raise UserError(
            f"{plant.source}: noise: the Kalman filter does not settle with it; give each state "
            "process noise, or say gain: none"
        )
    half_widths = _half_widths(plant, settled)
    continuous = None if plant.discrete else (a, b)
    linear = Linear(continuous, *over_period, c, d, gain, settled, half_widths)
    radius = spectral_radius(linear.error_matrix)
    if radius >= STABLE:
        raise UserError(
            f"{plant.source}: the error of the linear estimate does not die away at the operating "
            f"point (spectral radius {radius:.6g} over one period); "
            + ("another measurement is needed" if linear.corrects else "try gain: kalman")
        )
    return linear


def _check_equilibrium(plant: Plant, rest: Array) -> None:
    size = plant.domain.upper - plant.domain.lower
    moved = rest - plant.state if plant.discrete else rest
    for name, amount, width in zip(plant.states, moved, size, strict=True):
        if abs(amount) > EQUILIBRIUM * width:
            raise UserError(
                f"{plant.source}: operating_point: {name} does not rest there (it moves by "
                f"{amount:.3g} {'a step' if plant.discrete else 'a second'})"
            )


def _stationary(plant: Plant, a: Array, c: Array) -> tuple[Array, Array] | None:
    """The gain and covariance of the Kalman filter when they have settled; None: they do not."""
    try:
        predicted = scipy.linalg.solve_discrete_are(
            a.T, c.T, plant.process_noise, plant.measurement_noise
        )
    except (numpy.linalg.LinAlgError, ValueError):
        return None
    innovation = c @ predicted @ c.T + plant.measurement_noise
    gain: Array = numpy.linalg.solve(innovation, c @ predicted).T
    return gain, predicted - gain @ c @ predicted


def _half_widths(plant: Plant, settled: Array | None) -> Array:
    if plant.half_widths is not None:
        return plant.half_widths
    allowed = allowed_errors(plant)
    wanted = numpy.zeros_like(allowed) if settled is None else ABOVE_SETTLED * settled
    return numpy.clip(wanted, LEAST_SHARE * allowed, MOST_SHARE * allowed)


def allowed_errors(plant: Plant) -> Array:
    """The largest allowed error of each state; at weight 0, that of the largest weight."""
    weights = numpy.where(plant.weights > 0, plant.weights, plant.weights.max())
    allowed: Array = plant.epsilon / weights
    return allowed


def spectral_radius(matrix: Array) -> float:
    return float(abs(numpy.linalg.eigvals(matrix)).max())


def sum_of_powers(matrix: Array) -> Array | None:
    """Bounds the sum of |M^k| over all k from 0, entry by entry; None: it takes too many terms."""
    whole, power = numpy.zeros_like(matrix), numpy.eye(len(matrix))
    # |M^K| can be large for a matrix M whose powers vanish in the end.
    for _ in range(MOST_POWERS):
        if spectral_radius(abs(power)) <= FADED:
            # S = (sum of K terms) + |M^K| S.
            return numpy.asarray(numpy.linalg.solve(numpy.eye(len(matrix)) - abs(power), whole))
        whole = whole + abs(power)
        power = power @ matrix
    return None


class Motion:
    """One step of a plant and of its linear estimate's error, for many points at once."""

    def __init__(self, plant: Plant, linear: Linear, step: float) -> None:
        """`step` in seconds: the period if measurements correct or the plant is discrete."""
        self.plant, self.linear, self.step = plant, linear, step
        states, inputs = plant.state_symbols, plant.input_symbols
        self._dynamics = expressions.function(plant.with_values(plant.dynamics), states, inputs)
        self._outputs = expressions.function(plant.with_values(plant.outputs), states, inputs)
        self._rest = self._outputs(plant.state, plant.input)[0]
        if linear.continuous is None or linear.corrects:
            self.error_matrix = linear.error_matrix
        else:
            self.error_matrix = scipy.linalg.expm(linear.continuous[0] * step)
        needed = RUNGE_KUTTA_STEPS_PER_TIME_CONSTANT * step / self.time_constant()
        self._parts = min(max(math.ceil(needed), RUNGE_KUTTA_STEPS), MOST_RUNGE_KUTTA_STEPS)

    def __call__(self, points: Array, controls: Array) -> tuple[Array, Array]:
        """Phi and rho."""
        controls = numpy.broadcast_to(controls, (len(points), self.plant.input.size))
        # States that diverge within a step become non-finite, and readers treat them as outside.
        with numpy.errstate(all="ignore"):
            return self._moved(points, controls)

    def _moved(self, points: Array, controls: Array) -> tuple[Array, Array]:
        after, rho = self._predicted(points, controls)
        if self.linear.corrects:
            linear, du = self.linear, controls - self.plant.input
            dx = after - self.plant.state
            surprise = (
                self._outputs(after, controls)
                - self._rest
                - dx @ linear.output_matrix.T
                - du @ linear.feedthrough_matrix.T
            )
            n = len(linear.state_matrix)
            keep = numpy.eye(n) - linear.gain @ linear.output_matrix
            rho = rho @ keep.T + surprise @ linear.gain.T
        return after, rho

    def _predicted(self, points: Array, controls: Array) -> tuple[Array, Array]:
        plant, linear = self.plant, self.linear
        du = controls - plant.input
        if linear.continuous is None:
            after = self._dynamics(points, controls)
            dx = points - plant.state
            error = dx @ linear.state_matrix.T + du @ linear.input_matrix.T
            return after, error - (after - plant.state)
        a, b = linear.continuous
        driven = du @ b.T
        h = self.step / self._parts

        def rates(state: Array, error: Array) -> tuple[Array, Array]:
            moving = self._dynamics(state, controls)
            return moving, (state - plant.state + error) @ a.T + driven - moving

        state, error = points, numpy.zeros_like(points)
        for _ in range(self._parts):
            k1, l1 = rates(state, error)
            k2, l2 = rates(state + h / 2 * k1, error + h / 2 * l1)
            k3, l3 = rates(state + h / 2 * k2, error + h / 2 * l2)
            k4, l4 = rates(state + h * k3, error + h * l3)
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            error = error + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
        return state, error

    def time_constant(self) -> float:
        """The time constant of the linearised plant's fastest mode, in seconds."""
        if self.linear.continuous is None:
            return self.step
        rates = abs(numpy.linalg.eigvals(self.linear.continuous[0]))
        return float(1 / max(rates.max(), 1e-12))


def affine_inputs(plant: Plant) -> list[bool]:
    """Returns for each input whether the plant is affine in it while the others are held; then the
    ends of its interval suffice for an adversary.
    """
    return [
        all(sympy.simplify(sympy.diff(one, symbol, 2)) == 0 for one in plant.dynamics)
        and all(sympy.simplify(sympy.diff(one, symbol, 2)) == 0 for one in plant.outputs)
        for symbol in plant.input_symbols
    ]


def is_affine_in_inputs(plant: Plant) -> bool:
    """Whether the plant is affine in its inputs; then the corners of a box of inputs suffice for an
    adversary (bang-bang).
    """
    return all(
        sympy.simplify(sympy.diff(one, first, second)) == 0
        for one in (*plant.dynamics, *plant.outputs)
        for i, first in enumerate(plant.input_symbols)
        for second in plant.input_symbols[i:]
    )

"""The acceptance facts on estimation that are about the design, each a test with its number."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy
import pytest

from handovers import SPIKE, TABLE, cubic, linear
from takt.handoff import design, grids, monotone, search
from takt.handoff.expressions import Array
from takt.handoff.grids import Grid
from takt.handoff.linear import Motion, linearise
from takt.handoff.plant import Timing

PRINTED = 1e-3
"""The tables have four digits."""


@pytest.mark.parametrize(("a", "b", "kappa"), [(1.0, 1.0, 0.5), (2.0, 3.0, 1.0), (0.5, -1.0, 0.7)])
def test_a52_a_linear_plant_reaches_b_kappa_over_a(a: float, b: float, kappa: float) -> None:
    plant = linear(a, b)
    estimate = linearise(plant)
    order = monotone.order(plant, estimate)
    assert order is not None
    extremes = monotone.Extremes(plant, estimate, order)
    half = abs(b) * kappa / a
    for upward, sign in ((True, 1), (False, -1)):
        ends = extremes.settled(plant.physical.scaled(plant.input, kappa), upward)
        assert ends is not None
        assert ends[0] == pytest.approx(sign * half, rel=1e-8)


def test_a52_forward_reachable_set_on_a_grid() -> None:
    a, b, kappa, step = 1.0, 2.0, 0.6, 0.05
    grid = Grid([-2.0], [2.0], [801])
    nodes = grid.nodes()
    # The position of each node a step earlier, by the plant backwards in time.
    feet = [numpy.exp(a * step) * (nodes - b * d / a) + b * d / a for d in (-kappa, kappa)]
    reached = grids.reached(grid, feet, abs(nodes[:, 0]) - 0.01, 400)
    half = nodes[reached <= 0][:, 0].max()
    # e^-20 from its limit, on nodes 0.005 apart, from a start of half-width 0.01.
    assert half == pytest.approx(b * kappa / a, abs=0.015)


def test_a53_the_hamiltonians_sign() -> None:
    """x' = d, |d| <= 1, B = |x| - 2 for 1 s: harm is possible from 1 < |x| <= 2."""
    grid = Grid([-4.0], [4.0], [801])
    nodes = grid.nodes()
    barrier = abs(nodes[:, 0]) - 2.0
    feet = [nodes - 0.1, nodes, nodes + 0.1]
    feared = grids.largest_over_time(grid, feet, barrier, 10)
    printed = grids.largest_over_time(grid, feet, barrier, 10, choose=numpy.minimum)
    inside = barrier <= 1e-9
    # Exact at the nodes but for rounding, because their spacing divides the step.
    numpy.testing.assert_allclose(feared[inside], abs(nodes[inside, 0]) - 1.0, atol=1e-9)
    assert not (printed[inside] > 1e-9).any()


@pytest.mark.parametrize(("physical", "periods", "kappa", "extreme"), TABLE)
def test_a54_decision_bounds_of_the_cubic_example(
    physical: float, periods: int, kappa: float, extreme: float
) -> None:
    found = design.design(cubic(physical, periods))
    assert found.method == "monotone"
    assert found.decision.upper[0] == pytest.approx(kappa, rel=PRINTED)
    assert found.decision.lower[0] == -found.decision.upper[0]
    assert found.back.grid.upper[0] == pytest.approx(extreme, rel=PRINTED)
    assert found.figures["largest_error"] <= 0.1


def test_a54_the_cubic_example_without_a_hand_over() -> None:
    plant = cubic()
    estimate = linearise(plant)
    order = monotone.order(plant, estimate)
    assert order is not None
    extremes = monotone.Extremes(plant, estimate, order)
    assert monotone.largest_scale(plant, extremes, 0) == pytest.approx(0.5642, rel=PRINTED)


@pytest.mark.parametrize(("physical", "periods", "kappa", "extreme"), TABLE)
def test_a54_on_a_grid_it_is_safe_and_near(
    physical: float, periods: int, kappa: float, extreme: float
) -> None:
    found = design.design(cubic(physical, periods, "method: {kind: grid, nodes: 401}\n"))
    assert found.method == "grid"
    # The search leaves a hundredth of the bound free, and a bit for errors between nodes.
    assert 0.95 * kappa <= found.decision.upper[0] <= kappa * (1 + PRINTED)
    assert found.back.contains(numpy.array([[extreme * found.scale * physical / kappa]]))[0]


def test_a55_the_window_is_k_periods_and_the_delay() -> None:
    assert Timing(5_000_000, load_periods=3, actuation_delay=2_000_000).window == 17_000_000
    assert Timing(5_000_000, load_periods=1).window == 5_000_000


def test_a56_decision_bounds_decrease_with_the_window_and_the_physical_bound() -> None:
    def scale(physical: float, periods: int) -> float:
        return float(design.design(cubic(physical, periods)).decision.upper[0])

    by_window = [scale(1, periods) for periods in (1, 4, 10, 20)]
    by_bound = [scale(physical, 4) for physical in (0.8, 1, 1.5, 2)]
    for larger, smaller in (*itertools.pairwise(by_window), *itertools.pairwise(by_bound)):
        assert smaller < larger


@pytest.mark.parametrize("method", ["monotone", "grid"])
def test_a56_the_way_back_is_narrower_for_a_longer_window(method: str) -> None:
    more = f"method: {{kind: {method}, nodes: 201}}\n" if method == "grid" else ""
    regions = []
    for returning in (200, 300, 500):
        plant = cubic(more=more)
        timing = replace(plant.timing, return_window=returning * 1_000_000)
        regions.append(design.design(replace(plant, timing=timing)).back)
    points = numpy.linspace(-1, 1, 2001)[:, None]
    inside = [region.contains(points) for region in regions]
    for wider, narrower in itertools.pairwise(inside):
        assert (narrower <= wider).all()
        assert narrower.any()
    # On the grid, linear mode may need a narrower region than the longer window does.
    assert method == "grid" or inside[-1].sum() < inside[0].sum()


def test_theorem_5_no_test_of_the_estimate_sees_an_input_that_the_linear_model_does_not() -> None:
    estimate = linearise(SPIKE)
    assert estimate.input_matrix[0].tolist() == [estimate.input_matrix[0, 0], 0.0]
    motion = Motion(SPIKE, estimate, 0.01)
    quiet, spiked = _run(motion, 0.0), _run(motion, 20.0)
    # The estimates are the same to the last bit, so every predicate of them gives the same answer.
    assert (quiet[1] == spiked[1]).all()
    assert abs(quiet[0] - quiet[1]).max() < 1e-3
    assert abs(spiked[0] - spiked[1]).max() > SPIKE.epsilon


def _run(motion: Motion, spike: float) -> tuple[Array, Array]:
    """True states and estimates of 3 s at w = 0.5 and then 1.2 s with a spike in d."""
    state, error = numpy.zeros((1, 1)), numpy.zeros((1, 1))
    states, estimates = [], []
    linear_state = 0.0
    a, b = motion.linear.continuous or (numpy.eye(1), numpy.eye(1))
    decay = float(numpy.exp(a[0, 0] * motion.step))
    for number in range(420):
        control = numpy.array([0.5, spike if number >= 300 else 0.0])
        state, rho = motion(state, control)
        error = error @ motion.error_matrix.T + rho
        linear_state = decay * linear_state + (1 - decay) / -a[0, 0] * float(b[0] @ control)
        # What the error says of the estimate is what the estimate is.
        assert state[0, 0] + error[0, 0] == pytest.approx(linear_state, abs=1e-8)
        states.append(state[0, 0])
        estimates.append(linear_state)
    return numpy.array(states), numpy.array(estimates)


def test_theorem_5_the_input_tells() -> None:
    found = design.design(SPIKE)
    assert SPIKE.decision.upper[1] == 1.0
    assert found.decision.upper[1] < 20.0


def test_theorem_4_linear_mode_stays_in_its_region() -> None:
    """From every node of the region, any inputs of the decision bound lead to states that are in
    it.
    """
    # A first error makes the region smaller than what linear mode never leaves.
    plant = cubic(more="method: {kind: grid, nodes: 201}\nconfidence: {half_widths: {x: 0}}\n")
    found = design.design(plant)
    assert isinstance(found.figures["errors"], dict)
    one = search.Search(found.plant, found.linear, found.window.length)
    values, settled = one.values(found.scale)
    assert settled
    moves = one.linear_mode(found.scale)
    inside = values.largest <= 0
    for move in moves.interpolations:
        # Between nodes the value may be rounded up; the region's own error covers that.
        assert (move.linear(values.largest)[inside] <= found.back.error + search.MARGIN).all()

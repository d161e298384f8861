"""The way back holds wherever in the confidence set of its estimate the true state is."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy
import pytest
from scipy.ndimage import binary_erosion

import takt_estimators
from handovers import DISCRETE, EXAMPLES, cubic, parse
from robot import run_takt
from takt.handoff import design, document, monotone
from takt.handoff.attack import Attack
from takt.handoff.design import Design
from takt.handoff.expressions import Array
from takt.handoff.linear import Motion, linearise, sum_of_powers
from takt.handoff.plant import Plant

SEQUENCES = int(os.environ.get("TAKT_SEQUENCES", "8000"))
PENDULUM = (EXAMPLES / "pendulum.yaml").read_text(encoding="utf-8") + "method: {nodes: 81}\n"
PLANTS = {
    "cubic": cubic(),
    "cubic on a grid": cubic(more="method: {kind: grid, nodes: 201}\n"),
    "cubic by zonotopes": cubic(more="method: {kind: zonotope}\n"),
    "pendulum": parse(PENDULUM),
    "pendulum, corrected": parse(PENDULUM.replace("gain: none", "gain: kalman")),
    "discrete, euclidean": parse(DISCRETE),
}


@cache
def designed(name: str) -> Design:
    return design.design(PLANTS[name])


@pytest.mark.parametrize("name", PLANTS)
def test_no_adversary_breaks_the_bound_from_anywhere_in_the_box(name: str) -> None:
    found = Attack(designed(name)).run(SEQUENCES, 1)
    assert found.sequences >= SEQUENCES
    assert found.violations == 0
    assert found.largest <= 1


@cache
def without_room(name: str) -> Design:
    """As designs were before: the estimate at the way back is the true state."""
    plant = PLANTS[name]
    return design.design(replace(plant, half_widths=numpy.zeros(len(plant.states))))


def test_a_design_that_takes_the_estimate_to_be_true_is_broken() -> None:
    """The control: the same attack on boxes of half the allowed error, as were let pass before."""
    plant = PLANTS["pendulum"]
    found = Attack(without_room("pendulum"), 0.5 * plant.epsilon / plant.weights).run(4000, 1)
    assert found.violations > 100
    assert found.largest > 1.2


def test_a_wider_confidence_set_is_refused() -> None:
    found = designed("pendulum")
    handoff = takt_estimators.parse_handoff(
        json.dumps(document.document(found, [])), "handoff.json"
    )
    widths = found.linear.half_widths
    none = numpy.zeros((1, 2))
    inputs = numpy.zeros((1, 3))
    assert handoff.rehearse(none, 0.999 * widths[None], none, inputs)[0] == 0
    for one in (0, 1):
        wider = widths.copy()
        wider[one] *= 1.001
        assert numpy.isnan(handoff.rehearse(none, wider[None], none, inputs)[0])


@pytest.mark.parametrize("name", ["pendulum", "pendulum, corrected", "discrete, euclidean"])
def test_the_rehearsal_is_the_linear_error_that_the_design_computes(name: str) -> None:
    """The estimator in C++, with its own integration, against e+ = M e + rho."""
    found = designed(name)
    plant = found.plant
    handoff = takt_estimators.parse_handoff(json.dumps(document.document(found, [])), "h.json")
    motion = Motion(plant, found.linear, plant.timing.period * 1e-9)
    generator = numpy.random.default_rng(5)
    widths = numpy.tile(0.9 * found.linear.half_widths, (50, 1))
    states = plant.state + widths * generator.uniform(-1, 1, widths.shape)
    inputs = generator.uniform(found.decision.lower, found.decision.upper, (50, 30))
    told = handoff.rehearse(numpy.tile(plant.state, (50, 1)), widths, states, inputs)
    assert numpy.isfinite(told).all()
    errors = plant.state - states
    largest = norms(plant, errors)
    for number in range(30):
        states, rho = motion(states, inputs[:, number : number + 1])
        errors = errors @ motion.error_matrix.T + rho
        largest = numpy.maximum(largest, norms(plant, errors))
    # Both integrate to about 1e-8 of the states.
    numpy.testing.assert_allclose(told, largest, atol=1e-5)


def norms(plant: Plant, errors: Array) -> Array:
    weighted = abs(errors * plant.weights) / plant.epsilon
    of = weighted.max(axis=1) if plant.norm == "maximum" else numpy.linalg.norm(weighted, axis=1)
    return numpy.asarray(of)


@pytest.mark.parametrize("name", ["cubic on a grid", "pendulum"])
def test_room_for_the_first_error_costs_little(name: str) -> None:
    before, now = without_room(name), designed(name)
    assert now.scale == pytest.approx(before.scale, rel=0.01)
    shape = now.back.grid.shape
    outer, inner = ((one.back.values + one.back.error <= 0).reshape(shape) for one in (before, now))
    assert not (inner & ~outer).any()
    # Only nodes at the border are lost, which is the least that a grid can show.
    assert not (binary_erosion(outer, numpy.ones((3,) * len(shape))) & ~inner).any()


def test_a_first_error_above_what_linear_mode_comes_to_makes_the_decision_bound_smaller() -> None:
    # In the order of the plant, an error up to that of the extreme state is within the region.
    plant = cubic(1, 20)
    kappa, extreme = 0.2515, 0.2380

    def bound(half_width: float) -> float:
        return float(
            design.design(replace(plant, half_widths=numpy.array([half_width]))).decision.upper[0]
        )

    assert bound(0.0) == bound(0.99 * extreme**3) == pytest.approx(kappa, abs=1e-4)
    smaller = bound(2 * extreme**3)
    assert 0.1 < smaller < 0.99 * kappa
    found = design.design(replace(plant, half_widths=numpy.array([2 * extreme**3])))
    assert Attack(found).run(4000, 2).violations == 0


def test_what_a_chain_carries_of_a_first_error() -> None:
    """x' = -x + d is linear, so that only the second state errs by itself; an error of the first
    moves to the second.
    """
    plant = parse(
        """
states: {x: [-3, 3], y: [-3, 3]}
inputs: {d: [-1, 1]}
dynamics: {x: -x + d, y: -y + x - 0.1*y**3}
outputs: {z: y}
noise: {measurement: {z: 1e-3}}
error: {epsilon: 0.1, norm: maximum}
timing: {period: 50ms, load_periods: 2}
gain: none
confidence: {half_widths: {x: 0.03, y: 0.01}}
"""
    )
    linear = linearise(plant)
    order = monotone.order(plant, linear)
    assert order is not None
    extremes = monotone.Extremes(plant, linear, order)
    # e^(At) (0.03, 0.01) = e^-t (0.03, 0.01 + 0.03 t), at most (0.03, 0.0154).
    carried = extremes._carried(numpy.zeros(4))
    assert (carried >= [0.03, 0.0154]).all()
    assert carried == pytest.approx([0.03, 0.03])
    found = design.design(plant)
    assert found.method == "monotone"
    assert Attack(found).run(4000, 3).violations == 0


def test_sums_of_powers_are_bounded() -> None:
    matrix = numpy.array([[0.9, 0.5], [-0.1, 0.8]])
    found = sum_of_powers(matrix)
    assert found is not None
    power, total = numpy.eye(2), numpy.zeros((2, 2))
    for _ in range(2000):
        total += abs(power)
        power = power @ matrix
    assert (found >= total - 1e-9).all()
    assert (found <= 1.5 * total).all()
    assert sum_of_powers(numpy.array([[1.0]])) is None


def test_a_weight_of_0_bounds_no_error_of_that_state() -> None:
    """The error of y counts for nothing by itself, grows without a limit of its own, and drives
    that of x.
    """
    plant = parse(
        """
states: {x: [-2, 2], y: [-3, 3]}
inputs: {d: [-1, 1]}
dynamics: {x: -x + 0.2*y, y: -0.4*y + d - 0.5*y**3}
outputs: {z: x}
noise: {measurement: {z: 1e-3}}
error: {epsilon: 0.05, norm: maximum, weights: {x: 1, y: 0}}
timing: {period: 50ms, load_periods: 2}
gain: none
method: {kind: grid, nodes: 81}
"""
    )
    found = design.design(plant)
    assert Attack(found).run(8000, 4).violations == 0


def test_what_is_wider_when_it_settles_than_it_may_be_is_said(tmp_path: Path) -> None:
    text = (EXAMPLES / "cubic.yaml").read_text(encoding="utf-8")
    noisy = text.replace("noise:\n", "noise:\n  process: {x: 1e-3}\n").replace("y: 1e-4", "y: 1e-2")
    path = tmp_path / "noisy.yaml"
    path.write_text(noisy, encoding="utf-8")
    done = run_takt("handoff", path)
    assert done.returncode == 0, done.stderr
    assert "hardly ever goes back" in done.stdout

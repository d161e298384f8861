"""takt handoff: plants are read strictly, sets are safe, designs withstand adversaries."""

from __future__ import annotations

import json
import os
import re
import resource
from pathlib import Path
from typing import Any

import numpy
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import takt_estimators
from handovers import CUBIC, EXAMPLES, TABLE, cubic, parse
from robot import run_takt
from takt.documents import Handoff
from takt.errors import UserError
from takt.handoff import design, document, expressions, game, intervals, search, zonotopes
from takt.handoff.attack import Attack
from takt.handoff.grids import Grid, Surface, largest_over_time
from takt.handoff.linear import NANOSECONDS, Motion, linearise
from takt.handoff.plant import Box
from takt.handoff.regions import box

SEQUENCES = int(os.environ.get("TAKT_SEQUENCES", "4000"))
"""A million takes some minutes."""
COARSE = "method: {kind: grid, nodes: 201}\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("x: -x - x**3 + d", "x: -x - y**3", "dynamics.x: unknown name y (known: x, d)"),
        ("x: -x - x**3 + d", "x: -x^3", "dynamics.x: ^ (a power is written **)"),
        ("x: -x - x**3 + d", "x: x.real", "neither number, name, operator nor function"),
        ("x: -x - x**3 + d", "x: system(d)", "unknown function system"),
        ("x: -x - x**3 + d", "x: __import__('os')", "neither number, name, operator nor"),
        ("x: -x - x**3 + d", "x: 9**9**9**9", "is no expression that can be read"),
        ("x: -x - x**3 + d", "x: x**1000", "a power above 64"),
        ("x: -x - x**3 + d", "x: 1/0", "is not finite"),
        ("x: -x - x**3 + d", "x: 1 - x + d", "operating_point: x does not rest there"),
        ("x: -x - x**3 + d", "x: x + d", "does not die away"),
        ("x: -x - x**3 + d", "z: -x", "one expression for each state; look at 'x'"),
        ("epsilon: 0.1", "epsilon: 0", "error.epsilon: must be above 0"),
        ("epsilon: 0.1", "epsilon: .nan", "error.epsilon: must be finite"),
        ("epsilon: 0.1", "epsilon: 0.1, norms: 1", "unknown field 'norms'"),
        ("[-1, 1]", "[1, -1]", "inputs.d: the first must be below the second"),
        ("[-1, 1]", "[-1]", "inputs.d: must be an interval, [low, high]"),
        ("[-1.5, 1.5]", "[0.5, 1.5]", "operating_point: not inside the intervals"),
        ("period: 50ms", "period: 50", "timing.period: must be a time with its unit"),
        ("period: 50ms", "period: 0ms", "timing.period: must be above 0"),
        ("y: 1e-4", "y: -1", "noise.measurement.y: a variance must be above 0"),
        ("states: {x", "states: {x: [0, 1], x", "plant.yaml:4: 'x' stands here twice"),
        ("gain: none", "gain: *a", "plant.yaml:12: aliases are not read"),
        ("gain: none", "gain: none\nfeedback: {d: -x}", "feedback: not supported; leave it out"),
        ("gain: none", "gain: some", "gain: 'some' is not one of kalman, none"),
        ("gain: none", "gain: none\ndecision: {d: [-3, 3]}", "decision: not within the physical"),
        ("load_periods: 4", "load_periods: 400000", "no decision bound keeps the error within 0.1"),
        ("inputs: {d", "inputs: {sin", "'sin' means something else in expressions; rename it"),
        ("name: cubic", "]", "plant.yaml:3: "),
    ],
)
def test_a_mistake_is_one_line(old: str, new: str, message: str) -> None:
    assert old in CUBIC
    with pytest.raises(UserError, match=re.escape(message)) as raised:
        design.design(parse(CUBIC.replace(old, new)))
    assert str(raised.value).startswith("plant.yaml:")
    assert "\n" not in str(raised.value)


def test_a_mistake_ends_with_status_2(tmp_path: Path) -> None:
    path = tmp_path / "plant.yaml"
    path.write_text(CUBIC.replace("epsilon: 0.1", "epsilon: -1"), encoding="utf-8")
    done = run_takt("handoff", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"takt: {path}: error.epsilon: must be above 0\n"


X, Y = sympy.symbols("x y", real=True)


@given(st.floats(-3, 3), st.floats(0, 2), st.floats(0, 1), st.floats(-2, 2))
def test_intervals_enclose(low: float, width: float, part: float, other: float) -> None:
    at = {X: low + part * width, Y: other}
    ranges = {
        X: intervals.Interval(low, low + width),
        Y: intervals.Interval(other, other),
    }
    for text in (
        "x**3 - y*x",
        "sin(x)*cos(y*x)",
        "x**2/(1 + y**2)",
        "exp(-x**2)",
        "Abs(x) - Max(x, y)",
        "tanh(x)*atan(y)",
        "sqrt(1 + x**2)",
        "tan(x)",
        "cosh(x)",
        "x**(-2)",
        "Min(x, y)*sign(x)",
        "atan2(x, 1 + y**2)",
        "2**x",
    ):
        expression = expressions.parse(text, {"x": X, "y": Y}, "here")
        value = complex(expression.subs(at))
        found = intervals.enclose(expression, ranges)
        if abs(value.imag) > 0 or not numpy.isfinite(value.real):
            continue
        assert found.low <= value.real <= found.high, text


def test_expressions_are_those_of_the_document() -> None:
    """What SymPy prints is read again as the same function."""
    symbols = {"x": X, "y": Y}
    for text in ("-x - x**3 + y", "sin(x)*exp(-y)/(1 + x**2)", "Max(x, y)*Abs(x)", "atan2(y, x)"):
        one = expressions.parse(text, symbols, "here")
        for printed in (one, *expressions.jacobian([one], [X, Y])[0]):
            again = expressions.parse(str(printed), symbols, "here")
            assert sympy.simplify(again - printed) == 0


def test_the_stationary_gain_is_that_of_fact_a47() -> None:
    plant = parse(
        """
states: {x: [-9, 9]}
inputs: {d: [-1, 1]}
time: discrete
dynamics: {x: x + d}
outputs: {y: x}
noise: {process: {x: 0.1}, measurement: {y: 1}}
error: {epsilon: 1}
timing: {period: 1s}
"""
    )
    linear = linearise(plant)
    assert linear.gain[0, 0] == pytest.approx(0.27016, abs=5e-6)
    assert linear.error_matrix[0, 0] == pytest.approx(1 - 0.27016, abs=5e-6)


def test_interpolation_is_of_high_order_where_smooth() -> None:
    def error(count: int) -> float:
        grid = Grid([0.0, 0.0], [2.0, 2.0], [count, count])
        points = numpy.random.default_rng(1).uniform(0.3, 1.7, (500, 2))
        values = numpy.sin(grid.nodes() @ [1.0, 2.0])[:, None]
        found = grid.interpolation(points)(Surface(grid, values))
        return float(abs(found[:, 0] - numpy.sin(points @ [1.0, 2.0])).mean())

    # Halving the spacing divides the error by 16, except in cells with an extreme.
    assert error(41) < error(21) / 6
    assert error(81) < error(41) / 6


def test_half_the_dimensions_give_the_same_safe_set_as_all_of_them() -> None:
    """The value function of (x, e) on a grid of two dimensions, against that from one."""
    plant = cubic(1, 10, COARSE)
    linear = linearise(plant)
    one = search.Search(plant, linear, plant.timing.window)
    grid = Grid([-1.5, -0.5], [1.5, 0.5], [301, 501])
    nodes = grid.nodes()
    feet = []
    for control in plant.physical.corners():
        after, rho = one.physical_motion(nodes[:, :1], control)
        feet.append(numpy.hstack([after, nodes[:, 1:] @ one.physical.error_matrix.T + rho]))
    barrier = abs(nodes[:, 1]) / plant.epsilon - 1.0
    whole = largest_over_time(grid, feet, barrier, one.window_steps)
    halves = numpy.full(len(nodes), -1.0)
    for now, costate in one.safe_steps():
        value = one.grid.interpolation(nodes[:, :1]).linear(now)
        halves = numpy.maximum(halves, (value + nodes[:, 1:] * costate[:, 0]).max(axis=1) - 1.0)
    near = (abs(nodes[:, 0]) < 1.0) & (halves < 0.5)
    assert (halves[near] <= 0).any()
    assert (halves[near] > 0).any()
    # Spacing 0.002 of an error bound of 0.1, and interpolation in each of the steps.
    assert abs(whole - halves)[near].max() < 0.02


def test_the_euclidean_norm_of_two_states_is_kept_by_a_polygon() -> None:
    plant = parse((EXAMPLES / "pendulum.yaml").read_text().replace("maximum", "euclidean"))
    found = game.directions(plant)
    angles = numpy.linspace(0, 2 * numpy.pi, 1000)
    errors = numpy.stack([numpy.cos(angles), 10 * numpy.sin(angles)], axis=1) * plant.epsilon
    reached = (errors @ found.rows.T).max(axis=1)
    # No error outside the circle is allowed, and few within are refused.
    assert reached.min() >= 1 - 1e-12
    assert reached.max() <= 1 / found.share + 1e-12


@pytest.mark.parametrize(("physical", "periods", "kappa", "extreme"), [*TABLE[:2], TABLE[3]])
def test_zonotopes_are_safe_and_not_empty(
    physical: float, periods: int, kappa: float, extreme: float
) -> None:
    found = design.design(cubic(physical, periods, "method: {kind: zonotope}\n"))
    assert 0.3 * kappa < found.decision.upper[0] < kappa
    assert found.back.contains(found.plant.state)[0]
    assert Attack(found).run(SEQUENCES // 4, 3).violations == 0
    assert extreme > found.back.grid.upper[0]


CHAIN = """
states: {{{states}}}
inputs: {{d: [-1, 1]}}
dynamics:
{dynamics}
outputs: {{y: x5}}
noise: {{measurement: {{y: 1}}}}
error: {{epsilon: 0.05, norm: maximum}}
timing: {{period: 20ms, load_periods: 2}}
gain: none
"""


def test_six_states_are_designed_by_zonotopes() -> None:
    lines = ["  x0: -x0 - 0.3*sin(x0)*x0 + d"]
    lines += [f"  x{i}: -x{i} + 0.8*sin(x{i - 1})" for i in range(1, 6)]
    states = ", ".join(f"x{i}: [-3, 3]" for i in range(6))
    plant = parse(CHAIN.format(states=states, dynamics="\n".join(lines)))
    found = design.design(plant)
    assert found.method == "zonotope"
    assert 0.05 < found.decision.upper[0] < 1
    _check_by_simulation(found)


def _check_by_simulation(found: design.Design) -> None:
    """Random bang-bang inputs, from random starts in the region."""
    plant, generator = found.plant, numpy.random.default_rng(7)
    motion = Motion(plant, found.linear, 0.02)
    low, high = found.back.grid.lower, found.back.grid.upper
    states = generator.uniform(low, high, (500, len(plant.states)))
    errors, held = numpy.zeros_like(states), numpy.ones((500, 1))
    for number in range(400):
        turn = generator.random((500, 1)) < 0.05
        held = numpy.where(turn, generator.choice([-1.0, 1.0], (500, 1)), held)
        outside = number >= 398
        limit = plant.physical.upper if outside else found.decision.upper
        states, rho = motion(states, held * limit)
        errors = errors @ motion.error_matrix.T + rho
        assert abs(errors).max() <= plant.epsilon
    reached = zonotopes.Zonotopes(plant, found.linear, found.window.length).reached(
        found.decision, high - plant.state
    )
    assert reached is not None
    assert (abs(states) <= reached.window).all()


def test_a_box_as_a_region_is_exact() -> None:
    region = box(numpy.array([-1.0, 2.0]), numpy.array([3.0, 2.5]))
    points = numpy.random.default_rng(2).uniform([-2, 1.5], [4, 3], (2000, 2))
    inside = Box(numpy.array([-1.0, 2.0]), numpy.array([3.0, 2.5]))
    expected = ((points >= inside.lower) & (points <= inside.upper)).all(axis=1)
    assert (region.contains(points) == expected).all()
    assert not region.contains(numpy.array([[numpy.nan, 2.2]]))[0]


@pytest.fixture(scope="module")
def attack() -> Attack:
    return Attack(design.design(cubic()))


def test_no_adversary_breaks_the_bound_with_the_guard(attack: Attack) -> None:
    found = attack.run(SEQUENCES, 1)
    assert found.sequences >= SEQUENCES
    assert found.violations == 0
    # The attack comes near the bound, so the test is strong.
    assert found.largest > 0.99


def test_without_the_guard_the_bound_is_broken(attack: Attack) -> None:
    found = attack.run(1000, 1, guard=False)
    assert found.violations > 500
    assert found.largest > 2


def test_a_decision_bound_a_hundredth_larger_is_broken() -> None:
    """So the largest one is the largest, and the adversary is strong enough to show it."""
    from dataclasses import replace

    found = design.design(cubic())
    larger = found.plant.physical.scaled(found.plant.input, 1.01 * found.scale)
    assert Attack(replace(found, decision=larger)).run(2000, 1).violations > 0


def test_a_discrete_plant_with_a_gain() -> None:
    plant = parse(
        """
name: discrete
states: {x: [-2, 2]}
inputs: {d: [-0.5, 0.5]}
time: discrete
dynamics: {x: 0.8*x - 0.1*x**3 + d*0.2}
outputs: {y: x + 0.05*x**2}
noise: {process: {x: 1e-4}, measurement: {y: 1e-3}}
error: {epsilon: 0.02}
timing: {period: 100ms, load_periods: 3}
method: {nodes: 401}
"""
    )
    found = design.design(plant)
    assert found.method == "grid"
    assert found.linear.corrects
    assert 0.1 < found.scale < 1
    assert Attack(found).run(SEQUENCES // 4, 5).violations == 0


def test_a_state_that_drifts_long_after_errors_are_forgotten() -> None:
    """Corrections forget errors in a second; the state needs a minute to leave its interval."""
    plant = parse(
        """
states: {x: [-1, 1]}
inputs: {d: [-0.2, 0.2]}
dynamics: {x: -0.1*x - 0.001*x**3 + d}
outputs: {y: x}
noise: {process: {x: 1e-2}, measurement: {y: 1e-3}}
error: {epsilon: 0.1}
timing: {period: 100ms}
method: {nodes: 201}
"""
    )
    # At rest x = 1 with d = 0.101: a larger decision bound leads out of the interval.
    assert 0.4 < design.design(plant).scale < 0.505


def test_the_document_is_one(tmp_path: Path) -> None:
    path, drawn = tmp_path / "handoff.json", tmp_path / "cubic.svg"
    done = run_takt(
        "handoff",
        EXAMPLES / "cubic.yaml",
        "-o",
        path,
        "--picture",
        drawn,
        "--check",
        "500",
        "--json",
    )
    assert (done.returncode, done.stderr) == (0, "")
    printed = json.loads(done.stdout)
    assert printed == json.loads(path.read_text())
    document = Handoff.read(json.loads(path.read_text()))
    assert document.timing.window == 200_000_000
    assert document.regions.back.space == "state"
    assert printed["design"]["check"]["violations"] == 0
    svg = drawn.read_text()
    assert svg.startswith("<svg ")
    assert "nan" not in svg
    for region in (document.regions.safe, document.regions.linear):
        assert region is not None
        values, counts = numpy.array(region.values), [axis.count for axis in region.axes]
        grid = Grid([a.first for a in region.axes], [a.last for a in region.axes], counts)
        inside = grid.nodes()[values + region.error <= 0]
        assert len(inside) > 0
        # States in the safe set have not broken the bound.
        assert abs(inside[:, 1] - inside[:, 0]).max() <= document.error_bound.epsilon + 1e-9


def test_the_run_time_reads_what_the_design_writes() -> None:
    found = design.design(cubic(more=COARSE))
    text = json.dumps(document.document(found, []))
    handoff = takt_estimators.parse_handoff(text, "handoff.json")
    assert handoff.window == 200_000_000
    inputs = numpy.linspace(-1, 1, 401)[:, None]
    limit = found.decision.upper[0]
    for one in inputs:
        assert handoff.decides_linear(one) == (abs(one[0]) <= limit)
    points = numpy.random.default_rng(3).uniform(-1.4, 1.4, (300, 1))
    ours = found.back.grid.interpolation(points).linear(found.back.values) + found.back.error
    theirs = numpy.array([handoff.back.bound(point) for point in points])
    # Seven digits are written, and the run time rounds upwards.
    near = ours < 1
    assert near.any()
    assert (theirs[near] >= ours[near] - 1e-9).all()
    assert abs(theirs - ours)[near].max() < 1e-5


def model(budget: int) -> dict[str, Any]:
    return {
        "format": "takt/model",
        "version": 1,
        "name": "estimator",
        "executors": [
            {
                "id": "e0",
                "kind": "single_threaded",
                "supply": {"kind": "reservation", "budget": budget, "period": 5_000_000},
            }
        ],
        "callbacks": [
            {
                "id": "step",
                "node": "/estimator",
                "executor": "e0",
                "kind": "timer",
                "execution_time": {"curve": [2_000_000]},
                "activation": {"kind": "periodic", "period": 40_000_000, "jitter": 1_000_000},
            }
        ],
    }


def test_the_window_from_the_bound_of_a_callback(tmp_path: Path) -> None:
    path = tmp_path / "robot.json"
    path.write_text(json.dumps(model(2_500_000)))
    bounds = json.loads(run_takt("analyze", path, "--json").stdout)
    response = bounds["callbacks"][0]["bound"]
    done = run_takt(
        "handoff",
        EXAMPLES / "cubic.yaml",
        "--model",
        path,
        "--callback",
        "/estimator",
        "--keep",
        "0.3",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # k T_s, jitter and response.
    assert found["timing"]["window"] == 4 * 40_000_000 + 1_000_000 + response
    assert found["timing"]["period"] == 40_000_000
    kept = found["design"]["keep"]
    assert kept["met"]
    # Between the published 0.4849 for 0.5 s and 0.2515 for 1 s.
    assert 500_000_000 < kept["longest_window"] < 1_000_000_000
    assert kept["longest_period"] == (kept["longest_window"] - 1_000_000 - response) // 4
    reservation = kept["reservation"]
    assert reservation["met"]
    assert 0 < reservation["executors"][0]["budget"] < 2_500_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--callback", "/estimator"], "--model and --callback belong together: give both"),
        (["--model", "{model}", "--callback", "/lidar"], "no callback is called '/lidar'"),
    ],
)
def test_a_wrong_callback_is_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    path = tmp_path / "robot.json"
    path.write_text(json.dumps(model(2_500_000)))
    given_ = [argument.replace("{model}", str(path)) for argument in arguments]
    done = run_takt("handoff", EXAMPLES / "cubic.yaml", *given_)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(f"takt: .*{re.escape(message)}.*\n", done.stderr)


def test_two_states_in_bounded_memory(tmp_path: Path) -> None:
    """Four dimensions, x and x^, of the pendulum, on the grid that a user gets."""
    path, plant = tmp_path / "handoff.json", tmp_path / "pendulum.yaml"
    # A shape that can be kept whole: no search for a smaller one takes time, and the grids are the
    # same.
    text = (EXAMPLES / "pendulum.yaml").read_text(encoding="utf-8")
    plant.write_text(text + "decision: {torque: [-0.86, 0.86]}\n")
    done = run_takt("handoff", plant, "-o", path, "--check", "1000", OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    document = Handoff.read(json.loads(path.read_text()))
    assert document.decision.upper[0] == 0.86
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 4 * 1024 * 1024


def test_the_sets_of_state_and_estimate_of_two_states() -> None:
    """Safe set and linear region of the pendulum, on grids of four dimensions."""
    text = (EXAMPLES / "pendulum.yaml").read_text(encoding="utf-8")
    plant = parse(text + "method: {nodes: 61}\n")
    found = design.design(plant, pairs=True)
    safe, reach = found.safe, found.reach
    assert safe is not None
    assert reach is not None
    assert len(reach.grid.shape) == 4
    generator = numpy.random.default_rng(8)
    states = generator.uniform(reach.grid.lower[:2], reach.grid.upper[:2], (400_000, 2))
    errors = generator.uniform([-0.12, -1.2], [0.12, 1.2], states.shape)
    pairs = numpy.hstack([states, states + errors])
    in_safe, in_reach = safe.contains(pairs), reach.contains(pairs)
    assert in_reach.sum() > 1000
    assert in_safe.sum() > in_reach.sum()
    assert not (in_reach & ~in_safe).any()
    norms = abs(errors * plant.weights).max(axis=1)
    assert norms[in_safe].max() <= plant.epsilon
    # From the linear region: any time in linear mode, then a window, bang-bang.
    motion = Motion(plant, found.linear, found.window.length * NANOSECONDS)
    x, e = states[in_reach], errors[in_reach]
    held = numpy.ones((len(x), 1))
    for number in range(100):
        held = numpy.where(generator.random(held.shape) < 0.2, -held, held)
        _, rho = motion(x, held * plant.physical.upper)
        then = e @ motion.error_matrix.T + rho
        assert abs(then * plant.weights).max() <= plant.epsilon, number
        x, rho = motion(x, held * found.decision.upper)
        e = e @ motion.error_matrix.T + rho
    # Where a physical input does harm within the window is not in the safe set.
    for control in plant.physical.corners():
        _, rho = motion(states, control)
        then = errors @ motion.error_matrix.T + rho
        harmed = abs(then * plant.weights).max(axis=1) > plant.epsilon
        assert (harmed & (norms <= plant.epsilon)).sum() > 1000
        assert not (harmed & in_safe).any()


def test_the_sets_of_state_and_estimate_are_refused_where_there_are_too_many_axes() -> None:
    lines = "\n".join(f"  x{i}: -x{i} + d" for i in range(3))
    states = ", ".join(f"x{i}: [-3, 3]" for i in range(3))
    text = CHAIN.format(states=states, dynamics=lines).replace("x5", "x2")
    with pytest.raises(UserError, match="of 3 states have too many axes for a grid"):
        design.design(parse(text + "method: {kind: grid}\n"), pairs=True)
    with pytest.raises(UserError, match="need method: grid"):
        design.design(parse(text + "method: {kind: zonotope}\n"), pairs=True)


def test_an_empty_file_is_no_plant(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="must hold fields"):
        parse("")
    done = run_takt("handoff", tmp_path / "none.yaml")
    assert done.returncode == 2

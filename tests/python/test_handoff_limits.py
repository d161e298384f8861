"""Hand-overs of plants at the limits: kinks, jumps, poles, fast modes, values that do not exist."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

import takt_estimators
from handovers import parse
from robot import run_takt
from takt.errors import UserError
from takt.handoff import design, document, monotone, search, zonotopes
from takt.handoff.attack import LARGEST, Attack
from takt.handoff.linear import Motion, linearise
from takt.handoff.plant import Plant

SEQUENCES = 2000


def plant(dynamics: str, more: str = "gain: none\n", **fields: str) -> Plant:
    return parse(_text(dynamics, more, **fields))


def _text(dynamics: str, more: str = "gain: none\n", **fields: str) -> str:
    known = {
        "states": "{x: [-5, 5]}",
        "inputs": "{d: [-4, 4]}",
        "outputs": "{y: x}",
        "noise": "{measurement: {y: 1e-3}, process: {x: 1e-4}}",
        "error": "{epsilon: 0.1, norm: maximum}",
        "timing": "{period: 10ms}",
    } | fields
    lines = [f"{name}: {value}" for name, value in known.items()]
    return "\n".join([*lines, f"dynamics: {dynamics}", more])


@pytest.mark.parametrize(
    "kink", ["Abs(x - 0.2)", "Max(0.2 - x, x - 0.2)", "-Min(0.2 - x, x - 0.2)"]
)
def test_a_kink_is_no_small_remainder(kink: str) -> None:
    """Behind the kink the linear estimate is wrong, though all second derivatives are 0."""
    kinked = plant(f"{{x: '-2*x + d + {kink} - 0.2'}}", "gain: none\nmethod: {kind: zonotope}\n")
    found = design.design(kinked)
    assert found.method == "zonotope"
    assert Attack(found).run(SEQUENCES, 1).violations == 0


TWO = "{x: [-5, 5], e: [-9, 9]}"


@pytest.mark.parametrize(
    "driven",
    [
        # It jumps up and down again, so that extreme inputs do no harm and others do.
        "sign(x - 1) - sign(x - 2)",
        "Heaviside(x - 1) - Heaviside(x - 2)",
        # The slope of the root is not bounded at -5.
        "0.3*cos(pi/2*x) - 0.3 + 1e-6*sqrt(x + 5) - 1e-6*sqrt(5)",
    ],
)
def test_the_order_of_a_plant_is_proved_or_not_used(driven: str) -> None:
    disordered = plant(f"{{x: -x + d, e: '-e + {driven}'}}", states=TWO)
    assert monotone.order(disordered, linearise(disordered)) is None
    found = design.design(disordered)
    assert found.method == "grid"
    assert Attack(found).run(SEQUENCES, 1).violations == 0


def test_an_error_without_a_value_breaks_the_bound() -> None:
    """The sensor has no value below -1, so that nobody knows what the filter makes of it."""
    blind = plant(
        "{x: -x + d}",
        "gain: kalman\n",
        outputs="{y: 'sqrt(x + 1)'}",
        error="{epsilon: 3, norm: maximum}",
        noise="{measurement: {y: 1e-3}, process: {x: 1e-3}}",
    )
    found = design.design(blind)
    assert -1 < found.decision.lower[0] < -0.5
    told = Attack(found).run(SEQUENCES, 1, guard=False)
    assert told.violations > 0
    assert told.largest == LARGEST


def test_a_fast_mode_within_a_long_period() -> None:
    """The design integrates a period of twenty time constants as exactly as a short one."""
    fast = plant("{x: 2000*(d - x)}", "gain: kalman\n")
    motion = Motion(fast, linearise(fast), 0.01)
    after, rho = motion(numpy.array([[1.0]]), numpy.array([2.0]))
    assert after[0, 0] == pytest.approx(2 - math.exp(-20), abs=1e-6)
    assert abs(rho[0, 0]) < 1e-12
    bent = plant("{x: 2000*(d - x) + 100*x**3}", "gain: kalman\n", inputs="{d: [-1, 1]}")
    assert design.design(bent).scale == 1


@pytest.mark.parametrize("gain", ["none", "kalman"])
def test_an_error_that_is_forgotten_at_once(gain: str) -> None:
    deadbeat = plant("{x: d + 0.005*d**2}", f"gain: {gain}\ntime: discrete\n")
    found = design.design(deadbeat)
    # Without corrections the largest input gives an error of 0.08.
    assert found.scale == 1
    assert 0.05 < found.figures["largest_error"] < 0.1
    one = search.Search(deadbeat, linearise(deadbeat), found.window.length)
    assert one.values(1.0)[1]


def test_a_state_may_have_the_name_of_a_function_of_numpy() -> None:
    named = plant(
        "{abs: '-abs + d + 0.1*Abs(abs)*abs'}",
        states="{abs: [-5, 5]}",
        outputs="{y: abs}",
        noise="{measurement: {y: 1e-3}}",
    )
    assert design.design(named).scale > 0


@pytest.mark.parametrize(("value", "function"), [("-1", "sqrt(p)"), ("0", "1/p"), ("0", "log(p)")])
def test_parameters_that_give_no_number_are_one_line(value: str, function: str) -> None:
    with pytest.raises(
        UserError, match=r"dynamics\.x: with the values of the parameters it is not"
    ):
        plant(f"{{x: '-x + d + 0.1*x**2*{function}'}}", f"gain: none\nparameters: {{p: {value}}}\n")


def test_a_decision_bound_is_not_rounded_out_of_the_physical_inputs(tmp_path: Path) -> None:
    # -0.28 + (0.02 - -0.28) is more than 0.02.
    one = plant(
        "{x: -x + d + 0.28}",
        "gain: none\noperating_point: {d: -0.28}\n",
        inputs="{d: [-0.4, 0.02]}",
    )
    path = tmp_path / "handoff.json"
    path.write_text(json.dumps(document.document(design.design(one), [])))
    assert takt_estimators.read_handoff(str(path)).inputs == ["d"]


def test_what_lies_between_the_tried_inputs_counts() -> None:
    """Seven values of the input in equal distances do no harm, and those between them do."""
    with pytest.raises(UserError, match="too coarse"):
        design.design(
            plant(
                "{x: -x + d, e: '-e + 0.3*(1 - cos(1.5*pi*d))'}",
                "gain: none\nmethod: {nodes: 21}\n",
                states=TWO,
                timing="{period: 100ms}",
            )
        )


def test_inputs_of_which_products_occur_are_tried_at_their_ends() -> None:
    crossed = plant("{x: -x + a*b + 0.1*b**2}", inputs="{a: [-1, 1], b: [-1, 1]}")
    tried = search.Search(crossed, linearise(crossed), crossed.timing.window)
    assert len(tried.controls(crossed.physical)) == 2 * search.BETWEEN_CORNERS


def test_more_inputs_than_the_memory_has_room_for_are_one_line() -> None:
    names = [f"d{number}" for number in range(16)]
    many = plant(
        f"{{x: '-x + {' + '.join(names)} + 0.1*x**2', e: -e + x - 0.1*e**3}}",
        states=TWO,
        inputs="{" + ", ".join(f"{name}: [-1, 1]" for name in names) + "}",
        error="{epsilon: 1}",
    )
    # As much as no machine has for this.
    with pytest.raises(UserError, match=r"inputs: 65536 combinations .* of memory"):
        design.design(replace(many, nodes=1001))


def test_a_window_that_cannot_be_too_long() -> None:
    harmless = plant("{x: -x + d + 0.001*x**2}", "gain: kalman\n")
    assert design.longest_window(harmless, 1.0) == design.LONGEST_WINDOW


def test_sums_of_powers_that_grow_before_they_vanish() -> None:
    # Its square is 0, but |M| has the spectral radius 2.
    matrix, one = numpy.array([[1.0, -1.0], [1.0, -1.0]]), numpy.eye(2)
    sums = zonotopes.Sums(one, matrix, one, 1)
    assert (sums.all >= abs(one) + abs(matrix) - 1e-12).all()


def test_a_picture_of_one_state_by_any_method(tmp_path: Path) -> None:
    path, picture = tmp_path / "plant.yaml", tmp_path / "plant.svg"
    path.write_text(_text("{x: -x + d + 0.1*x**2}", "gain: none\nmethod: {kind: zonotope}\n"))
    done = run_takt("handoff", str(path), "--picture", str(picture))
    assert done.returncode == 0, done.stderr
    assert "x, estimated" in picture.read_text()


@pytest.mark.parametrize("option", [("--check", "10"), ("--picture", "plant.svg")])
def test_no_adversary_for_many_states(tmp_path: Path, option: tuple[str, str]) -> None:
    names = "abcxf"
    path = tmp_path / "plant.yaml"
    path.write_text(
        _text(
            "{" + ", ".join(f"{one}: -{one} + d" for one in names) + "}",
            states="{" + ", ".join(f"{one}: [-9, 9]" for one in names) + "}",
        )
    )
    done = run_takt("handoff", str(path), *option)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert (
        "--check and --picture are for plants of up to 4 states, and this one has 5" in done.stderr
    )


def test_a_share_that_no_window_keeps_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "plant.yaml"
    path.write_text(_text("{x: -x + d + 0.1*x**2}"))
    done = run_takt("handoff", str(path), "--keep", "1")
    assert done.returncode == 0, done.stderr
    assert "100 % of the inputs: no hand-over is short enough for that" in done.stdout

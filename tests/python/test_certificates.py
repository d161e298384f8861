"""Certificates of hand-overs: what is proved is true, and what is false is not proved."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction

import numpy
import pytest

from handovers import CUBIC, EXAMPLES, TABLE, cubic, parse
from takt.errors import UserError
from takt.handoff import design, polynomials, sums_of_squares
from takt.handoff.attack import Attack
from takt.handoff.certificates import Certificate, Certificates
from takt.handoff.expressions import Array
from takt.handoff.linear import linearise
from takt.handoff.plant import Plant
from takt.handoff.polynomials import Polynomial
from takt.handoff.sums_of_squares import Program, Unknown

CERTIFICATE = "method: {kind: certificate}\n"
NONE = "no certificate of degree 2 was found for any decision bound"
PENDULUM = (EXAMPLES / "pendulum.yaml").read_text(encoding="utf-8").replace(
    "sin(angle)", "(angle - angle**3/6)"
).replace(
    "angle: [-1.6, 1.6], rate: [-4.5, 4.5]", "angle: [-1.2, 1.2], rate: [-4, 4]"
) + "method: {kind: certificate, degree: 2}\n"
"""The plant with a truncated sine, so that it is polynomial."""


def polynomial(*terms: tuple[float, tuple[int, ...]]) -> Polynomial:
    return {powers: Fraction(value) for value, powers in terms}


def is_proved(one: Polynomial, where: list[Polynomial] | None = None) -> bool:
    """Whether the polynomial is proved nowhere negative, or not where the others are at least 0."""
    program = Program()
    program.require(Unknown(one, {}), where or [], range(len(next(iter(one)))))
    return program.solve() is not None


def test_sums_of_squares_are_found_and_nothing_else() -> None:
    assert is_proved(polynomial((1, (0, 0)), (2, (2, 0)), (-1, (1, 1)), (3, (0, 2))))
    # -x^2 + 1/2 on the unit interval's middle, and not on all of it.
    hill = polynomial((0.5, (0,)), (-1, (2,)))
    assert is_proved(hill, [polynomial((0.25, (0,)), (-1, (2,)))])
    assert not is_proved(hill, [polynomial((1, (0,)), (-1, (2,)))])
    # Motzkin's polynomial is nowhere negative, and no sum of squares.
    motzkin = polynomial((1, (0, 0)), (1, (4, 2)), (1, (2, 4)), (-3, (2, 2)))
    assert not is_proved(motzkin)


def test_rounding_does_not_make_a_matrix_positive() -> None:
    assert sums_of_squares._is_positive(numpy.array([[1.0, 0.5], [0.5, 1.0]]))
    # Its least eigenvalue is -1e-17, less than rounding shows.
    assert not sums_of_squares._is_positive(numpy.array([[1.0, 1.0], [1.0, 1.0 - 1e-16]]))
    assert not sums_of_squares._is_positive(numpy.zeros((2, 2)))
    assert not sums_of_squares._is_positive(numpy.array([[1.0, 0.0], [0.0, numpy.nan]]))


def certificate(plant: Plant, scale: float) -> Certificate | None:
    search = Certificates(plant, linearise(plant), plant.timing.window)
    return search.find(plant.decision.scaled(plant.input, scale))


@pytest.mark.parametrize(("physical", "periods", "kappa", "extreme"), TABLE)
def test_the_worked_example_is_certified_for_most_of_the_inputs_and_no_more(
    physical: float, periods: int, kappa: float, extreme: float
) -> None:
    plant = cubic(physical, periods, CERTIFICATE)
    assert certificate(plant, 0.85 * kappa / physical) is not None
    assert certificate(plant, 1.005 * kappa / physical) is None


def test_a_design_with_a_certificate() -> None:
    found = design.design(cubic(more=CERTIFICATE))
    assert found.method == "certificate"
    assert 0.9 * 0.5506 < found.decision.upper[0] < 0.5506
    inside = found.back.grid.nodes()[found.back.values + found.back.error <= 0]
    # More than where linear mode comes to: with a right estimate, one may begin further out.
    assert 0.3 < abs(inside).max() < 1
    assert Attack(found).run(2000, 11).violations == 0


def test_a_certificate_is_one_at_every_point() -> None:
    """The inequalities, by floating-point numbers and without the code that proved them."""
    plant, kappa = cubic(1, 10, CERTIFICATE), 0.44
    found = certificate(plant, kappa)
    assert found is not None
    assert len(found.barriers) == 5
    half, allowed = 1.5, plant.epsilon
    random = numpy.random.default_rng(4)
    x, e = random.uniform(-half, half, 4000), random.uniform(-allowed, allowed, 4000)

    def value(one: Polynomial, x: Array, e: Array) -> Array:
        parts = (float(v) * (x / half) ** i * (e / allowed) ** j for (i, j), v in one.items())
        return numpy.asarray(sum(parts))

    def slope(one: Polynomial, d: float) -> Array:
        h = 1e-6
        along_x = (value(one, x + h, e) - value(one, x - h, e)) / (2 * h)
        along_e = (value(one, x, e + h) - value(one, x, e - h)) / (2 * h)
        return numpy.asarray(along_x * (-x - x**3 + d) + along_e * (-e + x**3))

    first = found.barriers[0]
    assert value(first, numpy.zeros(1), numpy.zeros(1))[0] == pytest.approx(-1)
    # 1e-6: what central differences with this step leave, relative to the slopes.
    size = 1e-6 * max(abs(slope(one, 1.0)).max() for one in found.barriers)
    for d in (-kappa, kappa):
        assert (slope(first, d) <= -found.rate * value(first, x, e) + size).all()
    for before, after in itertools.pairwise(found.barriers):
        change = (value(after, x, e) - value(before, x, e)) / (0.5 / 4)
        for d in (-1.0, 1.0):
            assert (change + slope(before, d) <= size).all()
            assert (change + slope(after, d) <= size).all()
    for one in found.barriers:
        for side in (-1.0, 1.0):
            assert (value(one, side * half + 0 * e, e) > 0).all()
            assert (value(one, x, side * allowed + 0 * x) > 0).all()


@pytest.mark.parametrize("norm", ["maximum", "euclidean"])
def test_two_states_are_certified(norm: str) -> None:
    plant = parse(PENDULUM.replace("norm: maximum", f"norm: {norm}"))
    found = certificate(plant, 0.08)
    assert found is not None
    assert certificate(plant, 0.5) is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("- x**3", "- sin(x)**3", "certificates need dynamics that are polynomials"),
        ("{x: -x - x**3 + d}", "{x: x/2 - x**3 + d}\ntime: discrete", "plants in continuous time"),
        ("+ d", "+ d + d**2 - d**2*x", "certificates need dynamics that are affine in the inputs"),
        ("{kind: certificate}", "{kind: certificate, degree: 3}", "method.degree: must be even"),
        ("{kind: certificate}", "{kind: certificate, degree: 2}\ndecision: {d: [-1, 1]}", NONE),
    ],
)
def test_what_cannot_be_certified_is_one_line(old: str, new: str, message: str) -> None:
    text = CUBIC + CERTIFICATE
    if message == NONE:
        text = text.replace("load_periods: 4", "load_periods: 400")
    assert old in text
    with pytest.raises(UserError, match=re.escape(message)) as raised:
        design.design(parse(text.replace(old, new)))
    assert "\n" not in str(raised.value)


def test_polynomials_are_exact() -> None:
    one = polynomial((0.1, (1, 2)), (3, (0, 0)))
    assert polynomials.derivative(one, 1) == polynomial((0.2, (1, 1)))
    assert polynomials.at(one, 0, Fraction(1, 3)) == {
        (0, 2): Fraction(0.1) / 3,
        (0, 0): Fraction(3),
    }
    square = polynomials.times(one, one)
    assert square[(1, 2)] == 6 * Fraction(0.1)
    assert polynomials.total([one, polynomials.scaled(one, -1)]) == {}

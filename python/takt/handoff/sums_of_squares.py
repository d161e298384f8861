"""Polynomials that are nowhere negative on a set, as sums of squares; found by semidefinite
programming (Clarabel), and then checked without it.

A requirement is an identity

    constant + sum of v_i p_i  =  s_0 + sum of s_k g_k

with unknown numbers v and unknown sums of squares s_k = m' Q_k m, m being monomials and Q_k a
positive semi-definite matrix. Where all g_k are at least 0, so is the left side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy
import scipy.sparse

from takt.errors import UserError
from takt.handoff import polynomials
from takt.handoff.expressions import Array
from takt.handoff.polynomials import Exponents, Polynomial

ROOM = 1e-7
"""The least margin of positive definiteness: an identity can then be corrected and still hold."""
GAP = 1e-4
"""How far the found margin may be from the largest one."""
UNIT = float(numpy.finfo(float).eps) / 2


@dataclass(frozen=True)
class Unknown:
    """A polynomial with unknown numbers: constant + sum of v_i p_i."""

    constant: Polynomial
    parts: dict[int, Polynomial]

    def map(self, change: Callable[[Polynomial], Polynomial]) -> Unknown:
        """The polynomial after a linear operation on it."""
        return Unknown(change(self.constant), {i: change(p) for i, p in self.parts.items()})

    def __rmul__(self, factor: Fraction) -> Unknown:
        return self.map(lambda part: polynomials.scaled(part, factor))

    def __neg__(self) -> Unknown:
        return Fraction(-1) * self

    def __sub__(self, other: Unknown) -> Unknown:
        parts = dict(self.parts)
        for number, part in (-other).parts.items():
            parts[number] = polynomials.total([parts.get(number, {}), part])
        return Unknown(polynomials.total([self.constant, (-other).constant]), parts)

    def along(self, flow: list[Polynomial]) -> Unknown:
        """The derivative along a flow."""
        return self.map(
            lambda part: polynomials.total(
                [
                    polynomials.times(polynomials.derivative(part, index), rate)
                    for index, rate in enumerate(flow)
                ]
            )
        )

    def with_numbers(self, numbers: list[Fraction]) -> Polynomial:
        parts = [polynomials.scaled(part, numbers[i]) for i, part in self.parts.items()]
        return polynomials.total([self.constant, *parts])


@dataclass(frozen=True)
class Square:
    """s_k g_k."""

    weight: Polynomial
    basis: list[Exponents]


@dataclass(frozen=True)
class Requirement:
    left: Unknown
    squares: list[Square]
    """The first has weight 1."""


class Program:
    """Requirements on numbers that are looked for together."""

    def __init__(self) -> None:
        self.numbers = 0
        self.requirements: list[Requirement] = []

    def numbers_for(self, parts: Iterable[Polynomial]) -> dict[int, Polynomial]:
        """A new number for each of some polynomials."""
        found = dict(enumerate(parts, self.numbers))
        self.numbers += len(found)
        return found

    def require(
        self,
        left: Unknown,
        where: Sequence[Polynomial],
        variables: Sequence[int],
    ) -> None:
        """The left side is to be at least 0 where all of `where` are; no other variables occur."""
        parts = [left.constant, *left.parts.values()]
        half = (max(map(polynomials.degree, parts)) + 1) // 2
        count = len(next(iter(powers for part in parts for powers in part)))

        def basis(largest: int) -> list[Exponents]:
            found = []
            for powers in polynomials.monomials(len(variables), largest):
                whole = [0] * count
                for place, power in zip(variables, powers, strict=True):
                    whole[place] = power
                found.append(tuple(whole))
            return found

        squares = [Square(polynomials.constant(1, count), basis(half))]
        for weight in where:
            room = (2 * half - polynomials.degree(weight)) // 2
            if room >= 0:
                squares.append(Square(weight, basis(room)))
        self.requirements.append(Requirement(left, squares))

    def solve(self) -> list[Fraction] | None:
        """Numbers with which every requirement holds, in exact arithmetic; None: none found."""
        found = _optimum(self)
        if found is None:
            return None
        numbers, grams = found
        exact = [Fraction(float(value)) for value in numbers]
        for requirement, matrices in zip(self.requirements, grams, strict=True):
            if not _holds(requirement, exact, matrices):
                return None
        return exact


def _optimum(program: Program) -> tuple[Array, list[list[Array]]] | None:
    """The numbers for which the least eigenvalue of all matrices is largest; None: it is not above
    ROOM.
    """
    try:
        import clarabel
    except ModuleNotFoundError as missing:
        raise UserError(
            f"method: certificate needs {missing.name}, which is not installed: pip install "
            "'takt-ros[certificates]'"
        ) from missing
    sizes = [len(s.basis) for r in program.requirements for s in r.squares]
    starts = numpy.cumsum([program.numbers, *(size * (size + 1) // 2 for size in sizes)])
    margin = int(starts[-1])
    rows, columns, values, right, count = _identities(program, starts)
    cones = [clarabel.ZeroConeT(count), clarabel.NonnegativeConeT(1)]
    # The margin is at most 1.
    rows.append(count)
    columns.append(margin)
    values.append(1.0)
    right.append(1.0)
    count += 1
    for size, start in zip(sizes, starts, strict=False):
        # The upper triangle column by column, as Clarabel has it, less the margin.
        for place in range(size * (size + 1) // 2):
            rows.append(count + place)
            columns.append(int(start) + place)
            values.append(-1.0)
        for diagonal in range(size):
            rows.append(count + diagonal * (diagonal + 3) // 2)
            columns.append(margin)
            values.append(1.0)
        count += size * (size + 1) // 2
        right += [0.0] * (size * (size + 1) // 2)
        cones.append(clarabel.PSDTriangleConeT(size))
    matrix = scipy.sparse.csc_matrix((values, (rows, columns)), shape=(count, margin + 1))
    goal = numpy.zeros(margin + 1)
    goal[margin] = -1.0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    # Any positive margin is enough, so the precision is low.
    settings.tol_gap_abs = settings.tol_gap_rel = GAP
    nothing = scipy.sparse.csc_matrix((margin + 1, margin + 1))
    solved = clarabel.DefaultSolver(
        nothing, goal, matrix, numpy.array(right), cones, settings
    ).solve()
    x = numpy.array(solved.x)
    if not numpy.isfinite(x).all() or x[margin] < ROOM:
        return None
    grams: list[list[Array]] = []
    place = 0
    for requirement in program.requirements:
        grams.append([])
        for square in requirement.squares:
            grams[-1].append(_symmetric(x[starts[place] :], len(square.basis)))
            place += 1
    return x[: program.numbers], grams


def _identities(
    program: Program, starts: Array
) -> tuple[list[int], list[int], list[float], list[float], int]:
    """A row for each monomial of each requirement: squares less unknowns are the constant."""
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    right: list[float] = []
    count = place = 0
    for requirement in program.requirements:
        row_of: dict[Exponents, int] = {}

        def row(powers: Exponents, known: dict[Exponents, int] = row_of) -> int:
            if powers not in known:
                known[powers] = len(right)
                right.append(0.0)
            return known[powers]

        for powers, value in requirement.left.constant.items():
            right[row(powers)] += float(value)
        for number, one in requirement.left.parts.items():
            for powers, value in one.items():
                rows.append(row(powers))
                columns.append(number)
                values.append(-float(value))
        for square in requirement.squares:
            start = int(starts[place])
            for j, second in enumerate(square.basis):
                for i, first in enumerate(square.basis[: j + 1]):
                    factor = 1.0 if i == j else math.sqrt(2.0)
                    for powers, value in square.weight.items():
                        rows.append(row(_product(first, second, powers)))
                        columns.append(start + j * (j + 1) // 2 + i)
                        values.append(factor * float(value))
            place += 1
        count = len(right)
    return rows, columns, values, right, count


def _product(*several: Exponents) -> Exponents:
    return tuple(map(sum, zip(*several, strict=True)))


def _symmetric(triangle: Array, size: int) -> Array:
    found = numpy.zeros((size, size))
    for j in range(size):
        column = triangle[j * (j + 1) // 2 : (j + 1) * (j + 2) // 2] / math.sqrt(2.0)
        found[: j + 1, j] = column
        found[j, : j + 1] = column
        found[j, j] = triangle[j * (j + 3) // 2]
    return found


def _holds(requirement: Requirement, numbers: list[Fraction], grams: list[Array]) -> bool:
    """Whether the identity can be made exact: the first matrix takes what rounding has left over,
    and must be positive semi-definite then.
    """
    left = requirement.left.with_numbers(numbers)
    first, *others = zip(requirement.squares, grams, strict=True)
    for square, gram in others:
        if not _is_positive(gram):
            return False
        left = polynomials.total([left, polynomials.scaled(_expanded(square, gram), -1)])
    square, gram = first
    excess = polynomials.total([left, polynomials.scaled(_expanded(square, gram), -1)])
    places: dict[Exponents, list[tuple[int, int]]] = {}
    for i, one in enumerate(square.basis):
        for j, other in enumerate(square.basis):
            places.setdefault(_product(one, other), []).append((i, j))
    mended = [[Fraction(float(value)) for value in row] for row in gram]
    for powers, value in excess.items():
        if powers not in places:
            return False
        share = value / len(places[powers])
        for i, j in places[powers]:
            mended[i][j] += share
    # Rounded to the nearest number, which _is_positive allows for.
    return _is_positive(numpy.array([[float(value) for value in row] for row in mended]))


def _expanded(square: Square, gram: Array) -> Polynomial:
    found: Polynomial = {}
    for i, one in enumerate(square.basis):
        for j, other in enumerate(square.basis):
            powers = _product(one, other)
            found[powers] = found.get(powers, Fraction(0)) + Fraction(float(gram[i, j]))
    return polynomials.times(found, square.weight)


def _is_positive(matrix: Array) -> bool:
    """Whether every symmetric matrix that rounds to this one is positive semi-definite.

    It is if the Cholesky factorisation of the matrix less a multiple of the identity ends, however
    it rounds: the multiple is more than all its rounding errors together (S. M. Rump, "Verification
    of positive definiteness", BIT 46, 2006), and than those of the matrix itself.
    """
    size = len(matrix)
    rounding = 2 * (size + 2) * UNIT * float(numpy.trace(abs(matrix)))
    rounding += 2 * size * UNIT * float(abs(matrix).max()) + 1e-290
    with numpy.errstate(all="ignore"):
        try:
            factor = numpy.linalg.cholesky(matrix - 2 * rounding * numpy.eye(size))
        except numpy.linalg.LinAlgError:
            return False
    # LAPACK goes on where a pivot is not a number.
    return bool(numpy.isfinite(factor).all())

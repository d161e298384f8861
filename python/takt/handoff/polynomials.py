"""Polynomials with exact coefficients: a number for each tuple of exponents."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import sympy

Exponents = tuple[int, ...]
Polynomial = dict[Exponents, Fraction]


def constant(value: float | Fraction, variables: int) -> Polynomial:
    return {(0,) * variables: Fraction(value)} if value else {}


def variable(index: int, variables: int) -> Polynomial:
    return {tuple(int(i == index) for i in range(variables)): Fraction(1)}


def monomials(variables: int, degree: int) -> list[Exponents]:
    """All of at most that degree."""
    return [
        powers
        for powers in itertools.product(range(degree + 1), repeat=variables)
        if sum(powers) <= degree
    ]


def degree(one: Polynomial) -> int:
    return max((sum(powers) for powers in one), default=0)


def total(parts: Sequence[Polynomial]) -> Polynomial:
    found: Polynomial = {}
    for part in parts:
        for powers, value in part.items():
            found[powers] = found.get(powers, Fraction(0)) + value
    return {powers: value for powers, value in found.items() if value}


def times(one: Polynomial, other: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for powers, value in one.items():
        for more, factor in other.items():
            both = tuple(a + b for a, b in zip(powers, more, strict=True))
            found[both] = found.get(both, Fraction(0)) + value * factor
    return {powers: value for powers, value in found.items() if value}


def scaled(one: Polynomial, factor: float | Fraction) -> Polynomial:
    exact = Fraction(factor)
    return {powers: value * exact for powers, value in one.items() if exact}


def derivative(one: Polynomial, index: int) -> Polynomial:
    return {
        (*powers[:index], powers[index] - 1, *powers[index + 1 :]): value * powers[index]
        for powers, value in one.items()
        if powers[index]
    }


def at(one: Polynomial, index: int, value: Fraction) -> Polynomial:
    """The polynomial with a number in place of a variable, whose exponents become 0."""
    found: Polynomial = {}
    for powers, factor in one.items():
        left = (*powers[:index], 0, *powers[index + 1 :])
        found[left] = found.get(left, Fraction(0)) + factor * value ** powers[index]
    return {powers: factor for powers, factor in found.items() if factor}


def of(expression: sympy.Expr, parts: dict[sympy.Symbol, Polynomial]) -> Polynomial | None:
    """An expression with a polynomial in place of each symbol; None if that is no polynomial."""
    symbols = list(parts)
    try:
        terms = sympy.Poly(expression, *symbols).terms()
    except sympy.PolynomialError:
        return None
    variables = len(next(iter(next(iter(parts.values())))))
    found = []
    for powers, coefficient in terms:
        if not coefficient.is_Rational and not coefficient.is_Float:
            return None
        exact = (
            Fraction(int(coefficient.p), int(coefficient.q))
            if coefficient.is_Rational
            else Fraction(float(coefficient))
        )
        term = constant(exact, variables)
        for symbol, power in zip(symbols, powers, strict=True):
            for _ in range(power):
                term = times(term, parts[symbol])
        found.append(term)
    return total(found)

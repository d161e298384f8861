"""Enclosures of expressions over boxes, by interval arithmetic on SymPy's trees.

Every result is widened by a few units in the last place, so it encloses the true range in spite of
rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy
import sympy

from takt.handoff.plant import Box

WIDEN = 4 * float(numpy.finfo(float).eps)
"""Relative; the functions of the mathematical library are right within one unit or two."""
TINY = 1e-300


@dataclass(frozen=True)
class Interval:
    low: float
    high: float

    def __add__(self, other: Interval) -> Interval:
        return _wide(self.low + other.low, self.high + other.high)

    def __mul__(self, other: Interval) -> Interval:
        products = [_times(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return _wide(min(products), max(products))

    def hull(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))

    @property
    def magnitude(self) -> float:
        return max(abs(self.low), abs(self.high))


EVERYTHING = Interval(-math.inf, math.inf)


def enclose(expression: sympy.Expr, box: Mapping[sympy.Symbol, Interval]) -> Interval:
    """The range of an expression; everything where the arithmetic cannot tell."""
    if expression.is_Symbol:
        return box[expression]
    if expression.is_number:
        value = float(expression)
        return _wide(value, value) if math.isfinite(value) else EVERYTHING
    parts = [enclose(part, box) for part in expression.args]
    if expression.is_Add:
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total
    if expression.is_Mul:
        total = parts[0]
        for part in parts[1:]:
            total = total * part
        return total
    if expression.is_Pow:
        return _power(parts[0], expression.exp, parts[1])
    known = _FUNCTIONS.get(type(expression))
    if known is not None and len(parts) == 1:
        return known(parts[0])
    if isinstance(expression, sympy.Max):
        return Interval(max(p.low for p in parts), max(p.high for p in parts))
    if isinstance(expression, sympy.Min):
        return Interval(min(p.low for p in parts), min(p.high for p in parts))
    return EVERYTHING


def over(symbols: list[sympy.Symbol], box: Box) -> dict[sympy.Symbol, Interval]:
    return {
        symbol: Interval(float(low), float(high))
        for symbol, low, high in zip(symbols, box.lower, box.upper, strict=True)
    }


def _wide(low: float, high: float) -> Interval:
    if math.isnan(low) or math.isnan(high):
        return EVERYTHING
    return Interval(low - abs(low) * WIDEN - TINY, high + abs(high) * WIDEN + TINY)


def _times(a: float, b: float) -> float:
    # 0 times everything is 0 here, as the interval's ends are limits that are not reached.
    return 0.0 if a == 0 or b == 0 else a * b


def _power(base: Interval, exponent: sympy.Expr, by: Interval) -> Interval:
    if exponent.is_Integer:
        whole = int(exponent)
        if whole < 0:
            if base.low <= 0 <= base.high:
                return EVERYTHING
            return _power(_wide(1 / base.high, 1 / base.low), sympy.Integer(-whole), by)
        try:
            ends = sorted((base.low**whole, base.high**whole))
        except OverflowError:
            return EVERYTHING
        if whole % 2 == 0 and base.low <= 0 <= base.high:
            ends[0] = 0.0
        return _wide(ends[0], ends[1])
    if base.low < 0 or (base.low == 0 and by.low < 0):
        return EVERYTHING
    try:
        corners = [a**b for a in (base.low, base.high) for b in (by.low, by.high)]
    except OverflowError:
        return EVERYTHING
    return _wide(min(corners), max(corners))


def _increasing(function: Callable[[float], float]) -> Callable[[Interval], Interval]:
    def apply(argument: Interval) -> Interval:
        try:
            return _wide(function(argument.low), function(argument.high))
        except (ValueError, OverflowError):
            return EVERYTHING

    return apply


def _decreasing(function: Callable[[float], float]) -> Callable[[Interval], Interval]:
    def apply(argument: Interval) -> Interval:
        try:
            return _wide(function(argument.high), function(argument.low))
        except (ValueError, OverflowError):
            return EVERYTHING

    return apply


def _wave(peak: float) -> Callable[[Interval], Interval]:
    """Encloses the cosine with its peaks at `peak` + 2 pi k."""

    def apply(argument: Interval) -> Interval:
        if not math.isfinite(argument.low) or not math.isfinite(argument.high):
            return Interval(-1.0, 1.0)
        low, high = argument.low - peak, argument.high - peak
        ends = sorted((math.cos(low), math.cos(high)))
        slack = 1e-12 * (1 + max(abs(low), abs(high)))
        turn = 2 * math.pi
        if math.floor((high + slack) / turn) > math.floor((low - slack) / turn):
            ends[1] = 1.0
        if math.floor((high + slack) / turn - 0.5) > math.floor((low - slack) / turn - 0.5):
            ends[0] = -1.0
        # Near a peak the cosine's ends carry the argument's rounding.
        return Interval(max(ends[0] - slack, -1.0), min(ends[1] + slack, 1.0))

    return apply


def _tangent(argument: Interval) -> Interval:
    branch = math.floor(argument.low / math.pi + 0.5)
    if not math.isfinite(argument.high) or argument.high / math.pi + 0.5 >= branch + 1:
        return EVERYTHING
    return _wide(math.tan(argument.low), math.tan(argument.high))


def _absolute(argument: Interval) -> Interval:
    inner = min(abs(argument.low), abs(argument.high))
    if argument.low <= 0 <= argument.high:
        inner = 0.0
    return Interval(inner, argument.magnitude)


def _hyperbolic_cosine(argument: Interval) -> Interval:
    return _increasing(math.cosh)(_absolute(argument))


def _sign(argument: Interval) -> Interval:
    return Interval(
        -1.0 if argument.low < 0 else float(argument.low > 0),
        1.0 if argument.high > 0 else -float(argument.high < 0),
    )


def _step(argument: Interval) -> Interval:
    signs = _sign(argument)
    return Interval((signs.low + 1) / 2, (signs.high + 1) / 2)


_FUNCTIONS: dict[type, Callable[[Interval], Interval]] = {
    sympy.sin: _wave(math.pi / 2),
    sympy.cos: _wave(0.0),
    sympy.tan: _tangent,
    sympy.asin: _increasing(math.asin),
    sympy.acos: _decreasing(math.acos),
    sympy.atan: _increasing(math.atan),
    sympy.sinh: _increasing(math.sinh),
    sympy.cosh: _hyperbolic_cosine,
    sympy.tanh: _increasing(math.tanh),
    sympy.asinh: _increasing(math.asinh),
    sympy.acosh: _increasing(math.acosh),
    sympy.atanh: _increasing(math.atanh),
    sympy.exp: _increasing(math.exp),
    sympy.log: _increasing(math.log),
    sympy.Abs: _absolute,
    sympy.sign: _sign,
    sympy.Heaviside: _step,
}

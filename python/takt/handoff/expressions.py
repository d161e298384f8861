"""Expressions of a plant: read without evaluating them as Python, derived, and made into functions
of arrays. What is accepted is the grammar of docs/estimation.md.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy
import sympy

from takt.errors import UserError

Array = numpy.ndarray[Any, numpy.dtype[numpy.float64]]
Function = Callable[[Array, Array], Array]
"""States (points by n) and inputs (points by m) to values (points by outputs)."""

LONGEST = 4096
"""Characters of one expression in a plant file."""
DEEPEST = 60

_NAMES = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh")
_MORE_NAMES = ("atanh", "exp", "log", "sqrt", "Abs", "sign", "Heaviside")
ONE_ARGUMENT = {name: getattr(sympy, name) for name in _NAMES + _MORE_NAMES}
TWO_ARGUMENTS = {"atan2": sympy.atan2}
MANY_ARGUMENTS = {"Min": sympy.Min, "Max": sympy.Max}
CONSTANTS = {"pi": sympy.pi, "E": sympy.E}
RESERVED = {*ONE_ARGUMENT, *TWO_ARGUMENTS, *MANY_ARGUMENTS, *CONSTANTS}

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: _power(a, b),
}


def parse(text: str, names: Mapping[str, sympy.Symbol], where: str) -> sympy.Expr:
    """The expression that a text is, in the symbols of `names`. UserError with one line."""
    if len(text) > LONGEST:
        raise UserError(f"{where}: longer than {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        expression = _build(tree.body, names, DEEPEST)
    except _UnknownError as error:
        raise UserError(f"{where}: {error} in '{text}'") from error
    except (
        SyntaxError,
        ArithmeticError,
        TypeError,
        ValueError,
        RecursionError,
        MemoryError,
    ) as error:
        raise UserError(f"{where}: '{text}' is no expression that can be read") from error
    if expression.has(sympy.I):
        raise UserError(f"{where}: '{text}' is no real number")
    if not is_real_and_finite(expression):
        raise UserError(f"{where}: '{text}' is not finite")
    return expression


def is_real_and_finite(expression: sympy.Expr) -> bool:
    """Whether no part of it is known to be anything else."""
    return not expression.has(sympy.I, sympy.nan, sympy.oo, sympy.zoo, -sympy.oo)


class _UnknownError(Exception):
    """Something that the grammar does not have."""


def _build(node: ast.expr, names: Mapping[str, sympy.Symbol], depth: int) -> Any:
    if depth == 0:
        raise _UnknownError(f"more than {DEEPEST} levels")
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return _number(node.value)
    if isinstance(node, ast.Name):
        found = names.get(node.id, CONSTANTS.get(node.id))
        if found is None:
            known = ", ".join(names)
            raise _UnknownError(f"unknown name {node.id} (known: {known})")
        return found
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        value = _build(node.operand, names, depth - 1)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left = _build(node.left, names, depth - 1)
        return _OPERATORS[type(node.op)](left, _build(node.right, names, depth - 1))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
        raise _UnknownError("^ (a power is written **)")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        arguments = [_build(argument, names, depth - 1) for argument in node.args]
        return _call(node.func.id, arguments)
    raise _UnknownError("something that is neither number, name, operator nor function")


def _call(name: str, arguments: list[sympy.Expr]) -> sympy.Expr:
    if name in ONE_ARGUMENT and len(arguments) == 1:
        return ONE_ARGUMENT[name](*arguments)
    if name in TWO_ARGUMENTS and len(arguments) == 2:
        return TWO_ARGUMENTS[name](*arguments)
    if name in MANY_ARGUMENTS and len(arguments) >= 2:
        return MANY_ARGUMENTS[name](*arguments)
    if name in RESERVED:
        raise _UnknownError(f"{name} with {len(arguments)} arguments")
    raise _UnknownError(f"unknown function {name}")


def _number(value: float) -> sympy.Expr:
    if isinstance(value, bool):
        raise _UnknownError(f"{value} where a number belongs")
    # Large whole numbers become floats: their exact powers would have too many digits.
    if isinstance(value, int) and abs(value) <= 1000:
        return sympy.Integer(value)
    return sympy.Float(float(value))


def _power(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
    if base.is_number and exponent.is_number:
        value = complex(base) ** complex(exponent)
        if value.imag:
            raise _UnknownError("a power that is no real number")
        return _number(int(value.real) if value.real.is_integer() else value.real)
    if exponent.is_Integer and abs(int(exponent)) > 64:
        raise _UnknownError("a power above 64")
    return base**exponent


def derivative(expression: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr:
    """The derivative almost everywhere; at a jump it is the one beside the jump."""
    found = sympy.diff(expression, symbol)
    return found.replace(sympy.DiracDelta, lambda *_: sympy.Integer(0))


def jumps(expression: sympy.Expr) -> bool:
    """Whether it may jump at a place where its derivative says nothing of that."""
    return bool(expression.has(sympy.sign, sympy.Heaviside, sympy.atan2))


def has_kinks(expression: sympy.Expr) -> bool:
    """Whether its derivative may jump, so that the second derivative says too little."""
    return jumps(expression) or bool(expression.has(sympy.Abs, sympy.Min, sympy.Max))


def jacobian(
    expressions: Sequence[sympy.Expr], symbols: Sequence[sympy.Symbol]
) -> list[list[sympy.Expr]]:
    return [[derivative(one, symbol) for symbol in symbols] for one in expressions]


def function(
    expressions: Sequence[sympy.Expr],
    states: Sequence[sympy.Symbol],
    inputs: Sequence[sympy.Symbol],
) -> Function:
    """Evaluates expressions at many points at once."""
    # With names of its own: a state may be called as a function of NumPy.
    evaluate = sympy.lambdify(
        [*states, *inputs], list(expressions), modules="numpy", cse=True, dummify=True
    )

    def call(points: Array, controls: Array) -> Array:
        points, controls = numpy.atleast_2d(points), numpy.atleast_2d(controls)
        count = max(len(points), len(controls))
        with numpy.errstate(all="ignore"):  # callers check for values that are not finite
            values = evaluate(*points.T, *controls.T)
        result = numpy.empty((count, len(expressions)))
        for column, value in enumerate(values):
            result[:, column] = value
        return result

    return call


def matrix(
    rows: Sequence[Sequence[sympy.Expr]],
    states: Sequence[sympy.Symbol],
    inputs: Sequence[sympy.Symbol],
    at_state: Array,
    at_input: Array,
) -> Array:
    """The values of a matrix of expressions at one point."""
    flat = [entry for row in rows for entry in row]
    values = function(flat, states, inputs)(at_state, at_input)
    return values.reshape(len(rows), -1)

"""What `takt handoff` reads: a plant, its operating point, its error's bound and the timing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
import sympy

from takt import files
from takt.errors import UserError
from takt.handoff import expressions
from takt.handoff.expressions import Array
from takt.handoff.yaml_file import Section, load

MAXIMUM_STATES = 8
"""A region of the document has at most so many axes."""
FIELDS = (
    *("name", "states", "inputs", "parameters", "time", "dynamics", "outputs", "operating_point"),
    *("noise", "error", "timing", "gain", "nonlinear", "start", "confidence", "decision", "method"),
)
METHODS = ("auto", "monotone", "grid", "zonotope", "certificate")


@dataclass(frozen=True)
class Box:
    """A product of intervals."""

    lower: Array
    upper: Array

    def corners(self) -> Array:
        """One row each; an interval of width 0 has one end."""
        ends = [sorted({low, high}) for low, high in zip(self.lower, self.upper, strict=True)]
        axes = numpy.meshgrid(*ends, indexing="ij")
        return numpy.stack([axis.ravel() for axis in axes], axis=1)

    def contains(self, other: Box) -> bool:
        return bool((self.lower <= other.lower).all() and (other.upper <= self.upper).all())

    def scaled(self, centre: Array, scale: float) -> Box:
        """The box with its distances from `centre` times `scale`, which is at most 1."""
        # Rounding must not lead out of this box.
        return Box(
            numpy.maximum(centre + scale * (self.lower - centre), self.lower),
            numpy.minimum(centre + scale * (self.upper - centre), self.upper),
        )


@dataclass(frozen=True)
class Timing:
    """Times in nanoseconds."""

    period: int
    load_periods: int = 1
    actuation_delay: int = 0
    return_window: int | None = None
    return_after: int = 1
    return_when: str = "safe"

    @property
    def window(self) -> int:
        """Delta = k T_s + R."""
        return self.load_periods * self.period + self.actuation_delay


@dataclass(frozen=True)
class Plant:
    """A plant as its file says it. Vectors are in the order of the file."""

    name: str
    states: tuple[str, ...]
    domain: Box
    """The box in which states are searched; a state that leaves it counts as lost."""
    inputs: tuple[str, ...]
    physical: Box
    parameters: dict[str, float]
    discrete: bool
    dynamics: tuple[sympy.Expr, ...]
    """In the states, inputs and parameters."""
    measurements: tuple[str, ...]
    outputs: tuple[sympy.Expr, ...]
    process_noise: Array
    measurement_noise: Array
    state: Array
    """The operating point."""
    input: Array
    epsilon: float
    norm: str
    weights: Array
    timing: Timing
    gain: str
    nonlinear: dict[str, Any]
    start_covariance: Array
    confidence: dict[str, Any]
    half_widths: Array | None
    """The widest confidence set with which linear mode may begin; None: chosen by the noise."""
    decision: Box
    """The shape of the decision bound, whose scale is looked for: the physical inputs if the file
    does not say another.
    """
    method: str = "auto"
    nodes: int = 0
    """Nodes along each axis of a grid; 0: chosen by the number of states."""
    degree: int = 0
    """The degree of a certificate; 0: the usual one."""
    source: str = ""
    symbols: dict[str, sympy.Symbol] = field(default_factory=dict)

    @property
    def state_symbols(self) -> list[sympy.Symbol]:
        return [self.symbols[name] for name in self.states]

    @property
    def input_symbols(self) -> list[sympy.Symbol]:
        return [self.symbols[name] for name in self.inputs]

    def with_values(self, wanted: tuple[sympy.Expr, ...]) -> list[sympy.Expr]:
        """Expressions with the parameters' values put in."""
        values = {self.symbols[name]: sympy.Float(v) for name, v in self.parameters.items()}
        return [expression.subs(values) for expression in wanted]


def read(path: str) -> Plant:
    """UserError with one line if the file is not a plant."""
    text = files.read_document(path)
    return parse(text, files.source_name(path))


def parse(text: str, source: str) -> Plant:
    top = Section(load(text, source), source)
    if "feedback" in top.values:
        raise UserError(
            f"{source}: feedback: not supported; leave it out: inputs are what is applied, "
            "whatever they depend on, and the design holds for all that stay within their bounds"
        )
    states = top.required_section("states").intervals(limit=MAXIMUM_STATES)
    inputs = top.required_section("inputs").intervals(limit=16)
    parameters = top.section("parameters").numbers()
    outputs = top.required_section("outputs").texts(limit=64)
    symbols = _symbols(source, [*states, *inputs, *parameters])
    state_names, input_names = tuple(states), tuple(inputs)
    dynamics = top.required_section("dynamics").texts(limit=MAXIMUM_STATES)
    if set(dynamics) != set(states):
        one = sorted(set(dynamics) ^ set(states))[0]
        raise UserError(f"{source}: dynamics: one expression for each state; look at '{one}'")
    for name in outputs:
        _check_name(source, name)

    def expression(kind: str, name: str, written: str) -> sympy.Expr:
        return expressions.parse(written, symbols, f"{source}: {kind}.{name}")

    physical, domain = _box(inputs), _box(states)
    centre = top.section("operating_point")
    state = centre.vector(state_names, 0.0)
    point_input = centre.vector(input_names, 0.0)
    centre.finish(*state_names, *input_names)
    noise = top.section("noise")
    error = top.required_section("error")
    epsilon = error.number("epsilon", above=0.0)
    weights = error.section("weights")
    method = top.section("method")
    plant = Plant(
        name=top.text("name", Path(source).stem),
        states=state_names,
        domain=domain,
        inputs=input_names,
        physical=physical,
        parameters=parameters,
        discrete=top.choice("time", ("continuous", "discrete"), "continuous") == "discrete",
        dynamics=tuple(expression("dynamics", name, dynamics[name]) for name in states),
        measurements=tuple(outputs),
        outputs=tuple(expression("outputs", name, text) for name, text in outputs.items()),
        process_noise=noise.section("process").covariance(state_names, 0.0),
        measurement_noise=noise.section("measurement").covariance(tuple(outputs), None),
        state=state,
        input=point_input,
        epsilon=epsilon,
        norm=error.choice("norm", ("euclidean", "maximum"), "euclidean"),
        weights=weights.vector(state_names, 1.0),
        timing=_timing(top.required_section("timing")),
        gain=top.choice("gain", ("kalman", "none"), "kalman"),
        nonlinear=_nonlinear(top.section("nonlinear")),
        start_covariance=top.section("start").covariance(state_names, 0.0),
        confidence=_confidence(top.section("confidence"), state_names),
        half_widths=_half_widths(top.section("confidence"), state_names),
        decision=_decision(top.section("decision"), input_names, physical),
        method=method.choice("kind", METHODS, "auto"),
        nodes=method.whole("nodes", 0, 0, 2001),
        degree=method.whole("degree", 0, 0, 12),
        source=source,
        symbols=symbols,
    )
    weights.finish(*state_names)
    for section, known in (
        (noise, ("process", "measurement")),
        (error, ("epsilon", "norm", "weights")),
        (method, ("kind", "nodes", "degree")),
        (
            top,
            FIELDS,
        ),
    ):
        section.finish(*known)
    _check(plant)
    return plant


def _check(plant: Plant) -> None:
    source = plant.source
    if not (plant.domain.lower < plant.state).all() or not (plant.state < plant.domain.upper).all():
        raise UserError(f"{source}: operating_point: not inside the intervals of the states")
    if not plant.physical.contains(plant.decision):
        raise UserError(f"{source}: decision: not within the physical inputs")
    if not plant.decision.contains(Box(plant.input, plant.input)):
        raise UserError(f"{source}: operating_point: its input is not among the decision's inputs")
    if (plant.weights < 0).any() or not plant.weights.any():
        raise UserError(f"{source}: error.weights: none may be below 0, and one must be above")
    if plant.degree % 2:
        raise UserError(f"{source}: method.degree: must be even")
    for kind, names, wanted in (
        ("dynamics", plant.states, plant.dynamics),
        ("outputs", plant.measurements, plant.outputs),
    ):
        for name, one in zip(names, plant.with_values(wanted), strict=True):
            if not expressions.is_real_and_finite(one):
                raise UserError(
                    f"{source}: {kind}.{name}: with the values of the parameters it is not real "
                    "and finite"
                )
    returning = plant.timing.return_window
    if returning is not None and returning < plant.timing.window:
        raise UserError(
            f"{source}: timing.return_window: shorter than the window, {plant.timing.window} ns"
        )


def _symbols(source: str, names: list[str]) -> dict[str, sympy.Symbol]:
    for name in names:
        _check_name(source, name)
        if names.count(name) > 1:
            raise UserError(f"{source}: '{name}' is the name of two things; give each its own")
    return {name: sympy.Symbol(name, real=True) for name in names}


def _check_name(source: str, name: str) -> None:
    if not name.isascii() or not name.isidentifier() or len(name) > 64:
        raise UserError(f"{source}: '{name}' is no name: use letters, digits and _")
    if name in expressions.RESERVED or name in (
        "lambda",
        "None",
        "True",
        "False",
        "and",
        "or",
        "not",
        "if",
        "else",
        "in",
        "is",
    ):
        raise UserError(f"{source}: '{name}' means something else in expressions; rename it")


def _box(intervals: dict[str, tuple[float, float]]) -> Box:
    return Box(
        numpy.array([low for low, _ in intervals.values()]),
        numpy.array([high for _, high in intervals.values()]),
    )


def _timing(section: Section) -> Timing:
    timing = Timing(
        period=section.time("period"),
        load_periods=section.whole("load_periods", 1, 1, 1_000_000),
        actuation_delay=section.time("actuation_delay", 0),
        return_window=section.time("return_window", 0) or None,
        return_after=section.whole("return_after", 1, 1, 1_000_000),
        return_when=section.choice("return_when", ("safe", "requested"), "safe"),
    )
    section.finish(
        "period", "load_periods", "actuation_delay", "return_window", "return_after", "return_when"
    )
    return timing


def _nonlinear(section: Section) -> dict[str, Any]:
    kind = section.choice("kind", ("ekf", "ukf", "particle"), "ekf")
    found: dict[str, Any] = {"kind": kind}
    known: dict[str, Callable[[str], Any]] = {}
    if kind == "ukf":
        known = {
            "alpha": lambda key: section.number(key, above=0.0),
            "beta": section.number,
            "kappa": section.number,
        }
    if kind == "particle":
        known = {
            "particles": lambda key: section.whole(key, 1000, 1, 1_000_000),
            "seed": lambda key: section.whole(key, 1, 0, 2**53),
            "resampling": lambda key: section.choice(
                key, ("systematic", "stratified", "residual"), "systematic"
            ),
        }
    for key, read_value in known.items():
        if key in section.values:
            found[key] = read_value(key)
    section.finish("kind", *known)
    return found


def _confidence(section: Section, states: tuple[str, ...]) -> dict[str, Any]:
    deviations = section.section("deviations")
    found: dict[str, Any] = {"deviations": deviations.vector(states, 3.0).tolist()}
    deviations.finish(*states)
    if min(found["deviations"]) < 0:
        raise UserError(f"{deviations.where}: none may be below 0")
    if "tail" in section.values:
        found["tail"] = section.number("tail", above=0.0)
        if found["tail"] >= 1:
            raise UserError(f"{section.where}.tail: must be below 1")
    section.finish("deviations", "tail", "half_widths")
    return found


def _half_widths(section: Section, states: tuple[str, ...]) -> Array | None:
    if "half_widths" not in section.values:
        return None
    half_widths = section.section("half_widths")
    found = numpy.array([half_widths.number(name) for name in states])
    half_widths.finish(*states)
    if (found < 0).any():
        raise UserError(f"{half_widths.where}: none may be below 0")
    return found


def _decision(section: Section, inputs: tuple[str, ...], physical: Box) -> Box:
    if not section.values:
        return physical
    given = section.intervals(limit=16)
    for name in given:
        if name not in inputs:
            raise UserError(f"{section.where}: '{name}' is no input")
    return Box(
        numpy.array(
            [given[n][0] if n in given else physical.lower[i] for i, n in enumerate(inputs)]
        ),
        numpy.array(
            [given[n][1] if n in given else physical.upper[i] for i, n in enumerate(inputs)]
        ),
    )


def is_finite(values: Array) -> bool:
    return all(math.isfinite(value) for value in values.ravel())

"""The design as a takt/handoff document."""

from __future__ import annotations

import json
import platform
from datetime import datetime, timezone
from typing import Any

import sympy

from takt import __version__
from takt.documents import Handoff
from takt.handoff import expressions
from takt.handoff.design import Design
from takt.handoff.linear import NANOSECONDS, Motion
from takt.handoff.plant import Box, Plant

INTEGRATION = 0.02
"""Longest Runge-Kutta step at run time, in fastest time constants: a local error of 10^-10."""


def document(design: Design, inputs: list[dict[str, str]]) -> dict[str, Any]:
    """The document, checked against its types. inputs: the files that it was made of."""
    plant, linear, window = design.plant, design.linear, design.window
    timing = {
        "period": plant.timing.period,
        "load_periods": plant.timing.load_periods,
        "actuation_delay": plant.timing.actuation_delay,
        "window": window.length,
        "return_window": design.return_window,
        "return_after": plant.timing.return_after,
        "return_when": plant.timing.return_when,
    }
    regions = {"safe": design.safe, "linear": design.reach, "back": design.back}
    found = {
        "format": "takt/handoff",
        "version": 2,
        "name": plant.name,
        "provenance": {
            "takt": __version__,
            "host": platform.node(),
            "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "inputs": inputs,
        },
        "plant": _plant(plant, design),
        "linear": {
            "state": plant.state.tolist(),
            "input": plant.input.tolist(),
            "state_matrix": linear.state_matrix.tolist(),
            "input_matrix": linear.input_matrix.tolist(),
            "output_matrix": linear.output_matrix.tolist(),
            "feedthrough_matrix": linear.feedthrough_matrix.tolist(),
            "gain": linear.gain.tolist(),
        },
        "nonlinear": plant.nonlinear,
        "start": {
            "state": plant.state.tolist(),
            "covariance": plant.start_covariance.tolist(),
        },
        "error_bound": {
            "epsilon": plant.epsilon,
            "norm": plant.norm,
            "weights": plant.weights.tolist(),
        },
        "decision": _box(design.decision),
        "timing": timing,
        "confidence": {**plant.confidence, "half_widths": linear.half_widths.tolist()},
        "regions": {name: one.document() for name, one in regions.items() if one is not None},
        "assumptions": assumptions(design),
        "design": {
            "method": design.method,
            "scale": design.scale,
            "window": window.document(),
            **design.figures,
        },
    }
    Handoff.read(json.loads(json.dumps(found, allow_nan=False)))
    return found


def assumptions(design: Design) -> list[str]:
    """What must hold for the guarantee."""
    found = [
        "The plant moves as its dynamics say; only the error of the linear model is bounded, not "
        "what process and measurement noise add to it.",
        "The input is known as it is applied, and never outside the physical inputs.",
        f"A hand-over takes at most {design.window.length / 1e6:g} ms from the last input in the "
        "decision bound.",
        "When the linear mode begins, the true state is in the confidence set of the estimate.",
    ]
    if design.linear.corrects:
        found.append(
            "Every measurement arrives; the linear estimator corrects with its constant gain, and "
            "the input is held over each period."
        )
    return found


def _plant(plant: Plant, design: Design) -> dict[str, Any]:
    steps = 1
    if design.linear.continuous is not None:
        period = plant.timing.period * NANOSECONDS
        fastest = Motion(plant, design.linear, period).time_constant()
        steps = min(max(round(period / (INTEGRATION * fastest) + 0.5), 1), 1000)
    return {
        "name": plant.name,
        "states": list(plant.states),
        "inputs": list(plant.inputs),
        "measurements": list(plant.measurements),
        "parameters": plant.parameters,
        "time": "discrete" if plant.discrete else "continuous",
        "integration_steps": steps,
        "dynamics": list(map(_text, plant.dynamics)),
        "outputs": list(map(_text, plant.outputs)),
        "jacobians": {
            "dynamics": _texts(expressions.jacobian(plant.dynamics, plant.state_symbols)),
            "outputs": _texts(expressions.jacobian(plant.outputs, plant.state_symbols)),
        },
        "physical_inputs": _box(plant.physical),
        "process_noise": plant.process_noise.tolist(),
        "measurement_noise": plant.measurement_noise.tolist(),
    }


def _texts(rows: list[list[sympy.Expr]]) -> list[list[str]]:
    return [[_text(entry) for entry in row] for row in rows]


def _text(expression: sympy.Expr) -> str:
    return str(expression)


def _box(box: Box) -> dict[str, Any]:
    return {"lower": box.lower.tolist(), "upper": box.upper.tolist()}

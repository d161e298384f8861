"""Plants whose hand-over is known in closed form, or nearly."""

from __future__ import annotations

from pathlib import Path

from takt.handoff import plant
from takt.handoff.plant import Plant

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

CUBIC = (EXAMPLES / "cubic.yaml").read_text(encoding="utf-8")

# Bound of the physical input, periods of 50 ms, the largest decision bound, its extreme state.
TABLE = (
    (1, 4, 0.5506, 0.4559),
    (1, 10, 0.4849, 0.4140),
    (1, 20, 0.2515, 0.2380),
    (2, 4, 0.5101, 0.4304),
)


def cubic(physical: float = 1, periods: int = 4, more: str = "") -> Plant:
    text = CUBIC.replace("[-1, 1]", f"[{-physical}, {physical}]")
    return parse(text.replace("load_periods: 4", f"load_periods: {periods}") + more)


def parse(text: str) -> Plant:
    return plant.parse(text, "plant.yaml")


def linear(a: float, b: float, physical: float = 1.0) -> Plant:
    """x' = -a x + b d: its linear estimate has no error."""
    return parse(
        f"""
states: {{x: [-10, 10]}}
inputs: {{d: [{-physical}, {physical}]}}
dynamics: {{x: -{a}*x + {b}*d}}
outputs: {{y: x}}
noise: {{measurement: {{y: 1}}}}
error: {{epsilon: 1}}
timing: {{period: 10ms}}
gain: none
"""
    )


EXPERIMENT = Path(__file__).parents[2] / "experiments" / "estimator-handover" / "plants"
DISCRETE = (EXPERIMENT / "discrete.yaml").read_text(encoding="utf-8")

SPIKE = parse(
    """
name: spike
states: {x: [-2, 2]}
inputs: {w: [-0.5, 0.5], d: [-20, 20]}
dynamics: {x: -x + w + x**8*d}
outputs: {y: x}
noise: {measurement: {y: 1}}
error: {epsilon: 0.1}
timing: {period: 10ms}
decision: {w: [-0.5, 0.5], d: [-1, 1]}
gain: none
"""
)
"""Theorem 5: the linear model, at 0, does not see what enters through x^n."""

"""The worked example of the theory of estimator hand-overs, and what it says elsewhere. See
README.md.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy

from takt.experiments import Row, Rows
from takt.handoff import design, grids, monotone, plant
from takt.handoff.attack import Attack
from takt.handoff.grids import Grid
from takt.handoff.linear import linearise

PLANT = Path(__file__).parents[2] / "docs" / "examples" / "cubic.yaml"
# D, Δ in seconds, κ*, x_κ.
TABLE = (
    (1, 0.2, 0.5506, 0.4559),
    (1, 0.5, 0.4849, 0.4140),
    (1, 1.0, 0.2515, 0.2380),
    (2, 0.2, 0.5101, 0.4304),
)


def run(full: bool = False) -> Rows:
    rows = [*_table(), *_without_window(), *_sign()]
    found = design.design(_cubic(1, 0.2))
    attack, many = Attack(found), 1_000_000 if full else 20_000
    guarded, free = attack.run(many, 1), attack.run(many // 10, 1, guard=False)
    return [
        *rows,
        Row("Adversarial sequences with the guard", None, float(many)),
        Row("… that broke the bound with the guard", 0.0, float(guarded.violations)),
        Row("… largest error", 0.1, guarded.largest * 0.1),
        Row("Adversarial sequences without the guard", None, float(many // 10)),
        Row("… that broke the bound without it", "some", float(free.violations)),
    ]


def _table() -> Rows:
    rows = []
    for physical, window, kappa, extreme in TABLE:
        name = f"D = {physical}, Δ = {window:g} s, "
        by_order = design.design(_cubic(physical, window))
        on_grid = design.design(replace(_cubic(physical, window), method="grid", nodes=401))
        rows += [
            Row(name + "κ*, by order", kappa, float(by_order.decision.upper[0])),
            Row(name + "κ*, on a grid", kappa, float(on_grid.decision.upper[0])),
            Row(name + "extreme state", extreme, float(by_order.back.grid.upper[0])),
        ]
    return rows


def _without_window() -> Rows:
    cubic = _cubic(1, 0.2)
    linear = linearise(cubic)
    order = monotone.order(cubic, linear)
    assert order is not None
    kappa = monotone.largest_scale(cubic, monotone.Extremes(cubic, linear, order), 0)
    return [Row("κ without a hand-over", 0.5642, kappa)]


def _sign() -> Rows:
    """x' = d, |d| <= 1, for 1 s within |x| <= 2."""
    grid = Grid([-4.0], [4.0], [801])
    nodes = grid.nodes()
    barrier = abs(nodes[:, 0]) - 2.0
    feet = [nodes - 0.1, nodes, nodes + 0.1]
    rows = []
    for name, choose, safe in (("maximum", numpy.maximum, 1.0), ("minimum", numpy.minimum, 2.0)):
        values = grids.largest_over_time(grid, feet, barrier, 10, choose=choose)
        found = float(nodes[values <= 1e-9][:, 0].max())
        rows.append(Row(f"Safe half-width of ẋ = d, {name} over inputs", safe, found))
    return rows


def _cubic(physical: float, window: float) -> plant.Plant:
    text = PLANT.read_text(encoding="utf-8").replace("[-1, 1]", f"[{-physical}, {physical}]")
    periods = f"load_periods: {round(window / 0.05)}"
    return plant.parse(text.replace("load_periods: 4", periods), PLANT.name)

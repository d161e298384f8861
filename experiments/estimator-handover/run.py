"""The theory of estimator hand-overs on plants with known answers, and the guard under attack. See
README.md.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy

from takt.handoff import design, grids, monotone, plant
from takt.handoff.attack import Attack
from takt.handoff.grids import Grid
from takt.handoff.linear import allowed_errors, linearise
from takt.trials.experiments import Row, Rows

from .play import play

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "docs" / "examples"
PLANT = EXAMPLES / "cubic.yaml"
# D, Δ in seconds, κ*, x_κ: exact for this plant, by the order of its trajectories. The document has
# no worked example.
TABLE = (
    (1, 0.2, 0.5506, 0.4559),
    (1, 0.5, 0.4849, 0.4140),
    (1, 1.0, 0.2515, 0.2380),
    (2, 0.2, 0.5101, 0.4304),
)
PLANTS = {
    "cubic": PLANT,
    "pendulum": EXAMPLES / "pendulum.yaml",
    "discrete": HERE / "plants" / "discrete.yaml",
    "Bouc-Wen": HERE / "plants" / "bouc_wen.yaml",
}
BOXES = 4_000
"""Estimates of which it is asked whether the way back is allowed."""
WIDE = 0.5
"""Half-widths of the control, as a share of the allowed error: such sets were let pass before."""


def run(full: bool = False) -> Rows:
    rows = [*_table(), *_without_window(), *_sign()]
    found = design.design(_cubic(1, 0.2))
    free = Attack(found).run(2_000, 1, guard=False)
    rows += [
        Row("Adversarial sequences without the guard", None, float(free.sequences)),
        Row("… that broke the bound without it", None, float(free.violations), expected="> 0"),
    ]
    names = PLANTS if full else ("cubic", "discrete")
    for name in names:
        rows += _truth_in_the_box(name, 2_500_000 if full else 10_000)
    return rows


def _truth_in_the_box(name: str, sequences: int) -> Rows:
    """Sequences from a true state anywhere in the confidence set of the first estimate, what room
    for that costs, and the control, in which there is no room.
    """
    one = plant.read(str(PLANTS[name]))
    none = numpy.zeros(len(one.states))
    found, before = design.design(one), design.design(replace(one, half_widths=none))
    widths = found.linear.half_widths
    guarded = play(Attack(found), sequences)
    wide = Attack(before, WIDE * allowed_errors(one)).run(min(sequences, 50_000), 1)
    what = f"{name}, true state anywhere in the box"
    share = float((widths / allowed_errors(one)).max())
    return [
        Row(f"{what}: half-widths, most of the allowed error", None, 100 * share, "%"),
        Row(f"{what}: sequences", None, float(guarded.sequences)),
        Row(f"{what}: … that broke the bound", None, float(guarded.violations), expected=0.0),
        Row(f"{what}: … largest error / ε", None, guarded.largest, expected="≤ 1"),
        Row(f"{what}: … and what the design keeps free for its own error", None, found.back.error),
        Row(f"{what}: decision bound, with room / without", None, found.scale / before.scale),
        Row(f"{what}: region, with room / without", None, found.back.share() / before.back.share())
        if found.method == "grid"
        else Row(f"{what}: region, with room / without", None, _width(found) / _width(before)),
        Row(
            f"{what}: ways back refused of those allowed before", None, _refused(found, before), "%"
        ),
        Row(f"{what}: control without room, sequences", None, float(wide.sequences)),
        Row(f"{what}: … that broke the bound", None, float(wide.violations)),
        Row(f"{what}: … largest error / ε", None, wide.largest),
    ]


def _width(found: design.Design) -> float:
    """The extent of a region that is a box."""
    return float(numpy.prod(found.back.grid.upper - found.back.grid.lower))


def _refused(found: design.Design, before: design.Design) -> float:
    """Of boxes of the settled half-widths (at most those of the design) that lie in the region
    without room, the share in percent that does not lie in the region with room.
    """
    generator, grid = numpy.random.default_rng(5), before.back.grid
    widths = found.linear.half_widths
    if found.linear.settled is not None:
        widths = numpy.minimum(widths, found.linear.settled)
    centres = generator.uniform(grid.lower, grid.upper, (BOXES, len(widths)))
    corners = plant.Box(-widths, widths).corners()
    inside = [
        numpy.all([one.back.contains(centres + corner) for corner in corners], axis=0)
        for one in (before, found)
    ]
    return float(100 * (inside[0] & ~inside[1]).sum() / max(inside[0].sum(), 1))


def _table() -> Rows:
    rows = []
    for physical, window, kappa, extreme in TABLE:
        name = f"D = {physical}, Δ = {window:g} s, "
        by_order = design.design(_cubic(physical, window))
        on_grid = design.design(replace(_cubic(physical, window), method="grid", nodes=401))
        rows += [
            Row(name + "κ*, by order", None, float(by_order.decision.upper[0]), expected=kappa),
            Row(name + "κ*, on a grid", None, float(on_grid.decision.upper[0]), expected=kappa),
            Row(name + "extreme state", None, float(by_order.back.grid.upper[0]), expected=extreme),
        ]
    return rows


def _without_window() -> Rows:
    cubic = _cubic(1, 0.2)
    linear = linearise(cubic)
    order = monotone.order(cubic, linear)
    assert order is not None
    kappa = monotone.largest_scale(cubic, monotone.Extremes(cubic, linear, order), 0)
    return [Row("κ without a hand-over", None, kappa, expected=0.5642)]


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
        what = f"Safe half-width of ẋ = d, {name} over inputs"
        rows.append(Row(what, None, found, expected=safe))
    return rows


def _cubic(physical: float, window: float) -> plant.Plant:
    text = PLANT.read_text(encoding="utf-8").replace("[-1, 1]", f"[{-physical}, {physical}]")
    periods = f"load_periods: {round(window / 0.05)}"
    return plant.parse(text.replace("load_periods: 4", periods), PLANT.name)

"""From a plant to a decision bound and its regions, by whichever method suits it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy

from takt.errors import UserError
from takt.handoff import certificates, monotone, regions, search, zonotopes
from takt.handoff.expressions import Array
from takt.handoff.game import Progress, directions
from takt.handoff.grids import Grid
from takt.handoff.linear import NANOSECONDS, Linear, allowed_errors, linearise
from takt.handoff.plant import Box, Plant
from takt.handoff.regions import Region
from takt.handoff.timing import Window

LARGEST_GRID = 4
"""States; a grid of five has too many nodes."""
PAIR_NODES = {1: 161**2, 2: 22**4}
"""Nodes of an augmented region, by the number of states; more states have too many axes."""
ROOM = 0.95
"""The share of the largest scale that a zonotope's design uses: the rest is where it may start."""
WINDOW_PRECISION = 1e-3
LONGEST_WINDOW = 10**13
"""Nanoseconds; a longer one is not looked for."""


@dataclass(frozen=True)
class Design:
    """What `takt handoff` found."""

    plant: Plant
    linear: Linear
    window: Window
    return_window: int
    method: str
    scale: float
    """The scale of the decision's shape."""
    decision: Box
    back: Region
    safe: Region | None
    reach: Region | None
    """The linear region, augmented."""
    figures: dict[str, Any] = field(default_factory=dict)


def design(
    plant: Plant, window: Window | None = None, progress: Progress = None, pairs: bool = False
) -> Design:
    """UserError if no decision bound keeps the error within its bound. pairs: also the augmented
    regions of two states, which are large; those of one are always there.
    """
    window = window or Window(plant.timing)
    plant = replace(plant, timing=window.timing)
    linear = linearise(plant)
    method = choose(plant, linear)
    if method == "grid":
        return _grid(plant, linear, window, progress, pairs)
    if pairs and len(plant.states) > 1:
        raise UserError(
            f"{plant.source}: the augmented regions of several states need method: grid"
        )
    return _METHODS[method](plant, linear, window, progress)


def choose(plant: Plant, linear: Linear) -> str:
    """The method for a plant: what its file says, else the most exact one that applies."""
    states = len(plant.states)
    if plant.method in ("auto", "monotone"):
        if monotone.order(plant, linear) is not None:
            return "monotone"
        if plant.method == "monotone":
            raise UserError(
                f"{plant.source}: method: not known to be cooperative over the domain (or its norm "
                "or gain needs another method); say kind: auto"
            )
    if plant.method == "certificate" and (reason := certificates.applies(plant, linear)):
        raise UserError(f"{plant.source}: method: {reason}")
    if plant.method == "grid" and states > LARGEST_GRID:
        raise UserError(f"{plant.source}: method: grids are for at most {LARGEST_GRID} states")
    if plant.method == "auto":
        return "grid" if states <= LARGEST_GRID else "zonotope"
    return plant.method


def longest_window(plant: Plant, scale: float, progress: Progress = None) -> int:
    """The longest hand-over, in nanoseconds, with which a scale of the decision's shape is safe;
    0: none.
    """
    linear = linearise(plant)
    # If no physical input breaks the bound at any time, no window is too long.
    if _test(replace(plant, decision=plant.physical), linear, 1.0)(plant.timing.window):
        return LONGEST_WINDOW
    holds = _test(plant, linear, scale)
    low, high = 0, max(plant.timing.window, 1000)
    while high < LONGEST_WINDOW and holds(high):
        low, high = high, 2 * high
    rounds = 0
    while high - low > max(WINDOW_PRECISION * high, 1000) and rounds < 60:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
        rounds += 1
        if progress is not None:
            progress(rounds, 0)
    return low


def _test(plant: Plant, linear: Linear, scale: float) -> Callable[[int], bool]:
    method = choose(plant, linear)
    decision = plant.decision.scaled(plant.input, scale)
    if method == "monotone":
        found = monotone.order(plant, linear)
        assert found is not None
        extremes = monotone.Extremes(plant, linear, found)
        return lambda window: (
            extremes.largest_error(decision, window * NANOSECONDS) <= plant.epsilon
        )
    if method == "grid":
        plant = replace(plant, timing=replace(plant.timing, return_window=None))
        limit = search.longest(plant, linear)
        return lambda window: (
            window * NANOSECONDS <= limit
            and search.Search(plant, linear, window, coarse=True).holds(scale)
        )
    if method == "certificate":
        return lambda window: (
            certificates.Certificates(plant, linear, window).find(decision) is not None
        )

    def holds(window: int) -> bool:
        start = numpy.zeros(len(plant.states))
        reached = zonotopes.Zonotopes(plant, linear, window).reached(decision, start)
        return reached is not None and reached.error <= 1

    return holds


def _refuse(plant: Plant, window: Window) -> UserError:
    return UserError(
        f"{plant.source}: no decision bound keeps the error within {plant.epsilon:g} for a "
        f"hand-over of {window.length / 1e6:g} ms: a physical input breaks it from the operating "
        "point; shorten the hand-over, narrow the physical inputs or confidence.half_widths, or "
        "allow a larger error"
    )


def _monotone(plant: Plant, linear: Linear, window: Window, progress: Progress) -> Design:
    found = monotone.order(plant, linear)
    assert found is not None
    extremes = monotone.Extremes(plant, linear, found)
    scale = monotone.largest_scale(plant, extremes, window.length)
    returning = max(plant.timing.return_window or window.length, window.length)
    smaller = scale
    if returning > window.length:
        smaller = monotone.largest_scale(plant, extremes, returning)
    if scale == 0 or smaller == 0:
        raise _refuse(plant, window)
    n = len(plant.states)

    def interval(by: float) -> tuple[Array, Array]:
        decision = plant.decision.scaled(plant.input, by)
        ends = [extremes.settled(decision, upward) for upward in (False, True)]
        assert ends[0] is not None
        assert ends[1] is not None
        return numpy.minimum(ends[0], ends[1]), numpy.maximum(ends[0], ends[1])

    low, high = interval(smaller)
    outer_low, outer_high = interval(scale)
    decision = plant.decision.scaled(plant.input, scale)
    reach = safe = None
    if n == 1:
        grid = _pair_grid(plant, outer_low, outer_high)
        middle, half = (outer_low + outer_high) / 2, (outer_high - outer_low) / 2
        reach = regions.pairs(grid, middle, half)
        safe = _safe(search.Search(plant, linear, window.length), grid)
    return Design(
        plant,
        linear,
        window,
        returning,
        "monotone",
        scale,
        decision,
        regions.box(low[:n], high[:n]),
        safe,
        reach,
        {
            "largest_error": extremes.largest_error(decision, window.length * NANOSECONDS),
            "return_scale": smaller,
            "signs": {
                "states": found.states.tolist(),
                "errors": found.errors.tolist(),
                "inputs": found.inputs.tolist(),
            },
        },
    )


def _grid(plant: Plant, linear: Linear, window: Window, progress: Progress, pairs: bool) -> Design:
    with_pairs = pairs or len(plant.states) == 1
    if with_pairs and len(plant.states) not in PAIR_NODES:
        raise UserError(
            f"{plant.source}: the augmented regions of {len(plant.states)} states have too many "
            "axes for a grid"
        )
    coarse = search.Search(plant, linear, window.length, coarse=True)
    scale = search.largest_scale(coarse, progress)
    if scale == 0:
        raise _refuse(plant, window)
    one = search.Search(plant, linear, window.length)
    found = search.regions(one, coarse, scale)
    tries = 0
    while found.at_start + found.error > 0 and tries < 10:
        # The error is more than the margin; a smaller decision bound leaves more room for it.
        scale, tries = scale * (1 - 2 * search.MARGIN), tries + 1
        found = search.regions(one, coarse, scale)
    back = Region("state", found.grid, found.back, found.error)
    if found.at_start + found.error > 0:
        raise UserError(
            f"{plant.source}: method: the grid is too coarse for this plant (its values are "
            f"uncertain by {found.error:.2g} of the bound); give it more nodes or smaller domains"
        )
    if not back.contains(plant.state)[0]:
        raise UserError(
            f"{plant.source}: timing.return_window: the operating point itself is not safe that "
            "long; shorten it"
        )
    safe = reach = None
    if with_pairs:
        inside = found.grid.nodes()[found.linear + found.error <= 0]
        size = allowed_errors(plant)
        grid = _pair_grid(
            plant,
            numpy.concatenate([inside.min(axis=0), -size]),
            numpy.concatenate([inside.max(axis=0), size]),
        )
        safe = _safe(one, grid)
        steps = itertools.chain(one.safe_steps(), one.linear_steps(scale, found.steps))
        reach = _pairs_of(found.grid, steps, grid, found.error)
    return Design(
        plant,
        linear,
        window,
        max(plant.timing.return_window or 0, window.length),
        "grid",
        scale,
        plant.decision.scaled(plant.input, scale),
        back,
        safe,
        reach,
        {
            "nodes": list(found.grid.shape),
            "steps": found.steps,
            "errors": found.errors,
            "largest_error": plant.epsilon * (1 + found.at_start + found.error),
            "kept_of_the_norm": directions(plant).share,
        },
    )


def _zonotope(plant: Plant, linear: Linear, window: Window, progress: Progress) -> Design:
    returning = max(plant.timing.return_window or window.length, window.length)
    found = zonotopes.Zonotopes(plant, linear, returning)
    scale = ROOM * zonotopes.largest_scale(found)
    if scale == 0:
        raise _refuse(plant, window)
    decision = plant.decision.scaled(plant.input, scale)
    reached = found.reached(decision, numpy.zeros(len(plant.states)))
    assert reached is not None
    start = zonotopes.largest_start(found, decision, reached.linear)
    return Design(
        plant,
        linear,
        window,
        returning,
        "zonotope",
        scale,
        decision,
        regions.box(plant.state - start, plant.state + start),
        None,
        None,
        {
            "reached_in_linear_mode": reached.linear.tolist(),
            "reached_in_the_window": reached.window.tolist(),
            "largest_error": plant.epsilon * reached.error,
        },
    )


def _certificate(plant: Plant, linear: Linear, window: Window, progress: Progress) -> Design:
    returning = max(plant.timing.return_window or window.length, window.length)
    one = certificates.Certificates(plant, linear, returning)
    found = certificates.largest(one, progress)
    if found is None:
        raise UserError(
            f"{plant.source}: method: no certificate of degree {one.degree} was found for any "
            "decision bound; try a higher degree, smaller intervals of states, or another method"
        )
    scale, certificate = found
    back = Region("state", *one.region(certificate))
    if not back.contains(plant.state)[0]:
        raise UserError(f"{plant.source}: method: the certificate is too steep for a grid")
    return Design(
        plant,
        linear,
        window,
        returning,
        "certificate",
        scale,
        plant.decision.scaled(plant.input, scale),
        back,
        None,
        None,
        {"largest_error": plant.epsilon, "certificate": certificate.document(one)},
    )


def _pair_grid(plant: Plant, low: Array, high: Array) -> Grid:
    """A grid of [x, x^] around a box of (x, e), with more nodes where errors are small beside
    states.
    """
    n = len(plant.states)
    error = 1.3 * allowed_errors(plant)
    wide = 1.5 * numpy.maximum(high[:n] - plant.state, plant.state - low[:n])
    lower = numpy.maximum(plant.state - wide, plant.domain.lower)
    upper = numpy.minimum(plant.state + wide, plant.domain.upper)
    ends = numpy.concatenate([lower, lower - error]), numpy.concatenate([upper, upper + error])
    cells = numpy.tile((upper - lower) / error, 2)
    cells *= (PAIR_NODES[n] / cells.prod()) ** (1 / (2 * n))
    return Grid(*ends, [max(round(count), 5) for count in cells])


def _safe(one: search.Search, grid: Grid) -> Region:
    return _pairs_of(one.grid, one.safe_steps(), grid, 0.0)


def _pairs_of(
    states: Grid, steps: Iterable[tuple[Array, Array]], grid: Grid, error: float
) -> Region:
    """An augmented region from the values of each step."""
    n = len(states.shape)
    true = Grid(grid.lower[:n], grid.upper[:n], grid.shape[:n]).nodes()
    estimates = Grid(grid.lower[n:], grid.upper[n:], grid.shape[n:]).nodes()
    at = states.interpolation(true)
    found = numpy.full((len(true), len(estimates)), -numpy.inf)
    for now, costate in steps:
        value = at.linear(now) - true @ costate.T
        ahead = estimates @ costate.T
        for direction in range(len(costate)):
            one = value[:, direction, None] + ahead[None, :, direction]
            numpy.maximum(found, one, out=found)
    values = found.ravel() - 1.0
    return Region(
        "augmented", grid, values, error + float(grid.lift(values)[values <= 0].max(initial=0.0))
    )


_METHODS = {"monotone": _monotone, "zonotope": _zonotope, "certificate": _certificate}

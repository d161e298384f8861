"""Robots, hosts, boots and times of day whose times are unlike those of the others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy

from takt.fleet import statistics
from takt.fleet.comparison import Figure
from takt.fleet.sample import Run, causes, matrix, named
from takt.fleet.store import UNKNOWN

Json = dict[str, Any]

FEWEST_RUNS = 3
"""Of a group, that say what it is like; the others need twice as many."""
UNLIKE = 0.05
"""A group that is off by less is like the others."""


class Grouping(NamedTuple):
    """What runs are told apart by."""

    noun: str
    name_of: Callable[[Run], str | None]
    """The group of a run; None: nobody knows."""
    stratum_of: Callable[[Run], Hashable]
    """Runs of a group are compared with others of the same stratum alone."""
    alarm: float
    """The chance that any of equal groups is unlike the others."""


def _version(run: Run) -> Hashable:
    return run.entry.version


def _version_and_robot(run: Run) -> Hashable:
    return run.entry.version, run.entry.robot


def _of_machine(field: str) -> Callable[[Run], str | None]:
    """A run of several machines is of none."""

    def name_of(run: Run) -> str | None:
        machines = run.summary.machines
        value = machines[0].get(field) if len(machines) == 1 else None
        return value if isinstance(value, str) and value else None

    return name_of


def _hour(run: Run) -> str | None:
    begin = run.summary.begin
    return None if begin is None else f"{begin // (3600 * 10**9) % 24:02}:00 UTC"


ROBOTS = Grouping(
    "robot", lambda run: run.entry.robot if run.entry.robot != UNKNOWN else None, _version, 0.05
)
# What a robot is like is no property of its hosts and boots, nor of the hours in which it works.
OTHERS = (
    Grouping("host", _of_machine("host"), _version_and_robot, 0.02),
    Grouping("boot", _of_machine("boot"), _version_and_robot, 0.01),
    Grouping("hour", _hour, _version_and_robot, 0.02),
)


def find(grouping: Grouping, figures: Sequence[Figure], runs: Sequence[Run]) -> list[Json]:
    """The figures of groups that are unlike those of the others, of chains first."""
    groups = _groups(grouping, runs)
    alarm = _alarm(grouping, groups)
    found = []
    for name in groups if figures else []:
        own, others = _sides(grouping, name, runs)
        if _are_enough(grouping, own, others, alarm):
            found += [
                {grouping.noun: name, **each}
                for each in _unlike(grouping, figures, own, others, alarm)
            ]
    return sorted(found, key=lambda each: (each["kind"] != "chain", -abs(each["growth"])))


def untold(grouping: Grouping, figures: Sequence[Figure], runs: Sequence[Run]) -> list[str]:
    """The groups of which nobody can tell whether they are unlike the others."""
    groups = _groups(grouping, runs)
    alarm = _alarm(grouping, groups)
    return [
        name
        for name in groups
        if not figures or not _are_enough(grouping, *_sides(grouping, name, runs), alarm)
    ]


def _groups(grouping: Grouping, runs: Sequence[Run]) -> list[str]:
    return sorted({name for run in runs if (name := grouping.name_of(run)) is not None})


def _alarm(grouping: Grouping, groups: Sequence[str]) -> float:
    """The chance of each test: a larger and a smaller time of each group would be told."""
    return grouping.alarm / (2 * max(1, len(groups)))


def _sides(grouping: Grouping, name: str, runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """The runs of a group and those of the others, of the strata that both have."""
    own = [run for run in runs if grouping.name_of(run) == name]
    others = [run for run in runs if grouping.name_of(run) not in (name, None)]
    both = {*map(grouping.stratum_of, own)} & {*map(grouping.stratum_of, others)}
    return (
        [run for run in own if grouping.stratum_of(run) in both],
        [run for run in others if grouping.stratum_of(run) in both],
    )


def _are_enough(
    grouping: Grouping, own: Sequence[Run], others: Sequence[Run], alarm: float
) -> bool:
    """Whether a difference could be found: also by the number of ways to exchange runs."""
    if len(own) < FEWEST_RUNS or len(others) < 2 * FEWEST_RUNS:
        return False
    of_own, of_others = (Counter(map(grouping.stratum_of, side)) for side in (own, others))
    ways = math.prod(math.comb(n + of_others[stratum], n) for stratum, n in of_own.items())
    return alarm * ways >= 1


def _unlike(
    grouping: Grouping,
    figures: Sequence[Figure],
    own: Sequence[Run],
    others: Sequence[Run],
    alarm: float,
) -> list[Json]:
    """The figures of a group that are unlike those of the others, who have the same strata."""
    numbers: dict[Hashable, int] = {}
    strata = numpy.array(
        [numbers.setdefault(grouping.stratum_of(run), len(numbers)) for run in (*others, *own)]
    )
    is_own = numpy.arange(len(strata)) >= len(others)
    values = matrix(figures, [*others, *own])
    for stratum in numpy.unique(strata):
        rows = strata == stratum
        lacking = numpy.isnan(values[rows & is_own]).all(axis=0)
        lacking |= numpy.isnan(values[rows & ~is_own]).all(axis=0)
        values[numpy.ix_(rows, lacking)] = math.nan
    known = ~numpy.isnan(values)
    columns = numpy.flatnonzero(
        (known[is_own].sum(axis=0) >= FEWEST_RUNS) & (known[~is_own].sum(axis=0) >= 2 * FEWEST_RUNS)
    )
    if not columns.size:
        return []
    values = values[:, columns]
    # A group may have most of the runs of a stratum, whose middle would then be its own one.
    told = _centred(values, strata, ~is_own, numpy.nanmedian)
    growths = numpy.nanmean(told[is_own], axis=0) - numpy.nanmean(told[~is_own], axis=0)
    # For the chance it must be the same whichever of these runs are the group's.
    tested = _centred(values, strata, is_own | ~is_own, numpy.nanmean)
    chances = statistics.chances(tested[~is_own], tested[is_own], alarm, strata)
    found = []
    for place, column in enumerate(columns.tolist()):
        growth = math.expm1(float(growths[place]))
        chance = float((chances.grown if growth > 0 else chances.shrunk)[place])
        if chance <= alarm and abs(growth) > UNLIKE:
            figure = figures[column]
            found.append(
                {
                    **named(figure),
                    "runs": sum(figure in run.figures for run in own),
                    "growth": growth,
                    "chance": chance,
                    "causes": causes(figure, others, own) if growth > 0 else [],
                }
            )
    return found


def _centred(
    values: statistics.Floats,
    strata: statistics.Integers,
    reference: statistics.Choices,
    middle: Callable[..., statistics.Floats],
) -> statistics.Floats:
    """Each value less the middle of those of the reference in its stratum, if there are any."""
    found: statistics.Floats = values.copy()
    for stratum in numpy.unique(strata):
        rows = strata == stratum
        known = ~numpy.isnan(values[rows & reference]).all(axis=0)
        found[numpy.ix_(rows, known)] -= middle(values[rows & reference][:, known], axis=0)
    return found

"""Since which version something is different: change points of a sequence of groups of values.

E-divisive (Matteson and James, JASA 2014): the energy distance between what is before and after a
boundary, the largest over all boundaries, is compared with that of the same values in other orders.
Boundaries are those between versions alone, and all columns are one family: a change is found if
its distance is larger than the largest of all columns in most orders. What is before and after the
changes found so is tested again, and all these parts together are one family, too. `ruptures`
offers change points by a penalty that has to be chosen, without a chance of false alarms.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float64]
    Integers = NDArray[numpy.int_]

Segments = dict[tuple[int, int], list[int]]
"""Of each range of groups the columns that are tested in it."""

ORDERS = 400
ALARM = 0.05
"""The chance that a sequence without a change has one, over all columns; as much again for one more
beside the changes that there are."""
MOST_VALUES = 40
"""Runs of a version that are looked at: its first ones. The time grows with their square."""
SEED = 20


class Change(NamedTuple):
    column: int
    group: int
    """The first one that is different."""
    chance: float
    """How often any column has such a distance by chance."""


def find(values: Floats, sizes: Sequence[int]) -> list[Change]:
    """`values`: a row for each run in the order of the groups, a column for each figure, NaN where
    a run lacks it; `sizes`: how many runs each group has. Takes time with the square of the rows.
    """
    values, sizes = _cut(values, sizes)
    found = []
    segments: Segments = {(0, len(sizes)): [*range(values.shape[1])]}
    while segments:
        changes = _split(values, sizes, segments)
        found += [change for change, _ in changes]
        segments = {}
        for change, (first, end) in changes:
            for segment in ((first, change.group), (change.group, end)):
                segments.setdefault(segment, []).append(change.column)
    return sorted(found, key=lambda change: (change.group, change.chance, change.column))


def too_few(sizes: Sequence[int]) -> list[int]:
    """The groups since which no change could be found, however large, as too many of all orders of
    so few values divide them in the same way. `sizes` as for find().
    """
    sizes = [min(size, MOST_VALUES) for size in sizes]
    ends = [*itertools.accumulate(sizes)]
    number = ends[-1] if ends else 0
    found = []
    for group, first in enumerate(ends[:-1], 1):
        second = number - first
        # Also orders in which what is after this boundary is all that is before one.
        alike = 1 + (second in ends)
        if min(first, second) < 2 or alike > ALARM * math.comb(number, first):
            found.append(group)
    return found


def _cut(values: Floats, sizes: Sequence[int]) -> tuple[Floats, list[int]]:
    ends = numpy.cumsum([0, *sizes])
    kept = [
        numpy.arange(start, min(start + MOST_VALUES, end))
        for start, end in itertools.pairwise(ends.tolist())
    ]
    return values[numpy.concatenate(kept)], [len(each) for each in kept]


def _split(
    values: Floats, sizes: Sequence[int], segments: Segments
) -> list[tuple[Change, tuple[int, int]]]:
    """The boundary with the largest distance of each column in its segment, if it is a change, with
    the segment. All columns of all segments are one family.
    """
    tested = []
    largest = [numpy.zeros(ORDERS + 1)]
    ends = numpy.cumsum([0, *sizes])
    for (first, end), columns in segments.items():
        if end - first < 2:
            continue
        part = values[ends[first] : ends[end]]
        groups = numpy.repeat(numpy.arange(end - first), sizes[first:end])
        random = numpy.random.default_rng([SEED, first, end])
        orders = [groups, *(random.permutation(groups) for _ in range(ORDERS))]
        for column in columns:
            known = ~numpy.isnan(part[:, column])
            distances = _distances(part[known, column])
            energies = [_energies(distances, order[known], end - first) for order in orders]
            largest.append(numpy.array([each.max(initial=0) for each in energies]))
            tested.append((column, first + int(energies[0].argmax()) + 1, (first, end)))
    family = numpy.max(largest, axis=0)
    found = []
    for (column, group, segment), of_column in zip(tested, largest[1:], strict=True):
        chance = float(numpy.mean(family >= of_column[0] - 1e-9))
        if of_column[0] > 0 and chance <= ALARM:
            found.append((Change(column, group, chance), segment))
    return found


def _distances(values: Floats) -> Floats:
    """Between all pairs, in units of their mean, so that columns are comparable."""
    found = numpy.abs(values[:, None] - values[None, :])
    mean = found.mean() if found.size else 0
    return found / mean if mean else found


def _energies(distances: Floats, groups: Integers, number: int) -> Floats:
    """The energy distance at each boundary between `number` groups."""
    members = numpy.zeros((number, len(groups)))
    members[groups, numpy.arange(len(groups))] = 1
    between = members @ distances @ members.T
    before = between.cumsum(axis=0).cumsum(axis=1).diagonal()
    left = before[:-1]
    total, rows = before[-1], between.sum(axis=1).cumsum()[:-1]
    across = rows - left
    right = total - left - 2 * across
    n = members.sum(axis=1).cumsum()
    first, second = n[:-1], n[-1] - n[:-1]
    with numpy.errstate(divide="ignore", invalid="ignore"):
        within = left / (first * (first - 1)) + right / (second * (second - 1))
        energy = first * second / (first + second) * (2 * across / (first * second) - within)
    return numpy.where((first >= 2) & (second >= 2), energy, 0.0)

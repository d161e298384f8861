"""What differs between two groups of runs by more than chance.

The runs are the sample. Messages of one run share its machine, its load and its start, so they are
no independent observations of a version. Values are matrices with a row for each run and a column
for each figure; NaN where a run lacks the figure.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float64]
    Integers = NDArray[numpy.int_]
    Choices = NDArray[numpy.bool_]

FEWEST_RUNS = 5
"""Runs on each side. Ten runs can be divided into five and five in 252 ways, so a difference can be
as rare as 0.4 %. Eight runs have 70 ways; that is too few for an error of 1 %."""
DIVISIONS = 2_000
"""Of the runs that are tried: all of them if there are no more. Chances that have to be very small
need more."""
BOOTSTRAPS = 1_000
CONFIDENCE = 0.95
POWER = 1.28
"""The quantile of the normal distribution at 90 %."""
SPREAD = 0.005
"""A standard deviation over runs below this counts as this, because values of histograms are off
by as much."""
STANDING_OUT = 4.0
FEWEST_BESIDE_SLOW = 10
"""Runs that say well enough how much runs vary."""
SEED = 20
"""The same runs give the same answer."""
SMALL_PRODUCT = 1 << 18
"""Multiplications up to which OpenBLAS begins no threads."""
BLOCK = 1 << 20
"""Numbers of a matrix that is in memory at a time."""


class Moments(NamedTuple):
    """Of each column, for each choice of runs."""

    number: Floats
    mean: Floats
    error: Floats
    """The square of the standard error of the mean."""


class Differences(NamedTuple):
    """Of each column: the mean of the second group less that of the first."""

    before: Floats
    after: Floats
    low: Floats
    """With `high` the interval that holds the difference with CONFIDENCE: bootstrap-t over runs
    (Efron and Tibshirani 1993, section 12.5)."""
    high: Floats
    error: Floats
    """The standard error of the difference."""


def differences(before: Floats, after: Floats) -> Differences:
    """The size of the differences. Each column needs two values in each group."""
    first, second = (_moments(numpy.ones((1, len(side))), side) for side in (before, after))
    error = numpy.sqrt(first.error + second.error)[0]
    low, high = numpy.empty_like(error), numpy.empty_like(error)
    drawn = [_resampled(len(side), number) for number, side in enumerate((before, after))]
    for columns in _blocks(before.shape[1], BOOTSTRAPS):
        of_first, of_second = (
            _moments(draws, side[:, columns])
            for draws, side in zip(drawn, (before, after), strict=True)
        )
        observed = (second.mean - first.mean)[:, columns]
        # A sample that misses the only run unlike the others seems to vary by nothing.
        least = error[columns] / 2
        drawn_errors = numpy.maximum(numpy.sqrt(of_first.error + of_second.error), least)
        pivots = (of_second.mean - of_first.mean - observed) / drawn_errors
        ends = numpy.quantile(pivots, [(1 + CONFIDENCE) / 2, (1 - CONFIDENCE) / 2], axis=0)
        low[columns], high[columns] = observed[0] - ends * error[columns]
    return Differences(first.mean[0], second.mean[0], low, high, error)


class Chances(NamedTuple):
    """Of a family of columns, in a world where the groups do not differ."""

    grown: Floats
    """For each column: how likely any column of the family grows as much by chance."""
    shrunk: Floats
    critical: float
    """The growth in standard errors that any column exceeds with the accepted probability."""


def chances(
    before: Floats, after: Floats, accepted: float, strata: Integers | None = None
) -> Chances:
    """Divides all runs by chance and compares the largest difference of the family in each division
    with the given differences (maxT of Westfall and Young 1993, single-step). This holds whatever
    the distribution is and however the columns depend on each other. Differences are divided by
    their standard errors (Welch), so that a group may vary more than the other one (Janssen 1997).

    `strata`: of each run, those before first, what it may be exchanged within, if not with all.

    Ends early where no column can have an accepted chance any more (Besag and Clifford 1991).
    """
    values = numpy.concatenate([before, after])
    values = values - numpy.nanmean(values, axis=0)
    # The given division comes first.
    given = numpy.arange(len(values)) >= len(before)
    observed = _welch(given[None, :], values)[0]
    largest, smallest = [], []
    most = max(DIVISIONS, math.ceil(2 / accepted))
    utmost = numpy.abs(observed).max()
    tried = beyond = 0
    for divisions in _divisions(len(before), len(after), values.shape[1], most, strata):
        found = _welch(divisions, values)
        largest.append(found.max(axis=1))
        smallest.append(found.min(axis=1))
        tried += len(found)
        beyond += min((largest[-1] >= utmost).sum(), (smallest[-1] <= -utmost).sum())
        if tried >= DIVISIONS and beyond > accepted * most:
            break
    grown = numpy.sort(numpy.concatenate(largest))
    shrunk = numpy.sort(-numpy.concatenate(smallest))
    return Chances(
        _share_above(grown, observed),
        _share_above(shrunk, -observed),
        float(numpy.quantile(grown, 1 - accepted)),
    )


class SlowRuns(NamedTuple):
    """Of each column: the runs of the second group that stand out."""

    number: Integers
    certain: Choices
    """Whether so many of any column would hardly be all in the second group by chance."""


def slow_runs(before: Floats, after: Floats, least: float, accepted: float) -> SlowRuns:
    """Runs of the second group above every run of the first one by `least` and by STANDING_OUT
    standard deviations of it. A difference of means does not show a few of them, as they make the
    second group vary.

    Two chances have to be at most `accepted`. One is that of the column: that all of that many
    runs, drawn from both groups, are in the second one (hypergeometric). The other one is that of
    the family: that any column has as many in another division of the runs, as in chances(). The
    second alone would also tell of groups that only vary differently.
    """
    values = numpy.concatenate([before, after])
    given = numpy.arange(len(values)) >= len(before)
    number, enough = (each[0] for each in _standing_out(given[None, :], values, least))
    known = [(~numpy.isnan(side)).sum(axis=0).tolist() for side in (before, after)]
    columns = zip(number.tolist(), *known, strict=True)
    chances = [math.comb(second, n) / math.comb(first + second, n) for n, first, second in columns]
    certain = enough & (numpy.array(chances) <= accepted)
    if not certain.any():
        return SlowRuns(number, certain)
    largest = []
    for divisions in _divisions(len(before), len(after), values.shape[1]):
        found, is_enough = _standing_out(divisions, values, least)
        largest.append((found * is_enough).max(axis=1))
    ordered = numpy.sort(numpy.concatenate(largest)).astype(float)
    return SlowRuns(number, certain & (_share_above(ordered, number.astype(float)) <= accepted))


def _standing_out(of_second: Choices, values: Floats, least: float) -> tuple[Integers, Choices]:
    """For each choice of the second group and each column: how many of its runs stand out, and
    whether the first group has enough runs to say so.
    """
    first = _moments(~of_second, values)
    limits = numpy.maximum(least, STANDING_OUT * numpy.sqrt(first.error * first.number))
    number = numpy.zeros(first.mean.shape, int)
    for column, of_column in enumerate(values.T):
        rows = numpy.argsort(of_column)[: numpy.count_nonzero(~numpy.isnan(of_column))]
        ordered = of_column[rows]
        # Whatever is above the largest of the first group is of the second one.
        largest = len(rows) - 1 - (~of_second)[:, rows[::-1]].argmax(axis=1)
        limit = ordered[largest] + limits[:, column]
        number[:, column] = len(rows) - numpy.searchsorted(ordered, limit, side="right")
    return number, numpy.broadcast_to(first.number >= FEWEST_BESIDE_SLOW, number.shape)


def _share_above(ordered: Floats, observed: Floats) -> Floats:
    # Sums of the same values in another order differ by rounding.
    least = observed - 1e-9 * (1 + numpy.abs(observed))
    above: Floats = (len(ordered) - numpy.searchsorted(ordered, least)) / len(ordered)
    return above


def _welch(of_second: Choices, values: Floats) -> Floats:
    """The differences of the means in standard errors, for each choice of the second group; 0 where
    a group has fewer than two values.
    """
    first, second = (_moments(choice, values) for choice in (~of_second, of_second))
    least = numpy.minimum(first.number, second.number)
    error = first.error + second.error
    t = (second.mean - first.mean) / numpy.sqrt(error)
    degrees = error**2 / (
        first.error**2 / numpy.maximum(first.number - 1, 1)
        + second.error**2 / numpy.maximum(second.number - 1, 1)
    )
    z = (8 * degrees + 1) / (8 * degrees + 3) * numpy.sqrt(degrees * numpy.log1p(t**2 / degrees))
    return numpy.where(least >= 2, numpy.copysign(z, t), 0.0)


def _moments(choices: Choices | Floats, values: Floats) -> Moments:
    """`choices`: how often each run counts, a row for each choice."""
    times = choices.astype(float)
    known = ~numpy.isnan(values)
    centre = numpy.nanmean(values, axis=0)  # without it, squares would lose their digits
    filled = numpy.where(known, values - centre, 0.0)
    # Without gaps, each choice has one number of runs for all columns.
    number = (
        times.sum(axis=1, keepdims=True) if known.all() else _product(times, known.astype(float))
    )
    mean = _product(times, filled) / numpy.maximum(number, 1)
    squares = _product(times, filled**2) - number * mean**2
    variance = numpy.maximum(squares / numpy.maximum(number - 1, 1), SPREAD**2)
    return Moments(number, mean + centre, variance / numpy.maximum(number, 1))


def _product(left: Floats, right: Floats) -> Floats:
    """The matrix product, a few rows at a time, so that the linear algebra of numpy begins no
    threads. On a busy machine these took four times the processor time, to wait for each other.
    """
    rows = max(1, SMALL_PRODUCT // right.size)
    blocks = [left[start : start + rows] @ right for start in range(0, len(left), rows)]
    return numpy.concatenate(blocks)


def _resampled(count: int, side: int) -> Floats:
    """How often each run is drawn, in each sample of the bootstrap."""
    random = numpy.random.default_rng([SEED, count, side])
    return random.multinomial(count, [1 / count] * count, BOOTSTRAPS).astype(float)


def _divisions(
    first: int, second: int, columns: int, most: int = DIVISIONS, strata: Integers | None = None
) -> Iterator[NDArray[numpy.bool_]]:
    """Which runs are in the second group: all ways, or the given one and others by chance."""
    number = first + second
    every = math.comb(number, second) if strata is None else math.inf
    rows = min(DIVISIONS, max(1, BLOCK // max(columns, number)))
    random = numpy.random.default_rng([SEED, first, second])
    given = numpy.arange(number) >= first
    within = numpy.zeros(number, int) if strata is None else strata
    together = [within == stratum for stratum in numpy.unique(within)]
    ways = itertools.combinations(range(number), second)
    total = int(min(every, most))
    for start in range(0, total, rows):
        block = numpy.zeros((min(rows, total - start), number), bool)
        if every <= most:
            for row, way in zip(block, ways, strict=False):
                row[list(way)] = True
        else:
            block[:] = given
            by_chance = block[1 if start == 0 else 0 :]
            for stratum in together:
                by_chance[:, stratum] = random.permuted(by_chance[:, stratum], axis=1)
        yield block


def _blocks(columns: int, rows: int) -> Iterator[slice]:
    width = max(1, BLOCK // rows)
    return (slice(start, start + width) for start in range(0, columns, width))

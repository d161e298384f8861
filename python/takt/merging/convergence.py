"""How the largest execution times of callbacks grew from run to run."""

from __future__ import annotations

import functools
import math
import random
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

from takt.documents import Model
from takt.merging.provenance import Provenance

LEAST_RUNS = 5
"""An extreme-value distribution is fitted to the maxima of at least so many runs."""
FITS = 1000
"""The number of samples by which the uncertainty of the fit is estimated."""
EULER = 0.5772156649015329


def report(models: Sequence[Model], runs: Sequence[Provenance]) -> dict[str, Any]:
    """How the largest execution time of each callback grew from run to run.

    `longest`: the largest of each run. `maxima`: the largest so far, run by run.
    `runs_since_growth`: runs after the last that raised it. `next_exceeds`: the probability that
    another run has a larger one, if runs are exchangeable: 1 / (n + 1). `gumbel_next_exceeds`: the
    same by an extreme-value distribution fitted to the maxima of the runs, with a 95 % interval
    (`gumbel_interval`); null for fewer than 5 runs. For information: none of it enters a bound.
    """
    found: dict[str, Any] = {}
    longest_of: dict[str, list[int]] = {}
    for model, run in zip(models, runs, strict=True):
        for callback in model.callbacks:
            merged = run.convergence.get(callback.id)
            alone = callback.execution_time.curve[:1] or (0,)
            longest_of.setdefault(callback.id, []).extend(merged.longest if merged else alone)
    for id_, longest in longest_of.items():
        maxima = [max(longest[: i + 1]) for i in range(len(longest))]
        fitted = gumbel_exceedance(longest)
        found[id_] = {
            "runs": len(longest),
            "longest": longest,
            "maxima": maxima,
            "runs_since_growth": len(maxima) - 1 - maxima.index(maxima[-1]),
            "next_exceeds": 1 / (len(longest) + 1),
            "gumbel_next_exceeds": fitted and fitted.probability,
            "gumbel_interval": fitted and list(fitted.interval),
        }
    return found


class Exceedance(NamedTuple):
    """How probable it is that the next run has a larger maximum than all before."""

    probability: float
    interval: tuple[float, float]


def gumbel_exceedance(maxima: Sequence[int]) -> Exceedance | None:
    """The exceedance by a Gumbel distribution that is fitted to the maxima of the runs, by its
    moments. None for fewer than 5 runs.

    The fit is uncertain itself, and with few runs it looks too certain. Fits to samples of the
    standard distribution tell how far it may be off; location and scale do not matter, so this
    holds for every distribution of the family. The probability is the mean over these fits, and the
    interval holds 95 % of them.
    """
    n = len(maxima)
    if n < LEAST_RUNS:
        return None
    location, scale = _gumbel(maxima)
    if scale == 0:
        return Exceedance(1 / (n + 1), (0.0, 1.0))  # always the same: nothing can be fitted
    z = (max(maxima) - location) / scale
    exceeds = sorted(-math.expm1(-math.exp(-(mu + beta * z))) for mu, beta in _fits(n))
    low, high = (exceeds[round(q * (len(exceeds) - 1))] for q in (0.025, 0.975))
    return Exceedance(statistics.fmean(exceeds), (low, high))


def _gumbel(values: Sequence[float]) -> tuple[float, float]:
    scale = statistics.stdev(values) * math.sqrt(6) / math.pi
    return statistics.fmean(values) - EULER * scale, scale


@functools.cache
def _fits(n: int) -> list[tuple[float, float]]:
    """Location and scale that the fit finds for samples of n values from location 0 and scale 1."""
    draws = random.Random(n)
    # 1 - u is never 0.
    samples = (
        [-math.log(-math.log1p(-draws.random()) or 5e-324) for _ in range(n)] for _ in range(FITS)
    )
    return [_gumbel(sample) for sample in samples]

"""Stark 2022, 6.5: execution times that grow old, on four workloads. See README.md."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from typing import NamedTuple

import takt_native
from takt.experiments import Row, Rows

INSTANCES = 12_000
"""Every 10 ms for 120 s."""
MS = 1e6
SEEDS = range(5)
"""Seeds of the noise in the workloads; each figure is the median over all of them."""

Workload = Callable[[float, random.Random], float]


class Aging(NamedTuple):
    """T in instances, the weight, the threshold and the margin as shares."""

    period: int
    weight: float
    threshold: float = 0.9
    margin: float = 0.0


NEVER = Aging(200, 0.0)


class Figures(NamedTuple):
    over: float
    """By how much instances are overestimated on average, in ms."""
    errors: float
    """How many instances took longer than predicted."""


def spiking(seconds: float, source: random.Random) -> float:
    """Twice the time from 1.8 to 2.1 s, with the jitter of busy waiting."""
    return (2.0 if 1.8 <= seconds < 2.1 else 1.0) * (1 + 0.01 * source.random())


def fluctuating(_: float, source: random.Random) -> float:
    return source.gauss(1, 1)


def rapid(seconds: float, source: random.Random) -> float:
    return 3 + 3 * math.sin(2 * math.pi * 0.1 * seconds) + source.gauss(0, 1)


def slow(seconds: float, source: random.Random) -> float:
    return 3 + 3 * math.sin(2 * math.pi * 0.05 * seconds) + source.gauss(0, 1)


def run() -> Rows:
    return [*_spiking(), *_fluctuating(), *_rapid(), *_slow()]


def _spiking() -> Rows:
    never, ages = figures(spiking, NEVER), figures(spiking, Aging(200, 0.8))
    light, heavy = figures(spiking, Aging(300, 0.2)), figures(spiking, Aging(700, 0.6))
    return [
        Row("spiking: overestimation without aging", 1, never.over, "ms"),
        Row("spiking: α = 0.8, T = 200: change of it", -80, change(never, ages), "%"),
        Row("spiking: … errors more", 0, ages.errors - never.errors),
        Row("spiking: α = 0.2, T = 300: change", "as the next", change(never, light), "%"),
        Row("spiking: α = 0.6, T = 700: change", "as the last", change(never, heavy), "%"),
    ]


def _fluctuating() -> Rows:
    never = figures(fluctuating, NEVER)
    often, seldom = (figures(fluctuating, Aging(period, 0.4)) for period in (200, 600))
    margin = figures(fluctuating, Aging(200, 0.2, margin=0.05))
    reluctant = figures(fluctuating, Aging(200, 0.4, threshold=0.75))
    return [
        Row("fluctuating: overestimation without aging", 3, never.over, "ms"),
        Row("fluctuating: errors without aging", None, never.errors),
        Row("fluctuating: α = 0.4, T = 200: errors", "more", often.errors),
        Row("fluctuating: α = 0.4, T = 600: errors", "about as without", seldom.errors),
        Row("fluctuating: α = 0.4, T = 200, G = 75 %: errors", "as T = 600", reluctant.errors),
        Row("fluctuating: α = 0.2, T = 200, S = 5 %: errors", "as without", margin.errors),
        Row("fluctuating: … overestimation", "as without", margin.over, "ms"),
    ]


def _rapid() -> Rows:
    never, often = figures(rapid, NEVER), figures(rapid, Aging(175, 0.4))
    same, ages = figures(rapid, Aging(600, 0.4)), figures(rapid, Aging(175, 0.2, margin=0.05))
    return [
        Row("rapid: errors without aging", "about 50", never.errors),
        Row("rapid: α = 0.4, T = 175: errors", "hundreds", often.errors),
        Row("rapid: α = 0.4, T = 600: errors", "as without", same.errors),
        Row("rapid: α = 0.2, T = 175, S = 5 %: errors", "< 10", ages.errors),
        Row("rapid: … change of the overestimation", -6, change(never, ages), "%"),
    ]


def _slow() -> Rows:
    never, bare = figures(slow, NEVER), figures(slow, Aging(175, 0.2))
    ages, short = (figures(slow, Aging(period, 0.2, margin=0.05)) for period in (175, 600))
    return [
        Row("slow: errors without aging", None, never.errors),
        Row("slow: α = 0.2, T = 175: errors", "≥ 250", bare.errors),
        Row("slow: α = 0.2, T = 175, S = 5 %: errors", 0, ages.errors),
        Row("slow: … change of the overestimation", -18, change(never, ages), "%"),
        Row("slow: α = 0.2, T = 600, S = 5 %: errors", "fewer than without", short.errors),
        Row("slow: … change of the overestimation", "less than 0", change(never, short), "%"),
    ]


def figures(workload: Workload, aging: Aging) -> Figures:
    """Medians over the seeds."""
    found = [_figures(workload, aging, seed) for seed in SEEDS]
    return Figures(
        statistics.median(one.over for one in found), statistics.median(one.errors for one in found)
    )


def _figures(workload: Workload, aging: Aging, seed: int) -> Figures:
    source = random.Random(seed)
    costs = [round(max(workload(0.01 * i, source), 0) * MS) for i in range(INSTANCES)]
    said = takt_native.predict_costs(costs, *aging)
    over = statistics.fmean(max(s - cost, 0) for s, cost in zip(said, costs, strict=True)) / MS
    return Figures(over, sum(cost > s for s, cost in zip(said, costs, strict=True)))


def change(before: Figures, after: Figures) -> float:
    return 100 * (after.over / before.over - 1)

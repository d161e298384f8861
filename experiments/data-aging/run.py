"""Stark 2022, 6.5: execution times that grow old, on four workloads. See README.md."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from typing import NamedTuple

import takt_native
from takt.trials.experiments import Row, Rows

INSTANCES = 12_000
"""Every 10 ms for 120 s."""
MS = 1e6
LARGEST_NOISE = 1.2
"""In ms. The document says "Gaussian with a standard deviation of 1 ms" for the oscillations. An
overestimation of 4.17 ms without aging, as its figures imply (0.25 ms are 6 %, 0.75 ms 18 %), means
that no instance took more than 1.2 ms above the sine's peak, where 12 000 normal values would reach
about 3 ms. So its noise was limited, by what is not said.
"""
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


def cut(source: random.Random) -> float:
    """Normal noise of 1 ms, cut off beyond LARGEST_NOISE, which the printed figures fit."""
    return min(max(source.gauss(0, 1), -LARGEST_NOISE), LARGEST_NOISE)


def oscillating(frequency: float, noise: Callable[[random.Random], float]) -> Workload:
    return lambda seconds, source: (
        3 + 3 * math.sin(2 * math.pi * frequency * seconds) + noise(source)
    )


def normal(source: random.Random) -> float:
    return source.gauss(0, 1)


NOISES = {"noise cut at 1.2 ms": cut, "normal noise": normal}


def run(full: bool = False) -> Rows:
    rows = [*_spiking(), *_fluctuating()]
    for name, noise in NOISES.items():
        rows += [*_rapid(f"rapid, {name}", noise), *_slow(f"slow, {name}", noise)]
        rows += _thresholds(f"slow, {name}", noise)
    return rows + _sweeps() if full else rows


def _spiking() -> Rows:
    never, ages = figures(spiking, NEVER), figures(spiking, Aging(200, 0.8))
    light, heavy = figures(spiking, Aging(300, 0.2)), figures(spiking, Aging(700, 0.6))
    place = "section 6.5.1, with Figure 6.15"
    return [
        Row("spiking: overestimation without aging", 1, never.over, "ms", place),
        Row("spiking: α = 0.8, T = 200: change of it", -80, change(never, ages), "%", place),
        Row("spiking: … errors more", 0, ages.errors - never.errors, place=place),
        Row(
            "spiking: α = 0.2, T = 300: change",
            "as the next",
            change(never, light),
            "%",
            place,
            meaning=change(never, heavy),
        ),
        Row(
            "spiking: α = 0.6, T = 700: change",
            "as the last",
            change(never, heavy),
            "%",
            place,
            meaning=change(never, light),
        ),
    ]


def _fluctuating() -> Rows:
    never = figures(fluctuating, NEVER)
    often, seldom = (figures(fluctuating, Aging(period, 0.4)) for period in (200, 600))
    margin = figures(fluctuating, Aging(200, 0.2, margin=0.05))
    wide = figures(fluctuating, Aging(200, 0.4, margin=0.15))
    reluctant, slower = (
        figures(fluctuating, Aging(period, 0.4, threshold=0.75)) for period in (200, 300)
    )
    plateau = [figures(fluctuating, Aging(500, 0.4, margin=share)) for share in (0.005, 0.045)]
    place = "section 6.5.2, with Figure {}"
    alone, margins, thresholds = (place.format(number) for number in ("6.16", "6.17", "6.18"))
    rows = (
        ("overestimation without aging", "close to 3", never.over, alone, None),
        ("α = 0.4, T = 200: errors", "more", often.errors, alone, f"> {never.errors:g}"),
        ("α = 0.4, T = 600: errors", "about as without", seldom.errors, alone, never.errors),
        ("α = 0.2, T = 200, S = 5 %: errors", "as without", margin.errors, alone, never.errors),
        ("… overestimation", "as without", margin.over, alone, never.over),
        ("α = 0.4, T = 200, S = 15 %: errors", "as without", wide.errors, margins, never.errors),
        (
            "α = 0.4, T = 500, S from 0.5 to 4.5 %: errors",
            "not reduced at all",
            plateau[1].errors,
            margins,
            plateau[0].errors,
        ),
        *(
            (
                f"α = 0.4, T = {period}, G = 75 %: errors",
                "as T = 600",
                found.errors,
                thresholds,
                seldom.errors,
            )
            for period, found in ((200, reluctant), (300, slower))
        ),
    )
    return [
        Row("fluctuating: errors without aging", None, never.errors),
        *(
            Row(f"fluctuating: {what}", said, ours, place=where, meaning=meaning)
            for what, said, ours, where, meaning in rows
        ),
    ]


def _rapid(what: str, noise: Callable[[random.Random], float]) -> Rows:
    rapid = oscillating(0.1, noise)
    never, often = figures(rapid, NEVER), figures(rapid, Aging(175, 0.4))
    same, ages = figures(rapid, Aging(600, 0.4)), figures(rapid, Aging(175, 0.2, margin=0.05))
    bare, margin = (f"section 6.5.3, with Figure {number}" for number in ("6.19", "6.20"))
    return [
        Row(f"{what}: overestimation without aging", None, never.over, "ms", expected=4.17),
        Row(f"{what}: errors without aging", "about 50", never.errors, place=bare),
        Row(
            f"{what}: α = 0.4, T = 175: errors",
            "hundreds",
            often.errors,
            place=bare,
            meaning="100 to 999",
        ),
        Row(
            f"{what}: α = 0.4, T = 600: errors",
            "as without",
            same.errors,
            place=bare,
            meaning=never.errors,
        ),
        Row(f"{what}: α = 0.2, T = 175, S = 5 %: errors", "< 10", ages.errors, place=margin),
        Row(f"{what}: … change of the overestimation", -6, change(never, ages), "%", margin),
    ]


def _slow(what: str, noise: Callable[[random.Random], float]) -> Rows:
    slow = oscillating(0.05, noise)
    never, bare = figures(slow, NEVER), figures(slow, Aging(175, 0.2))
    ages, short = (figures(slow, Aging(period, 0.2, margin=0.05)) for period in (175, 600))
    place, sensitive = (f"section 6.5.3, with Figure {number}" for number in ("6.20", "6.21"))
    fewer, less = "fewer than without", "less than 0"
    return [
        Row(f"{what}: overestimation without aging", None, never.over, "ms", expected=4.17),
        Row(f"{what}: errors without aging", None, never.errors),
        Row(f"{what}: α = 0.2, T = 175: errors", "≥ 250", bare.errors, place=sensitive),
        Row(f"{what}: α = 0.2, T = 175, S = 5 %: errors", 0, ages.errors, place=place),
        Row(f"{what}: … change of the overestimation", -18, change(never, ages), "%", place),
        Row(
            f"{what}: α = 0.2, T = 600, S = 5 %: errors",
            fewer,
            short.errors,
            place=place,
            meaning=f"< {never.errors:g}",
        ),
        Row(
            f"{what}: … change of the overestimation",
            less,
            change(never, short),
            "%",
            place,
            meaning="< 0",
        ),
    ]


def _thresholds(what: str, noise: Callable[[random.Random], float]) -> Rows:
    """Figure 6.22: α = 0.2, S = 5 %. "Longer merging periods" are T = 175 here."""
    slow = oscillating(0.05, noise)
    found = {
        (period, threshold): figures(slow, Aging(period, 0.2, threshold, 0.05))
        for period, thresholds in ((125, (0.6, 0.9)), (150, (0.6, 0.8)), (175, (0.8,)))
        for threshold in thresholds
    }
    place = "section 6.5.3, with Figure 6.22"
    longer, here = found[175, 0.8], found[150, 0.8]
    rows = [
        ("T = 150, G = 80 %: errors", "as longer periods", here.errors, longer.errors),
        ("… overestimation", "lower", here.over, f"< {longer.over:.4f}"),
    ]
    for period, high in ((150, 0.8), (125, 0.9)):
        before, after = found[period, high], found[period, 0.6]
        change_of = f"T = {period}, G from {100 * high:g} to 60 %"
        rows += [
            (f"{change_of}: errors", "no gain", after.errors, before.errors),
            (f"{change_of}: overestimation", "increased", after.over, f"> {before.over:.4f}"),
        ]
    return [
        Row(f"{what}: S = 5 %, {name}", said, ours, place=place, meaning=meaning)
        for name, said, ours, meaning in rows
    ]


WEIGHTS, PERIODS = (0.2, 0.4, 0.6, 0.8, 1.0), (100, 175, 200, 300, 400, 500, 600, 700)
MARGINS, THRESHOLDS = (0.0, 0.01, 0.025, 0.05, 0.1, 0.15), (0.6, 0.7, 0.75, 0.8, 0.9, 0.95)


def _sweeps() -> Rows:
    """Overestimation in ms and errors over α and T, over S and over G, as in Figures 6.15 to 6.21,
    which are plots.
    """
    workloads: dict[str, Workload] = {
        "spiking": spiking,
        "fluctuating": fluctuating,
        "rapid": oscillating(0.1, cut),
        "slow": oscillating(0.05, cut),
    }
    rows: Rows = []
    for name, workload in workloads.items():
        for period in PERIODS:
            for weight in WEIGHTS:
                for margin in (0.0, 0.05):
                    aging = Aging(period, weight, margin=margin)
                    what = f"sweep, {name}: α = {weight}, T = {period}, S = {100 * margin:g} %"
                    rows.append(_swept(what, workload, aging))
        for margin in MARGINS:
            what = f"sweep, {name}: S = {100 * margin:g} %, α = 0.2, T = 175"
            rows.append(_swept(what, workload, Aging(175, 0.2, margin=margin)))
        for threshold in THRESHOLDS:
            what = f"sweep, {name}: G = {100 * threshold:g} %, α = 0.4, T = 200"
            rows.append(_swept(what, workload, Aging(200, 0.4, threshold=threshold)))
    return rows


def _swept(what: str, workload: Workload, aging: Aging) -> Row:
    found = figures(workload, aging)
    return Row(what, None, f"{found.over:.2f} ms, {found.errors:g} errors")


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

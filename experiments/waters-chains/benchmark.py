"""Task sets and chains after the WATERS benchmark: S. Kramer, D. Ziegenbein, A. Hamann, "Real World
Automotive Benchmarks For Free", WATERS 2015. Tables III (periods and their shares), IV (mean
execution times) and V (factors of the longest), and section III-C (chains).
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Runnables:
    """What the benchmark says of runnables of a period; times in µs."""

    share: float
    least: float
    mean: float
    most: float
    """Of mean execution times."""
    factors: tuple[float, float]
    """The longest execution time is so many times the mean one."""


PERIODS = {
    1: Runnables(3, 0.34, 5.00, 30.11, (1.30, 29.11)),
    2: Runnables(2, 0.32, 4.20, 40.69, (1.54, 19.04)),
    5: Runnables(2, 0.36, 11.04, 83.38, (1.13, 18.44)),
    10: Runnables(25, 0.21, 10.09, 309.87, (1.06, 30.03)),
    20: Runnables(25, 0.25, 8.74, 291.42, (1.06, 15.61)),
    50: Runnables(3, 0.29, 17.56, 92.98, (1.13, 7.76)),
    100: Runnables(20, 0.21, 10.53, 420.43, (1.02, 8.88)),
    200: Runnables(1, 0.22, 2.56, 21.95, (1.03, 4.90)),
    1000: Runnables(4, 0.37, 0.43, 0.46, (1.84, 4.75)),
}
"""By period in ms. The remaining 15 % run with the engine's angle and are left out."""

PATTERNS = {1: 0.7, 2: 0.2, 3: 0.1}
"""How many periods a chain has."""
PER_PATTERN = {2: 0.3, 3: 0.4, 4: 0.2, 5: 0.1}
"""How many tasks of each of its periods."""

ACCURACY = 0.01
"""Of the utilisation."""


@dataclass(frozen=True)
class Task:
    """Times in ns."""

    longest: int
    period: int


def task_set(numbers: random.Random, load: float, fewest: int, most: int) -> list[Task]:
    """Runnables until they load a processor so much, from `fewest` to `most` of them."""
    while True:
        found: list[Task] = []
        used = 0.0
        while used < load:
            period = numbers.choices(
                list(PERIODS), weights=[one.share for one in PERIODS.values()]
            )[0]
            task = Task(_longest(numbers, PERIODS[period]), period * 1_000_000)
            share = task.longest / task.period
            if used + share <= load + ACCURACY:
                found.append(task)
                used += share
        if fewest <= len(found) <= most:
            return found


def _longest(numbers: random.Random, of: Runnables) -> int:
    """The mean ones are exponential between their limits: the benchmark prints least, mean and
    most, and Weibull distributions with a shape of nearly 1 have been fitted to them.
    """
    if of.most - of.least < of.mean:  # of 1000 ms: hardly any range
        mean = numbers.uniform(of.least, of.most)
    else:
        mean = 0.0
        while not of.least <= mean <= of.most:
            mean = numbers.expovariate(1 / of.mean)
    return round(1000 * mean * numbers.uniform(*of.factors))


def chain(numbers: random.Random, tasks: list[Task]) -> list[int] | None:
    """Numbers of tasks; None: there are too few of the periods that were drawn."""
    periods = sorted({task.period for task in tasks})
    wanted = _drawn(numbers, PATTERNS)
    if len(periods) < wanted:
        return None
    found: list[int] = []
    for period in numbers.sample(periods, wanted):
        those = [number for number, task in enumerate(tasks) if task.period == period]
        count = _drawn(numbers, PER_PATTERN)
        if len(those) < count:
            return None
        found += numbers.sample(those, count)
    numbers.shuffle(found)
    return found


def _drawn(numbers: random.Random, shares: dict[int, float]) -> int:
    return numbers.choices(list(shares), weights=list(shares.values()))[0]

"""Bounds of chains of the WATERS benchmark, default executor against rate-monotonic: Figure 3.5 of
the component-cps document. See README.md.
"""

from __future__ import annotations

import json
import random
from typing import Any

import takt_native
from takt.text import console
from takt.trials.experiments import Row, Rows, drawn

from . import benchmark

Json = dict[str, Any]

LOADS = (0.6, 0.8, 0.9)
SETS, FULL_SETS = 60, 1000
"""For each load."""
FEWEST, MOST = 10, 200
FEWEST_CHAINS, MOST_CHAINS = 5, 60
SEED = 35
KINDS = {"default": "single_threaded", "by rate": "fixed_priority"}
PLACE = "section 3.1.7, with Figure 3.5"


def run(full: bool = False) -> Rows:
    sets = FULL_SETS if full else SETS
    rows: Rows = []
    gains: dict[float, list[float]] = {}
    with console.progress("Bounding chains of random sets") as progress:
        for number, load in enumerate(LOADS):
            numbers = random.Random(SEED + number)
            gains[load] = []
            unbounded = tasks = 0
            for done in range(sets):
                if progress:
                    progress(number * sets + done, len(LOADS) * sets)
                found, without, size = _reductions(numbers, load)
                gains[load] += found
                unbounded, tasks = unbounded + without, tasks + size
            rows += _of_load(load, gains[load], unbounded, tasks / sets)
    every = [gain for found in gains.values() for gain in found]
    worse = [_share_worse(gains[load]) for load in LOADS]
    more = all(worse[n] < worse[n + 1] for n in range(len(worse) - 1))
    return [
        *rows,
        Row("largest reduction", "almost 90 %", 100 * max(every), "%", PLACE),
        Row(
            "chains with a lower bound by rate",
            "the majority",
            100 - _share_worse(every),
            "%",
            PLACE,
            meaning="> 50",
        ),
        Row(
            "chains with a higher bound by rate, from 60 to 80 to 90 %",
            "increases",
            "increases" if more else "does not increase",
            place=PLACE,
        ),
    ]


def _of_load(load: float, gains: list[float], unbounded: int, size: float) -> Rows:
    name = f"{100 * load:.0f} %"
    ordered = sorted(gains)
    return [
        Row(
            f"{name}: reduction, median of {len(gains)} chains",
            None,
            100 * ordered[len(ordered) // 2],
            "%",
            figure="Figure 3.5",
            samples=drawn(100 * gain for gain in gains),
        ),
        Row(f"{name}: chains with a higher bound by rate", None, _share_worse(gains), "%"),
        Row(f"{name}: chains without a bound under one of them", None, float(unbounded)),
        Row(f"{name}: tasks of a set, mean", None, size),
    ]


def _share_worse(gains: list[float]) -> float:
    return 100 * sum(gain < 0 for gain in gains) / max(len(gains), 1)


def _reductions(numbers: random.Random, load: float) -> tuple[list[float], int, int]:
    """(default - by rate) / default of a random set's chains, how many have no bound, and the size
    of the set.
    """
    tasks = benchmark.task_set(numbers, load, FEWEST, MOST)
    bounds = {name: _responses(tasks, kind) for name, kind in KINDS.items()}
    found: list[float] = []
    unbounded = 0
    for _ in range(numbers.randint(FEWEST_CHAINS, MOST_CHAINS)):
        chain = benchmark.chain(numbers, tasks)
        if chain is None:
            continue
        latencies = [_latency(tasks, chain, bounds[name]) for name in KINDS]
        default, by_rate = latencies
        if default is None or by_rate is None:
            unbounded += 1
        else:
            found.append((default - by_rate) / default)
    return found, unbounded, len(tasks)


def _latency(
    tasks: list[benchmark.Task], chain: list[int], responses: list[int | None]
) -> int | None:
    """Equation 3.3: the sum of periods and response times."""
    total = 0
    for number in chain:
        response = responses[number]
        if response is None:
            return None
        total += tasks[number].period + response
    return total


def _responses(tasks: list[benchmark.Task], kind: str) -> list[int | None]:
    """A bound on the response time of each task on one executor; None: there is none."""
    model = {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": "e", "kind": kind, "order": "registered"}],
        "callbacks": [
            {
                "id": str(number),
                "executor": "e",
                "kind": "timer",
                "registration": number,
                "execution_time": {"curve": [task.longest]},
                "activation": {"kind": "periodic", "period": task.period},
            }
            for number, task in enumerate(tasks)
        ],
    }
    bounds = json.loads(takt_native.analyze(json.dumps(model), "model", "combined"))
    found = {one["id"]: one["bound"] for one in bounds["callbacks"]}
    return [found[str(number)] for number in range(len(tasks))]

"""The latencies of a chain, from a trace or from a simulation, and their statistics."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from takt import documents
from takt.documents import LatencyStatistics, Model
from takt.errors import UserError
from takt.shaping import gates, supplies
from takt.text import console

Json = dict[str, Any]

BINS = 60
"""Bins of the histogram in a plan."""


def measured(traces: Sequence[str], model_text: str, source: str) -> dict[str, list[int]]:
    """The latencies of each chain of the model, in ns, in the order in which they came."""
    import takt_design

    with console.progress("Measuring the chains") as progress:
        return takt_design.measured_latencies(list(traces), model_text, source, progress)


def simulated(
    model: Model, source: str, cycles: int, period: int, seed: int, options: Json | None = None
) -> dict[str, list[int]]:
    """The latencies of each chain for so many periods, with random execution times and all sources
    in phase, as a table of slots has them. Reservations place their budgets at random.
    """
    import takt_design

    wanted = {"execution": "random", **(options or {})}
    if supplies.vary(model):
        wanted.setdefault("reservation", "random")
    wanted |= {"seed": seed, "duration": period * cycles}
    wanted["execution_times"] = gates.publish_times(model) | wanted.get("execution_times", {})
    with console.progress("Simulating the chains") as progress:
        return takt_design.simulated_latencies(
            documents.to_json(model), source, json.dumps(wanted), progress
        )


def of_chain(latencies: dict[str, list[int]], chain: str) -> list[int]:
    """The latencies of a chain. UserError if it was never seen complete."""
    if not latencies.get(chain):
        raise UserError(f'chain "{chain}" was never seen complete: there is no latency to shape')
    return latencies[chain]


def statistics(latencies: Sequence[int]) -> LatencyStatistics:
    if not latencies:
        return LatencyStatistics(
            count=0, min=None, mean=None, p50=None, p99=None, p999=None, max=None, jitter=None
        )
    ordered = sorted(latencies)

    def quantile(share: float) -> int:
        return ordered[max(math.ceil(share * len(ordered)), 1) - 1]

    return LatencyStatistics(
        count=len(ordered),
        min=ordered[0],
        mean=sum(ordered) / len(ordered),
        p50=quantile(0.5),
        p99=quantile(0.99),
        p999=quantile(0.999),
        max=ordered[-1],
        jitter=(ordered[-1] - ordered[0]) // 2,
    )


def histogram(latencies: Sequence[int]) -> tuple[int, ...]:
    """Counts in bins of equal width from the shortest to the longest."""
    low, high = min(latencies), max(latencies)
    counts = [0] * BINS
    for latency in latencies:
        counts[min(BINS * (latency - low) // max(high - low, 1), BINS - 1)] += 1
    return tuple(counts)

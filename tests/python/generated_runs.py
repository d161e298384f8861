"""Generated runs of a small robot, as summaries.

Each part of a run is its nominal time by a factor of the run, which varies by SPREAD, and by a
factor of the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy

from takt.documents.types import Summary
from takt.histogram import LOG_GROWTH

Json = dict[str, Any]

MILLISECOND = 1_000_000
SPREAD = 0.1
"""Of the runs."""
MESSAGES = 100
CALLBACKS = ("/camera", "/detector", "/planner", "/motor")
CHAIN = "/camera->/motor"
PATH = " -> ".join(CALLBACKS)


def durations(values: Any) -> Json:
    """As Histogram.of(values).json(), for arrays of values above 0."""
    buckets, counts = numpy.unique(numpy.ceil(numpy.log(values) / LOG_GROWTH), return_counts=True)
    return {
        "zeros": 0,
        "total": int(values.sum()),
        "max": int(values.max()),
        "buckets": buckets.astype(int).tolist(),
        "counts": counts.tolist(),
    }


def a_run(
    random: numpy.random.Generator,
    grown: Mapping[tuple[str, str], float] | None = None,
    *,
    blocker: int = 0,
    lost: bool = False,
    callbacks: tuple[str, ...] = CALLBACKS,
    executor: str = "e",
) -> Json:
    """The summary of a run. `grown`: factors of parts; `blocker`: how long, in ns, /planner waits
    behind /map_saver; `lost`: nothing reaches the last callback.
    """
    last = callbacks[-1]

    def part(callback: str, kind: str, nominal: float) -> Any:
        of_run = nominal * (grown or {}).get((callback, kind), 1) * random.lognormal(0, SPREAD)
        return of_run * random.lognormal(0, 0.05, MESSAGES)

    kinds = {"running": 4 * MILLISECOND, "executor": MILLISECOND, "transport": MILLISECOND // 2}
    times = {
        (callback, kind): part(callback, kind, nominal)
        for callback in callbacks
        for kind, nominal in kinds.items()
        if (callback, kind) != (callbacks[0], "transport")
    }
    waits = blocker * random.lognormal(0, SPREAD, MESSAGES)
    if blocker:
        times["/planner", "executor"] += waits
    times = {key: values.astype(int) for key, values in times.items()}
    chain = {
        "id": CHAIN,
        "callbacks": [*callbacks],
        "latency": durations(sum(times.values())),
        "incomplete": 0,
        "parts": [
            {
                "step": callbacks.index(callback),
                "callback": callback,
                "kind": kind,
                "duration": durations(values),
                "behind": {"/map_saver": int(waits.astype(int).sum())}
                if blocker and (callback, kind) == ("/planner", "executor")
                else {},
            }
            for (callback, kind), values in times.items()
        ],
    }
    ran = {callback: times[callback, "running"] for callback in callbacks}
    if blocker:
        ran["/map_saver"] = waits.astype(int)
    return {
        "format": "takt/summary",
        "version": 1,
        "relative_error": 0.01,
        "labels": {},
        "duration": 1000 * MILLISECOND,
        "events": 1,
        "losses": {},
        "chains": [] if lost else [chain],
        "callbacks": [
            {"id": name, "name": name, "node": name, "kind": "timer", "duration": durations(values)}
            for name, values in ran.items()
        ],
        "executors": [
            {
                "id": f"{executor}{number}",
                "kind": "single_threaded",
                "threads": 1,
                "nodes": [name],
                "callbacks": [name],
                "busy": int(times[name, "running"].sum()),
            }
            for number, name in enumerate(callbacks)
        ],
        "links": [
            {
                "topic": f"/to{name}",
                "to": name,
                "latency": durations(times[name, "transport"]),
                "topic_deliveries": MESSAGES,
                "topic_lost": 0,
            }
            for name in callbacks[1:]
            if not (lost and name == last)
        ],
        "bounds": {"analysis": "combined", "callbacks": [], "chains": []},
    }


def runs(number: int, random: numpy.random.Generator, **planted: Any) -> list[Summary]:
    return [Summary.read(a_run(random, **planted)) for _ in range(number)]

"""The chains of performance-engineering 4 as models, and their simulation."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import takt_design

Json = dict[str, Any]

MS = 1_000_000
PERIOD = 100 * MS


def chain_model(
    times: list[float], *, period: int = PERIOD, slots: list[tuple[float, float]] | None = None
) -> Json:
    """A timer and subscriptions, one executor each on the same core, with these longest execution
    times (ms); `slots` (ms): the table of each executor. Its output is /out.
    """
    ids = [f"cb{i + 1}" for i in range(len(times))]
    executors: list[Json] = [{"id": f"e{i + 1}"} for i in range(len(times))]
    for executor, (start, end) in zip(executors, slots or [], strict=False):
        table = [{"start": round(start * MS), "end": round(end * MS)}]
        executor["supply"] = {"kind": "slots", "cycle": period, "slots": table}
    callbacks = [
        {
            "id": one,
            "node": f"/{one}",
            "executor": f"e{i + 1}",
            "kind": "subscription" if i else "timer",
            "topic": f"/t{i}" if i else None,
            "registration": 0,
            "execution_time": {"curve": [round(times[i] * MS)]},
            "activation": None if i else {"kind": "periodic", "period": period, "jitter": 0},
        }
        for i, one in enumerate(ids)
    ]
    sink = {
        "id": "sink",
        "node": "/sink",
        "executor": "sink",
        "kind": "subscription",
        "topic": "/out",
        "registration": 0,
        "execution_time": {"curve": [1]},
        "activation": None,
    }
    edges = [
        {"from": a, "to": b, "topic": f"/t{i + 1}", "delay": 0}
        for i, (a, b) in enumerate(pairwise(ids))
    ]
    edges.append({"from": ids[-1], "to": "sink", "topic": "/out", "delay": 0})
    return {
        "format": "takt/model",
        "version": 1,
        "name": "synthetic",
        "executors": [*executors, {"id": "sink"}],
        "callbacks": [*callbacks, sink],
        "edges": edges,
        "chains": [{"id": "chain", "callbacks": ids}],
    }


def with_interference(model: Json, period: int = 10 * MS, longest: int = 2 * MS) -> Json:
    """The same with a timer that takes processor time in every period."""
    interferer = {
        "id": "interferer",
        "node": "/interferer",
        "executor": "interference",
        "kind": "timer",
        "registration": 0,
        "execution_time": {"curve": [longest]},
        "activation": {"kind": "periodic", "period": period, "jitter": 0},
    }
    return model | {
        "executors": [*model["executors"], {"id": "interference"}],
        "callbacks": [*model["callbacks"], interferer],
    }


def by_priority(model: Json, urgent: set[str] = frozenset()) -> Json:  # type: ignore[assignment]
    """Options: all executors on one core under SCHED_FIFO; interference below the chain, `urgent`
    executors above it.
    """
    threads = {
        executor["id"]: {
            "policy": "fifo",
            "cpu": 0,
            "priority": 90
            if executor["id"] in urgent
            else 10
            if executor["id"] == "interference"
            else 50,
        }
        for executor in model["executors"]
    }
    return {"cores": 1, "threads": threads}


def latencies(model: Json, options: Json | None = None, *, cycles: int = 500) -> list[float]:
    """The latencies of the chain in ms. Execution times are random, from a third of the longest."""
    wanted = {"execution": "random", "shortest": 1 / 3, "duration": cycles * PERIOD, "seed": 1}
    text = json.dumps(wanted | (options or {}))
    found = takt_design.simulated_latencies(json.dumps(model), "model", text)
    return [latency / MS for latency in found["chain"]]


def jitter(values: list[float]) -> float:
    return (max(values) - min(values)) / 2

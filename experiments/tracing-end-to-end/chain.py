"""A chain of C++ nodes that compute, each in a process of its own (`takt run`); prints how long
each message took from the source to the sink, as JSON.

chain.py COUNT    messages of the source
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from typing import Any

from takt.trials import node_runs

Json = dict[str, Any]

MS = 1_000_000
WORK = (60, 80, 70, 50)
"""Milliseconds that the nodes between source and sink compute."""
PERIOD = 250 * MS
"""Of the source: at the document's 100 ms, the nodes would need 2.6 processors."""
LEAST = 1
QUEUE = 10


def model() -> Json:
    names = ["source", *(f"stage{number}" for number in range(len(WORK))), "sink"]
    times = [LEAST, *(work * MS for work in WORK), LEAST]
    callbacks: list[Json] = [
        {
            "id": name,
            "node": f"/{name}",
            "executor": name,
            "kind": "subscription",
            "topic": f"/to_{name}",
            "queue_depth": QUEUE,
            "execution_time": {"curve": [time]},
        }
        for name, time in zip(names, times, strict=True)
    ]
    callbacks[0] |= {
        "kind": "timer",
        "topic": None,
        "activation": {"kind": "periodic", "period": PERIOD},
    }
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": name, "kind": "events", "process": name} for name in names],
        "callbacks": callbacks,
        "edges": [{"from": a, "to": b, "topic": f"/to_{b}"} for a, b in pairwise(names)],
        "chains": [{"id": "chain", "callbacks": names}],
    }


def main() -> None:
    document = model()
    log, _ = node_runs.run(document, int(sys.argv[1]) * PERIOD / 1e9)
    latencies = log.latencies(document["chains"][0]["callbacks"])
    print(json.dumps([span.end - span.begin for span in latencies]))


main()

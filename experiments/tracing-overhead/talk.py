"""Two C++ nodes in one process, one of which sends messages to the other (`takt run`); prints how
long each message took, as JSON.

talk.py SIZE RATE COUNT    bytes, messages a second, messages
"""

from __future__ import annotations

import json
import sys
from typing import Any

from takt.trials import node_runs

Json = dict[str, Any]

SECOND = 1_000_000_000
QUEUE = 10
LEAST = 1
"""ns of processor time: the callbacks compute nothing."""


def model(size: int, rate: float) -> Json:
    """Each node has an executor, and so a thread, of its own."""
    period = round(SECOND / rate)
    callback: Json = {"execution_time": {"curve": [LEAST]}}
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [
            {"id": name, "kind": "events", "process": "pair"} for name in ("sends", "listens")
        ],
        "callbacks": [
            {
                "id": "talker",
                "node": "/talker",
                "executor": "sends",
                "kind": "timer",
                "activation": {"kind": "periodic", "period": period},
            }
            | callback,
            {
                "id": "listener",
                "node": "/listener",
                "executor": "listens",
                "kind": "subscription",
                "topic": "/talk",
                "queue_depth": QUEUE,
            }
            | callback,
        ],
        "edges": [{"from": "talker", "to": "listener", "topic": "/talk", "message_size": size}],
    }


def main() -> None:
    size, rate, count = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    log, _ = node_runs.run(model(size, rate), count / rate)
    delays = log.deliveries("talker", "listener")
    print(json.dumps([span.end - span.begin for span in delays]))


main()

"""Runs callbacks of a model on one rclpy executor and says what ran when, as JSON, in the form of
`takt run --log`:

    node.py SPECIFICATION

The specification is a JSON object: `callbacks` of a model, `edges`, `seconds`, and of the executor
its `plan` (null: rclpy's single-threaded one), `processor` and `priority` (null: best effort).
Callbacks compute for as long as the model says, in processor time of their thread.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Int64

from takt.executors import PlannedExecutor

Json = dict[str, Any]
PATIENCE = 30.0


class Callback:
    """Computes, and passes on the number of the instance that it belongs to."""

    def __init__(self, callback: Json, publisher: Any, log: list[Json]) -> None:
        self._id: str = callback["id"]
        self._time = callback["execution_time"]["curve"][0] / 1e9
        self._topic: str | None = callback["topic"]
        self._sends: str = callback["node"]
        """Topics are called as the nodes that publish them."""
        self._publisher, self._log = publisher, log
        self._number = 0

    def expired(self) -> None:
        self._number += 1
        self._run(self._number, None)

    def heard(self, message: Int64) -> None:
        self._run(message.data, [self._topic, None, message.data])

    def _run(self, number: int, received: list[Any] | None) -> None:
        begin = time.monotonic_ns()
        until = time.thread_time() + self._time
        while time.thread_time() < until:
            pass
        sent = []
        if self._publisher is not None:
            before = time.monotonic_ns()
            self._publisher.publish(Int64(data=number))
            message = [self._sends, None, number]
            sent.append({"message": message, "begin": before, "end": time.monotonic_ns()})
        entry = {"callback": self._id, "begin": begin, "end": time.monotonic_ns(), "used": []}
        self._log.append(entry | {"received": received, "sent": sent})


def main() -> None:
    wanted = json.loads(sys.argv[1])
    rclpy.init()
    log: list[Json] = []
    sources = {edge["from"] for edge in wanted["edges"]}
    nodes, timers, subscriptions = [], [], []
    for callback in wanted["callbacks"]:
        node = rclpy.create_node(callback["node"].removeprefix("/"))
        nodes.append(node)
        depth = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
        sends = callback["id"] in sources
        publisher = node.create_publisher(Int64, callback["node"], depth) if sends else None
        runs = Callback(callback, publisher, log)
        if callback["kind"] == "timer":
            timers.append((node, callback["activation"]["period"] / 1e9, runs.expired))
        else:
            made = node.create_subscription(Int64, callback["topic"], runs.heard, depth)
            subscriptions.append(made)
    end = time.monotonic() + PATIENCE
    while any(one.get_publisher_count() == 0 for one in subscriptions):
        if time.monotonic() > end:
            sys.exit("the nodes do not find each other")
        time.sleep(0.01)
    if wanted["priority"] is not None:
        # All threads that are made from here on have it, too: those that release timers.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(wanted["priority"] + 1))
    executor = (
        SingleThreadedExecutor()
        if wanted["plan"] is None
        else PlannedExecutor(wanted["plan"], missed_expiries="latest")
    )
    for node in nodes:
        executor.add_node(node)
    for node, period, callback in timers:
        node.create_timer(period, callback)
    executor.spin_once(timeout_sec=0)
    if wanted["priority"] is not None:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(wanted["priority"]))
    if wanted["processor"] is not None:
        os.sched_setaffinity(0, {wanted["processor"]})
    gc.disable()
    end = time.monotonic() + wanted["seconds"]
    while time.monotonic() < end:
        executor.spin_once(timeout_sec=max(0.0, min(0.1, end - time.monotonic())))
    print(json.dumps(log))
    sys.stdout.flush()
    os._exit(0)  # nothing waits for what still waits


main()

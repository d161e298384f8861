"""Pendulums that are simulated in real time: at the beginning of each period says their states on
/state; takes inputs from /command and its shaped variants, and lets them act when they come. At the
end prints the states and when which input came, a JSON document.

    plant.py SETTINGS        a JSON file: period (ns), periods, topics, disturbance, seed, states
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy
import rclpy
from control import transition
from std_msgs.msg import Float64MultiArray

settings = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
period = settings["period"]
# A pair of pendulums for each topic: one is held, one follows.
topics = settings["topics"]
randoms = numpy.random.default_rng(settings["seed"])
states = [numpy.array(state).reshape(2, 1) for state in settings["states"]]
inputs = [0.0] * len(states)
arrived: list[tuple[int, int, list[float]]] = []

rclpy.init()
node = rclpy.create_node("plant")
says = node.create_publisher(Float64MultiArray, "/state", 10)


def listen(number: int) -> None:
    def take(message: Float64MultiArray) -> None:
        pair = list(message.data[1 + 2 * number : 3 + 2 * number])
        arrived.append((time.monotonic_ns(), number, pair))

    node.create_subscription(Float64MultiArray, topics[number], take, 10)


for number in range(len(topics)):
    listen(number)
expected = [(says.get_subscription_count, 1)]
expected += [(lambda topic=topic: node.count_publishers(topic), 1) for topic in topics]
while not all(count() >= wanted for count, wanted in expected):
    rclpy.spin_once(node, timeout_sec=0.05)

history = []
begin = time.monotonic_ns() // period * period + 2 * period
for number in range(settings["periods"]):
    while (left := begin - time.monotonic_ns()) > 0:
        rclpy.spin_once(node, timeout_sec=left / 1e9)
    record = {"states": [state[:, 0].tolist() for state in states], "changes": []}
    says.publish(Float64MultiArray(data=[float(number), *(x for s in states for x in s[:, 0])]))
    end = begin + period
    while (left := end - time.monotonic_ns()) > 0:
        rclpy.spin_once(node, timeout_sec=left / 1e9)
    # What came meanwhile; what comes while we count belongs to the next period.
    now, arrived = arrived, []
    disturbances = settings["disturbance"] * randoms.normal(size=2)
    for which, state in enumerate(states):
        since = begin
        for when, pair, values in now:
            if pair != which // 2:
                continue
            until = min(max(when, since), end)
            free, forced = transition((until - since) / 1e9)
            state = free @ state + forced * inputs[which]
            since, inputs[which] = until, values[which % 2]
            record["changes"].append((which, until - begin, values[which % 2]))
        free, forced = transition((end - since) / 1e9)
        states[which] = free @ state + forced * inputs[which]
        # The same for all timings.
        states[which][1, 0] += disturbances[which % 2]
    history.append(record)
    begin = end
print(json.dumps(history))

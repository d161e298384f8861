"""A chain of nodes, each in a process of its own; prints how long each message took, as JSON.

chain.py COUNT    messages of the source, which sends 10 a second
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time

import rclpy
import rclpy.executors
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Int64

WORK = (0.060, 0.080, 0.070, 0.050)
"""Seconds that the nodes between source and sink take."""
PERIOD = 0.1
TOPIC = "takt_end_to_end_{}"
QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
SILENCE = 2.0
"""Seconds without a message after which no more are expected."""
DISCOVERY = 30.0
"""Seconds in which all must have found each other."""


def source(count: int) -> None:
    node = rclpy.create_node("source")
    publisher = node.create_publisher(Int64, TOPIC.format(0), QOS)
    until = time.monotonic() + DISCOVERY
    while publisher.get_subscription_count() == 0 and time.monotonic() < until:
        rclpy.spin_once(node, timeout_sec=0.05)
    time.sleep(1)  # the others find each other at the same time
    sent = 0

    def on_timer() -> None:
        nonlocal sent
        publisher.publish(Int64(data=time.monotonic_ns()))
        sent += 1

    node.create_timer(PERIOD, on_timer)
    while sent < count:
        rclpy.spin_once(node)


def stage(number: int) -> None:
    """Passes on what comes, until it is ended."""
    node = rclpy.create_node(f"stage_{number}")
    publisher = node.create_publisher(Int64, TOPIC.format(number + 1), QOS)

    def on_message(message: Int64) -> None:
        time.sleep(WORK[number])
        publisher.publish(message)

    node.create_subscription(Int64, TOPIC.format(number), on_message, QOS)
    rclpy.spin(node)


def sink(count: int) -> list[int]:
    """Nanoseconds from before each publication of the source to the sink's callback."""
    latencies: list[int] = []
    node = rclpy.create_node("sink")
    last = time.monotonic() + DISCOVERY

    def on_message(message: Int64) -> None:
        nonlocal last
        latencies.append(time.monotonic_ns() - message.data)
        last = time.monotonic()

    node.create_subscription(Int64, TOPIC.format(len(WORK)), on_message, QOS)
    roles = [*(f"stage {number}" for number in range(len(WORK))), f"source {count}"]
    others = [subprocess.Popen([sys.executable, __file__, *role.split()]) for role in roles]
    while len(latencies) < count and time.monotonic() < last + SILENCE:
        rclpy.spin_once(node, timeout_sec=0.1)
    for other in others[:-1]:
        other.terminate()
    for other in others:
        other.wait()
    return latencies


if __name__ == "__main__":
    rclpy.init()
    match sys.argv[1:]:
        case ["source", count]:
            source(int(count))
        case ["stage", number]:
            with contextlib.suppress(rclpy.executors.ExternalShutdownException):  # its end
                stage(int(number))
        case [count]:
            print(json.dumps(sink(int(count))))
    rclpy.try_shutdown()

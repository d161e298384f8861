"""The rows of rclpy's executor, and of Takt's for rclpy where that is found."""

from __future__ import annotations

import statistics
import threading
import time
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Empty

ROUNDS = 5
MESSAGES = 200
WAKE_UPS = 100
PAUSE = 0.001


def measure(executor: Any, node: Any) -> tuple[float, float]:
    """Processor time of a callback's dispatch and the median wake-up latency, in microseconds."""
    received = threading.Event()
    times: list[float] = []

    def callback(_: Empty) -> None:
        times.append(time.perf_counter())
        received.set()

    topic = f"takt_benchmark_{id(executor)}"
    publisher = node.create_publisher(Empty, topic, MESSAGES)
    subscription = node.create_subscription(Empty, topic, callback, MESSAGES)
    executor.add_node(node)
    for _ in range(MESSAGES):
        publisher.publish(Empty())
    before = time.thread_time()
    while len(times) < MESSAGES:
        executor.spin_once(timeout_sec=1.0)
    dispatch = (time.thread_time() - before) / MESSAGES

    spinning = threading.Thread(target=executor.spin, daemon=True)
    spinning.start()
    latencies = []
    for _ in range(WAKE_UPS):
        time.sleep(PAUSE)
        received.clear()
        published = time.perf_counter()
        publisher.publish(Empty())
        received.wait()
        latencies.append(times[-1] - published)
    executor.shutdown()
    spinning.join()
    executor.remove_node(node)
    node.destroy_subscription(subscription)
    node.destroy_publisher(publisher)
    return dispatch * 1e6, statistics.median(latencies) * 1e6


def main() -> None:
    rclpy.init()
    node = rclpy.create_node("takt_benchmark")
    executors: dict[str, Any] = {"rclpy: SingleThreadedExecutor": SingleThreadedExecutor}
    try:
        from takt.executors import EventsExecutor

        executors["Takt, rclpy: EventsExecutor"] = EventsExecutor
    except ImportError as missing:
        print(f"Takt's executors for rclpy: skipped, {missing}")
    print(f"{'executor':<36} {'dispatch, us':>13} {'wake-up, us':>12}")
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in executors}
    for _ in range(ROUNDS):
        for name, kind in executors.items():
            rounds[name].append(measure(kind(), node))
    for name, measured in rounds.items():
        dispatch, wake_up = (statistics.median(column) for column in zip(*measured, strict=True))
        print(f"{name:<36} {dispatch:>13.2f} {wake_up:>12.2f}")
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()

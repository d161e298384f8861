"""Throughput and processor time of a pipeline under rclpy's executors and Takt's, interleaved.

    python benchmarks/executors/rclpy_pipeline.py [--rounds N] [--seconds N] [--nodes N] [--actions]

Camera, detector, tracker and pilot, with the QoS event handlers that rclpy makes, run in a process
of their own for each executor in turn, round after round. Prints medians, and those of the ratios
within a round to the best of rclpy's executors in that round. --nodes adds idle nodes with a timer
and a subscription; --actions a goal each 100 ms (needs test_msgs).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

EXECUTORS = ("rclpy", "rclpy events", "Takt events", "Takt priority", "Takt EDF")


def make(name: str) -> Any:
    import rclpy.executors

    if name == "rclpy":
        return rclpy.executors.SingleThreadedExecutor()
    if name == "rclpy events":
        from rclpy.experimental import EventsExecutor

        return EventsExecutor()
    import takt.executors

    return {
        "Takt events": takt.executors.EventsExecutor,
        "Takt priority": takt.executors.FixedPriorityExecutor,
        "Takt EDF": takt.executors.EdfExecutor,
    }[name]()


def burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def pipeline(executor: Any) -> Callable[[], int]:
    """Adds the nodes; how many messages have reached the pilot."""
    from rclpy.node import Node
    from sensor_msgs.msg import Image
    from std_msgs.msg import String

    camera, detector, tracker, pilot = (
        Node(name) for name in ("camera", "detector", "tracker", "pilot")
    )
    images = camera.create_publisher(Image, "image", 5)
    detections = detector.create_publisher(String, "detections", 10)
    tracks = tracker.create_publisher(String, "tracks", 10)
    image = Image(height=120, width=160, step=160, data=bytes(160 * 120))
    reached = [0]

    def detect(_: Image) -> None:
        burn(0.001)
        detections.publish(String(data="detection"))

    def steer(_: String) -> None:
        reached[0] += 1

    camera.create_timer(0.02, lambda: images.publish(image))
    detector.create_subscription(Image, "image", detect, 5)
    tracker.create_subscription(
        String, "detections", lambda _: tracks.publish(String(data="track")), 10
    )
    pilot.create_subscription(String, "tracks", steer, 10)
    pilot.create_timer(0.01, lambda: None)
    for node in (camera, detector, tracker, pilot):
        executor.add_node(node)
    return lambda: reached[0]


def add_idle(executor: Any, count: int) -> None:
    from rclpy.node import Node
    from std_msgs.msg import String

    for number in range(count):
        node = Node(f"idle_{number}")
        node.create_timer(1.0, lambda: None)
        node.create_subscription(String, f"idle_{number}", lambda _: None, 10)
        executor.add_node(node)


def add_actions(executor: Any) -> None:
    from rclpy.action import ActionClient, ActionServer
    from rclpy.node import Node
    from test_msgs.action import Fibonacci

    node = Node("actions")

    def execute(goal: Any) -> Any:
        goal.succeed()
        return Fibonacci.Result()

    node.server = ActionServer(node, Fibonacci, "fibonacci", execute)
    client = ActionClient(node, Fibonacci, "fibonacci")
    node.create_timer(0.1, lambda: client.send_goal_async(Fibonacci.Goal(order=1)))
    executor.add_node(node)


def run_one(name: str, arguments: argparse.Namespace) -> None:
    import rclpy

    rclpy.init()
    executor = make(name)
    reached = pipeline(executor)
    add_idle(executor, arguments.nodes)
    if arguments.actions:
        add_actions(executor)

    def measure() -> None:
        time.sleep(1.0)
        messages, used = reached(), time.process_time()
        time.sleep(arguments.seconds)
        print(reached() - messages, time.process_time() - used, flush=True)
        os._exit(0)

    # Some executors spin in the main thread alone.
    threading.Thread(target=measure, daemon=True).start()
    executor.spin()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--nodes", type=int, default=0)
    parser.add_argument("--actions", action="store_true")
    parser.add_argument("--one", choices=EXECUTORS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        run_one(arguments.one, arguments)
        return
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in EXECUTORS}
    for _ in range(arguments.rounds):
        for name in EXECUTORS:
            command = [sys.executable, *sys.argv, "--one", name]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            messages, used = map(float, said.split()[-2:])
            measured[name].append((messages, used))
    best = [
        (max(a[0], b[0]), min(a[1], b[1]))
        for a, b in zip(measured["rclpy"], measured["rclpy events"], strict=True)
    ]
    print(f"{'executor':<14} {'messages':>9} {'processor, s':>13} {'ratio':>7} {'ratio':>7}")
    for name, rounds in measured.items():
        messages, used = (statistics.median(column) for column in zip(*rounds, strict=True))
        of_messages, of_used = (
            statistics.median(a[i] / b[i] for a, b in zip(rounds, best, strict=True))
            for i in range(2)
        )
        print(f"{name:<14} {messages:>9.0f} {used:>13.3f} {of_messages:>7.3f} {of_used:>7.3f}")


if __name__ == "__main__":
    main()

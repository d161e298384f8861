"""A random robot of stock rclpy: managed_robot.py SPECIFICATION TRUTH, as `random_robots.Robot`
writes it.

Its processes have an executor of one thread each, on which sensors, relays and motors compute. A
message carries when the sensor's callback began, and its way. A motor's callback logs these and its
own end in TRUTH, on CLOCK_MONOTONIC, so what the robot says of its latencies owes nothing to Takt.
A file beside it, with the suffix .ended, says when the trouble ended.

managed_robot.py SPECIFICATION TRUTH PROCESS runs one of the processes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Header

Json = dict[str, Any]

SECOND = 1_000_000_000
SURGE = 12
"""How many times as long a callback computes during a surge."""
SLEEP = 0.03
"""Seconds that a callback sleeps where that is planted."""


class Robot:
    def __init__(self, specification: Json, truth: Path) -> None:
        self._trouble = specification["trouble"]
        self._present = trouble_file(truth)
        self._log = truth.open("a", buffering=1)

    def _is_troubled(self, kind: str, node: str) -> bool:
        trouble = self._trouble
        return trouble["kind"] == kind and trouble["node"] == node and self._present.exists()

    def node(self, given: Json) -> Node:
        name = given["name"]
        node = Node(name, start_parameter_services=False)
        publisher = node.create_publisher(Header, given["sends"], 10) if given["sends"] else None

        def work(taken: Header | None) -> None:
            begin = time.monotonic_ns()
            surge = SURGE if self._is_troubled("surge", name) else 1
            compute(given["cost"] * surge)
            if self._is_troubled("suspension", name):
                time.sleep(SLEEP)
            message = taken or Header()
            if taken is None:
                message.stamp.sec, message.stamp.nanosec = divmod(begin, SECOND)
            message.frame_id += f"/{name}"
            if publisher is not None:
                publisher.publish(message)
            else:
                stamp = message.stamp
                self._log.write(
                    f"{stamp.sec * SECOND + stamp.nanosec} {time.monotonic_ns()} "
                    f"{message.frame_id}\n"
                )

        if given["takes"]:
            node.create_subscription(Header, given["takes"], work, 10)
        else:
            node.create_timer(given["period"], lambda: work(None))
        return node


def compute(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def run(robot: Robot, nodes: list[Json]) -> None:
    rclpy.init()
    executor = SingleThreadedExecutor()
    for given in nodes:
        executor.add_node(robot.node(given))
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()


def trouble_file(truth: Path) -> Path:
    """It is there while there is trouble."""
    return truth.with_suffix(".trouble")


def start_all(specification: Json, truth: Path) -> None:
    """Starts the processes, and does what the trouble is beside them. Its times count from when the
    robot first completed a message, however long that takes.
    """
    trouble = specification["trouble"]
    kind, number = trouble["kind"], trouble["process"]

    def start(number: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, __file__, *sys.argv[1:3], str(number)])

    processes = range(len(specification["processes"]))
    running = {own: start(own) for own in processes if (kind, own) != ("joins", number)}
    loads: list[subprocess.Popen[bytes]] = []
    try:
        while not truth.stat().st_size:
            if any(process.poll() is not None for process in running.values()):
                sys.exit("a process of the robot ended before it completed a message")
            time.sleep(0.05)
        time.sleep(trouble["begin"])
        trouble_file(truth).touch()
        match kind:
            case "load":
                words = [sys.executable, "-c", "while True: pass"]
                loads += [subprocess.Popen(words) for _ in range(trouble["loads"])]
            case "leaves":
                gone = running.pop(number)
                gone.kill()
                gone.wait()
            case "joins":
                running[number] = start(number)
        time.sleep(trouble["seconds"])
        trouble_file(truth).unlink()
        for load in loads:
            load.kill()
        if kind == "leaves":
            running[number] = start(number)
        truth.with_suffix(".ended").write_text(str(time.monotonic_ns()))
        time.sleep(trouble["after"])
    finally:
        for process in (*running.values(), *loads):
            process.kill()
            process.wait()


def main() -> None:
    specification, truth = json.loads(sys.argv[1]), Path(sys.argv[2])
    if len(sys.argv) > 3:
        run(Robot(specification, truth), specification["processes"][int(sys.argv[3])])
    else:
        start_all(specification, truth)


if __name__ == "__main__":
    main()

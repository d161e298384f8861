"""A program of stock rclpy whose callbacks wait: rclpy_sleeper.py SECONDS fifo|deadline|other.

A robot runs a timer that sleeps once, a timer that waits three times for what another thread does,
and a subscription that only computes; a process of its own sends it messages. Under the policy
`deadline` its thread has RUNTIME in each PERIOD. The robot ends with one line: its supply, and the
longest time for which an instance of each waited, by its own clocks, in nanoseconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Header

RUNTIME = 18_000_000
PERIOD = 20_000_000
PRIORITY = 10
SETS_SCHEDULER = {"x86_64": 314, "aarch64": 274}
"""The number of sched_setattr(2), which the C library may not have."""
RESET_ON_FORK = 1

waited: dict[str, int] = {}


def compute(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def waiting(name: str, *waits: Callable[[], object]) -> Callable[[], None]:
    """A callback that computes before, between and after its waits."""

    def run() -> None:
        longest = 0
        for wait in waits:
            compute(0.001)
            begin = time.monotonic_ns()
            wait()
            longest += time.monotonic_ns() - begin
        compute(0.001)
        waited[name] = max(longest, waited.get(name, 0))

    return run


class Helper:
    """Another thread that does, when asked to, something that takes it 4 ms."""

    def __init__(self, is_urgent: bool) -> None:
        self._asked, self._done = threading.Event(), threading.Event()
        self._is_urgent = is_urgent
        threading.Thread(target=self._serve, daemon=True).start()

    def ask(self) -> None:
        self._asked.set()
        self._done.wait()
        self._done.clear()

    def _serve(self) -> None:
        if self._is_urgent:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY + 1))
        while self._asked.wait():
            self._asked.clear()
            time.sleep(0.004)
            self._done.set()


def reserve() -> None:
    """Gives the calling thread its reservation; threads that it starts have none."""
    deadline = 6
    attributes = struct.pack("IIQiIQQQ", 48, deadline, RESET_ON_FORK, 0, 0, RUNTIME, PERIOD, PERIOD)
    call = SETS_SCHEDULER[os.uname().machine]
    if ctypes.CDLL(None, use_errno=True).syscall(call, 0, attributes, 0) != 0:
        raise OSError(ctypes.get_errno(), "sched_setattr")


def robot(policy: str) -> Node:
    helper = Helper(policy != "other")
    node = Node("robot", start_parameter_services=False)
    node.create_timer(0.13, waiting("sleeps", lambda: time.sleep(0.04)))
    node.create_timer(0.17, waiting("waits", *[helper.ask] * 3))
    node.create_subscription(Header, "/scan", lambda _: compute(0.001), 10)
    return node


def sensor() -> Node:
    node = Node("sensor", start_parameter_services=False)
    publisher = node.create_publisher(Header, "/scan", 10)
    node.create_timer(0.1, lambda: publisher.publish(Header()))
    return node


def main() -> None:
    seconds, policy = float(sys.argv[1]), sys.argv[2]
    is_sensor = policy == "sensor"
    if not is_sensor:
        other = subprocess.Popen([sys.executable, __file__, sys.argv[1], "sensor"])
    rclpy.init()
    executor = SingleThreadedExecutor()
    executor.add_node(sensor() if is_sensor else robot(policy))
    threading.Timer(seconds, executor.context.shutdown).start()
    if policy == "fifo":
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    elif policy == "deadline":
        reserve()
    with contextlib.suppress(ExternalShutdownException):
        executor.spin()
    if not is_sensor:
        reservation = {"kind": "reservation", "budget": RUNTIME, "period": PERIOD}
        supply = reservation if policy == "deadline" else {"kind": "dedicated"}
        print(json.dumps({"supply": supply, "waited": waited}), flush=True)
        sys.exit(other.wait())


if __name__ == "__main__":
    main()

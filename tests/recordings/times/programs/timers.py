"""timers.py MODE SECONDS: a timer that does not stay on the grid of its first period, and a sink.

period: 100 ms, then 20 ms, then 50 ms. reset: 100 ms, cancelled for 730 ms after each ten.
autostart: 50 ms, started by hand 1.2 s later. simulated: 100 ms of a clock that runs at twice the
speed, then stands still for a second, jumps back by two and runs at half the speed.
"""

from __future__ import annotations

import sys
import threading
import time

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from saying import executor_of, sender, sink, spin


def period(node: Node) -> None:
    send = sender(node, "/a")
    count = 0

    def tick() -> None:
        nonlocal count
        count += 1
        send()
        if count == 20:
            timer.timer_period_ns = 20_000_000
        elif count == 120:
            timer.timer_period_ns = 50_000_000

    timer = node.create_timer(0.1, tick)


def reset(node: Node) -> None:
    send = sender(node, "/a")
    count = 0
    paused = 0

    def tick() -> None:
        nonlocal count, paused
        count += 1
        send()
        if count % 10 == 0:
            timer.cancel()
            paused = time.monotonic_ns()

    def watch() -> None:
        if timer.is_canceled() and time.monotonic_ns() - paused > 730_000_000:
            timer.reset()

    timer = node.create_timer(0.1, tick)
    node.create_timer(0.01, watch)


def autostart(node: Node) -> None:
    begin = time.monotonic()
    timer = node.create_timer(0.05, sender(node, "/a"), autostart=False)

    def watch() -> None:
        if timer.is_canceled() and time.monotonic() - begin > 1.2:
            timer.reset()

    node.create_timer(0.1, watch)


def simulated(node: Node) -> None:
    clock = Node("simulator")
    publisher = clock.create_publisher(Clock, "/clock", 10)
    begin = time.monotonic()

    def now() -> float:
        real = time.monotonic() - begin
        if real < 3:
            return 10 + 2 * real
        return 16 if real < 4 else 14 + (real - 4) / 2

    def run() -> None:
        while rclpy.ok():
            message = Clock()
            message.clock.sec = int(now())
            message.clock.nanosec = int(now() % 1 * 1e9)
            publisher.publish(message)
            time.sleep(0.005)

    node.create_timer(0.1, sender(node, "/a"))
    threading.Thread(target=run, daemon=True).start()


def main() -> None:
    mode, seconds = sys.argv[1], float(sys.argv[2])
    rclpy.init()
    clock = [Parameter("use_sim_time", value=True)] if mode == "simulated" else []
    node = Node("adaptive", parameter_overrides=clock)
    end = Node("sink")
    sink(end, "/a", 0.001)
    {"period": period, "reset": reset, "autostart": autostart, "simulated": simulated}[mode](node)
    spin(executor_of(node, end), seconds)


main()

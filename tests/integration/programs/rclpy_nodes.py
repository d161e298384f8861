"""A program of stock rclpy: rclpy_nodes.py SEED SECONDS [PRIORITY [PLANTED [ROBOT…]]]. SEED 0:
`Program.two_nodes`.

A robot of one to three nodes on one executor has timers, subscriptions and services, registered in
any order; a process of its own sends it messages, in bursts, and calls. Callbacks compute for a
time that is drawn anew for each instance. With a PRIORITY, both run under SCHED_FIFO. Each of both
prints for how many nanoseconds in all its callbacks were there but did not run.

PLANTED names what the program does beyond the one without it: `suspension` (a callback sleeps),
`execution` (a callback computes longer), `activation` (others send the same messages and calls) or
`load` (other programs of a higher priority compute).

ROBOT is a command that runs the robot's callbacks instead, which it reads (`Program.lines`):
rclcpp_nodes and the name of an executor of rclcpp.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import rclpy
from rcl_interfaces.srv import ListParameters
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from std_msgs.msg import Header

RCLError = rclpy_implementation.RCLError
PLANTED = sys.argv[4] if len(sys.argv) > 4 else ""
SLEEP = 0.03
LONGER = 0.02
"""Seconds that a callback sleeps, or computes longer, where that is planted."""
MOST_LOAD = 0.5
"""The share of a processor that the robot takes at most."""


@dataclass(frozen=True)
class Source:
    """Sends `burst` messages at once, or calls a service, in each period (s)."""

    topic: str
    period: float
    burst: int
    calls: bool

    @property
    def rate(self) -> float:
        return self.burst / self.period


@dataclass
class Callback:
    """`rate`: instances in a second; `cost`: the longest of them, in seconds."""

    kind: str
    node: int
    topic: str
    rate: float
    cost: float = 0
    sends: list[str] = field(default_factory=list)


taken = 0
"""Nanoseconds for which callbacks of this process had begun but did not run."""


@dataclass
class Program:
    nodes: int
    sources: list[Source] = field(default_factory=list)
    callbacks: list[Callback] = field(default_factory=list)
    as_served: bool = False
    """Nodes are numbered in the order in which they are served, not by their names."""

    @staticmethod
    def random(seed: int) -> Program:
        dice = random.Random(seed)
        program = Program(dice.randint(1, 3))

        def add(kind: str, topic: str, rate: float) -> None:
            node = dice.randrange(program.nodes)
            program.callbacks.append(Callback(kind, node, topic, rate))

        for number in range(dice.randint(1, 3)):
            calls = dice.random() < 0.2
            burst = 1 if calls else dice.randint(1, 3)
            source = Source(f"/from_outside_{number}", dice.uniform(0.05, 0.25), burst, calls)
            program.sources.append(source)
            for _ in range(1 if calls else dice.randint(1, 2)):
                add("service" if calls else "subscription", source.topic, source.rate)
        for number in range(dice.randint(1, 3)):
            add("timer", f"{number}", 1 / dice.uniform(0.04, 0.25))
        for number in range(dice.randint(0, 2)):
            sender = dice.choice(program.callbacks)
            topic = f"/from_inside_{number}"
            sender.sends.append(topic)
            add("subscription", topic, sender.rate)
        shares = [dice.random() for _ in program.callbacks]
        load = dice.uniform(MOST_LOAD / 2, MOST_LOAD)
        for share, callback in zip(shares, program.callbacks, strict=True):
            callback.cost = load * share / sum(shares) / callback.rate
        dice.shuffle(program.callbacks)
        return program

    @staticmethod
    def two_nodes() -> Program:
        """The node that is served first has both messages of a burst before the other's timer."""
        lengthy = Callback("subscription", 0, "/scan", 10, 0.03)
        return Program(
            2,
            [Source("/scan", 0.2, 2, False)],
            [lengthy, Callback("timer", 1, "", 21, 0.001)],
            as_served=True,
        )

    def lines(self) -> Iterator[str]:
        """The robot, for ROBOT."""
        yield f"{self.nodes}"
        for each in self.callbacks:
            times = round(1e9 / each.rate), round(1e9 * each.cost)
            topic = each.topic or "-"
            yield " ".join([each.kind, str(each.node), topic, *map(str, times), *each.sends])

    def robot(self) -> list[Node]:
        nodes = [Node(f"robot_{n}", start_parameter_services=False) for n in range(self.nodes)]
        # rclpy keeps an executor's nodes in a set, which has them in another order in each run.
        numbered = list(set(nodes)) if self.as_served else nodes
        for callback in self.callbacks:
            self._register(callback, numbered[callback.node])
        return nodes

    def _register(self, callback: Callback, node: Node) -> None:
        publishers = [node.create_publisher(Header, topic, 10) for topic in callback.sends]
        is_chosen = callback is self.callbacks[0]
        dice = random.Random(callback.topic)

        @watched
        def run() -> None:
            compute(callback.cost * dice.uniform(0.5, 1))
            if is_chosen and PLANTED == "execution":
                compute(LONGER)
            if is_chosen and PLANTED == "suspension":
                sleep(SLEEP)
            for publisher in publishers:
                publisher.publish(Header())

        def answer(_: Any, response: Any) -> Any:
            run()
            return response

        match callback.kind:
            case "timer":
                node.create_timer(1 / callback.rate, run)
            case "subscription":
                node.create_subscription(Header, callback.topic, lambda _: run(), 10)
            case "service":
                node.create_service(ListParameters, callback.topic, answer)

    def world(self) -> list[Node]:
        node = Node("world", start_parameter_services=False)
        for source in self.sources:
            self._send(source, node)
            if PLANTED == "activation":
                self._send(replace(source, period=source.period * 0.93), node)
        return [node]

    def _send(self, source: Source, node: Node) -> None:
        if source.calls:
            client = node.create_client(ListParameters, source.topic)
            call = watched(lambda: client.call_async(ListParameters.Request()))
            node.create_timer(source.period, call)
            return
        publisher = node.create_publisher(Header, source.topic, 10)

        @watched
        def send() -> None:
            for _ in range(source.burst):
                publisher.publish(Header())

        node.create_timer(source.period, send)


def watched(callback: Callable[[], object]) -> Callable[[], None]:
    """The callback, of which `taken` counts when it does not run."""

    def run() -> None:
        global taken
        wall, processor = time.monotonic_ns(), time.thread_time_ns()
        callback()
        taken += time.monotonic_ns() - wall - (time.thread_time_ns() - processor)

    return run


def sleep(seconds: float) -> None:
    """`taken` does not count it."""
    global taken
    begin = time.monotonic_ns()
    time.sleep(seconds)
    taken -= time.monotonic_ns() - begin


def others(priority: int) -> list[subprocess.Popen[bytes]]:
    """Programs that take each processor for 20 of every 50 ms."""
    script = (
        "import os, sys, time\n"
        "os.sched_setaffinity(0, {int(sys.argv[1])})\n"
        "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(int(sys.argv[2])))\n"
        "while os.getppid() == int(sys.argv[3]):\n"
        "    end = time.monotonic() + 0.02\n"
        "    while time.monotonic() < end: pass\n"
        "    time.sleep(0.03)\n"
    )
    words = [sys.executable, "-c", script]
    return [
        subprocess.Popen([*words, str(cpu), str(priority), str(os.getpid())])
        for cpu in os.sched_getaffinity(0)
    ]


def compute(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def spin(nodes: list[Node], seconds: float) -> None:
    executor = SingleThreadedExecutor()
    for node in nodes:
        executor.add_node(node)
    threading.Timer(seconds, executor.context.shutdown).start()
    try:
        executor.spin()
    except (ExternalShutdownException, RCLError):
        # What a callback publishes while the context is shut down is refused.
        if executor.context.ok():
            raise


def main() -> None:
    seed, seconds = int(sys.argv[1]), float(sys.argv[2])
    program = Program.random(seed) if seed else Program.two_nodes()
    is_world = sys.argv[-1] == "world"
    robot = [] if is_world else sys.argv[5:]
    if not is_world:
        if len(sys.argv) > 3:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(int(sys.argv[3])))
        competing = others(int(sys.argv[3]) + 1) if PLANTED == "load" else []
        words = [sys.executable, __file__, *sys.argv[1:3], "0", PLANTED, "world"]
        world = subprocess.Popen(words)
    if robot:
        text = "".join(f"{line}\n" for line in program.lines())
        subprocess.run([*robot, str(seconds), PLANTED], input=text, text=True, check=True)
    else:
        rclpy.init()
        spin(program.world() if is_world else program.robot(), seconds)
        print(taken, flush=True)
    if not is_world:
        for other in competing:
            other.kill()
            other.wait()
        sys.exit(world.wait())


if __name__ == "__main__":
    main()

"""Runs executors of rclpy and prints in which order they ran what was ready.

A program of its own, for takt.doctor.executors: rclpy_probe.py SINGLE_THREADED MULTI_THREADED, each
MODULE:CLASS.

Three nodes have timers, subscriptions, services and clients, registered in random order. In each
round many of them become ready while the executor rests. It prints one JSON object:

  windows   for each of the executor's waits what it ran until the next one: [node, kind, name]
  late      how often a timer that became due after a wait ran before the next one
  overlaps  how often callbacks of a mutually exclusive group ran at the same time
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import random
import sys
import threading
import time
from typing import Any

import rclpy
from rcl_interfaces.srv import ListParameters
from rclpy import executors
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from std_msgs.msg import Header

ROUNDS = 12
NODES = 3
SETTLED = 0.15
"""Seconds after which what was sent has arrived and every short timer is due."""
PERIOD = 0.02
STARTS = 30
"""Callbacks of the mutually exclusive group that run."""


class Log:
    """What ran, by the executor's waits."""

    def __init__(self) -> None:
        self.windows: list[list[tuple[str, str, str]]] = [[]]
        self.late = 0

    def trace_waits(self) -> None:
        wait_set = executors._rclpy.WaitSet
        wait = wait_set.wait

        def traced_wait(wait_set: Any, timeout: int) -> Any:
            self.windows.append([])
            return wait(wait_set, timeout)

        wait_set.wait = traced_wait


class Probed:
    """A node whose callbacks log that they run."""

    def __init__(self, number: int, log: Log, dice: random.Random) -> None:
        self.node = Node(f"probed_{number}", start_parameter_services=False)
        self.log = log
        self.client: Any = None
        makers = [self._timer, self._timer, self._subscription, self._subscription]
        makers += [self._service, self._client]
        dice.shuffle(makers)
        for name, make in enumerate(makers):
            make(f"{name}")
        # Not due before one of the callbacks resets it.
        self.sleeper = self.node.create_timer(PERIOD / 4, self._wake, autostart=False)
        self.reset_in: int | None = None

    def _ran(self, kind: str, name: str) -> None:
        self.log.windows[-1].append((self.node.get_name(), kind, name))

    def _timer(self, name: str) -> None:
        self.node.create_timer(PERIOD, lambda: self._ran("timer", name))

    def _subscription(self, name: str) -> None:
        topic = f"{self.node.get_name()}/topic"
        self.node.create_subscription(Header, topic, lambda _: self._heard(name), 10)

    def _heard(self, name: str) -> None:
        self._ran("subscription", name)
        self.sleeper.reset()
        self.reset_in = len(self.log.windows)
        time.sleep(PERIOD / 2)

    def _wake(self) -> None:
        self.log.late += self.reset_in == len(self.log.windows)
        self.sleeper.cancel()

    def _service(self, name: str) -> None:
        def answer(_: Any, response: Any) -> Any:
            self._ran("service", name)
            return response

        self.node.create_service(ListParameters, f"{self.node.get_name()}/service", answer)

    def _client(self, name: str) -> None:
        self.client = self.node.create_client(ListParameters, "probing/service")
        self.client.wait_for_service(10)
        self.client_name = name

    def call(self) -> None:
        self.client.call_async(ListParameters.Request())

    def took(self, client: Any) -> None:
        if client is self.client:
            self._ran("client", self.client_name)


def probe_order(executor_class: type[Any], log: Log) -> None:
    probing = Node("probing", start_parameter_services=False)
    probing.create_service(ListParameters, "probing/service", lambda _, response: response)
    server = executors.SingleThreadedExecutor()
    server.add_node(probing)
    serving = threading.Thread(target=_spin, args=(server,), daemon=True)
    serving.start()
    dice = random.Random(1)
    probed = [Probed(number, log, dice) for number in range(NODES)]
    names = [one.node.get_name() for one in probed]
    publishers = [probing.create_publisher(Header, f"{name}/topic", 10) for name in names]
    clients = [probing.create_client(ListParameters, f"{name}/service") for name in names]
    for client in clients:
        client.wait_for_service(10)
    time.sleep(1)  # discovery
    executor = executor_class()
    take_client = executor._take_client

    def traced_take(client: Any) -> Any:
        """The callbacks of a response run later, as tasks; its turn is when it is taken."""
        for one in probed:
            one.took(client)
        return take_client(client)

    executor._take_client = traced_take
    for one in probed:
        executor.add_node(one.node)
    for _ in range(ROUNDS):
        for publisher, client, one in zip(publishers, clients, probed, strict=True):
            if dice.random() < 0.8:
                publisher.publish(Header())
            if dice.random() < 0.8:
                client.call_async(ListParameters.Request())
            if dice.random() < 0.8:
                one.call()
        time.sleep(SETTLED)
        for _ in range(3 * NODES * 6):
            executor.spin_once(timeout_sec=0)
    server.shutdown()


def _spin(executor: Any) -> None:
    try:
        executor.spin()
    except Exception as error:
        print(f"takt: {error}", file=sys.stderr)


def probe_exclusion(executor_class: type[Any]) -> int:
    """How often callbacks of a mutually exclusive group began while another one ran."""
    node = Node("exclusive", start_parameter_services=False)
    group = MutuallyExclusiveCallbackGroup()
    running = itertools.count()
    inside: set[int] = set()
    overlaps = 0
    started = 0
    enough = threading.Event()

    def work() -> None:
        nonlocal overlaps, started
        mine = next(running)
        inside.add(mine)
        overlaps += len(inside) > 1
        time.sleep(PERIOD / 4)
        inside.discard(mine)
        started += 1
        if started >= STARTS:
            enough.set()

    for _ in range(3):
        node.create_timer(PERIOD / 10, work, callback_group=group)
    executor = executor_class(num_threads=3)
    executor.add_node(node)
    spinning = threading.Thread(target=_spin, args=(executor,), daemon=True)
    spinning.start()
    enough.wait(10)
    executor.shutdown()
    return overlaps if started >= STARTS else -1


def _load(name: str) -> type[Any]:
    module, _, attribute = name.partition(":")
    loaded: type[Any] = getattr(importlib.import_module(module), attribute)
    return loaded


def main() -> None:
    single_threaded, multi_threaded = sys.argv[1:]
    rclpy.init()
    log = Log()
    log.trace_waits()
    probe_order(_load(single_threaded), log)
    windows = [window for window in log.windows if len(window) > 1]
    overlaps = probe_exclusion(_load(multi_threaded))
    print(json.dumps({"windows": windows, "late": log.late, "overlaps": overlaps}), flush=True)
    os._exit(0)  # threads of executors may still wait


if __name__ == "__main__":
    main()

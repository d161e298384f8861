"""What the programs of this folder share: messages that say when they were sent; their truth."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String


def executor_of(*nodes: Node) -> SingleThreadedExecutor:
    executor = SingleThreadedExecutor()
    for node in nodes:
        executor.add_node(node)
    return executor


def spin(executor: SingleThreadedExecutor, seconds: float) -> None:
    threading.Timer(seconds, rclpy.shutdown).start()
    with contextlib.suppress(ExternalShutdownException):
        executor.spin()


def burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def stamped(since: int) -> String:
    """A message that was published now, on behalf of a callback that began at `since`."""
    return String(data=f"{since} {time.monotonic_ns()}")


def sink(node: Node, topic: str, work: float = 0.0) -> None:
    """Prints for each message: ns from its publication to the start of this callback, and from the
    start of the callback that published it to the end of this one.
    """

    def handle(message: String) -> None:
        start = time.monotonic_ns()
        since, sent = map(int, message.data.split())
        burn(work)
        print(start - sent, time.monotonic_ns() - since, flush=True)

    node.create_subscription(String, topic, handle, 100)


def relay(node: Node, topic: str, to: str, work: float = 0.0) -> None:
    """Sends each message on after some work, with its stamps."""
    publisher = node.create_publisher(String, to, 100)

    def handle(message: String) -> None:
        burn(work)
        publisher.publish(message)

    node.create_subscription(String, topic, handle, 100)


def sender(node: Node, topic: str) -> Callable[[], None]:
    """A callback that publishes."""
    publisher = node.create_publisher(String, topic, 100)

    def send() -> None:
        publisher.publish(stamped(time.monotonic_ns()))

    return send

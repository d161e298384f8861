"""Two sensors in one executor whose messages a node fuses. The left one is always due first, so its
message always waits for the right one's.

It runs until it is interrupted.
"""

from __future__ import annotations

from contextlib import suppress

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Empty

PERIOD = 0.1


def fusion() -> Node:
    """Sends a message when it has one of each side."""
    node = rclpy.create_node("fusion")
    fused = node.create_publisher(Empty, "fused", 10)
    left: list[Empty] = []

    def on_left(message: Empty) -> None:
        left.append(message)

    def on_right(_: Empty) -> None:
        if left:
            left.clear()
            fused.publish(Empty())

    node.create_subscription(Empty, "left", on_left, 10)
    node.create_subscription(Empty, "right", on_right, 10)
    return node


def sensor(name: str) -> Node:
    node = rclpy.create_node(f"{name}_sensor")
    publisher = node.create_publisher(Empty, name, 10)
    node.create_timer(PERIOD, lambda: publisher.publish(Empty()))
    return node


def main() -> None:
    rclpy.init()
    motor = rclpy.create_node("motor")
    motor.create_subscription(Empty, "fused", lambda _: None, 10)
    executor = SingleThreadedExecutor()
    for node in (sensor("left"), sensor("right"), fusion(), motor):
        executor.add_node(node)
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()


if __name__ == "__main__":
    main()

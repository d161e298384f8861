"""A node whose callback takes a tenth of a second longer from when a file is there.

Arguments: the file. It runs until it is interrupted.
"""

import sys
import time
from contextlib import suppress
from pathlib import Path

import rclpy
from rclpy.executors import ExternalShutdownException
from std_msgs.msg import Empty

PERIOD, SHORT, LONG = 0.05, 0.002, 0.1


def compute(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def main() -> None:
    longer = Path(sys.argv[1])
    rclpy.init()
    node = rclpy.create_node("worker")
    publisher = node.create_publisher(Empty, "work", 10)
    node.create_timer(PERIOD, lambda: publisher.publish(Empty()))
    node.create_subscription(
        Empty, "work", lambda _: compute(LONG if longer.exists() else SHORT), 10
    )
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(node)


if __name__ == "__main__":
    main()

"""A node that computes for 2 ms for each message, and sends one.

Arguments: its name, the topic that it takes ("" for a timer of 200 ms), and the topic that it sends
to ("" for none). It runs until it is interrupted.
"""

import sys
import time
from contextlib import suppress

import rclpy
from rclpy.executors import ExternalShutdownException
from std_msgs.msg import Empty


def main() -> None:
    name, source, sink = sys.argv[1:]
    rclpy.init()
    node = rclpy.create_node(name)
    publisher = node.create_publisher(Empty, sink, 10) if sink else None

    def work(_: object = None) -> None:
        end = time.thread_time() + 0.002
        while time.thread_time() < end:
            pass
        if publisher is not None:
            publisher.publish(Empty())

    if source:
        node.create_subscription(Empty, source, work, 10)
    else:
        node.create_timer(0.2, work)
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(node)


if __name__ == "__main__":
    main()

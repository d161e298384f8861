"""latched_again.py SECONDS: a timer publishes /map twice, 2 s apart; /viewer subscribes to it anew
every 0.8 s, so it gets each message several times. Prints how often it had one.
"""

from __future__ import annotations

import sys

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.subscription import Subscription
from saying import executor_of, spin
from std_msgs.msg import String

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def main() -> None:
    rclpy.init()
    server, viewer, sink = Node("map_server"), Node("viewer"), Node("sink")
    maps = server.create_publisher(String, "/map", LATCHED)
    shown = viewer.create_publisher(String, "/shown", 10)
    sink.create_subscription(String, "/shown", lambda _: None, 10)
    left = ["first", "second"]

    def publish() -> None:
        if left:
            maps.publish(String(data=left.pop(0)))

    made: list[Subscription] = []
    had = [0]

    def handle(message: String) -> None:
        had[0] += 1
        shown.publish(message)

    def subscribe() -> None:
        if made:
            viewer.destroy_subscription(made.pop())
        made.append(viewer.create_subscription(String, "/map", handle, LATCHED))

    server.create_timer(2.0, publish)
    viewer.create_timer(0.8, subscribe)
    spin(executor_of(server, viewer, sink), float(sys.argv[1]))
    print(had[0])


main()

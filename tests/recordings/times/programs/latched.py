"""latched.py SECONDS: /map is published once; /local and /global are made 1.5 s and 3 s later.
Prints when each had its map, in ns after it was made.
"""

from __future__ import annotations

import sys
import threading
import time

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from saying import executor_of, spin
from std_msgs.msg import String

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def main() -> None:
    rclpy.init()
    server = Node("map_server")
    publisher = server.create_publisher(String, "/map", LATCHED)

    def once() -> None:
        publisher.publish(String(data="map"))
        timer.cancel()

    timer = server.create_timer(0.3, once)
    server.create_timer(0.1, lambda: None)
    watcher = Node("watcher")
    watcher.create_subscription(String, "/costmap", lambda _: None, 10)
    executor = executor_of(server, watcher)

    def join(name: str) -> None:
        node = Node(name)
        costmap = node.create_publisher(String, "/costmap", LATCHED)
        made = time.monotonic_ns()

        def handle(message: String) -> None:
            print(name, time.monotonic_ns() - made, flush=True)
            costmap.publish(message)

        node.create_subscription(String, "/map", handle, LATCHED)
        executor.add_node(node)

    threading.Timer(1.5, join, ("local",)).start()
    threading.Timer(3.0, join, ("global",)).start()
    spin(executor, float(sys.argv[1]))


main()

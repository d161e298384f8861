"""An rclpy program whose messages carry their own history, and whose sink tells it.

A source publishes every 20 ms, a second one every 30 ms. A relay passes on the first's messages; a
merger stores the newest of the second's and of the relay's, and publishes every 50 ms what it has
of both. Every message holds the stamps of all that it was made of: each is the time at which a
source was about to publish. The sink prints, for each message, when it was called and these stamps.

    histories.py MESSAGES
"""

import json
import sys
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

wanted = int(sys.argv[1])
told: list[dict[str, int]] = []
stored: dict[str, dict[str, int]] = {}


def source(name: str, period: float) -> Node:
    node = Node(name, enable_rosout=False)
    publisher = node.create_publisher(String, f"/{name}_out", 10)
    node.create_timer(
        period, lambda: publisher.publish(String(data=json.dumps({name: time.monotonic_ns()})))
    )
    return node


def relay() -> Node:
    node = Node("relay", enable_rosout=False)
    publisher = node.create_publisher(String, "/relayed", 10)
    node.create_subscription(String, "/first_out", publisher.publish, 10)
    return node


def merger() -> Node:
    node = Node("merger", enable_rosout=False)
    publisher = node.create_publisher(String, "/merged", 10)

    def store(message: String) -> None:
        history = json.loads(message.data)
        stored[next(iter(history))] = history

    def merge() -> None:
        if len(stored) == 2:
            publisher.publish(String(data=json.dumps(stored["first"] | stored["second"])))

    node.create_subscription(String, "/relayed", store, 10)
    node.create_subscription(String, "/second_out", store, 10)
    node.create_timer(0.05, merge)
    return node


def sink() -> Node:
    node = Node("sink", enable_rosout=False)

    def handle(message: String) -> None:
        now = time.monotonic_ns()
        if len(told) < wanted:
            told.append({"handled": now, **json.loads(message.data)})

    node.create_subscription(String, "/merged", handle, 10)
    return node


rclpy.init()
executor = SingleThreadedExecutor()
for made in (source("first", 0.02), source("second", 0.03), relay(), merger(), sink()):
    executor.add_node(made)
while len(told) < wanted:
    executor.spin_once(timeout_sec=0.1)
print(json.dumps(told))
rclpy.shutdown()

"""Two sensors and a node that joins their messages by message_filters:
filters.py exact|approximate RATE_A RATE_B SECONDS

Prints for each set how long before the sink's callback each of its messages was published, in ns.
"""

import contextlib
import json
import subprocess
import sys
import threading
import time

import message_filters
import rclpy
from geometry_msgs.msg import PointStamped
from rclpy.node import Node
from std_msgs.msg import String

MODE, RATES, SECONDS = (
    sys.argv[1],
    {"a": float(sys.argv[2]), "b": float(sys.argv[3])},
    float(sys.argv[4]),
)


def sensor(name: str) -> Node:
    node = Node(name)
    publisher = node.create_publisher(PointStamped, f"/{name}", 10)
    count = 0

    def publish() -> None:
        nonlocal count
        count += 1
        message = PointStamped()
        now = time.time_ns()
        message.header.stamp.sec, message.header.stamp.nanosec = (
            divmod(now, 10**9) if MODE == "approximate" else (count, 0)
        )
        message.header.frame_id = str(time.monotonic_ns())
        publisher.publish(message)

    node.create_timer(1 / RATES[name], publish)
    return node


def fusion() -> Node:
    node = Node("fusion")
    publisher = node.create_publisher(String, "/fused", 10)
    inputs = [message_filters.Subscriber(node, PointStamped, topic) for topic in ("/a", "/b")]
    if MODE == "exact":
        join = message_filters.TimeSynchronizer(inputs, 10)
    else:
        join = message_filters.ApproximateTimeSynchronizer(inputs, 10, 0.06)
    join.registerCallback(
        lambda a, b: publisher.publish(String(data=f"[{a.header.frame_id},{b.header.frame_id}]"))
    )
    node.join = join, inputs
    return node


def sink() -> Node:
    node = Node("sink")
    node.create_subscription(
        String,
        "/fused",
        lambda message: print(
            "TRUTH", *(time.monotonic_ns() - sent for sent in json.loads(message.data)), flush=True
        ),
        10,
    )
    return node


if len(sys.argv) > 5:
    rclpy.init()
    name = sys.argv[5]
    node = {"a": lambda: sensor("a"), "b": lambda: sensor("b"), "fusion": fusion, "sink": sink}[
        name
    ]()
    threading.Timer(SECONDS, rclpy.shutdown).start()
    with contextlib.suppress(rclpy.executors.ExternalShutdownException):
        rclpy.spin(node)
else:
    for process in [
        subprocess.Popen([sys.executable, __file__, *sys.argv[1:], name])
        for name in ("sink", "fusion", "a", "b")
    ]:
        process.wait()

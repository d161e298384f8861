"""A publisher and a subscription in two processes; prints how long each message took, as JSON.

talk.py SIZE RATE COUNT    bytes, messages a second, messages
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import time
from array import array

import rclpy
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import UInt8MultiArray

TOPIC = "takt_tracing_overhead"
QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
STAMP = struct.Struct("=q")
SILENCE = 2.0
"""Seconds without a message after which no more are expected."""
DISCOVERY = 30.0
"""Seconds in which the two must have found each other."""


def publish(size: int, rate: float, count: int) -> None:
    rclpy.init()
    node = rclpy.create_node("takt_talker")
    publisher = node.create_publisher(UInt8MultiArray, TOPIC, QOS)
    until = time.monotonic() + DISCOVERY
    while publisher.get_subscription_count() == 0 and time.monotonic() < until:
        rclpy.spin_once(node, timeout_sec=0.05)
    message = UInt8MultiArray(data=array("B", bytes(size)))
    sent = 0

    def on_timer() -> None:
        nonlocal sent
        STAMP.pack_into(message.data, 0, time.monotonic_ns())
        publisher.publish(message)
        sent += 1

    node.create_timer(1 / rate, on_timer)
    while sent < count:
        rclpy.spin_once(node)
    node.destroy_node()
    rclpy.shutdown()


def listen(size: int, rate: float, count: int) -> list[int]:
    """Nanoseconds from before each publication to its callback."""
    delays: list[int] = []
    rclpy.init()
    node = rclpy.create_node("takt_listener")
    last = time.monotonic() + DISCOVERY

    def on_message(message: UInt8MultiArray) -> None:
        nonlocal last
        delays.append(time.monotonic_ns() - STAMP.unpack_from(message.data)[0])
        last = time.monotonic()

    node.create_subscription(UInt8MultiArray, TOPIC, on_message, QOS)
    talker = subprocess.Popen([sys.executable, __file__, str(size), str(rate), str(count), "talk"])
    while len(delays) < count and time.monotonic() < last + SILENCE:
        rclpy.spin_once(node, timeout_sec=0.1)
    talker.wait()
    node.destroy_node()
    rclpy.shutdown()
    return delays


if __name__ == "__main__":
    arguments = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    if sys.argv[4:]:
        publish(*arguments)
    else:
        print(json.dumps(listen(*arguments)))

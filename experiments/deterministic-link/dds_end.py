"""One stream of messages by Fast DDS, as nodes of ROS 2 send them: reliable, serialised already.

dds_end.py send NUMBER BYTES COUNT INTERVAL     the interval in microseconds; count 0: one after
                                                the other, each acknowledged, until input ends
dds_end.py receive NUMBER                       prints arrivals when its input ends
"""

from __future__ import annotations

import struct
import sys
import threading
import time
from array import array

import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import UInt8MultiArray

# CDR: encapsulation, no dimensions, no offset, how many bytes follow.
HEAD = struct.Struct("<4sIII")
ENCAPSULATION = b"\x00\x01\x00\x00"
# The stamp of a message: when it was sent, and its number.
STAMP = struct.Struct("<qq")
PATIENCE = Duration(seconds=60)


def quality(depth: int) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST, depth=depth, reliability=ReliabilityPolicy.RELIABLE
    )


def finished() -> threading.Event:
    """Set when the input ends."""
    event = threading.Event()

    def read() -> None:
        sys.stdin.read()
        event.set()

    threading.Thread(target=read, daemon=True).start()
    return event


def send(node: Node, topic: str, size: int, count: int, interval: float) -> None:
    # Room for the messages that are sent while a long one is under way.
    publisher = node.create_publisher(UInt8MultiArray, topic, quality(1000 if size < 10_000 else 3))
    end = finished()
    while publisher.get_subscription_count() == 0:
        time.sleep(0.001)
    time.sleep(0.5)  # until the other end has found this one, too
    message = bytearray(HEAD.size + max(size, STAMP.size))
    HEAD.pack_into(message, 0, ENCAPSULATION, 0, 0, max(size, STAMP.size))
    due = time.monotonic()
    number = 0
    while number < count if count > 0 else not end.is_set():
        time.sleep(max(0.0, due - time.monotonic()))
        due += interval
        STAMP.pack_into(message, HEAD.size, time.monotonic_ns(), number)
        publisher.publish(bytes(message))
        number += 1
        if count == 0:
            publisher.wait_for_all_acked(PATIENCE)
    publisher.wait_for_all_acked(PATIENCE)


def receive(node: Node, topic: str, stream: int) -> None:
    arrivals = array("q")

    def arrived(message: bytes) -> None:
        now = time.monotonic_ns()
        sent, number = STAMP.unpack_from(message, HEAD.size)
        arrivals.extend((number, len(message) - HEAD.size, sent, now))

    node.create_subscription(UInt8MultiArray, topic, arrived, quality(1000), raw=True)
    end = finished()
    print("ready", flush=True)
    while not end.is_set():
        rclpy.spin_once(node, timeout_sec=0.1)
    for at in range(0, len(arrivals), 4):
        number, size, sent, now = arrivals[at : at + 4]
        print(stream, number, size, sent, now)


def main() -> None:
    action, stream, *numbers = sys.argv[1:]
    rclpy.init()
    node = Node(f"{action}_{stream}", enable_rosout=False, start_parameter_services=False)
    topic = f"stream_{stream}"
    if action == "send":
        size, count, interval = map(int, numbers)
        send(node, topic, size, count, interval / 1e6)
    else:
        receive(node, topic, int(stream))
    rclpy.try_shutdown()


main()

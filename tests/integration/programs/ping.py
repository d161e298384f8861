"""One of two rclpy programs on different hosts whose messages carry their own stamps: `ping` sends
20 a second and gets each one back from `pong`, which says when it handled it.

    ping.py ping COUNT      prints when each was about to be sent, had been sent and came back
    ping.py pong            prints when each was handled, until its input ends

Times are nanoseconds of CLOCK_MONOTONIC.
"""

from __future__ import annotations

import json
import sys
import time
from threading import Event, Thread

import rclpy
from std_msgs.msg import Int64MultiArray

role = sys.argv[1]
told: list[list[int]] = []
rclpy.init()
node = rclpy.create_node(role, enable_rosout=False)

if role == "ping":
    count = int(sys.argv[2])
    publisher = node.create_publisher(Int64MultiArray, "there", 10)
    sent: dict[int, int] = {}

    def send() -> None:
        if publisher.get_subscription_count() > 0 and len(sent) < count:
            before = time.monotonic_ns()
            publisher.publish(Int64MultiArray(data=[before]))
            sent[before] = time.monotonic_ns()

    def receive(message: Int64MultiArray) -> None:
        now = time.monotonic_ns()
        told.append([message.data[0], sent[message.data[0]], now])

    node.create_timer(0.05, send)
    node.create_subscription(Int64MultiArray, "back", receive, 10)
    while len(told) < count:
        rclpy.spin_once(node, timeout_sec=0.1)
else:
    publisher = node.create_publisher(Int64MultiArray, "back", 10)

    def answer(message: Int64MultiArray) -> None:
        told.append([message.data[0], time.monotonic_ns()])
        publisher.publish(message)

    ended = Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        ended.set()

    Thread(target=wait_for_end).start()
    # `ping` sends when it sees this subscription, and must hear the answer.
    while not ended.is_set() and publisher.get_subscription_count() == 0:
        rclpy.spin_once(node, timeout_sec=0.1)
    if not ended.is_set():
        node.create_subscription(Int64MultiArray, "there", answer, 10)
    while not ended.is_set():
        rclpy.spin_once(node, timeout_sec=0.1)

print(json.dumps(told))
rclpy.shutdown()

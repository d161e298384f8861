"""shots.py MODE SECONDS: /source sends /x every 30 ms; /middle passes each message on 12 ms later,
by a timer that fires once; /sink receives /z. overlapping: 80 ms later, so that several wait.
"""

from __future__ import annotations

import sys

import rclpy
from rclpy.node import Node
from saying import executor_of, sender, sink, spin
from std_msgs.msg import String


def main() -> None:
    mode, seconds = sys.argv[1], float(sys.argv[2])
    delay = 0.08 if mode == "overlapping" else 0.012
    rclpy.init()
    source, middle, end = Node("source"), Node("middle"), Node("sink")
    source.create_timer(0.03, sender(source, "/x"))
    publisher = middle.create_publisher(String, "/z", 100)
    waiting = []

    def start(message: String) -> None:
        waiting.append((message, middle.create_timer(delay, fire)))

    def fire() -> None:
        message, timer = waiting.pop(0)
        middle.destroy_timer(timer)
        publisher.publish(message)

    middle.create_subscription(String, "/x", start, 100)
    sink(end, "/z")
    spin(executor_of(source, middle, end), seconds)


main()

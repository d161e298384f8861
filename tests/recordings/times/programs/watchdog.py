"""watchdog.py SECONDS: /watch resets a timer of 100 ms whenever /x comes, every 30 ms.

/x pauses for 400 ms after each twenty, and then the timer publishes /alarm. /status publishes on
the same pace what it last had of /x, for comparison.
"""

from __future__ import annotations

import sys

import rclpy
from rclpy.node import Node
from saying import executor_of, sender, spin
from std_msgs.msg import String


def main() -> None:
    rclpy.init()
    source, watch, status, end = Node("source"), Node("watch"), Node("status"), Node("sink")
    send = sender(source, "/x")
    count = 0

    def tick() -> None:
        nonlocal count
        count += 1
        if count % 34 < 20:
            send()

    source.create_timer(0.03, tick)
    alarm = watch.create_publisher(String, "/alarm", 10)
    timer = watch.create_timer(0.1, lambda: alarm.publish(String(data="late")))
    watch.create_subscription(String, "/x", lambda _: timer.reset(), 10)

    newest = String()

    def keep(message: String) -> None:
        nonlocal newest
        newest = message

    state = status.create_publisher(String, "/state", 10)
    status.create_subscription(String, "/x", keep, 10)
    status.create_timer(0.1, lambda: state.publish(newest))
    for topic in ("/alarm", "/state"):
        end.create_subscription(String, topic, lambda _: None, 10)
    spin(executor_of(source, watch, status, end), float(sys.argv[1]))


main()

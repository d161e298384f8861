"""A controller whose output comes at a random time: in each period of 50 ms, which begin at
multiples of it on CLOCK_MONOTONIC, it says "tick" on /tick at once and its number on /command 5 to
30 ms later. Ends after as many as told; prints nothing. It begins when /command has a reader and
the file exists by which the one at the end of the way says that it is there.
"""

import random
import sys
import time
from pathlib import Path

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

PERIOD = 50_000_000

count, there = int(sys.argv[1]), Path(sys.argv[2])
rclpy.init()
node = Node("jittery", namespace="/robot")
ticks = node.create_publisher(String, "/tick", 10)
# A subscriber that joins late gets all messages.
kept = QoSProfile(depth=count, durability=DurabilityPolicy.TRANSIENT_LOCAL)
commands = node.create_publisher(String, "/command", kept)
randoms = random.Random(1)


def sleep_until(when: int) -> None:
    time.sleep(max(when - time.monotonic_ns(), 0) / 1e9)


while commands.get_subscription_count() == 0 or not there.exists():
    time.sleep(0.01)
begin = time.monotonic_ns() // PERIOD * PERIOD + PERIOD
for number in range(count):
    sleep_until(begin)
    ticks.publish(String(data="tick"))
    sleep_until(begin + randoms.randrange(5_000_000, 30_000_000))
    commands.publish(String(data=f"command {number} ä" + "x" * number))
    begin += PERIOD
# The last messages are on their way.
rclpy.spin_once(node, timeout_sec=1)

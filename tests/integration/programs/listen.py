"""Prints what comes on a topic of strings, a JSON string a line, until so many have come, with what
its publishers have kept. Makes a file when there is a publisher.
"""

import json
import sys
from pathlib import Path

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

topic, count, there = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
heard: list[str] = []


def hear(message: String) -> None:
    heard.append(message.data)
    print(json.dumps(message.data), flush=True)


rclpy.init()
node = Node("listener")
all_of_them = QoSProfile(depth=count, durability=DurabilityPolicy.TRANSIENT_LOCAL)
subscription = node.create_subscription(String, topic, hear, all_of_them)
print('"ready"', flush=True)
while subscription.get_publisher_count() == 0:
    rclpy.spin_once(node, timeout_sec=0.01)
there.touch()
while len(heard) < count:
    rclpy.spin_once(node)

"""Prints what comes on a topic of strings, a JSON string a line, until so many have come, with what
its publishers have kept.
"""

import json
import sys

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

topic, count = sys.argv[1], int(sys.argv[2])
heard: list[str] = []


def hear(message: String) -> None:
    heard.append(message.data)
    print(json.dumps(message.data), flush=True)


rclpy.init()
node = Node("listener")
all_of_them = QoSProfile(depth=count, durability=DurabilityPolicy.TRANSIENT_LOCAL)
subscription = node.create_subscription(String, topic, hear, all_of_them)
print('"ready"', flush=True)
while len(heard) < count:
    rclpy.spin_once(node)

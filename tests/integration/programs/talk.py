"""An unmodified rclpy program: a node that hears itself. Publishes as many messages as told, one
whenever the one before has arrived, and prints what it counted.
"""

import json
import sys

import rclpy
from rclpy.node import Node
from std_msgs.msg import String

count = int(sys.argv[1])
heard: list[str] = []


def hear(message: String) -> None:
    heard.append(message.data)
    if len(heard) < count:
        publisher.publish(String(data=str(len(heard))))


rclpy.init()
node = Node("talker", enable_rosout=False)
publisher = node.create_publisher(String, "chatter", 10)
subscription = node.create_subscription(String, "chatter", hear, 10)
while publisher.get_subscription_count() == 0:
    rclpy.spin_once(node, timeout_sec=0.01)
publisher.publish(String(data="first"))
while len(heard) < count:
    rclpy.spin_once(node)
print(json.dumps({"published": count, "heard": len(heard)}))
rclpy.shutdown()

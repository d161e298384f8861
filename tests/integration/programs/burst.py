"""A controller that says all its numbers on /command at once, when that has a reader, and ends when
the reader has them.
"""

import sys
import time

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

count = int(sys.argv[1])
rclpy.init()
node = Node("jittery", namespace="/robot")
# A reader that joins late gets all messages.
kept = QoSProfile(depth=count, durability=DurabilityPolicy.TRANSIENT_LOCAL)
commands = node.create_publisher(String, "/command", kept)
while commands.get_subscription_count() == 0:
    time.sleep(0.01)
for number in range(count):
    commands.publish(String(data=f"command {number}"))
commands.wait_for_all_acked()

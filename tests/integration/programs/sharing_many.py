"""sharing_many.py COUNT: has so many publishers until the end of its input."""

import sys

import rclpy
from std_msgs.msg import Empty

rclpy.init()
node = rclpy.create_node("many")
for number in range(int(sys.argv[1])):
    node.create_publisher(Empty, f"topic_{number}", 1)
print("ready", flush=True)
sys.stdin.read()
rclpy.shutdown()

"""A node that hears itself, on a topic on which some messages cannot be sent. Begins with the first
line of its input, prints the numbers that it heard, in order, and ends with its input.
"""

import sys
from contextlib import suppress

import rclpy
from rcl_interfaces.msg import IntegerRange, ParameterDescriptor
from rclpy._rclpy_pybind11 import RCLError
from rclpy.qos import QoSProfile

rclpy.init()
node = rclpy.create_node("refused")
qualities = QoSProfile(depth=1000)
heard: list[int] = []
node.create_subscription(
    ParameterDescriptor, "numbers", lambda message: heard.append(int(message.name)), qualities
)
publisher = node.create_publisher(ParameterDescriptor, "numbers", qualities)
while publisher.get_subscription_count() != 1:
    rclpy.spin_once(node, timeout_sec=0.01)
sys.stdin.readline()
number = 0
for _ in range(3):
    for _ in range(20):
        number += 1
        publisher.publish(ParameterDescriptor(name=str(number)))
        while heard[-1:] != [number]:
            rclpy.spin_once(node)
    refused = ParameterDescriptor()
    refused._integer_range = [IntegerRange()] * 2  # at most one can be sent
    with suppress(RCLError):
        publisher.publish(refused)
        raise AssertionError("a message was sent that cannot be")
    # Subscriptions look for publishers anew.
    node.create_publisher(ParameterDescriptor, "numbers", qualities)
for _ in range(50):
    rclpy.spin_once(node, timeout_sec=0.01)
print(*heard, flush=True)
sys.stdin.read()
rclpy.shutdown()

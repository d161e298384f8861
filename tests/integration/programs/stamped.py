"""A program of rclpy that publishes messages with and without a header; prints the stamps."""

import rclpy
from rclpy.node import Node
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

COUNT = 5

rclpy.init()
node = Node("stamped", enable_rosout=False)
for number in range(COUNT):
    # Made anew each time: another one may get the address of one that is gone.
    publisher = node.create_publisher(JointState, "/joints", 10)
    plain = node.create_publisher(String, "/text", 10)
    message = JointState()
    stamp = message.header.stamp
    stamp.sec, stamp.nanosec = 1_700_000_000 + number, number + 1
    publisher.publish(message)
    publisher.publish(serialize_message(message))
    plain.publish(String(data="no stamp"))
    print(stamp.sec * 10**9 + stamp.nanosec)
    node.destroy_publisher(publisher)
    node.destroy_publisher(plain)
rclpy.shutdown()

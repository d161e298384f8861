"""One of two rclpy programs that know each other by nothing but a topic: `say` publishes until
somebody has matched and its standard input ends; `hear` prints the first message, then waits for
the end of its standard input.
"""

import sys

import rclpy
from ending import spin_until_input_ends
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import String

role = sys.argv[1]

rclpy.init()
node = rclpy.create_node(f"exchange_{role}")
if role == "say":
    publisher = node.create_publisher(String, "exchange", 10)
    node.create_timer(0.05, lambda: publisher.publish(String(data="here")))
else:
    node.create_subscription(String, "exchange", lambda heard: print(heard.data, flush=True), 10)

executor = SingleThreadedExecutor()
executor.add_node(node)
spin_until_input_ends(executor)
rclpy.shutdown()

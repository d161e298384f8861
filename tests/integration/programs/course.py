"""Two unmodified rclpy nodes that run until standard input ends: `pilot` publishes to /course by a
timer, `helm` hears it, offers a service and calls nobody. Prints its process id when all is made.
"""

import os

import rclpy
from ending import spin_until_input_ends
from rcl_interfaces.srv import ListParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

rclpy.init()
pilot = Node("pilot", namespace="/bridge")
helm = Node("helm")
publisher = pilot.create_publisher(String, "/course", 7)
pilot.create_timer(0.02, lambda: publisher.publish(String(data="north")))
helm.create_subscription(String, "/course", lambda heard: None, 5)
helm.create_service(ListParameters, "/steer", lambda request, response: response)
helm.create_client(ListParameters, "/engine")
executor = SingleThreadedExecutor()
executor.add_node(pilot)
executor.add_node(helm)

print(os.getpid(), flush=True)
spin_until_input_ends(executor)
rclpy.shutdown()

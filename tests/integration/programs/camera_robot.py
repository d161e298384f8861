"""An unmodified rclpy program of three nodes: a timer drives a subscription, and that a coroutine
that calls a service. Ends after as many ticks as told, and prints what it counted. --threads: spins
in rclpy's multi-threaded executor.
"""

import json
import sys
from collections import Counter

import rclpy
from rcl_interfaces.srv import ListParameters
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

ticks = int(sys.argv[1])
counted: Counter[str] = Counter()

rclpy.init()
done = rclpy.Future()
camera, detector, pilot = Node("camera"), Node("detector"), Node("pilot")
images = camera.create_publisher(String, "image", ticks)
objects = detector.create_publisher(String, "objects", ticks)
# In a group of their own: callbacks that wait for a response keep theirs occupied.
responses = ReentrantCallbackGroup()
checks = pilot.create_client(ListParameters, "check", callback_group=responses)


def shoot() -> None:
    if images.get_subscription_count() == 0 or objects.get_subscription_count() == 0:
        return
    if counted["image"] == ticks:
        shutter.cancel()
        return
    counted["image"] += 1
    images.publish(String(data=str(counted["image"])))


def detect(image: String, info: dict[str, int]) -> None:
    assert "source_timestamp" in info
    counted["objects"] += 1
    objects.publish(image)


def check(request: object, response: object) -> object:
    counted["check"] += 1
    return response


async def steer(message: String) -> None:
    await checks.call_async(ListParameters.Request())
    counted["steered"] += 1
    if counted["steered"] == ticks:
        done.set_result(None)


detector.create_subscription(String, "image", detect, ticks)
detector.create_service(ListParameters, "check", check)
pilot.create_subscription(String, "objects", steer, ticks)
shutter = camera.create_timer(0.02, shoot)
executor = MultiThreadedExecutor(2) if "--threads" in sys.argv else SingleThreadedExecutor()
for node in (camera, detector, pilot):
    executor.add_node(node)
checks.wait_for_service()
executor.spin_until_future_complete(done)
executor.shutdown()
rclpy.shutdown()
print(json.dumps(counted))

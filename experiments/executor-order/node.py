"""A node of stock rclpy that validates the order of callbacks, as in 3.1.2 of ROS-Llama:

    node.py '{"timers": {NAME: SECONDS, …}, "first": [NAME, …],
              "second": [NAME, …], "later": SECONDS}'

A name that begins with S is a service, another a topic. All run for half a second. Everything takes
a fifth of the time; what is printed is as if it took all: [name, start, end] of each run.
"""

from __future__ import annotations

import functools
import json
import sys
import threading
import time

import rclpy
from rcl_interfaces.srv import ListParameters
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Empty

SCALE = 0.2
LONG = 0.5 * SCALE
TOPICS, SERVICES = ("H", "M", "L"), ("SH", "SM", "SL")
QUEUE = 10
PATIENCE = 30.0
SETTLED = 0.3
"""Seconds for what was sent to arrive before the executor looks for the first time."""

wanted = json.loads(sys.argv[1])
rclpy.init()
node, sender = rclpy.create_node("validated"), rclpy.create_node("sender")
runs: list[tuple[str, float, float]] = []


def ran(name: str) -> None:
    start = time.monotonic()
    time.sleep(LONG)
    runs.append((name, start, time.monotonic()))


def heard(name: str, _message: Empty) -> None:
    ran(name)


def served(
    name: str, _request: ListParameters.Request, response: ListParameters.Response
) -> ListParameters.Response:
    ran(name)
    return response


for topic in TOPICS:
    node.create_subscription(Empty, f"/{topic}", functools.partial(heard, topic), QUEUE)
for service in SERVICES:
    node.create_service(ListParameters, f"/{service}", functools.partial(served, service))
publishers = {topic: sender.create_publisher(Empty, f"/{topic}", QUEUE) for topic in TOPICS}
clients = {service: sender.create_client(ListParameters, f"/{service}") for service in SERVICES}

end = time.monotonic() + PATIENCE
while not (
    all(one.get_subscription_count() for one in publishers.values())
    and all(one.service_is_ready() for one in clients.values())
):
    if time.monotonic() > end:
        sys.exit("the nodes do not find each other")
    time.sleep(0.01)


def send(names: list[str]) -> None:
    for name in names:
        if name in publishers:
            publishers[name].publish(Empty())
        else:
            clients[name].call_async(ListParameters.Request())


def expired(name: str) -> None:
    timers[name].cancel()
    ran(name)


send(wanted["first"])
time.sleep(SETTLED)
zero = time.monotonic()
timers = {
    name: node.create_timer(seconds * SCALE, functools.partial(expired, name))
    for name, seconds in wanted["timers"].items()
}
threading.Timer(wanted["later"] * SCALE, send, [wanted["second"]]).start()
executor = SingleThreadedExecutor()
executor.add_node(node)
total = len(wanted["first"]) + len(wanted["second"]) + len(timers)
while len(runs) < total:
    if time.monotonic() > end:
        sys.exit(f"only {len(runs)} of {total} callbacks ran")
    executor.spin_once(timeout_sec=1.0)
print(json.dumps([(name, (a - zero) / SCALE, (b - zero) / SCALE) for name, a, b in runs]))
rclpy.shutdown()

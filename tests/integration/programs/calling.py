"""Two rclpy nodes, each in a thread of its own: `/pilot` calls the service of `/brakes` as many
times as told, 30 times a second. `timer`: from a timer's callback; `main`: from the main thread, in
no callback. Prints how often the service ran.
"""

import json
import sys
import threading
import time
from contextlib import suppress

import rclpy
from rcl_interfaces.srv import ListParameters
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

PERIOD = 1 / 30
how, calls = sys.argv[1], int(sys.argv[2])
made = served = 0
done = threading.Event()

rclpy.init()
pilot, brakes = Node("pilot"), Node("brakes")
client = pilot.create_client(ListParameters, "/brake")


def serve(request: object, response: object) -> object:
    global served
    served += 1
    if served == calls:
        done.set()
    return response


def call() -> None:
    global made
    if made < calls and client.service_is_ready():
        made += 1
        client.call_async(ListParameters.Request())


def spin(node: Node) -> None:
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    with suppress(ExternalShutdownException):
        executor.spin()


brakes.create_service(ListParameters, "/brake", serve)
client.wait_for_service()
if how == "timer":
    pilot.create_timer(PERIOD, call)
threads = [threading.Thread(target=spin, args=(node,)) for node in (pilot, brakes)]
for thread in threads:
    thread.start()
start = time.monotonic()
while how == "main" and made < calls:
    call()
    time.sleep(max(0.0, start + made * PERIOD - time.monotonic()))
done.wait()
rclpy.try_shutdown()
for thread in threads:
    thread.join()
print(json.dumps({"made": made, "served": served}))

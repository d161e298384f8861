"""A robot whose nodes all store /tf, in a process each or all in one:
transforms.py apart|together SECONDS

lidar (50 ms) -/scan-> detector -/objects-> planner (50 ms, uses the newest of /objects) -/cmd_vel->
base; localizer, arm and base broadcast /tf every 200 ms. The base prints how old the scan is that
went into each command.
"""

import contextlib
import subprocess
import sys
import threading
import time

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

MODE, SECONDS = sys.argv[1], float(sys.argv[2])
NAMES = ("base", "planner", "detector", "localizer", "arm", "lidar")


class Robot(Node):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.transforms = None
        self.create_subscription(String, "/tf", self.store_transform, 100)
        if name in ("localizer", "arm", "base"):
            self.tf = self.create_publisher(String, "/tf", 100)
            self.create_timer(0.2, lambda: self.tf.publish(String(data=name)))
        if name == "lidar":
            self.out = self.create_publisher(String, "/scan", 10)
            self.create_timer(0.05, lambda: self.out.publish(String(data=str(time.monotonic_ns()))))
        if name == "detector":
            self.out = self.create_publisher(String, "/objects", 10)
            self.create_subscription(String, "/scan", lambda scan: self.out.publish(scan), 10)
        if name == "planner":
            self.newest = None
            self.out = self.create_publisher(String, "/cmd_vel", 10)
            self.create_subscription(
                String, "/objects", lambda objects: setattr(self, "newest", objects), 10
            )
            self.create_timer(0.05, self.plan)
        if name == "base":
            self.create_subscription(
                String,
                "/cmd_vel",
                lambda command: print("TRUTH", time.monotonic_ns() - int(command.data), flush=True),
                10,
            )

    def store_transform(self, message: String) -> None:
        self.transforms = message

    def plan(self) -> None:
        if self.newest is not None:
            self.out.publish(self.newest)


def run(names: tuple[str, ...]) -> None:
    rclpy.init()
    executor = SingleThreadedExecutor()
    nodes = [Robot(name) for name in names]
    for node in nodes:
        executor.add_node(node)
    threading.Timer(SECONDS, rclpy.shutdown).start()
    with contextlib.suppress(ExternalShutdownException):
        executor.spin()


if len(sys.argv) > 3:
    run((sys.argv[3],))
elif MODE == "together":
    run(NAMES)
else:
    for process in [
        subprocess.Popen([sys.executable, __file__, *sys.argv[1:], name]) for name in NAMES
    ]:
        process.wait()

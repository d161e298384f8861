"""A node of rclpy that talks to itself and to the next of COUNT programs, RATE (200) times a
second: `chatter.py NUMBER COUNT SENT [RATE]`. The file SENT has how many messages it has sent, in 8
bytes. Ends with SIGINT.
"""

import mmap
import sys
from contextlib import suppress
from pathlib import Path

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from std_msgs.msg import String

number, count = map(int, sys.argv[1:3])
with Path(sys.argv[3]).open("r+b") as file:
    sent = memoryview(mmap.mmap(file.fileno(), 8)).cast("Q")
rate = float(sys.argv[4]) if len(sys.argv) > 4 else 200
rclpy.init()
node = Node(f"chatter_{number}")
publisher = node.create_publisher(String, f"chat_{number}", 10)
for other in (number, (number + 1) % count):
    node.create_subscription(String, f"chat_{other}", lambda _: None, 10)


def talk() -> None:
    publisher.publish(String(data="hello"))
    sent[0] += 1


node.create_timer(1 / rate, talk)
print("ready", flush=True)
with suppress(ExternalShutdownException, KeyboardInterrupt):
    rclpy.spin(node)

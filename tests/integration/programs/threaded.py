"""A node whose threads do what executors do not, in rclpy: one sleeps by a rate of 20 Hz and
publishes /scan, another waits for datagrams on the loopback interface and publishes /frames. Both
are taken by subscriptions of the same node on an executor. Ends after so many seconds. The second
argument, if there is one, is the name of the node, and its topics are below that.
"""

import socket
import sys
import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Empty

LAST = b"q"
PERIOD = 0.03

rclpy.init()
name, below = (sys.argv[2], f"/{sys.argv[2]}") if len(sys.argv) > 2 else ("threaded", "")
node = rclpy.create_node(name)
end = time.monotonic() + float(sys.argv[1])
for topic in ("/scan", "/frames"):
    node.create_subscription(Empty, below + topic, lambda _: None, 10)
scans = node.create_publisher(Empty, below + "/scan", 10)
frames = node.create_publisher(Empty, below + "/frames", 10)
rate = node.create_rate(20)
device = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
device.bind(("127.0.0.1", 0))


def scan() -> None:
    while time.monotonic() < end:
        scans.publish(Empty())
        rate.sleep()


def drive() -> None:
    while device.recv(1) != LAST:
        frames.publish(Empty())


executor = SingleThreadedExecutor()
executor.add_node(node)
working = [threading.Thread(target=work) for work in (scan, drive)]
spinning = threading.Thread(target=executor.spin)
for thread in (spinning, *working):
    thread.start()
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    while time.monotonic() < end:
        sender.sendto(b"x", device.getsockname())
        time.sleep(PERIOD)
    sender.sendto(LAST, device.getsockname())
for thread in working:
    thread.join()
executor.shutdown()
spinning.join()
rclpy.shutdown()

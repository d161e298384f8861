"""sharing_listen.py [EXECUTOR [DURABILITY]]: prints what it hears of sharing_talk.py, a line each:
the topic, who sent it, its number, and whether it is whole. EXECUTOR is a class. Ends at SIGTERM.
"""

import contextlib
import importlib
import os
import signal
import sys
import threading
import zlib

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import Image
from std_msgs.msg import String


def end() -> None:
    """rclpy's own handler wakes the executor before it shuts the context down. An executor that
    waits again in between, for messages that never come, would not end.
    """
    os.read(signalled, 1)
    rclpy.shutdown()


chosen = sys.argv[1] if sys.argv[1:] else "rclpy.executors.SingleThreadedExecutor"
module, _, name = chosen.rpartition(".")
kind = getattr(importlib.import_module(module), name)
signalled, signals = os.pipe()
os.set_blocking(signals, False)
signal.set_wakeup_fd(signals)
signal.signal(signal.SIGTERM, lambda *_: None)
threading.Thread(target=end, daemon=True).start()
rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
node = rclpy.create_node(os.environ.get("LISTENER", "listen"))


def hear_text(message: String) -> None:
    print("text", message.data, "whole", flush=True)


def hear_image(message: Image) -> None:
    is_whole = str(zlib.crc32(message.data)) == message.encoding
    print("image", message.header.frame_id, "whole" if is_whole else "torn", flush=True)


qualities = QoSProfile(depth=1000)
if sys.argv[2:] == ["transient_local"]:
    qualities.durability = DurabilityPolicy.TRANSIENT_LOCAL
node.create_subscription(String, "text", hear_text, qualities)
node.create_subscription(Image, "image", hear_image, qualities)
print("ready", flush=True)
with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
    executor = kind()
    executor.add_node(node)
    executor.spin()

"""Emits ros2:rclcpp_executor_wait_for_work with 0, 1, 2 … every millisecond until SIGINT or
SIGTERM. Prints its process id after the first, when a signal can come, and then how many it
emitted.
"""

import ctypes
import os
import signal
import sys
import time

stopped = False


def stop(number: int, frame: object) -> None:
    global stopped
    stopped = True


signal.signal(signal.SIGINT, stop)
signal.signal(signal.SIGTERM, stop)
library = ctypes.CDLL("libtracetools.so")
emit = library.ros_trace_rclcpp_executor_wait_for_work
emit.argtypes = [ctypes.c_int64]
emit(0)
emitted = 1
print(os.getpid(), flush=True)
while not stopped:
    emit(emitted)
    emitted += 1
    time.sleep(0.001)
print(emitted, flush=True)
sys.exit(0)

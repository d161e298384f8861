"""One child after the other for the given seconds, each of which emits a hundred events and ends.
Prints the number of children.
"""

import ctypes
import os
import sys
import time

COUNT = 100

emit = ctypes.CDLL("libtracetools.so").ros_trace_rclcpp_executor_wait_for_work
emit.argtypes = [ctypes.c_int64]

end = time.monotonic() + float(sys.argv[1])
children = 0
while time.monotonic() < end:
    process = os.fork()
    if process == 0:
        for value in range(COUNT):
            emit(value)
        os._exit(0)
    os.waitpid(process, 0)
    children += 1
    time.sleep(0.05)
print(children)

"""Three batches of a hundred children, one after the other, each of which emits a thousand events
and ends. Prints a line seven seconds after each batch: meanwhile a recorder has looked which
processes have ended.
"""

import ctypes
import os
import time

BATCHES = 3
CHILDREN = 100
EVENTS = 1000

emit = ctypes.CDLL("libtracetools.so").ros_trace_rclcpp_executor_wait_for_work
emit.argtypes = [ctypes.c_int64]

for _ in range(BATCHES):
    for _ in range(CHILDREN):
        process = os.fork()
        if process == 0:
            for value in range(EVENTS):
                emit(value)
            os._exit(0)
        os.waitpid(process, 0)
    time.sleep(7)
    print("batch", flush=True)

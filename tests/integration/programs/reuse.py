"""Two children, one after the other, with the same process id; each emits a thousand events. Prints
the id. Needs the privilege to choose it.
"""

import ctypes
import os
from pathlib import Path

NEXT = Path("/proc/sys/kernel/ns_last_pid")
COUNT = 1000

emit = ctypes.CDLL("libtracetools.so").ros_trace_rclcpp_executor_wait_for_work
emit.argtypes = [ctypes.c_int64]


def child(first: int, number: int | None = None) -> int:
    """Emits `first` and what follows in a child, which has the process id `number`."""
    while True:
        if number is not None:
            NEXT.write_text(str(number - 1))
        process = os.fork()
        if process == 0:
            if number in (None, os.getpid()):
                for value in range(first, first + COUNT):
                    emit(value)
            os._exit(0)
        os.waitpid(process, 0)
        if number in (None, process):  # else someone else's process took the number
            return process


number = child(0)
child(COUNT, number)
print(number)

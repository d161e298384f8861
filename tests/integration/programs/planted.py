"""An unmodified rclpy program of two timers: planted.py SECONDS. One allocates memory by memalign,
which nothing else uses, and touches new pages; the other does neither. Prints how often each ran.
"""

import ctypes
import json
import mmap
import sys
import time

import rclpy
from rclpy.node import Node

CALLS = 3
BYTES = 12345
PAGES = 64

library = ctypes.CDLL(None)
library.memalign.restype = ctypes.c_void_p
library.memalign.argtypes = (ctypes.c_size_t, ctypes.c_size_t)
library.free.argtypes = (ctypes.c_void_p,)
ran = {"planted": 0, "clean": 0}


def plant() -> None:
    ran["planted"] += 1
    for _ in range(CALLS):
        library.free(library.memalign(64, BYTES))
    with mmap.mmap(-1, PAGES * mmap.PAGESIZE) as memory:
        for page in range(PAGES):
            memory[page * mmap.PAGESIZE] = 1


def clean() -> None:
    ran["clean"] += 1


rclpy.init()
node = Node("robot", enable_rosout=False)
timers = [node.create_timer(0.1, plant), node.create_timer(0.05, clean)]
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    rclpy.spin_once(node)
print(json.dumps(ran))
rclpy.shutdown()

"""Nodes whose timers log how the thread that runs them is scheduled, a JSON line whenever that has
changed: KIND TICKS NODE...

KIND: `each` node has a thread of its own, all are on `one` thread, perhaps `beside` a node that is
on none, /quiet, or on `many` threads of one executor, one of which /quiet keeps for a while now and
then: rclpy makes as few threads as suffice. Ends when every node has ticked TICKS times;
with 0, when each of them has seen a thread that is not scheduled by default. Then logs how all
threads of this process are scheduled.
"""

import ctypes
import json
import os
import struct
import sys
import threading
import time
from pathlib import Path

import rclpy
from rclpy.executors import Executor, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node

SCHED_GETATTR = 315
POLICIES = {0: "other", 1: "fifo", 2: "rr", 6: "deadline"}
libc = ctypes.CDLL(None, use_errno=True)


def settings(thread: int) -> dict[str, object]:
    """Of a thread, as sched_getattr(2) tells them."""
    buffer = ctypes.create_string_buffer(48)
    if libc.syscall(SCHED_GETATTR, thread, buffer, len(buffer), 0) != 0:
        return {"policy": "gone"}
    _, policy, _, _, priority, *times = struct.unpack("=IIQiIQQQ", buffer.raw)
    found: dict[str, object] = {"policy": POLICIES[policy]}
    if policy in (1, 2):
        found["priority"] = priority
    if policy == 6:
        found["times"] = times
    found["cores"] = sorted(os.sched_getaffinity(thread))
    return found


def log(**fields: object) -> None:
    # In one call, as several threads do this.
    os.write(1, (json.dumps({"process": os.getpid(), **fields}) + "\n").encode())


class Watcher:
    """A node that logs when its thread's settings change."""

    def __init__(self, name: str) -> None:
        self.node = Node(name)
        self.ticks = 0
        self.changed = False
        self._last: dict[str, object] = {}
        self.node.create_timer(0.01, self._look)

    def _look(self) -> None:
        self.ticks += 1
        now = settings(threading.get_native_id())
        if now != self._last:
            self.changed = self.changed or now["policy"] != "other"
            log(node=self.node.get_name(), thread=threading.get_native_id(), **now)
            self._last = now
        if all(w.ticks >= ticks if ticks else w.changed for w in watchers):
            over.set()


kind, ticks, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
over = threading.Event()
watchers: list[Watcher] = []
rclpy.init()
watchers += [Watcher(name) for name in names]
quiet = Node("quiet") if kind in ("beside", "many") else None
executors: list[Executor] = []
for watcher in watchers:
    if not executors or kind == "each":
        executors.append(MultiThreadedExecutor(3) if kind == "many" else SingleThreadedExecutor())
    executors[-1].add_node(watcher.node)
if quiet and kind == "many":
    quiet.create_timer(0.02, lambda: time.sleep(0.015))
    executors[0].add_node(quiet)
threads = [threading.Thread(target=executor.spin) for executor in executors]
for thread in threads:
    thread.start()
over.wait()
tasks = Path("/proc/self/task")
log(
    threads=[
        {
            "thread": int(task.name),
            "name": (task / "comm").read_text().strip(),
            **settings(int(task.name)),
        }
        for task in tasks.iterdir()
    ]
)
for executor in executors:
    executor.shutdown()
for thread in threads:
    thread.join()
rclpy.shutdown()

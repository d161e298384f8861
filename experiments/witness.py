"""When the machine did not run a thread that was due: watches one processor from above all others
until standard input ends, then prints what it saw as JSON: how often it was due (`looks`), and when
and how late it was (`stalls`), in ns.

    witness.py PROCESSOR NOTED

What is late by less than NOTED ns is left out. It sleeps to absolute times at SCHED_FIFO 99. Where
it is late itself, nothing on that processor could have been in time: the kernel had its interrupts
or its preemption off, or the host of a virtual machine had taken the processor away.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import select
import sys
import time

INTERVAL = 5_000_000
"""Nanoseconds between two looks: what keeps the processor for less is seen by chance alone."""

processor, noted = map(int, sys.argv[1:])
os.sched_setaffinity(0, {processor})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(os.sched_get_priority_max(os.SCHED_FIFO)))
# No page fault: what it delays is the chain.
ctypes.CDLL(None).mlockall(3)
gc.disable()
stalls: list[tuple[int, int]] = []
looks = 0
woke = time.monotonic_ns()
# Chains begin on whole milliseconds. It is not to be in their way then.
due = woke // INTERVAL * INTERVAL + INTERVAL // 2
while not select.select([sys.stdin], [], [], 0)[0]:
    due += INTERVAL
    looks += 1
    now = time.monotonic_ns()
    # What we do ourselves takes no time: then we were interrupted, too.
    if now - woke > noted:
        stalls.append((woke, now - woke))
    if due > now:
        time.sleep((due - now) / 1e9)
    woke = time.monotonic_ns()
    late = woke - due
    if late > noted:
        stalls.append((due, late))
        due += late // INTERVAL * INTERVAL
print(json.dumps({"looks": looks, "stalls": stalls}))

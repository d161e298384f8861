"""A table dispatcher of threads: inside the slots of a plan's servers, the threads of unmodified
programs have a real-time priority; outside they are scheduled as they were
(performance-engineering 6.3, option 3).

It runs in a thread of its own at a higher priority than those it schedules, sleeps to the absolute
boundaries of slots and does nothing between them. What it changed it undoes at its end.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from takt.documents import ServerSlot, Shaping
from takt.errors import UserError

INSIDE = 50
"""SCHED_FIFO priority of the threads inside their slots."""
MIDDLEWARE = 60
"""Of their processes' other threads, always: what delivers messages must not wait for slots
(performance-engineering 3.4)."""
DISPATCHER = 95
LOOK_INTERVAL = 1_000_000_000
"""Nanoseconds between two looks for new threads: to read /proc costs more than all else."""


def table(plan: Shaping) -> list[ServerSlot]:
    """The slots of all servers in their order; those that touch are one."""
    slots = sorted(
        (slot for server in plan.servers for slot in server.slots), key=lambda s: s.start
    )
    merged: list[ServerSlot] = []
    for slot in slots:
        if merged and slot.start <= merged[-1].end:
            end = max(merged[-1].end, slot.end)
            merged[-1] = ServerSlot(start=merged[-1].start, end=end)
        else:
            merged.append(slot)
    return merged


def boundaries(slots: list[ServerSlot], cycle: int) -> list[tuple[int, bool]]:
    """When within the cycle threads are to run (True) or not any more, in order. Where a slot ends
    with the cycle as the next begins, nothing changes.
    """
    starts = [(slot.start, True) for slot in slots]
    ends = [(slot.end % cycle, False) for slot in slots]
    return sorted(starts + [end for end in ends if (end[0], True) not in starts])


class Dispatcher:
    """Schedules the threads of some processes by the servers of a plan, while it is entered."""

    def __init__(self, plan: Shaping, processes: Callable[[], list[int]]) -> None:
        """`processes` names them; it is asked once a second, as they may start others."""
        self._cycle = plan.cycle
        self._boundaries = boundaries(table(plan), plan.cycle)
        self._processes = processes
        self._former: dict[int, tuple[int, int]] = {}
        """By thread, its policy and priority before."""
        self._main_threads: set[int] = set()
        self._next_look = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="takt-dispatch")
        self.switches = 0
        self.processor_time = 0.0
        """Seconds that it took itself."""

    def __enter__(self) -> Dispatcher:
        if not self._boundaries:
            raise UserError("the plan's servers have no slots to dispatch by")
        check_privilege()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(DISPATCHER))
        began = time.thread_time()
        try:
            while not self._stop.is_set():
                self._cycle_once()
        finally:
            for thread, (policy, priority) in self._former.items():
                _schedule(thread, policy, priority)
            self.processor_time = time.thread_time() - began

    def _cycle_once(self) -> None:
        begin = time.monotonic_ns() // self._cycle * self._cycle + self._cycle
        if begin >= self._next_look:
            self._take_on()
            self._next_look = begin + LOOK_INTERVAL
        for at, inside in self._boundaries:
            delay = begin + at - time.monotonic_ns()
            if delay > 0 and self._stop.wait(0):
                return
            if delay > 0:
                time.sleep(delay / 1e9)
            for thread in self._main_threads & self._former.keys():
                policy, priority = (os.SCHED_FIFO, INSIDE) if inside else self._former[thread]
                _schedule(thread, policy, priority)
            self.switches += 1

    def _take_on(self) -> None:
        """Notes how threads that are new were scheduled, and forgets those that have ended."""
        # A process has the number of its main thread, in which single-threaded executors spin.
        self._main_threads = set(self._processes())
        alive: set[int] = set()
        for process in self._main_threads:
            with contextlib.suppress(OSError):
                alive |= {int(task.name) for task in Path(f"/proc/{process}/task").iterdir()}
        for thread in alive - self._former.keys():
            with contextlib.suppress(OSError):
                policy = os.sched_getscheduler(thread)
                self._former[thread] = (policy, os.sched_getparam(thread).sched_priority)
                if thread not in self._main_threads:
                    _schedule(thread, os.SCHED_FIFO, MIDDLEWARE)
        for thread in self._former.keys() - alive:
            del self._former[thread]


def check_privilege() -> None:
    """UserError if this user may not use real-time priorities."""
    highest = DISPATCHER
    try:
        former = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(highest))
        os.sched_setscheduler(0, *former)
    except PermissionError as error:
        raise UserError(
            f"threads cannot be dispatched: SCHED_FIFO priority {highest} is not allowed; run as "
            "root, or give the user 'rtprio 95' in /etc/security/limits.conf"
        ) from error


def session_of(leader: int) -> list[int]:
    """The processes of a session, without those that have ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if os.getsid(int(entry.name)) == leader:
                    found.append(int(entry.name))
    return found


def _schedule(thread: int, policy: int, priority: int) -> None:
    with contextlib.suppress(OSError):  # it has ended meanwhile
        os.sched_setscheduler(thread, policy, os.sched_param(priority))

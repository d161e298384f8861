"""Real-time scheduling: tried, not guessed, because a container or a cgroup may forbid what the
kernel offers.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import threading
from collections.abc import Callable

from takt.doctor.check import Check, State
from takt.doctor.reservations import realtime_share

SCHED_DEADLINE = 6
# Number of the system call sched_setattr; Python's os module has no binding of it.
SCHED_SETATTR = {"x86_64": 314, "aarch64": 274, "riscv64": 274, "armv7l": 380}
MICROSECOND = 1_000


class SchedulingAttributes(ctypes.Structure):
    """`struct sched_attr` of sched_setattr(2), first version."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )


def _become_deadline() -> None:
    become_deadline(100 * MICROSECOND, 100_000 * MICROSECOND)


def become_deadline(budget: int, period: int) -> None:
    """Reserves so many nanoseconds of every period for the calling thread. OSError if refused."""
    number = SCHED_SETATTR.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    attributes = SchedulingAttributes(
        size=ctypes.sizeof(SchedulingAttributes),
        policy=SCHED_DEADLINE,
        runtime=budget,
        deadline=period,
        period=period,
    )
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, 0, ctypes.byref(attributes), 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _become_fifo() -> None:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def _refusal(change: Callable[[], None]) -> OSError | None:
    """Why the kernel refuses a change of policy, tried in a thread that ends right after."""
    refusals: list[OSError] = []

    def attempt() -> None:
        try:
            change()
        except OSError as error:
            refusals.append(error)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return refusals[0] if refusals else None


def deadline() -> Check:
    refusal = _refusal(_become_deadline)
    cores = os.cpu_count() or 1
    bandwidth = realtime_share()
    facts = {"granted": refusal is None, "bandwidth_per_core": bandwidth, "cores": cores}
    if refusal is None:
        admission = (
            "" if bandwidth is None else f"; admits {bandwidth:.0%} of each of {cores} cores"
        )
        return Check(
            "sched_deadline",
            "SCHED_DEADLINE",
            State.OK,
            f"a reservation was granted{admission}",
            facts=facts,
        )
    remedies = {
        errno.EPERM: "run as root or with CAP_SYS_NICE, on all cores (no restricted affinity)",
        errno.EBUSY: "end other SCHED_DEADLINE threads or raise kernel.sched_rt_runtime_us",
        errno.ENOSYS: "needs Linux 3.14 or later on a processor architecture known to takt",
    }
    return Check(
        "sched_deadline",
        "SCHED_DEADLINE",
        State.MISSING,
        f"a reservation was refused: {refusal.strerror}; bounds of executors with a "
        "reservation will be conditional",
        remedies.get(refusal.errno or 0, "see sched_setattr(2)"),
        facts=facts,
    )


def fifo() -> Check:
    refusal = _refusal(_become_fifo)
    facts = {"granted": refusal is None}
    if refusal is None:
        return Check("sched_fifo", "SCHED_FIFO", State.OK, "priority 1 was granted", facts=facts)
    return Check(
        "sched_fifo",
        "SCHED_FIFO",
        State.MISSING,
        f"priority 1 was refused: {refusal.strerror}",
        "run as root or with CAP_SYS_NICE, or raise RLIMIT_RTPRIO ('ulimit -r 99')",
        facts=facts,
    )

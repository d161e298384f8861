"""Obstacles to reservations although the kernel grants one: processor sets, limits of the kernel on
real-time work, and quotas of containers.
"""

from __future__ import annotations

import os

from takt.doctor.check import Check, State, first_line

SCHED_EXT = "/sys/kernel/sched_ext"
QUOTA = "/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"
LEAST_SHARE = 0.5
"""With less of each processor for real-time work hardly any robot's chains can be guaranteed."""


def reservations() -> Check:
    usable, online = len(os.sched_getaffinity(0)), os.cpu_count() or 1
    share = realtime_share()
    policy = _sched_ext()
    quota = _quota()
    facts = {
        "usable": usable,
        "online": online,
        "realtime_share": share,
        "sched_ext": policy,
        "cpu_quota": quota,
    }
    obstacles: list[tuple[str, str]] = []
    if usable < online:
        obstacles.append(
            (
                f"threads may run on {usable} of {online} processors, and the kernel refuses "
                "reservations to them (EPERM)",
                "start programs outside of processor sets and taskset",
            )
        )
    if share is not None and share < LEAST_SHARE:
        obstacles.append(
            (
                f"real-time work may take {share:.0%} of each processor",
                "sysctl kernel.sched_rt_runtime_us=950000",
            )
        )
    if policy is not None:
        obstacles.append(
            (
                f"a sched_ext scheduler ({policy}) runs best effort, of whose waits no bound tells",
                "end the sched_ext scheduler",
            )
        )
    if quota is not None:
        obstacles.append(
            (
                f"the control group's quota ({quota}) stops best-effort threads for a while",
                "start the container without a limit on processors (docker: no --cpus)",
            )
        )
    if not obstacles:
        granted = "" if share is None else f"real-time work may take {share:.0%} of each processor"
        return Check("reservations", "Reservations", State.OK, granted or "no limit", facts=facts)
    details, remedies = zip(*obstacles, strict=True)
    return Check(
        "reservations",
        "Reservations",
        State.LIMITED,
        "; ".join(details),
        "; ".join(remedies),
        facts=facts,
    )


def realtime_share() -> float | None:
    """The share of each processor that the kernel grants to real-time work; None: unknown."""
    runtime = first_line("/proc/sys/kernel/sched_rt_runtime_us")
    period = first_line("/proc/sys/kernel/sched_rt_period_us")
    if runtime is None or period is None:
        return None
    return 1.0 if int(runtime) < 0 else int(runtime) / int(period)


def _sched_ext() -> str | None:
    """The scheduler that replaces the kernel's for best effort; None: there is none."""
    if first_line(f"{SCHED_EXT}/state") != "enabled":
        return None
    return first_line(f"{SCHED_EXT}/root/ops") or "of an unknown name"


def _quota() -> str | None:
    """The quota of the control group that the file system shows as ours; None: there is none."""
    for path in QUOTA:
        line = first_line(path)
        if line is not None and not line.startswith(("max", "-1")):
            return line
    return None

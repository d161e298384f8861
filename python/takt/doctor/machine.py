"""Processors, clocks, isolation and the tools of the host."""

from __future__ import annotations

import os
import time
from pathlib import Path

from takt.doctor.check import Check, State, first_line, output_of
from takt.doctor.privileges import capabilities

CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"


def cores() -> Check:
    usable = len(os.sched_getaffinity(0))
    online = os.cpu_count() or usable
    governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    isolated = first_line("/sys/devices/system/cpu/isolated") or None
    facts = {"online": online, "usable": usable, "governor": governor, "isolated": isolated}
    detail = f"{usable} of {online} usable" + (f", governor {governor}" if governor else "")
    if governor not in (None, "performance"):
        return Check(
            "cores",
            "Processors",
            State.LIMITED,
            f"{detail}: execution times vary with the clock rate",
            "cpupower frequency-set -g performance",
            facts=facts,
        )
    return Check("cores", "Processors", State.OK, detail, facts=facts)


def clocks() -> Check:
    source = first_line(CLOCKSOURCE)
    flags = next((line for line in _lines("/proc/cpuinfo") if line.startswith("flags")), "").split()
    invariant = {"constant_tsc", "nonstop_tsc"} <= set(flags)
    resolutions = {
        "monotonic": round(time.clock_getres(time.CLOCK_MONOTONIC) * 1e9),
        "thread_cpu": round(time.clock_getres(time.CLOCK_THREAD_CPUTIME_ID) * 1e9),
    }
    facts = {"clocksource": source, "invariant_tsc": invariant, "resolution": resolutions}
    detail = (
        f"clock source {source}{', invariant TSC' if invariant else ''}, resolution "
        f"{resolutions['monotonic']} ns, thread CPU time {resolutions['thread_cpu']} ns"
    )
    if max(resolutions.values()) > 1_000:
        return Check(
            "clocks",
            "Clocks",
            State.LIMITED,
            f"{detail}: coarse",
            "needs a kernel with high-resolution timers",
            facts=facts,
        )
    return Check("clocks", "Clocks", State.OK, detail, facts=facts)


def control_groups() -> Check:
    version = 2 if Path("/sys/fs/cgroup/cgroup.controllers").exists() else None
    version = version or (1 if Path("/sys/fs/cgroup/cpuset").is_dir() else None)
    writable = os.access("/sys/fs/cgroup", os.W_OK)
    facts = {"version": version, "writable": writable}
    if version is None:
        return Check(
            "cgroups",
            "Control groups",
            State.MISSING,
            "not mounted",
            "mount -t cgroup2 none /sys/fs/cgroup",
            facts=facts,
        )
    detail = f"version {version}, {'writable' if writable else 'read-only'}"
    return Check(
        "cgroups",
        "Control groups",
        State.OK if writable else State.LIMITED,
        detail,
        None if writable else "run as root",
        facts=facts,
    )


def exclusive_cores() -> Check:
    """What `takt manage` needs to keep reservations on cores: cpusets of cgroup version 1."""
    root = Path("/sys/fs/cgroup/cpuset")
    balance = root / "cpuset.sched_load_balance"
    balanced = balance.read_text().strip() == "1" if balance.exists() else None
    facts = {"cpusets": balanced is not None, "balanced": balanced}
    if balanced and os.access(balance, os.W_OK):
        return Check(
            "pinning", "Exclusive cores", State.OK, "cpusets of cgroup version 1", facts=facts
        )
    if balanced is None:
        detail, remedy = (
            "no cpusets of cgroup version 1: reservations fit only where no thread is kept on a "
            "core",
            f"mkdir {root}; mount -t cgroup -o cpuset none {root}",
        )
    elif balanced:
        detail, remedy = f"{root} is not to be changed by this user", "run as root"
    else:
        detail = "somebody has taken the cores apart: reservations are kept on none"
        remedy = f"echo 1 > {balance}"
    return Check("pinning", "Exclusive cores", State.LIMITED, detail, remedy, facts=facts)


def network_namespaces() -> Check:
    """Tried in a child process: a namespace is the safest way to keep DDS off the network."""
    allowed = (
        "CAP_SYS_ADMIN" in capabilities() and output_of("unshare", "--net", "true") is not None
    )
    facts = {"allowed": allowed}
    if allowed:
        return Check("netns", "Network namespaces", State.OK, "one was made and left", facts=facts)
    return Check(
        "netns",
        "Network namespaces",
        State.LIMITED,
        "not allowed; DDS is kept on loopback by its profile instead",
        "run as root or with CAP_SYS_ADMIN",
        facts=facts,
    )


def compilers() -> Check:
    tools = {name: output_of(name, "--version") for name in ("c++", "cmake", "ninja")}
    found = {name: text.splitlines()[0] for name, text in tools.items() if text}
    absent = [name for name in tools if name not in found]
    if absent:
        return Check(
            "compilers",
            "Compilers",
            State.LIMITED,
            f"{', '.join(absent)} not found: Takt cannot be built here",
            "apt install g++ cmake ninja-build",
            facts=found,
        )
    return Check("compilers", "Compilers", State.OK, found["c++"], facts=found)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []

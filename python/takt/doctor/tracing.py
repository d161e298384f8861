"""The tracers that events can be recorded with."""

from __future__ import annotations

import ctypes.util
import os
import socket
from pathlib import Path
from typing import Any

from takt import built
from takt.doctor.check import Check, State, first_line, output_of
from takt.doctor.privileges import capabilities

TRACEFS = Path("/sys/kernel/tracing")

TITLE = "Takt's libraries"
OWN_START = "Started elsewhere"
NEEDED = ("takt_native", "takt_tracetools")
"""Nothing can be recorded, modelled and reported without these parts (takt.built)."""


def lttng() -> Check:
    version = output_of("lttng", "--version")
    library = next(
        (name for name in ("lttng-ust", "lttng-ust-ctl") if ctypes.util.find_library(name)), None
    )
    facts = {"tools": version, "ust": library is not None}
    absent = [
        what for what, there in (("lttng-tools", version), ("liblttng-ust", library)) if not there
    ]
    if absent:
        return Check(
            "lttng",
            "LTTng",
            State.MISSING,
            f"{' and '.join(absent)} not found",
            "apt install lttng-tools liblttng-ust-dev",
            required=True,
            facts=facts,
        )
    return Check(
        "lttng",
        "LTTng",
        State.OK,
        f"{(version or '').split(' - ')[0]}, user-space tracing library found",
        required=True,
        facts=facts,
    )


def session_daemon() -> Check:
    directory = Path("/var/run/lttng") if os.geteuid() == 0 else _lttng_home() / ".lttng"
    path = directory / "client-lttng-sessiond"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(str(path))
            running = True
        except OSError:
            running = False
    detail = "running" if running else "not running; 'takt record' starts one"
    return Check(
        "lttng_sessiond", "LTTng session daemon", State.OK, detail, facts={"running": running}
    )


def _lttng_home() -> Path:
    return Path(os.environ.get("LTTNG_HOME", Path.home()))


def tracetools() -> Check:
    """The drop-in library for the ROS 2 that is here."""
    missing = built.missing()
    facts: dict[str, Any] = {part: str(built.find(part)) for part in NEEDED if part not in missing}
    facts["missing"] = missing
    if not missing:
        detail = f"takt_native, drop-in {Path(facts['takt_tracetools']).name}"
        return Check("tracetools", TITLE, State.OK, detail, required=True, facts=facts)
    return Check(
        "tracetools",
        TITLE,
        State.LIMITED if set(missing).isdisjoint(NEEDED) else State.MISSING,
        "; ".join(f"no {part}: {built.PARTS[part].needed_by}" for part in missing),
        built.remedy(*missing),
        required=True,
        facts=facts,
    )


def own_start() -> Check:
    """What programs need in their environment that Takt does not start: a unit, a launch file."""
    missing = [part for part in built.missing() if part in NEEDED]
    if missing:
        detail = f"no {', '.join(missing)}"
        return Check("own_start", OWN_START, State.MISSING, detail, built.remedy(*missing))
    from takt.recordings import recorder  # needs takt_native

    needed = {
        "LD_PRELOAD": str(built.find("takt_tracetools")),
        "PYTHONPATH": str(recorder.RCLPY_TRACING),
    }
    words = (
        f"LD_PRELOAD={needed['LD_PRELOAD']}, those of rclpy also {needed['PYTHONPATH']} first in"
    )
    detail = f"programs are heard with {words} PYTHONPATH"
    return Check("own_start", OWN_START, State.OK, detail, facts=needed)


def bpf() -> Check:
    held = capabilities()
    may_load = "CAP_SYS_ADMIN" in held or {"CAP_BPF", "CAP_PERFMON"} <= held
    btf = Path("/sys/kernel/btf/vmlinux").exists()
    uprobes = Path("/sys/bus/event_source/devices/uprobe/type").exists()
    tracefs = (TRACEFS / "events").is_dir() or Path("/sys/kernel/debug/tracing/events").is_dir()
    facts = {
        "capabilities": may_load,
        "btf": btf,
        "uprobes": uprobes,
        "tracefs": tracefs,
        "unprivileged_bpf_disabled": first_line("/proc/sys/kernel/unprivileged_bpf_disabled"),
    }
    if not (btf and uprobes):
        lacking = " and ".join(
            w for w, there in (("type information (BTF)", btf), ("uprobes", uprobes)) if not there
        )
        return Check(
            "bpf",
            "BPF",
            State.MISSING,
            f"this kernel has no {lacking}",
            "needs a kernel with CONFIG_DEBUG_INFO_BTF and CONFIG_UPROBE_EVENTS",
            facts=facts,
        )
    if not may_load:
        return Check(
            "bpf",
            "BPF",
            State.MISSING,
            "no privilege to load programs",
            "run as root or with CAP_BPF and CAP_PERFMON",
            facts=facts,
        )
    if not tracefs:
        return Check(
            "bpf",
            "BPF",
            State.LIMITED,
            "programs, BTF and uprobes available; tracefs is not mounted (kernel events)",
            f"mount -t tracefs tracefs {TRACEFS}",
            facts=facts,
        )
    return Check(
        "bpf", "BPF", State.OK, "programs, BTF, uprobes and tracefs available", facts=facts
    )

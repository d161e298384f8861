"""Whether the kernel takes the processor for a reservation from a program within a system call."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from takt.doctor.check import Check, State, first_line

REAL_TIME = "real-time"
MODES = "none", "voluntary", "lazy", "full"
AT_ONCE = REAL_TIME, "full", "lazy"
"""Lazy preemption is so for best effort alone (Linux, kernel/Kconfig.preempt)."""
BY_CONFIGURATION = {
    "CONFIG_PREEMPT_NONE=y": "none",
    "CONFIG_PREEMPT_VOLUNTARY=y": "voluntary",
    "CONFIG_PREEMPT_LAZY=y": "lazy",
    "CONFIG_PREEMPT=y": "full",
}


def preemption(root: Path = Path("/")) -> Check:
    """`root`: where proc, sys and boot are."""
    can_change = "PREEMPT_DYNAMIC" in (first_line(f"{root}/proc/version") or "")
    mode = mode_of(root)
    facts = {"mode": mode, "can_change": can_change}
    if mode in AT_ONCE:
        detail = f"{mode}: reservations interrupt system calls of other programs"
        return Check("preemption", "Preemption", State.OK, detail, facts=facts)
    if mode is None:
        detail, remedy = "not known", "mount -t debugfs none /sys/kernel/debug"
    else:
        detail = f"{mode}: programs keep reservations waiting with their long system calls"
        remedy = (
            "boot with preempt=full, or echo full > /sys/kernel/debug/sched/preempt"
            if can_change
            else "needs a kernel with CONFIG_PREEMPT or CONFIG_PREEMPT_RT"
        )
    return Check("preemption", "Preemption", State.LIMITED, detail, remedy, facts=facts)


def mode_of(root: Path) -> str | None:
    """One of MODES or REAL_TIME, by what the kernel says of itself; None: it does not."""
    version = first_line(f"{root}/proc/version") or ""
    if "PREEMPT_RT" in version or first_line(f"{root}/sys/kernel/realtime") == "1":
        return REAL_TIME
    # The one in force is in parentheses.
    in_force = first_line(f"{root}/sys/kernel/debug/sched/preempt") or ""
    if (found := re.search(r"\((\w+)\)", in_force)) and found[1] in MODES:
        return found[1]
    if "PREEMPT_DYNAMIC" in version:
        asked = re.findall(r"(?:^|\s)preempt=(\w+)", first_line(f"{root}/proc/cmdline") or "")
        if asked and asked[-1] in MODES:
            return str(asked[-1])
    configured = _configuration(root)
    mode = next((mode for line, mode in BY_CONFIGURATION.items() if line in configured), None)
    # A kernel that was built for full or lazy preemption calls itself so (Linux, init/Makefile).
    return mode or ("full" if re.search(r"\bPREEMPT\b", version) else None)


def _configuration(root: Path) -> frozenset[str]:
    """The lines of the configuration that the kernel was built with; empty: not found."""
    release = first_line(f"{root}/proc/sys/kernel/osrelease")
    try:
        if (text := root / "boot" / f"config-{release}").is_file():
            return frozenset(text.read_text(encoding="utf-8", errors="replace").splitlines())
        with gzip.open(root / "proc/config.gz", "rt", errors="replace") as lines:
            return frozenset(line.rstrip("\n") for line in lines)
    except (OSError, EOFError):
        return frozenset()

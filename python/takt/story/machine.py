"""What the machine does to the robot."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

STATISTICS = Path("/proc/stat")


def stolen() -> float:
    """Seconds for which the host of this virtual machine gave its processors to others, all
    processors together, since it began.
    """
    return stolen_by(STATISTICS.read_text(encoding="ascii").splitlines())


def stolen_by(lines: Iterable[str]) -> float:
    """The same by the lines of /proc/stat."""
    of_all = next((line.split() for line in lines if line.startswith("cpu ")), [])
    ticks = int(of_all[8]) if len(of_all) > 8 else 0
    return ticks / os.sysconf("SC_CLK_TCK")

"""What the machine does to the robot."""

from __future__ import annotations

import bisect
import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

STATISTICS = Path("/proc/stat")

LOOK = 0.02
"""Seconds between two readings: the kernel counts in steps of 10 ms."""


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


class StolenTimes:
    """When the host took processors: readings of stolen(), while it is entered."""

    def __init__(self, readings: Iterable[tuple[int, float]] = ()) -> None:
        """`readings`: nanoseconds since the epoch, and what stolen() said then, in their order."""
        self._readings = list(readings)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> StolenTimes:
        self._read()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._read()

    def within(self, begin: int, end: int) -> int:
        """For how many nanoseconds the host took processors between two moments, in nanoseconds
        since the epoch, by the readings around them.
        """
        if not self._readings:
            return 0
        before = bisect.bisect_right(self._readings, begin, key=lambda one: one[0]) - 1
        after = bisect.bisect_left(self._readings, end, key=lambda one: one[0])
        first, last = max(before, 0), min(after, len(self._readings) - 1)
        return round((self._readings[last][1] - self._readings[first][1]) * 1e9)

    def _watch(self) -> None:
        while not self._ended.wait(LOOK):
            self._read()

    def _read(self) -> None:
        self._readings.append((time.time_ns(), stolen()))

"""The processors that reservations may have: how many, and how much of each."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from typing import Annotated, Any

import takt_native
from takt.arguments import Option
from takt.text.formatting import count

CAPACITY = 90
"""Percent of a core that the kernel grants reservations unless told otherwise: sched_rt_runtime_us
is 95 %, and from Linux 6.12 on 5 % are a reservation for all other threads.
"""

COARSE_CLOCK = 6
"""CLOCK_MONOTONIC_COARSE, which advances with the ticks of the kernel (clock_gettime(2))."""


def tick() -> int:
    """The nanoseconds between two ticks of this kernel. Unless its timers of high resolution serve
    SCHED_DEADLINE, too (HRTICK_DL, off by default), it takes the processor from a thread that
    exceeds its budget only at a tick, so that another reservation may get its time that much late.
    """
    return round(time.clock_getres(COARSE_CLOCK) * 1e9)


Cores = Annotated[
    int | None,
    Option(
        "--cores",
        metavar="NUMBER",
        min=1,
        max=1024,
        help="Processors for reservations; default: those of the machine that was recorded, else "
        "of this one.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Processors:
    cores: int
    capacity: int = CAPACITY
    """Percent of each that reservations may have."""
    of: str = ""
    """Whose they are, for people: "of this machine"; empty: as somebody said."""

    @property
    def text(self) -> str:
        return f"{count(self.cores, 'core')} {self.of}".rstrip()


def find(provenance: dict[str, Any], cores: int | None = None) -> Processors:
    """Those for a model of this origin: so many `cores`, else those of the machine on which it was
    recorded, else those of this machine.
    """
    if cores is not None:
        return Processors(cores)
    recorded, hosts = provenance.get("cores"), provenance.get("hosts")
    elsewhere = hosts and hosts != [platform.node()]
    if elsewhere and isinstance(recorded, int) and recorded > 0:
        return Processors(recorded, of="of the recorded machine")
    return Processors(len(os.sched_getaffinity(0)), _granted(), "of this machine")


def _granted() -> int:
    """Percent of each processor that this kernel admits reservations up to, at least 1."""
    try:
        share = takt_native.deadline_share()
    except takt_native.InputError:
        return CAPACITY
    # 0.95 less 0.05 is a little less than 0.9.
    return max(1, min(CAPACITY, int(100 * share + 1e-6)))

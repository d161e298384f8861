"""Whether the kernel gives a reservation its budgets in time, tried for a third of a second.

A thread computes all the time, with a reservation. At the end of each period its clock should show
all budgets until then. The clock is what the kernel charges budgets by, and what execution times
are measured by, so what it shows beyond the program's own work, as interrupts, is no shortfall.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from takt.doctor.check import Check, State
from takt.doctor.scheduling import become_deadline
from takt.processes import steal
from takt.text.formatting import duration

PERIOD, BUDGET = 5_000_000, 1_000_000
"""Nanoseconds: the period that `takt manage` uses, and a budget that is granted beside others."""
PERIODS = 60
TRIES = 3
"""What the host of a virtual machine takes is no cost of the kernel: then it is tried again."""
MOST = BUDGET // 100
"""A cost of each period from which on budgets of a millisecond lack a hundredth."""


@dataclass(frozen=True)
class Supply:
    """What was lacking at the ends of periods, in nanoseconds."""

    once: int
    """Since the beginning: the reservation begins before the program notices that."""
    each_period: int
    """In each period more, the median."""
    worst: int
    stolen: float
    """Seconds that the host took of the processors meanwhile."""


def of(shortfalls: Sequence[int], stolen: float) -> Supply:
    """By what was lacking at the end of each of two periods or more."""
    growth = [after - before for before, after in pairwise(shortfalls)]
    import statistics

    each = max(0, round(statistics.median(growth)))
    return Supply(max(0, shortfalls[0]), each, max(0, *shortfalls), stolen)


def lacking(samples: Iterable[tuple[int, int]], budget: int, period: int) -> list[int]:
    """How much less a thread's clock showed at the end of each period than all budgets until then.
    `samples`: times and what the clock showed, the first at the beginning.
    """
    shortfalls: list[int] = []
    iterator = iter(samples)
    begin, first = next(iterator)
    shown = first
    for now, clock in iterator:
        while now >= begin + (len(shortfalls) + 1) * period:
            shortfalls.append((len(shortfalls) + 1) * budget - (shown - first))
        shown = clock
    return shortfalls


def measure() -> Supply:
    """OSError if the kernel refuses the reservation."""
    samples: list[tuple[int, int]] = []
    refusals: list[OSError] = []

    def compute() -> None:
        try:
            become_deadline(BUDGET, PERIOD)
        except OSError as error:
            refusals.append(error)
            return
        time.sleep(0.02)  # a new period begins when it wakes up
        now = begin = time.monotonic_ns()
        while now <= begin + PERIODS * PERIOD:
            now = time.monotonic_ns()
            samples.append((now, time.thread_time_ns()))

    stolen = steal.stolen()
    thread = threading.Thread(target=compute)
    thread.start()
    thread.join()
    if refusals:
        raise refusals[0]
    return of(lacking(samples, BUDGET, PERIOD), steal.stolen() - stolen)


def budgets() -> Check:
    try:
        found = measure()
        for _ in range(TRIES - 1):
            if not found.stolen:
                break
            found = measure()
    except OSError as refused:
        return Check(
            "budgets",
            "Budgets",
            State.LIMITED,
            f"not tried, as a reservation was refused: {refused.strerror}",
            "as for SCHED_DEADLINE",
        )
    facts = {
        "budget": BUDGET,
        "period": PERIOD,
        "periods": PERIODS,
        "each_period": found.each_period,
        "once": found.once,
        "worst": found.worst,
        "stolen_seconds": found.stolen,
    }
    detail = (
        f"{duration(BUDGET)} of every {duration(PERIOD)} lack {duration(found.each_period)}, and "
        f"{duration(found.once)} once"
    )
    if found.stolen:
        detail += f"; the host took the processors for {duration(round(found.stolen * 1e9))}"
    if found.each_period <= MOST:
        return Check("budgets", "Budgets", State.OK, detail, facts=facts)
    return Check(
        "budgets",
        "Budgets",
        State.LIMITED,
        f"{detail}: bounds do not count that",
        f"takt budget --margin {-(-100 * found.each_period // BUDGET)}, longer periods, or an "
        "idle host",
        facts=facts,
    )

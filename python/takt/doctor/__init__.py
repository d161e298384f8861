"""Finds out what this machine offers to Takt. Each module looks at one side of it."""

from __future__ import annotations

from takt.doctor import (
    machine,
    preemption,
    privileges,
    reservations,
    ros,
    scheduling,
    supply,
    tracing,
)
from takt.doctor.check import Check, State

CHECKS = (
    ros.ros,
    tracing.lttng,
    tracing.session_daemon,
    tracing.tracetools,
    tracing.own_start,
    tracing.bpf,
    scheduling.deadline,
    scheduling.fifo,
    reservations.reservations,
    supply.budgets,
    preemption.preemption,
    privileges.privileges,
    machine.cores,
    machine.clocks,
    machine.control_groups,
    machine.exclusive_cores,
    machine.network_namespaces,
    machine.compilers,
)


def examine() -> list[Check]:
    """Runs all checks; takes a few seconds at most. Changes nothing on the machine."""
    return [check() for check in CHECKS]


def healthy(checks: list[Check]) -> bool:
    """Whether everything that recording and reporting need is there."""
    return all(check.state is not State.MISSING for check in checks if check.required)

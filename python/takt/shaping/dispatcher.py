"""A table dispatcher of threads: inside the slots of a plan's servers, the threads of unmodified
programs have a real-time priority; outside they are scheduled as they were
(performance-engineering 6.3, option 3). The program `takt-dispatch` (libtakt/shaping/program) does
it; this starts it and hears of it.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from types import TracebackType
from typing import Any

from takt.documents import ServerSlot, Shaping
from takt.errors import UserError
from takt.processes import runtime

INSIDE = 50
"""SCHED_FIFO priority of the threads inside their slots."""
MIDDLEWARE = 60
"""The priority that all other threads of their processes always have: what delivers messages must
not wait for slots (performance-engineering 3.4)."""
DISPATCHER = 95
PATIENCE = 10.0
"""Seconds for it to end."""
COMPLAINT = "takt-dispatch: "


def table(plan: Shaping) -> list[ServerSlot]:
    """The slots of all servers in their order; those that touch are one."""
    slots = sorted(
        (slot for server in plan.servers for slot in server.slots), key=lambda s: s.start
    )
    merged: list[ServerSlot] = []
    for slot in slots:
        if merged and slot.start <= merged[-1].end:
            end = max(merged[-1].end, slot.end)
            merged[-1] = ServerSlot(start=merged[-1].start, end=end)
        else:
            merged.append(slot)
    return merged


def share(plan: Shaping) -> float:
    """What share of a core the slots of a plan's servers take."""
    return sum(slot.end - slot.start for slot in table(plan)) / plan.cycle


class Dispatcher:
    """Schedules the threads of a session's processes by the servers of a plan, while it is
    entered.
    """

    def __init__(self, plan: Shaping, leader: int) -> None:
        """`leader`: of the session. Its processes may start others, also in new sessions."""
        self._settings = {
            "leader": leader,
            "cycle": plan.cycle,
            "slots": [{"start": slot.start, "end": slot.end} for slot in table(plan)],
            "inside": INSIDE,
            "middleware": MIDDLEWARE,
            "priority": DISPATCHER,
        }
        self.result: dict[str, Any] = {}
        """Afterwards: switches, threads, and processor_time in ns."""

    def __enter__(self) -> Dispatcher:
        self._process = subprocess.Popen(
            # A long table is no argument: the kernel limits how long one is.
            [str(runtime.dispatcher()), "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # The terminal's Ctrl-C reaches only us, and we end it.
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # It says why it has ended.
            self._process.stdin.write(json.dumps(self._settings) + "\n")
            self._process.stdin.flush()
        if not self._process.stdout.readline():
            raise UserError(self._complaint())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            said, _ = self._process.communicate("", PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()  # its guard restores the threads
            said = ""
        lines = said.splitlines()
        if lines:
            self.result = {k: v for k, v in json.loads(lines[-1]).items() if k != "event"}

    def _complaint(self) -> str:
        _, said = self._process.communicate()
        lines = [line for line in said.splitlines() if line.startswith(COMPLAINT)]
        return lines[-1][len(COMPLAINT) :] if lines else "takt-dispatch ended unexpectedly"

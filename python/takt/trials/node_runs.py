"""Runs a model as real nodes, and reads what they say themselves of each message: latencies without
a trace. Beside them, threads above all others tell when the machine ran nobody (`Machine`).
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from takt.trials import experiments, runner
from takt.trials.experiments import Row

Json = dict[str, Any]

MS = 1_000_000
PRIORITY = 50
"""SCHED_FIFO, of executors, where this user may have it; what delivers messages is above."""
FIRST = 5
NOTED = MS // 10
"""Nanoseconds: what is less late is in time."""


class Missed(Enum):
    """What becomes of the expiries of a timer that come while an earlier one waits."""

    KEPT = "kept"
    """Each is served."""
    SKIPPED = "skipped"
    """As rcl does: after a run that began more than a period late, the next one on the grid."""
    REPLACED = "replaced"
    """The newest one is served."""


class Span(NamedTuple):
    """A run of a callback; CLOCK_MONOTONIC, in ns."""

    begin: int
    end: int


@dataclass
class Machine:
    """When the machine did not run threads above all others that were due."""

    looks: int = 0
    late: list[int] = field(default_factory=list)
    """By how much, in ns, of those that were late by NOTED at least."""

    def row(self, what: str) -> Row:
        """A row that says how noisy the machine was during a run: nobody could do better then."""
        if not self.looks:
            return Row(f"{what}: the machine", None, "not watched: no SCHED_FIFO for this user")
        longest = max(self.late, default=0) / MS
        share = 100 * len(self.late) / self.looks
        words = f"stood still for up to {longest:.1f} ms, in {share:.2f} % of the looks"
        return Row(f"{what}: the machine", None, words)


@dataclass(frozen=True)
class Log:
    """What the nodes of a run said, by callback, each in the order in which its runs began."""

    entries: Mapping[str, Sequence[Json]]

    @classmethod
    def of(cls, entries: Sequence[Json]) -> Log:
        found: dict[str, list[Json]] = {}
        inside = (entry for entry in entries if entry["callback"] is not None)
        for entry in sorted(inside, key=lambda entry: entry["begin"]):
            found.setdefault(entry["callback"], []).append(entry)
        return cls(found)

    @classmethod
    def read(cls, file: Path) -> Log:
        """What `takt run --log` wrote."""
        return cls.of([json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()])

    def begin(self) -> int:
        """When the first run began. ValueError if nothing ran."""
        return min(self.spans(callback)[0].begin for callback in self.entries)

    def spans(self, callback: str) -> list[Span]:
        return [Span(entry["begin"], entry["end"]) for entry in self.entries.get(callback, ())]

    def latencies(self, chain: Sequence[str]) -> list[Span]:
        """From the begin of each run of the first callback to the end of the run of the last that
        its message came to, by the earliest runs on the way; without those that did not come to it.
        """
        carriers = [self._by_message(callback) for callback in chain[1:]]
        found = []
        for entry in self.entries.get(chain[0], ()):
            here: Json | None = entry
            for by_message in carriers:
                here = None if here is None else _next(here, by_message)
            if here is not None:
                found.append(Span(entry["begin"], here["end"]))
        return found

    def delays(self, source: str, sink: str) -> list[Span]:
        """From when each message had been published to the begin of the run that it came to."""
        return self._deliveries(source, sink, "end")

    def deliveries(self, source: str, sink: str) -> list[Span]:
        """From before each message was published to the begin of the run that it came to."""
        return self._deliveries(source, sink, "begin")

    def _deliveries(self, source: str, sink: str, since: str) -> list[Span]:
        by_message = self._by_message(sink)
        return [
            Span(sent[since], receiver["begin"])
            for entry in self.entries.get(source, ())
            for sent in entry["sent"]
            if (receiver := by_message.get(_key(sent["message"]))) is not None
        ]

    def origin(self, periods: Mapping[str, int]) -> int:
        """When the timers with these periods were made, if at one time: they first expire a period
        later, and one of the first runs of the fastest was in time.
        """
        fastest = min(periods, key=periods.__getitem__)
        period, spans = periods[fastest], self.spans(fastest)[:FIRST]
        return min(
            (span.begin - (number + 1) * period for number, span in enumerate(spans)), default=0
        )

    def responses(
        self, chain: Sequence[str], period: int, origin: int, missed: Missed
    ) -> tuple[list[Span], int]:
        """Of a chain that a timer begins: from each expiry that was served to the end of the run of
        the last callback that its message came to, and how many expiries nobody served. Nobody
        notes expiries: they are periods after `origin`.
        """
        ends = {span.begin: span.end for span in self.latencies(chain)}
        found: list[Span] = []
        due, unserved = origin + period, 0
        for span in self.spans(chain[0]):
            late = max(0, (span.begin - due) // period)
            if missed is Missed.REPLACED:
                unserved, due = unserved + late, due + late * period
            if span.begin in ends:
                found.append(Span(min(due, span.begin), ends[span.begin]))
            due += period
            if missed is Missed.SKIPPED and due < span.begin:
                passed = -((due - span.begin) // period)
                unserved, due = unserved + passed, due + passed * period
        return found, unserved

    def _by_message(self, callback: str) -> dict[tuple[Any, ...], Json]:
        """The earliest run that had each message."""
        found: dict[tuple[Any, ...], Json] = {}
        for entry in self.entries.get(callback, ()):
            for message in (entry["received"], *(used["message"] for used in entry["used"])):
                if message is not None:
                    found.setdefault(_key(message), entry)
        return found


def _key(message: Sequence[Any]) -> tuple[Any, ...]:
    """A message is its topic, source and number."""
    return tuple(message)


def _next(entry: Json, by_message: Mapping[tuple[Any, ...], Json]) -> Json | None:
    """The earliest run that had one of the messages that this one sent."""
    found = [by_message.get(_key(sent["message"])) for sent in entry["sent"]]
    return min((one for one in found if one), key=lambda one: one["begin"], default=None)


def run(
    model: Json,
    seconds: float,
    executor: str | None = None,
    priorities: Mapping[str, int] | None = None,
) -> tuple[Log, Machine]:
    """Runs the model for so long, its executors replaced by `executor` if given, at SCHED_FIFO if
    this user may have it. `priorities`: of some executors' processes instead of PRIORITY. UserError
    if it cannot be run.
    """
    with tempfile.TemporaryDirectory(prefix="takt-") as folder:
        path = Path(folder) / "model.json"
        path.write_text(json.dumps(model), encoding="utf-8")
        plan = runner.plan(str(path), executor)
        given = {process["name"]: PRIORITY for process in plan.processes} | dict(priorities or {})
        with watched(sorted(os.sched_getaffinity(0))) as machine:
            done = runner.run(
                str(path),
                plan,
                executor,
                seconds,
                lambda _seconds, _callbacks: None,
                log=True,
                priorities=given if may_have_priorities() else None,
            )
    return Log.of(done.log), machine


def may_have_priorities() -> bool:
    """Whether this user may run threads at SCHED_FIFO."""
    before, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        return False
    os.sched_setscheduler(0, before, parameter)
    return True


@contextlib.contextmanager
def watched(processors: Sequence[int]) -> Iterator[Machine]:
    """Threads at SCHED_FIFO 99 look whether these processors run them in time; known on leaving. If
    this user may not have them, nobody looks.
    """
    machine = Machine()
    program = [sys.executable, str(experiments.ROOT / "witness.py")]
    watching = [
        subprocess.Popen(
            [*program, str(one), str(NOTED)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for one in (processors if may_have_priorities() else ())
    ]
    try:
        yield machine
    finally:
        for process in watching:
            said, _ = process.communicate("\n")
            if said:
                saw = json.loads(said)
                machine.looks += saw["looks"]
                machine.late += [late for _, late in saw["stalls"]]

"""Chapter 4 on the machine's own kernel: the chains as real ROS 2 nodes under SCHED_FIFO, with and
without a gate in turns, measured in traces. See README.md.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, cycle
from pathlib import Path
from typing import Any

import takt
import takt.recordings.trace
from takt.documents import Model, Shaping, to_json
from takt.errors import UserError
from takt.shaping import gates, plans
from takt.text import console
from takt.trials import experiments
from takt.trials.experiments import Row, Rows

from .chains import (
    FIVE,
    GRAPH_PERIOD,
    MS,
    PARKING,
    PERIOD,
    PUBLISH,
    SHORTEST,
    parking,
    random_graph,
    synthetic,
)

Json = dict[str, Any]
Stalls = list[tuple[int, int]]
"""When something was due, and how much later it ran, in ns; what was late by little is left out."""

ROUNDS = 3
PERIODS = 400
"""How many periods a run has. The graph, whose periods are long, has a fifth of them."""
PRIORITY = "50"
"""The SCHED_FIFO priority of the chains. What begins them and their gates run above it."""
BANDS = 1
SLOTS = 3
"""How many slots the plan has whose distribution is compared with the measured one."""
SLACK = 0.015
"""The slot starts later than the longest latency seen, by this share of it."""
OUTLIER = 0.3 * MS
"""Farther from the median than this exceeds the limit on jitter."""
NOTED = 0.2 * MS
"""What the machine runs less late than that is not worth noting."""
SCHEDULER_EVENTS = Path("/sys/kernel/tracing/events/sched")
"""There if tracefs is mounted; then outliers are explained."""
DOMAIN = "87"
"""Other programs on this machine shall not hear ours."""
LENGTHS = (2, 3, 4, 5, 6)
"""The number of instances after which execution times repeat, in turn for each callback."""


@dataclass(frozen=True)
class Case:
    name: str
    model: Json
    period: int
    periods: int = PERIODS

    @property
    def path(self) -> list[str]:
        found: list[str] = self.model["chains"][0]["callbacks"]
        return found

    @property
    def processors(self) -> list[int]:
        return sorted({one["cpu"] for one in self.model["executors"]})


@dataclass
class Watch:
    """What threads that go before all others saw of the machine."""

    looks: int = 0
    """How often such a thread was due."""
    stalls: Stalls = field(default_factory=list)

    def add(self, other: Watch) -> None:
        self.looks += other.looks
        self.stalls = sorted(self.stalls + other.stalls)


@dataclass(frozen=True)
class Run:
    """When an instance of a callback ran, in ns."""

    start: int
    length: int
    waited: int
    """From when its thread was woken until it ran, as far as the kernel's events are known."""
    behind: str
    """What ran on the processor until then."""

    @property
    def end(self) -> int:
        return self.start + self.length


@dataclass(frozen=True)
class Execution:
    """One of a chain with its gate."""

    first: Run
    last: Run
    gate: Run
    late: int
    """From the beginning of the period until the chain began."""
    stalled: int
    """How long the machine ran nothing at all on the chain's processors meanwhile."""
    stalled_at_ends: int
    """The longest of these times in which the chain was to begin or the output to leave."""

    @property
    def disturbed(self) -> bool:
        """The machine took more than the slack, or the instants that count."""
        return self.stalled > SLACK * self.latency or self.stalled_at_ends > OUTLIER

    @property
    def ready(self) -> int:
        return self.last.end - self.first.start

    @property
    def waited(self) -> int:
        return self.gate.start - self.first.start

    @property
    def latency(self) -> int:
        """Until the output has left the gate."""
        return self.gate.end - self.first.start


def rows() -> Rows:
    found: Rows = []
    for case in cases():
        found += compare(case)
    return found


def cases() -> list[Case]:
    graph, cores = random_graph(ordered=True)
    pinned = {"throttle rear": 1, "throttle front": 0} | {n: c for n, (_, c) in PARKING.items()}
    return [
        Case(
            "synthetic", varied(synthetic().document(*FIVE), 1 / 3, dict.fromkeys(FIVE, 0)), PERIOD
        ),
        Case("parking", varied(parking(), SHORTEST, pinned), PERIOD),
        Case("graph", varied(graph, 0.5, cores), GRAPH_PERIOD, PERIODS // 5),
    ]


def varied(model: Json, shortest: float, cores: dict[str, int]) -> Json:
    """The model with execution times that fall in steps from the longest to that share of it and
    begin again, the same in every run; all are longest together in the first period."""
    result = copy.deepcopy(model)
    for callback, length in zip(result["callbacks"], cycle(LENGTHS), strict=False):
        (longest,) = callback["execution_time"]["curve"]
        steps = [1 - (1 - shortest) * step / (length - 1) for step in range(length)]
        callback["execution_time"]["curve"] = list(accumulate(round(s * longest) for s in steps))
    for executor in result["executors"]:
        executor["cpu"] = cores[executor["id"]]
    return result


def compare(case: Case) -> Rows:
    """One slot and FIFO in turns; the slot is chosen by the first run under FIFO."""
    watch = Watch()
    # A gate that lets everything out at once: timers run on the grid of tables here too.
    last = case.path[-1]
    fifo = gates.insert(
        Model.read(case.model), last, [(0, case.period)], case.period, PUBLISH
    ).json()
    # Until the gate has the output, the way to it included. What the machine delayed tells nothing
    # of the chain.
    before = [executions(case, fifo, watch)]
    profile = [one.waited for one in _undisturbed(before[0]) or before[0]]
    request = plans.Request(
        bands=BANDS, slack=round(SLACK * max(profile)), publish_time=PUBLISH, grid=MS // 10
    )
    plan = plans.make(Model.read(case.model), {"chain": profile}, "trace", request)
    after: list[list[Execution]] = []
    with console.progress(f"Running {case.name} in turns") as progress:
        for number in range(ROUNDS):
            after.append(executions(case, case.model, watch, plan))
            before.append(executions(case, fifo, watch))
            if progress:
                progress(number + 1, ROUNDS)
    (slot,) = plan.chains[0].gate.slots
    found = _rows(case.name, before, after)
    found += _undisturbed_rows(case.name, before, after)
    assert plan.chains[0].after.mean is not None
    latencies = [one.latency for run in after for one in run]
    for name, pick in (("mean", statistics.mean), ("median", statistics.median)):
        away = (pick(latencies) - plan.chains[0].after.mean) / MS
        what = f"kernel, {case.name}, one slot, {name} less the planned latency"
        found.append(Row(what, None, away, "ms", expected="± 0.3 ms"))
    found.append(_floor(case, watch))
    found += several_slots(case, profile, request)
    found += [
        Row(f"kernel, {case.name}, outlier {number}", None, text)
        for number, text in enumerate(outliers(after, slot.start), 1)
    ]
    return found


def several_slots(case: Case, profile: list[int], request: plans.Request) -> Rows:
    """The latencies that a plan with several slots says, and those that were measured."""
    request = dataclasses.replace(request, bands=SLOTS)
    plan = plans.make(Model.read(case.model), {"chain": profile}, "trace", request)
    gate = plan.chains[0].gate
    run = executions(case, case.model, Watch(), plan)
    leaves = [band.latency for band in gate.slots]
    nearest = [min(leaves, key=lambda at: abs(at - one.late - one.latency)) for one in run]
    distances = sorted(
        abs(one.late + one.latency - at) for one, at in zip(run, nearest, strict=True)
    )
    shares = [
        (nearest.count(at) / len(run), band.share)
        for at, band in zip(leaves, gate.slots, strict=True)
    ]
    what = f"kernel, {case.name}, {SLOTS} slots, "
    found = [
        Row(f"{what}share of slot {number}", None, measured, expected=round(planned, 3))
        for number, (measured, planned) in enumerate(shares, 1)
    ]
    apart = max(abs(measured - planned) for measured, planned in shares)
    # As far as the shares of so many draws from one distribution are apart, in 95 % of cases.
    tolerance = math.sqrt(math.log(2 / 0.05) / 2 * (1 / len(run) + 1 / len(profile)))
    middle = distances[len(distances) // 2] / MS
    return [
        *found,
        Row(
            f"{what}shares, planned and measured apart", None, apart, expected=f"≤ {tolerance:.3f}"
        ),
        Row(
            f"{what}from the planned latency of a slot, median",
            None,
            middle,
            "ms",
            expected="≤ 0.3 ms",
        ),
        Row(
            f"{what}within 0.3 ms of a planned latency",
            None,
            f"{sum(one <= OUTLIER for one in distances)} of {len(run)}",
        ),
    ]


def _rows(name: str, before: list[list[Execution]], after: list[list[Execution]]) -> Rows:
    free = [[one.ready for one in run] for run in before]
    shaped = [[one.latency for one in run] for run in after]

    def jitter(runs: list[list[int]]) -> float:
        return float(statistics.median((max(run) - min(run)) / 2 / MS for run in runs))

    pooled = [latency for run in shaped for latency in run]
    middle = statistics.median(pooled)
    close = sum(abs(latency - middle) <= OUTLIER for latency in pooled)
    outputs = [one.late + one.latency for run in after for one in run]
    inputs = [one.late + one.ready for run in before for one in run]
    usual = [statistics.median(_longest(runs)) for runs in (free, shaped)]
    worst = [max(_longest(runs)) for runs in (free, shaped)]
    what = f"kernel, {name}, "
    return [
        Row(f"{what}FIFO, longest, median of {len(free)} runs", None, usual[0], "ms"),
        Row(f"{what}FIFO, jitter", None, jitter(free), "ms"),
        Row(f"{what}one slot, longest, median of {len(shaped)} runs", None, usual[1], "ms"),
        *_promised(what, free, shaped),
        Row(f"{what}longest of all runs: one slot / FIFO", None, worst[1] / worst[0]),
        Row(f"{what}one slot, within 0.3 ms of the median", None, f"{close} of {len(pooled)}"),
        Row(
            f"{what}one slot, output on the grid, p99.9",
            None,
            _p999(outputs),
            "ms",
            expected="≤ 0.3 ms",
        ),
        Row(f"{what}FIFO, output on the grid, p99.9", None, _p999(inputs), "ms"),
        Row(f"{what}one slot, jitter, median of runs", None, jitter(shaped), "ms"),
    ]


def _undisturbed_rows(
    name: str, before: list[list[Execution]], after: list[list[Execution]]
) -> Rows:
    """The same without the periods in which the machine ran nothing at all for a while, and what
    such periods are.
    """
    runs = [run for some in (before, after) for run in some]
    stalled = [one.stalled for run in runs for one in run if one.disturbed]
    free = [[one.ready for one in _undisturbed(run)] for run in before]
    shaped = [[one.latency for one in _undisturbed(run)] for run in after]
    what = f"kernel, {name}, without stalls of the machine, "
    found = [
        Row(f"{what}left out", None, f"{len(stalled)} of {sum(map(len, runs))} periods"),
        Row(f"{what}most of one period", None, max(stalled, default=0) / MS, "ms"),
    ]
    if not all(free) or not all(shaped):
        return found
    return [*found, *_promised(what, free, shaped)]


def _promised(what: str, free: list[list[int]], shaped: list[list[int]]) -> Rows:
    """What a slot is for: outputs nearly always at the same time, and hardly later than by FIFO."""
    usual = [statistics.median(_longest(runs)) for runs in (free, shaped)]
    pooled = [latency for run in shaped for latency in run]
    return [
        Row(f"{what}longest: one slot / FIFO", None, usual[1] / usual[0], expected="≤ 1.03"),
        Row(
            f"{what}one slot, jitter, p99.9 of {len(pooled)}",
            None,
            _p999(pooled),
            "ms",
            expected="≤ 0.3 ms",
        ),
    ]


def _undisturbed(run: list[Execution]) -> list[Execution]:
    return [one for one in run if not one.disturbed]


def _longest(runs: list[list[int]]) -> list[float]:
    return [max(run) / MS for run in runs]


def _p999(pooled: list[int]) -> float:
    """How far from the median."""
    middle = statistics.median(pooled)
    distances = sorted(abs(latency - middle) for latency in pooled)
    return float(distances[math.ceil(0.999 * len(distances)) - 1] / MS)


def outliers(runs: list[list[Execution]], slot: int) -> list[str]:
    """What the trace says of executions whose latency is far from the median."""
    middle = statistics.median(one.latency for run in runs for one in run)
    usual = statistics.median(one.gate.length for run in runs for one in run)
    found = []
    for number, run in enumerate(runs, 1):
        for position, one in enumerate(run):
            away = one.latency - middle
            if abs(away) <= OUTLIER:
                continue
            parts = {
                f"the chain's timer was late{_why(one.first)}": -one.late,
                "the output was ready after the slot": max(one.late + one.ready - slot, 0),
                f"the gate was late{_why(one.gate)}": one.waited - max(slot - one.late, one.ready),
                "the gate ran long": one.gate.length - usual,
            }
            cause = max(parts, key=lambda part: parts[part] * (1 if away > 0 else -1))
            found.append(
                f"{away / MS:+.2f} ms in period {position} of run {number}: {cause}, "
                f"{abs(parts[cause]) / MS:.2f} ms; the machine stood still for "
                f"{one.stalled / MS:.2f} ms"
            )
    return found


def _why(run: Run) -> str:
    if run.waited < OUTLIER / 3:
        return ""
    return f" (its thread was ready for {run.waited / MS:.2f} ms while {run.behind} ran)"


def _floor(case: Case, watch: Watch) -> Row:
    """What no program on this machine can be better than: how late a thread was in these runs that
    goes before all others and does nothing but sleep and look at the clock.
    """
    late = sorted(late for _, late in watch.stalls)
    beyond = watch.looks - math.ceil(0.999 * watch.looks)
    what = f"kernel, {case.name}, a thread at SCHED_FIFO 99 is late, p99.9 of {watch.looks}"
    if len(late) <= beyond:
        return Row(what, None, f"less than {NOTED / MS} ms")
    return Row(what, None, late[-1 - beyond] / MS, "ms")


def executions(
    case: Case, model: Json, watch: Watch, plan: Shaping | None = None
) -> list[Execution]:
    """As a trace of a run of the model has them; without a plan the model has a gate that lets all
    out at once. Adds to `watch` what the machine did meanwhile.
    """
    (begins, ends, leaves), seen = _recorded(case, model, plan)
    watch.add(seen)
    slot = plan.chains[0].gate.slots[0].start if plan else 0
    grid = statistics.median_low(begin.start % case.period for begin in begins)
    found = []
    for left in leaves:
        # All of an execution is within its period.
        worked = ends[bisect([end.start for end in ends], left.start) - 1]
        begin = begins[bisect([one.start for one in begins], worked.start) - 1]
        late = (begin.start - grid + case.period // 2) % case.period - case.period // 2
        due = begin.start - max(late, 0)
        stalled = sum(_stalls_in(seen.stalls, due, left.end))
        leaving = max(worked.end, due + slot)
        at_ends = max(
            *_stalls_in(seen.stalls, due, begin.start),
            *_stalls_in(seen.stalls, leaving, left.end),
            0,
            0,
        )
        found.append(Execution(begin, worked, left, late, stalled, at_ends))
    # The first ones warm the caches.
    return found[3:]


def _stalls_in(stalls: Stalls, begin: int, end: int) -> list[int]:
    """How long those are that overlap with a time."""
    return [late for due, late in stalls if due < end and due + late > begin]


@contextlib.contextmanager
def _witnessed(processors: Sequence[int]) -> Iterator[Watch]:
    """When the machine did not run what was due on these processors; known on leaving."""
    program = [sys.executable, str(experiments.ROOT / "witness.py")]
    watching = [
        subprocess.Popen(
            [*program, str(one), str(round(NOTED))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for one in processors
    ]
    seen = Watch()
    try:
        yield seen
    finally:
        for process in watching:
            said, _ = process.communicate("\n")
            if said:
                saw = json.loads(said)
                seen.add(Watch(saw["looks"], [(due, late) for due, late in saw["stalls"]]))


def _recorded(case: Case, model: Json, plan: Shaping | None) -> tuple[list[list[Run]], Watch]:
    """The runs of the chain's first and last callback and of its gate, in order, and when the
    machine stood still. UserError without privileges.
    """
    seconds = case.period * case.periods / 1e9
    environment = os.environ | {"ROS_DOMAIN_ID": DOMAIN}
    nodes = {one["id"]: one["node"] for one in model["callbacks"]}
    ends = [nodes[case.path[0]], nodes[case.path[-1]], gates.NODE]
    with tempfile.TemporaryDirectory(prefix="takt-") as folder:
        document, trace = Path(folder) / "model.json", Path(folder) / "trace"
        document.write_text(json.dumps(model), encoding="utf-8")
        takt_ = [sys.executable, "-m", "takt"]
        run = [*takt_, "run", str(document), "--duration", str(seconds), "--priority", PRIORITY]
        if plan is not None:
            chosen = Path(folder) / "plan.json"
            chosen.write_text(to_json(plan), encoding="utf-8")
            run += ["--plan", str(chosen)]
        record = [*takt_, "record", "--backend", "ring", "-o", str(trace)]
        if SCHEDULER_EVENTS.is_dir():
            record.append("--kernel")
        with _witnessed(case.processors) as seen:
            done = subprocess.run(
                [*record, "--", *run], env=environment, capture_output=True, text=True, check=False
            )
        if done.returncode:
            raise UserError(f"a chain cannot run: {done.stderr.strip().splitlines()[-1]}")
        recording = takt.load(str(trace))
        runs = recording.runs.join(recording.callbacks, on="callback").sort("start")
        # Tables have times since the epoch, events and stalls those of the monotonic clock.
        events = takt.recordings.trace.Trace(str(trace)).events("ros2:callback_start")
        shift = runs["start"].min() - min(
            when for one in events for when in one["time"].to_pylist()
        )
        waits = _waits(trace, shift)
        found = [
            [
                Run(start, length, *waits(thread, start))
                for node, start, length, thread in runs.select(
                    "node", "start", "duration", "thread"
                ).iter_rows()
                if node == wanted
            ]
            for wanted in ends
        ]
        stalls = [(due + shift, late) for due, late in seen.stalls]
        return found, dataclasses.replace(seen, stalls=stalls)


def _waits(trace: Path, shift: int) -> Callable[[str, int], tuple[int, str]]:
    """How long a thread was ready before it ran at that time, and what ran meanwhile."""
    events = takt.recordings.trace.Trace(str(trace))
    switches: dict[int, list[tuple[int, str]]] = {}
    wakes: dict[int, list[int]] = {}
    if not SCHEDULER_EVENTS.is_dir():
        return lambda thread, start: (0, "")
    for batch in events.events("sched_switch"):
        for one in batch.select(["time", "next_tid", "prev_comm", "prev_prio"]).to_pylist():
            what = f"{one['prev_comm']} (kernel priority {one['prev_prio']})"
            switches.setdefault(one["next_tid"], []).append((one["time"] + shift, what))
    for batch in events.events("sched_wakeup"):
        for one in batch.select(["time", "tid"]).to_pylist():
            wakes.setdefault(one["tid"], []).append(one["time"] + shift)

    def waited(thread: str, start: int) -> tuple[int, str]:
        number = int(thread.rsplit(" ", 1)[-1])
        entries, woken = switches.get(number, []), wakes.get(number, [])
        at = bisect(entries, (start, "")) - 1
        if at < 0 or (before := bisect(woken, entries[at][0]) - 1) < 0:
            return 0, ""
        return entries[at][0] - woken[before], entries[at][1]

    return waited

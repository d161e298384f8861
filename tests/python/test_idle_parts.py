"""How long a run ran, slept and was preempted, without the scheduler's events: computed again from
the events of the thread's clock, by what docs/flow.md and docs/model-synthesis.md say.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import takt
from test_flow import ROOT, document

RECORDINGS = ROOT / "tests" / "recordings" / "scores"
CLOCKS_APART = 100_000
RUNNING = ("running", "blocked", "preempted")


class Run(NamedTuple):
    start: int
    end: int
    slept: int
    ready: int


def events(trace: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = takt.open(str(trace)).events(name).read_all().to_pylist()
    return [{**row, "name": name} for row in rows]


def runs(trace: Path) -> dict[int, list[Run]]:
    """Runs within which no other runs and that the thread's clock was read in, by their starts."""
    names = ("ros2:callback_start", "ros2:callback_end", "takt:thread_cpu_time")
    told = sorted((e for name in names for e in events(trace, name)), key=lambda e: e["time"])
    found: dict[int, list[Run]] = {}
    open_runs: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for event in told:
        thread = event["vpid"], event["vtid"]
        if event["name"] == "ros2:callback_start":
            open_runs[thread] = [event]
        elif event["name"] == "takt:thread_cpu_time":
            open_runs.get(thread, []).append(event)
        elif len(own := open_runs.pop(thread, [])) >= 3:
            begin, first, last = own[0], own[1], own[-1]
            lasted = event["time"] - begin["time"]
            ran = last["cpu_time"] - first["cpu_time"]
            both = first["ready_time"] and last["ready_time"]
            ready = last["ready_time"] - first["ready_time"] if both else 0
            waited = last["waits"] > first["waits"]
            slept = max(0, lasted - ran - ready) if waited else 0
            if first["waits"] and not waited and lasted - ran - ready > CLOCKS_APART:
                ready = lasted - ran
            run = Run(begin["time"], event["time"], slept, ready)
            found.setdefault(run.start, []).append(run)
    return found


def of_run(part: dict[str, Any]) -> tuple[bool, int, str | None]:
    """The same of all parts of one run."""
    return part["stage"] in RUNNING, part["step"], part["callback"]


@pytest.mark.parametrize("name", ["rclpy_clients", "rclpy_executors", "rclpy_coroutine"])
def test_runs_are_split_as_the_clock_of_their_thread_says(name: str) -> None:
    trace = RECORDINGS / f"{name}.tar.xz"
    began = min(int(batch["time"][0].as_py()) for _, batch in takt.open(str(trace)).all_events())
    known = runs(trace)
    compared = 0
    of_stage: Counter[str] = Counter()
    for flow in document(trace, "--instances")["flows"]:
        for worst in flow["worst"]:
            end = began + worst["begin"]
            for (is_run, _, _), parts in groupby(worst["parts"], of_run):
                spent: Counter[str] = Counter()
                for part in parts:
                    spent[part["stage"]] += part["duration"]
                begin, end = end, end + spent.total()
                around = [run for run in known.get(begin, []) if is_run and run.end >= end]
                if len(around) != 1:
                    continue
                (run,) = around
                # What is longer than the rest of the run cannot all have been in it.
                rest = (run.end - run.start) - (end - begin)
                blocked = min(max(run.slept - rest, 0), end - begin)
                preempted = min(max(run.ready - rest, 0), end - begin - blocked)
                assert (spent["blocked"], spent["preempted"]) == (blocked, preempted)
                compared += 1
                of_stage += spent
    assert compared >= 20
    assert of_stage["running"] > 0
    assert of_stage["blocked"] > 0

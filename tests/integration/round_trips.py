"""Models that ran as real nodes, and the models of their recordings: in what they differ.

Callbacks are the same if their names are: `takt run` tells the trace the model's names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from model_graphs import Graph, period, structural_differences
from recording import TAKT, Run, takt

Json = dict[str, Any]

SECOND = 1_000_000_000
ENOUGH = 10
"""The least instances of the slowest source: a recording of fewer shows too little."""
START_UP = 2.5
"""Seconds at least in which nothing is modelled yet (docs/model-synthesis.md)."""

LEAST = ENOUGH // 2
"""Instances that each callback must have had, start-up included; else the machine was too busy."""
ATTEMPTS = 5

LEAST_SHARE = 0.85
"""The share of an execution time that must come out: `takt run` leaves a tenth unused, at most
0.1 ms, for what the trace counts beside the work (libtakt/workload/src/work.cpp)."""
MOST_SHARE = 1.1
TIME = "execution time: "
"""How lines on execution times begin."""
SLACK = 1_000_000
"""Interrupts, and what a hypervisor steals, count as a thread's processor time."""


def duration(model: Json) -> float:
    periods = [period(callback) or 0 for callback in model["callbacks"]]
    return START_UP + ENOUGH * max(periods) / SECOND


def record(model: Path, folder: Path, seconds: float | None = None) -> tuple[Json, Json]:
    """Runs and records a model. Returns the report of `takt run` and the model of the recording.

    Executors without a reservation get what the machine has left. If that was too little for a
    callback, the recording does not show it, so there is another of twice the length.
    """
    seconds = seconds or duration(json.loads(model.read_text()))
    for attempt in range(ATTEMPTS):
        command = [*TAKT, "run", str(model), "--duration", f"{seconds:.3f}", "--json"]
        recorded = Run.of(folder / f"trace-{attempt}", command, backend="ring")
        ran: Json = json.loads(recorded.output)
        if all(callback["count"] >= LEAST for callback in ran["callbacks"]):
            break
        seconds *= 2
    done = takt("model", str(recorded.trace))
    assert done.returncode == 0, done.stderr
    return ran, json.loads(done.stdout)


def differences(original: Json, found: Json, ran: Json) -> list[str]:
    """Lines on all differences between the model of a recording and the model that ran. `ran`: the
    report of `takt run`.
    """
    before, after = Graph(original), Graph(found)
    lines = structural_differences(before, after)
    longest = {before.names[each["id"]]: each["longest"] for each in ran["callbacks"]}
    for name, callback in before.callbacks.items():
        if name in after.callbacks:
            lines += execution_times(name, callback, after.callbacks[name], longest[name])
    return lines


def are_times_alone(lines: list[str]) -> bool:
    """Whether there are differences, and all of them are of execution times."""
    return bool(lines) and all(line.startswith(TIME) for line in lines)


def execution_times(name: str, before: Json, after: Json, longest: int) -> list[str]:
    """`longest`: what the callback's own thread clock said of its longest instance, which may be
    longer than modelled.
    """
    modelled = before["execution_time"]["curve"]
    observed = after["execution_time"]["curve"]
    excess = max(0, longest - modelled[0])
    lines = []
    if observed[0] < LEAST_SHARE * modelled[0]:
        lines.append(f"{TIME}{name}: {modelled[0]} became {observed[0]}")
    lines += [
        f"{TIME}{name}: {n + 1} instances, {most} became {least}"
        for n, (most, least) in enumerate(zip(modelled, observed, strict=False))
        if least > MOST_SHARE * most + (n + 1) * (SLACK + excess)
    ]
    return lines

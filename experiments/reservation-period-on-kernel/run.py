"""Stark 2022, Figure 6.12, on this machine's kernel. See README.md."""

from __future__ import annotations

import json
import math
import os
from typing import Any

import takt_native
from takt.errors import UserError
from takt.text import console
from takt.trials import node_runs
from takt.trials.experiments import Row, Rows, drawn

Json = dict[str, Any]

US, MS = 1_000, 1_000_000
TIMERS = 10
"""For each processor, since the kernel spreads reservations over all."""
SHARE = 0.09
"""Of a processor, of each reservation: the kernel gives away 95 % of each, not all."""
DEMAND = 750 * US
TIMER_PERIOD = 200 * MS
PERIODS = (100, 200, 500, 1000, 2000, 5000, 7000, 8000, 10_000)
"""Of the reservations, in µs."""
SECONDS, FULL_SECONDS = 3.0, 60.0
HIGHEST = 2.0
"""ms: "the highest period for which we observed the response time to exceed the bound"."""
PLACE = "section 6.4, with Figure 6.12"


def run(full: bool = False) -> Rows:
    if not node_runs.may_have_priorities():
        raise UserError("reservations (SCHED_DEADLINE) need root; run it as root")
    rows: Rows = []
    exceeded: list[float] = []
    with console.progress("Running timers in reservations") as progress:
        for number, period in enumerate(PERIODS):
            if progress:
                progress(number, len(PERIODS))
            found, machine = _responses(period, FULL_SECONDS if full else SECONDS)
            bound = _bound(period)
            what = f"every {period / 1000:g} ms"
            if max(found) > bound:
                exceeded.append(period / 1000)
            rows += _of_period(what, found, bound)
            rows.append(machine.row(what))
    what = "highest period with a response above the bound"
    rows.append(Row(what, HIGHEST, max(exceeded, default=0.0), "ms", PLACE))
    return rows


def _of_period(what: str, found: list[float], bound: float) -> Rows:
    late = sum(one > bound for one in found)
    return [
        Row(
            f"{what}: longest response",
            None,
            max(found),
            "ms",
            expected=f"≤ {bound:.2f}",
            figure="Figure 6.12",
            samples=drawn(found),
        ),
        Row(f"{what}: above the bound", None, f"{late} of {len(found)}"),
    ]


def _model(period: int) -> Json:
    count = TIMERS * (os.cpu_count() or 1)
    budget = math.floor(SHARE * period * US)
    supply = {"kind": "reservation", "budget": budget, "period": period * US}
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [
            {
                "id": f"e{number}",
                "kind": "single_threaded",
                "order": "registered",
                "process": "timers",
                "supply": supply,
            }
            for number in range(count)
        ],
        "callbacks": [
            {
                "id": f"timer{number}",
                "node": f"/timer{number}",
                "executor": f"e{number}",
                "kind": "timer",
                "registration": 0,
                "execution_time": {"curve": [DEMAND]},
                "activation": {"kind": "periodic", "period": TIMER_PERIOD},
            }
            for number in range(count)
        ],
    }


def _bound(period: int) -> float:
    """In ms; the same of all timers."""
    found = json.loads(takt_native.analyze(json.dumps(_model(period)), "timers", "combined"))
    return float(found["callbacks"][0]["bound"]) / MS


def _responses(period: int, seconds: float) -> tuple[list[float], node_runs.Machine]:
    """Of all timers, in ms: the set-up is symmetrical."""
    model = _model(period)
    log, machine = node_runs.run(model, seconds)
    timers = {callback["id"]: TIMER_PERIOD for callback in model["callbacks"]}
    origins = {timer: log.origin({timer: TIMER_PERIOD}) for timer in timers}
    return [
        (span.end - span.begin) / MS
        for timer in timers
        for span in log.responses([timer], TIMER_PERIOD, origins[timer], node_runs.Missed.SKIPPED)[
            0
        ]
    ], machine

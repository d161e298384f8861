"""Stark 2022, Figures 6.12 and 6.13, by analysis and simulation. See README.md."""

from __future__ import annotations

import json

import takt_design
import takt_native
from takt.trials.experiments import Row, Rows

US = 1_000
MS = 1_000_000
TIMERS = 10
TIMER_PERIOD = 200 * MS

# Demand in µs, and the bounds in ms that the supply-bound function gives at 7 and 8 ms.
BY_SUPPLY = {700: (13.3, 15.1), 750: (19.65, 15.15)}
PERIODS = (100, 200, 500, 1000, 2000, 5000, 7000, 8000, 10_000)
"""In µs."""


def run() -> Rows:
    rows = []
    for demand, (at_7, at_8) in BY_SUPPLY.items():
        rows += [
            Row(
                f"Bound, demand {demand} µs, every {period // 1000} ms",
                None,
                _bound(demand, period),
                "ms",
                expected=expected,
            )
            for period, expected in ((7000, at_7), (8000, at_8))
        ]
    shorter = _bound(750, 8000) < _bound(750, 7000)
    rows.append(
        Row(
            "Bound with 8 ms below that with 7 ms, for some demand",
            "yes",
            "yes" if shorter else "no",
            place="section 6.4, with Figure 6.12",
        )
    )
    for period in PERIODS:
        rows.append(Row(f"Bound, every {period / 1000:g} ms", None, _bound(750, period), "ms"))
        rows.append(Row(f"Simulated, every {period / 1000:g} ms", None, _longest(period), "ms"))
    above = sum(_longest(period) > _bound(750, period) for period in PERIODS)
    what = "Periods with a simulated time above the bound"
    return [*rows, Row(what, None, float(above), expected=0.0)]


def _model(demand: int, period: int) -> str:
    executors = [
        {
            "id": f"e{i}",
            "kind": "single_threaded",
            "order": "registered",
            "cpu": 0,
            "supply": {"kind": "reservation", "budget": period * US // 10, "period": period * US},
        }
        for i in range(TIMERS)
    ]
    callbacks = [
        {
            "id": f"timer{i}",
            "node": f"/timer{i}",
            "executor": f"e{i}",
            "kind": "timer",
            "registration": 0,
            "execution_time": {"curve": [demand * US]},
            "activation": {"kind": "periodic", "period": TIMER_PERIOD, "jitter": 0},
        }
        for i in range(TIMERS)
    ]
    return json.dumps(
        {
            "format": "takt/model",
            "version": 1,
            "name": "ten timers",
            "executors": executors,
            "callbacks": callbacks,
        }
    )


def _bound(demand: int, period: int) -> float:
    found = json.loads(takt_native.analyze(_model(demand, period), "timers", "combined"))
    return float(found["callbacks"][0]["bound"]) / MS


def _longest(period: int) -> float:
    options = json.dumps({"duration": 20_000 * MS, "seed": 1})
    found = json.loads(takt_design.simulate(_model(750, period), "timers", options))
    return float(found["callbacks"][0]["max"]) / MS

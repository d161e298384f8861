"""Events executor with priorities, Table 3.1 and its surroundings. See README.md."""

from __future__ import annotations

import json
from typing import Any

import takt_design
from takt.trials.experiments import Row, Rows

Json = dict[str, Any]

MS = 1_000_000
DURATION = 300_000 * MS
OVERHEAD = 5 / 6  # ms per job

# Cameras' execution time in ms, and Table 3.1: IMU, camera, lidar in ms.
SETS = {
    "60 %": (10, (12.67, 57.83, 70.50)),
    "80 %": (14, (16.67, 75.66, 149.50)),
    "90 %": (16, (18.67, 83.66, 167.33)),
}
KINDS = ("IMU", "camera", "lidar")

EXECUTORS: dict[str, Json] = {
    "default": {"executor": "single_threaded"},
    "events": {"executor": "events"},
    "RM": {"executor": "fixed_priority"},
    "EDF": {"executor": "edf", "edf_deadlines": "per_callback"},
}


LOST: dict[str, float | str] = {"default": "some", "RM": 0.0, "EDF": 0.0}
"""What the text says; of the events executor as it is the text says nothing."""


def tasks(camera: float) -> list[tuple[str, float, float]]:
    """Kind, execution time and period in ms, the most urgent by rate first."""
    return [("IMU", 1, 30), *[("camera", camera, 84)] * 4, *[("lidar", 10, 200)] * 2]


def run() -> Rows:
    rows = []
    for name, (camera, table) in SETS.items():
        bounds = _bounds(camera)
        rows += [
            Row(f"Bound, {name}, {kind}", published, bounds[kind], "ms", "Table 3.1")
            for kind, published in zip(KINDS, table, strict=True)
        ]
        simulated = _worst(_simulate(camera, EXECUTORS["RM"], OVERHEAD))
        rows += [
            Row(
                f"RM simulated with overhead, {name}, {kind}",
                None,
                simulated[kind],
                "ms",
                expected=f"≤ {bound}",
            )
            for kind, bound in zip(KINDS, table, strict=True)
        ]
    for name, (camera, _) in SETS.items():
        for executor, options in EXECUTORS.items():
            simulated = _simulate(camera, options, 0)
            worst = _worst(simulated)
            shown = " / ".join(f"{worst[kind]:.0f}" for kind in KINDS)
            rows.append(Row(f"Worst response, {executor}, {name}, IMU/camera/lidar", None, shown))
            published = LOST.get(executor)
            place = "section 3.1.7, with Figure 3.3" if published is not None else ""
            what = f"Lost jobs, {executor}, {name}"
            meaning = "> 0" if published == "some" else None
            rows.append(Row(what, published, _lost(simulated), "%", place, meaning=meaning))
    return rows


def _bounds(camera: float) -> dict[str, float]:
    """Eq. 3.4 with the overhead; for each kind the bound of its least urgent task."""
    inflated = [(kind, cost + OVERHEAD, period) for kind, cost, period in tasks(camera)]
    bounds = {}
    for k, (kind, cost, _) in enumerate(inflated):
        blocking = max((c for _, c, _ in inflated[k + 1 :]), default=0)
        bound = cost + blocking
        while True:
            interference = sum(-(-bound // period) * c for _, c, period in inflated[:k])
            if cost + blocking + interference == bound:
                break
            bound = cost + blocking + interference
        bounds[kind] = bound
    return bounds


def _simulate(camera: float, options: Json, overhead: float) -> list[tuple[str, Json]]:
    """The kind and the statistics of every timer."""
    timers = tasks(camera)
    model = {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": "e", "order": "registered", "overhead": [int(overhead * MS)]}],
        "callbacks": [
            {
                "id": str(number),
                "executor": "e",
                "kind": "timer",
                "registration": number,
                "execution_time": {"curve": [round(cost * MS)]},
                "activation": {"kind": "periodic", "period": round(period * MS)},
            }
            for number, (_, cost, period) in enumerate(timers)
        ],
    }
    wanted = json.dumps(options | {"duration": DURATION})
    simulated = json.loads(takt_design.simulate(json.dumps(model), "model", wanted))
    kinds = [kind for kind, _, _ in timers]
    return list(zip(kinds, simulated["callbacks"], strict=True))


def _worst(timers: list[tuple[str, Json]]) -> dict[str, float]:
    return {kind: max(t["max"] for k, t in timers if k == kind) / MS for kind in KINDS}


def _lost(timers: list[tuple[str, Json]]) -> float:
    skipped = sum(timer["skipped"] for _, timer in timers)
    return (
        100 * float(skipped) / sum(timer["activations"] + timer["skipped"] for _, timer in timers)
    )

"""DAC 2022, Tables 1 and 2 and Figure 2, by simulation. See README.md."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import takt_design
import takt_native
from takt.trials.experiments import Row, Rows

Json = dict[str, Any]

MS = 1_000_000
SECOND = 1000 * MS
PERIOD = SECOND
# Per callback: the rest of the table's least latencies beyond the sums of the execution times.
OVERHEAD = 1_200_000

# Table 1: execution times in ms.
CHAINS = {"1": [109, 131, 131], "2": [109, 131, 131, 131, 131, 131, 131]}

EXECUTORS: dict[str, Json] = {
    "default": {"executor": "single_threaded"},
    "PiCAS": {"executor": "chain_priority", "missed_periods": "replacing"},
    "proposed": {"executor": "edf", "edf_deadlines": "frozen_at_completion"},
    "fresh deadlines": {"executor": "edf", "edf_deadlines": "per_instance"},
}

# Table 2: mean, maximum, minimum and standard deviation in s of chains 1 and 2.
TABLE_2 = {
    "default": ((1.478, 1.879, 0.632, 0.355), (4.108, 4.913, 2.415, 0.445)),
    "PiCAS": ((0.442, 1.373, 0.373, 0.565), (2.055, 2.654, 1.655, 0.314)),
    "proposed": ((0.849, 1.372, 0.376, 0.305), (1.424, 1.922, 0.903, 0.310)),
}

# Figure 2's caption: the releases that are dropped within 10 s.
FIGURE_2 = {"PiCAS": ("none", "3, 6, 9"), "proposed": ("4, 9", "3, 7")}


def run() -> Rows:
    return [*_table_1(), *_table_2(), *_figure_2(), *_bounds()]


def _table_1() -> Rows:
    rows = [
        Row(f"Table 1, chain {name}, sum of execution times", None, sum(times) / 1000, "s")
        for name, times in CHAINS.items()
    ]
    load = sum(sum(times) for times in CHAINS.values()) * MS / PERIOD
    return [*rows, Row("Table 1, utilisation", None, load, "")]


def _table_2() -> Rows:
    rows = []
    means: dict[str, list[float]] = {}
    for name, options in EXECUTORS.items():
        simulated = _simulate(options | {"duration": 300 * SECOND}, OVERHEAD)
        means[name] = [chain["mean"] / 1e9 for chain in simulated["chains"]]
        for number, chain in enumerate(simulated["chains"]):
            for column, key in enumerate(("mean", "max", "min", "standard_deviation")):
                published = TABLE_2[name][number][column] if name in TABLE_2 else None
                what = f"Table 2, {name}, chain {number + 1}, {key.replace('_', ' ')}"
                place = "Table 2" if published is not None else ""
                rows.append(Row(what, published, chain[key] / 1e9, "s", place))
    for other in ("default", "PiCAS"):
        for number in range(len(CHAINS)):
            printed = 100 * (TABLE_2["proposed"][number][0] / TABLE_2[other][number][0] - 1)
            ours = 100 * (means["proposed"][number] / means[other][number] - 1)
            what = f"Mean, proposed against {other}, chain {number + 1}"
            rows.append(Row(what, None, ours, "%", expected=round(printed, 1)))
    return rows


def _figure_2() -> Rows:
    rows = []
    for name, options in EXECUTORS.items():
        if name == "default":
            continue
        for overhead in (0, OVERHEAD):
            dropped = _dropped(
                _simulate(options | {"duration": 12 * SECOND, "timeline": 1000}, overhead)
            )
            for number, releases in enumerate(dropped):
                published = FIGURE_2[name][number] if name in FIGURE_2 else None
                what = (
                    f"Figure 2, {name}, drops of chain {number + 1} before 10 s, "
                    f"overhead {overhead / MS:g} ms"
                )
                shown = ", ".join(map(str, releases)) or "none"
                place = "caption of Figure 2" if published is not None else ""
                rows.append(Row(what, published, shown, place=place))
    return rows


def _bounds() -> Rows:
    """The chains are overloaded, so there is no bound; Eq. 12 caps the printed analysis."""
    document = json.loads(takt_native.analyze(json.dumps(_model(0, "edf")), "model", "edf_paper"))
    return [
        Row(f"Eq. 12, cap of chain {number + 1}", None, chain["bound"] / 1e9, "s", expected=cap)
        for number, (cap, chain) in enumerate(zip((1.371, 1.895), document["chains"], strict=True))
    ]


def _dropped(simulated: Json) -> list[list[int]]:
    """Releases, in s, before 10 s that no instance was labelled with."""
    dropped = []
    for name in CHAINS:
        served = {
            entry["activation"] // SECOND
            for entry in simulated["timeline"]
            if entry["callback"] == f"{name}.0"
        }
        dropped.append([release for release in range(10) if release not in served])
    return dropped


def _simulate(options: Json, overhead: int) -> Json:
    model = json.dumps(_model(overhead))
    simulated: Json = json.loads(takt_design.simulate(model, "model", json.dumps(options)))
    return simulated


def _model(overhead: int, kind: str = "single_threaded") -> Json:
    callbacks: list[Json] = []
    edges: list[Json] = []
    chains: list[Json] = []
    for name, times in CHAINS.items():
        ids = [f"{name}.{i}" for i in range(len(times))]
        for i, (callback, time) in enumerate(zip(ids, times, strict=True)):
            added: Json = {
                "id": callback,
                "executor": "e",
                "kind": "subscription" if i else "timer",
                "registration": len(callbacks),
                "execution_time": {"curve": [time * MS]},
                "queue_depth": 1,
            }
            if i == 0:
                added["activation"] = {"kind": "periodic", "period": PERIOD}
            callbacks.append(added)
        edges += [{"from": a, "to": b} for a, b in pairwise(ids)]
        chains.append({"id": name, "callbacks": ids, "rank": len(chains) + 1})
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [
            {
                "id": "e",
                "kind": kind,
                "order": "registered",
                "overhead": [overhead] if overhead else [],
            }
        ],
        "callbacks": callbacks,
        "edges": edges,
        "chains": chains,
    }

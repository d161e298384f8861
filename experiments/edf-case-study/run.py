"""DAC 2022, Table 3 and Figure 4, by simulation. See README.md."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import takt_design
import takt_native
from takt.trials.experiments import Row, Rows

Json = dict[str, Any]

MS = 1_000_000
DURATION = 300_000 * MS

EXECUTORS: dict[str, Json] = {
    "default": {"executor": "single_threaded"},
    "PiCAS": {"executor": "chain_priority", "missed_periods": "replacing"},
    "proposed": {"executor": "edf", "edf_deadlines": "frozen_at_completion"},
}

BOUNDED = {"default": "single_threaded", "PiCAS": "chain_priority", "proposed": "edf"}
"""Bounds are for deadlines of each instance; frozen ones are simulated alone."""

# Execution times and period in ms, and the core.
TABLE_3: dict[str, tuple[list[float], int, int]] = {
    "RT1": ([2.3, 16.1], 80, 0),
    "RT2": ([2.3, 2.2, 18.4, 9.1], 80, 0),
    "RT3": ([23.1, 7.9, 14.2, 17.9], 100, 1),
    "RT4": ([20.6, 17.9, 6.6], 100, 2),
    "RT5": ([1.7, 11, 6.6, 7.9], 160, 2),
    "RT6": ([1.7, 195.5], 1000, 3),
    "BE1": ([33.2, 6.6], 120, 0),
    "BE2": ([33.2, 6.6], 120, 1),
    "BE3": ([33.2, 6.6], 120, 2),
    "BE4": ([33.2, 6.6], 120, 3),
    "BE5": ([33.2, 6.6], 120, 0),
    "BE6": ([33.2, 6.6], 120, 1),
}


def run() -> Rows:
    return _table_3()


def model() -> _Model:
    """The chains of Table 3, on a real-time and a best-effort executor for each core."""
    model = _Model()
    for core in range(4):
        for category, priority in (("RT", 99), ("BE", 98)):
            supply = {"kind": "fixed_priority", "priority": priority}
            executor = {"id": f"{category}{core}", "order": "registered", "cpu": core}
            model.executors.append(executor | {"supply": supply})
    for name, (times, period, core) in TABLE_3.items():
        # RT1 and RT2 share their timer.
        head = "RT1.0" if name == "RT2" else None
        model.add_chain(name, times, period, f"{name[:2]}{core}", head)
    return model


def _table_3() -> Rows:
    chains = model()
    found = {
        name: {chain["id"]: chain for chain in chains.simulate(options)["chains"]}
        for name, options in EXECUTORS.items()
    }
    rows = [
        Row(f"Table 3, {name}, {chain}", None, f"{_ms(one['mean'])} / {_ms(one['max'])} ms")
        for name, chains in found.items()
        for chain, one in chains.items()
    ]
    for name, kind in BOUNDED.items():
        for chain in chains.bounds(kind):
            bound = f"{_ms(chain['bound'])} ms" if chain["bound"] else "none"
            rows.append(Row(f"Table 3, bound, {name}, {chain['id']}", None, bound))
    for other in ("default", "PiCAS"):
        for key in ("mean", "max"):
            better = sum(
                found["proposed"][chain][key] <= found[other][chain][key] for chain in TABLE_3
            )
            what = f"Figure 4: proposed not above {other}, {key}"
            ours = f"{better} of {len(TABLE_3)}"
            place, all_of_them = "section 6, with Figure 4", f"{len(TABLE_3)} of {len(TABLE_3)}"
            rows.append(Row(what, "all chains", ours, place=place, meaning=all_of_them))
    return rows


def _ms(time: float | None) -> str:
    return "–" if time is None else f"{time / MS:.1f}"


class _Model:
    """A takt/model document that grows chain by chain."""

    def __init__(self) -> None:
        self.executors: list[Json] = []
        self.callbacks: list[Json] = []
        self.edges: list[Json] = []
        self.chains: list[Json] = []

    def add_chain(
        self, name: str, times: list[float], period: int, executor: str, head: str | None = None
    ) -> None:
        """Times in ms; `head`: a timer that exists and starts this chain too."""
        ids = [f"{name}.{i}" for i in range(len(times))]
        if head is not None:
            ids[0] = head
        for i, (callback, time) in enumerate(zip(ids, times, strict=True)):
            if callback == head:
                continue
            added: Json = {
                "id": callback,
                "executor": executor,
                "kind": "subscription" if i else "timer",
                "registration": len(self.callbacks),
                "execution_time": {"curve": [round(time * MS)]},
                "queue_depth": 1,
            }
            if i == 0:
                added["activation"] = {"kind": "periodic", "period": period * MS}
            self.callbacks.append(added)
        self.edges += [{"from": a, "to": b} for a, b in pairwise(ids)]
        self.chains.append({"id": name, "callbacks": ids, "rank": len(self.chains) + 1})

    def bounds(self, kind: str) -> list[Json]:
        """The bounds of the chains, on executors of that kind."""
        model = self.document()
        model["executors"] = [executor | {"kind": kind} for executor in self.executors]
        bounds = json.loads(takt_native.analyze(json.dumps(model), "model", "combined"))
        chains: list[Json] = bounds["chains"]
        return chains

    def simulate(self, options: Json) -> Json:
        wanted = json.dumps(options | {"duration": DURATION})
        model = json.dumps(self.document())
        simulated: Json = json.loads(takt_design.simulate(model, "model", wanted))
        return simulated

    def document(self) -> Json:
        return {
            "format": "takt/model",
            "version": 1,
            "executors": self.executors,
            "callbacks": self.callbacks,
            "edges": self.edges,
            "chains": self.chains,
        }

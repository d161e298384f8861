"""Graph-aware executor, Table 3.2's sets. See README.md."""

from __future__ import annotations

import json
import random
from typing import Any

import takt_design
import takt_native
from takt.trials.experiments import Row, Rows

Json = dict[str, Any]

MS = 1_000_000
DURATION = 20_000 * MS
PHASES = 400
SEED = 32

TREES = {"A": 25, "B": 41, "C": 51}
SUBSCRIBERS = ("sub A", "sub B")

# Execution times in ms of the roots A, B, C and of the two subscribers.
SETS = {"50 %": (1, 1, 5, 2, 2), "70 %": (2, 1, 12, 2, 2), "90 %": (3, 1, 12, 2, 4)}


FIGURE_3_8 = "section 3.2.8, with Figure 3.8"
CLOSE = "0.9 to 1"
"""What "closely match" means, as a share of the bound."""

MISSED = ("A", "B")
"""Trees that miss their deadlines at 90 % by rate, by the text."""


def run() -> Rows:
    rows = []
    for name, times in SETS.items():
        for order, bound in bounds(times).items():
            found = _greatest(times, order)
            for tree in TREES:
                what = f"{name}, {order}, tree {tree}"
                limit = f"≤ {bound[tree]:g}"
                rows.append(Row(what, None, found[tree] / MS, "ms", expected=limit))
                share = found[tree] / MS / bound[tree]
                what += ", longest response"
                rows.append(
                    Row(what, "closely match", share, "of the bound", FIGURE_3_8, meaning=CLOSE)
                )
                if order == "rate_monotonic" and name == "90 %" and tree in MISSED:
                    missed = "misses" if found[tree] > TREES[tree] * MS else "meets"
                    what = f"90 %, by rate, tree {tree}: its deadline"
                    rows.append(Row(what, "misses", missed, place=FIGURE_3_8))
    return rows


def bounds(times: tuple[int, ...]) -> dict[str, dict[str, float]]:
    """In ms, of each tree, by the order of the roots."""
    return {"rate_monotonic": _bounds(times), "edf": _bounds_by_deadline(times)}


def _bounds(times: tuple[int, ...]) -> dict[str, float]:
    """By rate: the least t with t = C + blocking + work of more urgent trees in t."""
    subscribers = times[3:]
    work = {tree: times[i] + sum(subscribers) for i, tree in enumerate(TREES)}
    longest = {tree: max(times[i], *subscribers) for i, tree in enumerate(TREES)}
    bounds: dict[str, float] = {}
    order = list(TREES)
    for k, tree in enumerate(order):
        bound = 0.0
        blocking = max((longest[lower] for lower in order[k + 1 :]), default=0)
        while True:
            interference = sum(-(-bound // TREES[higher]) * work[higher] for higher in order[:k])
            if work[tree] + blocking + interference == bound:
                break
            bound = work[tree] + blocking + interference
        bounds[tree] = bound
    return bounds


def _bounds_by_deadline(times: tuple[int, ...]) -> dict[str, float]:
    """In ms, what `takt analyze` says of the trees if deadlines are periods."""
    model = _model(times)
    for callback in model["callbacks"]:
        if callback["id"] in TREES:
            callback["deadline"] = TREES[callback["id"]] * MS
    bounds = json.loads(takt_native.analyze(json.dumps(model), "model", "combined"))
    return {chain["id"].split(" → ")[0]: chain["bound"] / MS for chain in bounds["chains"]}


def _greatest(times: tuple[int, ...], order: str) -> dict[str, int]:
    """The greatest response time of each tree, from its root's release to the last subscriber."""
    generator = random.Random(SEED)
    greatest = dict.fromkeys(TREES, 0)
    model = json.dumps(_model(times))
    for attempt in range(PHASES + 1):
        offsets = {
            tree: generator.randrange(period * MS) if attempt else 0
            for tree, period in TREES.items()
        }
        options = {"duration": DURATION, "root_order": order, "offsets": offsets}
        simulated = json.loads(takt_design.simulate(model, "model", json.dumps(options)))
        for chain in simulated["chains"]:
            tree = chain["id"].split(" → ")[0]
            greatest[tree] = max(greatest[tree], chain["max"])
    return greatest


def _model(times: tuple[int, ...]) -> Json:
    names = [*TREES, *SUBSCRIBERS]
    callbacks: list[Json] = [
        {
            "id": name,
            "executor": "e",
            "kind": "timer" if name in TREES else "subscription",
            "registration": number,
            "execution_time": {"curve": [time * MS]},
        }
        for number, (name, time) in enumerate(zip(names, times, strict=True))
    ]
    for callback in callbacks:
        if callback["id"] in TREES:
            period = TREES[callback["id"]] * MS
            callback["activation"] = {"kind": "periodic", "period": period}
    edges = [(tree, subscriber) for tree in TREES for subscriber in SUBSCRIBERS]
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": "e", "kind": "graph_aware"}],
        "callbacks": callbacks,
        "edges": [{"from": source, "to": target} for source, target in edges],
        "chains": [{"id": " → ".join(edge), "callbacks": list(edge)} for edge in edges],
    }

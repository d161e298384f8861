"""ros-llama §6.2, Figures 6.3 and 6.4. See README.md."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import takt_native
from takt.trials.experiments import Row, Rows

Json = dict[str, Any]

# The document's smallest unit of time is 1 µs; here a nanosecond of the model stands for it.
MOST_PREDECESSORS = 10
BURSTS = (1, 9, 10, 12, 13, 14, 15, 20, 24)


def run() -> Rows:
    return [*_bursts(), *_predecessors()]


def _bursts() -> Rows:
    """(a): one predecessor, bursts of growing size."""
    rows: Rows = []
    for burst in BURSTS:
        for analysis in ("round_robin", "busy_window"):
            what = f"(a) b = {burst}, {analysis}"
            rows.append(Row(what, None, _shown(_bound(burst, 1, analysis)), "µs"))
    sizes = range(1, 31)
    round_robin = [_bound(burst, 1, "round_robin") for burst in sizes]
    busy_window = [_bound(burst, 1, "busy_window") for burst in sizes]
    flat_from = sizes[round_robin.index(round_robin[-1])]
    place = "section 6.2, with Figure 6.4a"
    rows.append(Row("(a) round-robin bound is flat from b", 14, flat_from, place=place))
    grows = all(a is not None and b is not None and a < b for a, b in pairwise(busy_window))
    each = "grows at each b"
    ours = each if grows else "-"
    rows.append(Row("(a) busy-window bound", "grows steadily", ours, place=place, meaning=each))
    return rows


def _predecessors() -> Rows:
    """(b): bursts of ten, a growing number of predecessors."""
    rows: Rows = []
    round_robin = []
    busy_window = []
    for count in range(1, MOST_PREDECESSORS + 1):
        round_robin.append(_bound(10, count, "round_robin"))
        busy_window.append(_bound(10, count, "busy_window"))
        rows.append(Row(f"(b) f = {count}, round_robin", None, _shown(round_robin[-1]), "µs"))
        rows.append(Row(f"(b) f = {count}, busy_window", None, _shown(busy_window[-1]), "µs"))
    both = zip(round_robin, busy_window, strict=True)
    rises = next(f for f, (r, b) in enumerate(both, 1) if r != b)
    place = "section 6.2, with Figure 6.4b"
    rows.append(Row("(b) round-robin rises above busy-window from f", 5, rises, place=place))
    nine = round_robin[8]
    window = busy_window[8]
    assert window is not None
    ratio = "no bound" if nine is None else round(nine / window, 1)
    rows.append(Row("(b) round-robin / busy-window at f = 9", 2, ratio, place=place))
    return rows


def _shown(bound: int | None) -> float | str:
    return "no bound" if bound is None else bound


def _bound(burst: int, predecessors: int, analysis: str) -> int | None:
    """The bound of the chain from the first predecessor to the last callback."""
    text = json.dumps(_model(burst, predecessors))
    document = json.loads(takt_native.analyze(text, "synthetic graph", analysis))
    bound: int | None = document["chains"][0]["bound"]
    return bound


def _model(burst: int, predecessors: int) -> Json:
    """One executor with 700 µs in each 1 ms: predecessors before the chain before the burst."""
    sources = [f"p{n}" for n in range(predecessors)]
    chain = [f"c{n}" for n in range(1, 7)]
    callbacks = [
        *(
            _callback(source, 1, {"kind": "min_distance", "values": [0, 10, 10_000]})
            for source in sources
        ),
        *(_callback(member, 50, None) for member in chain),
        _callback("c0", 10, {"kind": "min_distance", "values": [0] * burst + [10_000]}),
    ]
    for order, callback in enumerate(callbacks):
        callback["registration"] = order
    edges = [{"from": source, "to": chain[0]} for source in sources]
    edges += [{"from": a, "to": b} for a, b in pairwise(chain)]
    return {
        "format": "takt/model",
        "version": 1,
        "name": "synthetic graph",
        "executors": [
            {
                "id": "e",
                "order": "registered",
                "supply": {"kind": "reservation", "budget": 700, "period": 1000},
            }
        ],
        "callbacks": callbacks,
        "edges": edges,
        "chains": [{"id": "chain", "callbacks": [sources[0], *chain]}],
    }


def _callback(name: str, cost: int, activation: Json | None) -> Json:
    return {
        "id": name,
        "node": "/n",
        "executor": "e",
        "kind": "subscription",
        "execution_time": {"curve": [cost]},
        "activation": activation,
    }

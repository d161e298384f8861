"""ros-llama §6.2, the shapes of Figures 6.5 and 6.6. See README.md."""

from __future__ import annotations

import json
from typing import Any

import takt_native
from takt.trials.experiments import Row, Rows

Json = dict[str, Any]

MS = 1_000_000
# /tf: mostly cheap, with rare peaks: ET(1) = 56 ms, ET(40) = 122 ms (§3.2.4, Fig. 3.6).
TF_COST = [56 * MS + n * (122 - 56) * MS // 39 for n in range(40)]
# Eight transforms at once, 25 a second.
TF_ACTIVATION = {"kind": "min_distance", "values": [0] * 8 + [320 * MS]}


def run() -> Rows:
    return [*_analyses(), *_cost_models()]


def _analyses() -> Rows:
    """Fig. 6.5: both analyses over the combined one."""
    bounds = {name: _bounds(_model(1, True), name) for name in _ANALYSES}
    rows: Rows = []
    for callback in bounds["combined"]:
        for name in ("round_robin", "busy_window"):
            what = f"Fig. 6.5, {callback}, {name} / combined"
            rows.append(
                Row(what, None, _ratio(bounds[name][callback], bounds["combined"][callback]))
            )
    best = {callback: _best(bounds, callback) for callback in bounds["combined"]}
    place = "section 6.2, with Figure 6.5"
    frequent, beside = best["/tf"], best["/scan"]
    rows.append(Row("Best for the frequent callback", "busy_window", frequent, place=place))
    rows.append(Row("Best for one beside it", "round_robin", beside, place=place))
    return rows


def _cost_models() -> Rows:
    """Fig. 6.6: execution-time curves against ET(n) = n·ET(1)."""
    rows: Rows = []
    curve = _bounds(_model(1, True), "combined")
    scalar = _bounds(_model(1, False), "combined")
    place = "section 6.2, with Figure 6.6"
    rows.append(Row("Curves at 100 % of the cost", "converge", _converges(curve), place=place))
    rows.append(Row("WCETs at 100 % of the cost", "diverge", _converges(scalar), place=place))
    curve = _bounds(_model(10, True), "combined")
    scalar = _bounds(_model(10, False), "combined")
    rows.append(Row("WCETs at 10 % of the cost", "converge", _converges(scalar), place=place))
    for callback in curve:
        what = f"Fig. 6.6, {callback}, WCET / curve at 10 %"
        rows.append(Row(what, None, _ratio(scalar[callback], curve[callback])))
    return rows


_ANALYSES = ("round_robin", "busy_window", "combined")


def _best(bounds: dict[str, dict[str, int | None]], callback: str) -> str:
    """The analysis that alone gives the combined bound; "both" if either does."""
    least = bounds["combined"][callback]
    best = [name for name in ("round_robin", "busy_window") if bounds[name][callback] == least]
    return best[0] if len(best) == 1 else "both"


def _ratio(bound: int | None, other: int | None) -> float | str:
    return "no bound" if bound is None or other is None else round(bound / other, 2)


def _converges(bounds: dict[str, int | None]) -> str:
    return "diverge" if None in bounds.values() else "converge"


def _bounds(model: Json, analysis: str) -> dict[str, int | None]:
    document = json.loads(takt_native.analyze(json.dumps(model), "turtlebot", analysis))
    return {callback["id"]: callback["bound"] for callback in document["callbacks"]}


def _model(divisor: int, curves: bool) -> Json:
    """The localisation executor: /tf beside a laser scan and a pose request."""
    callbacks = [
        _callback("/scan", [30 * MS], {"kind": "periodic", "period": 200 * MS}),
        _callback("/tf", TF_COST, TF_ACTIVATION),
        _callback("/initialpose", [10 * MS], {"kind": "periodic", "period": 1000 * MS}),
    ]
    for order, callback in enumerate(callbacks):
        callback["registration"] = order
        costs = [cost // divisor for cost in callback["execution_time"]["curve"]]
        callback["execution_time"]["curve"] = costs if curves else costs[:1]
    return {
        "format": "takt/model",
        "version": 1,
        "name": "localisation",
        "executors": [{"id": "amcl", "order": "registered"}],
        "callbacks": callbacks,
    }


def _callback(name: str, costs: list[int], activation: Json) -> Json:
    return {
        "id": name,
        "node": "/amcl",
        "executor": "amcl",
        "kind": "subscription",
        "execution_time": {"curve": costs},
        "activation": activation,
    }

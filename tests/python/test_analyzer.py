"""Bounds again after a change, from Python."""

from __future__ import annotations

import json
from typing import Any

import pytest

import takt_native

MODEL: dict[str, Any] = {
    "format": "takt/model",
    "version": 1,
    "executors": [
        {"id": "first", "supply": {"kind": "reservation", "budget": 50, "period": 100}},
        {"id": "second", "supply": {"kind": "reservation", "budget": 50, "period": 100}},
    ],
    "callbacks": [
        {
            "id": "tick",
            "executor": "first",
            "kind": "timer",
            "execution_time": {"curve": [40]},
            "activation": {"kind": "periodic", "period": 1000},
        },
        {
            "id": "next",
            "executor": "second",
            "kind": "subscription",
            "execution_time": {"curve": [40]},
        },
    ],
    "edges": [{"from": "tick", "to": "next"}],
    "chains": [{"id": "both", "callbacks": ["tick", "next"], "goal": 300}],
}


def bounds(document: str) -> Any:
    cost = ("seconds", "steps")  # of finding them
    return {key: value for key, value in json.loads(document).items() if key not in cost}


def test_bounds_after_changes_are_those_of_the_changed_model() -> None:
    model = json.loads(json.dumps(MODEL))
    analyzer = takt_native.Analyzer(json.dumps(model), "m.json", "combined")
    for budget, cost in ((50, 40), (30, 40), (30, 90), (100, 2000), (50, 40)):
        analyzer.set_budget("first", budget)
        analyzer.set_execution_time("next", [cost])
        model["executors"][0]["supply"]["budget"] = budget
        model["callbacks"][1]["execution_time"]["curve"] = [cost]
        from_scratch = takt_native.analyze(json.dumps(model), "m.json", "combined")
        assert bounds(analyzer.bounds()) == bounds(from_scratch)


def test_mistakes_name_what_is_wrong_and_change_nothing() -> None:
    analyzer = takt_native.Analyzer(json.dumps(MODEL), "m.json", "combined")
    before = bounds(analyzer.bounds())
    with pytest.raises(takt_native.InputError, match='there is no executor "third" in the model'):
        analyzer.set_budget("third", 50)
    with pytest.raises(takt_native.InputError, match=r"m\.json"):
        analyzer.set_budget("first", 101)
    with pytest.raises(takt_native.InputError, match='there is no callback "tock" in the model'):
        analyzer.set_execution_time("tock", [1])
    with pytest.raises(takt_native.InputError, match=r"m\.json"):
        analyzer.set_execution_time("tick", [10, 30])
    assert bounds(analyzer.bounds()) == before

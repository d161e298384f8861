"""The published schemas agree with what libtakt reads and writes."""

from __future__ import annotations

import copy
import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import takt_design
import takt_native

ROOT = Path(__file__).parents[2]

Json = dict[str, Any]


def document_of(name: str) -> Json:
    text = (resources.files("takt") / "schemas" / f"{name}.schema.json").read_text("utf-8")
    document: Json = json.loads(text)
    return document


def schema(name: str) -> Draft202012Validator:
    Draft202012Validator.check_schema(document_of(name))
    return Draft202012Validator(document_of(name))


MODEL: Json = {
    "format": "takt/model",
    "version": 1,
    "executors": [
        {"id": "e0", "supply": {"kind": "reservation", "budget": 2, "period": 5}},
        {"id": "s", "kind": "event_source"},
    ],
    "callbacks": [
        {
            "id": "laser",
            "executor": "s",
            "kind": "event_source",
            "execution_time": {"curve": [0]},
            "activation": {"kind": "min_distance", "values": [0, 500, 2000]},
        },
        {
            "id": "tick",
            "executor": "e0",
            "kind": "timer",
            "execution_time": {"curve": [3, 5]},
            "activation": {"kind": "periodic", "period": 1000},
        },
        {
            "id": "sub",
            "executor": "e0",
            "kind": "subscription",
            "execution_time": {"curve": [1]},
            "callback_group": "reentrant",
        },
    ],
    "links": [{"id": "wire", "bandwidth": 1000000000, "overhead": 20}],
    "edges": [
        {"from": "tick", "to": "sub"},
        {"from": "laser", "to": "sub", "delay": 9, "link": "wire", "message_size": 9},
    ],
    "joins": [{"callback": "sub", "inputs": ["tick", "laser"]}],
    "chains": [{"id": "pilot", "callbacks": ["tick", "sub"], "goal": 500}],
}


def accepted(document: Json) -> bool:
    try:
        takt_native.parse_model(json.dumps(document), "model.json")
    except takt_native.InputError:
        return False
    return True


def test_model_as_written_by_people_and_by_libtakt() -> None:
    validator = schema("model")
    validator.validate(MODEL)
    model, warnings = takt_native.parse_model(json.dumps(MODEL), "model.json")
    assert warnings == []
    validator.validate(json.loads(model))


@pytest.mark.parametrize("analysis", ["round_robin", "busy_window", "combined"])
def test_bounds_found_and_missing(analysis: str) -> None:
    validator = schema("bounds")
    bounds = json.loads(takt_native.analyze(json.dumps(MODEL), "model.json", analysis))
    validator.validate(bounds)
    assert bounds["converged"]
    overloaded = copy.deepcopy(MODEL)
    overloaded["callbacks"][1]["execution_time"]["curve"] = [900]
    bounds = json.loads(takt_native.analyze(json.dumps(overloaded), "model.json", analysis))
    validator.validate(bounds)
    assert not bounds["converged"]


@pytest.mark.parametrize("timeline", [0, 3, 10_000])
def test_simulations(timeline: int) -> None:
    options = {"duration": 5000, "timeline": timeline}
    text = takt_design.simulate(json.dumps(MODEL), "model.json", json.dumps(options))
    simulation = json.loads(text)
    schema("simulation").validate(simulation)
    assert ("timeline" in simulation) == (timeline > 0)


@pytest.mark.parametrize(
    "kind",
    ["single_threaded", "events", "fixed_priority", "edf", "chain_priority", "graph_aware"],
)
def test_plans(kind: str) -> None:
    options = json.dumps({"executor": kind})
    schema("plan").validate(json.loads(takt_design.plan(json.dumps(MODEL), "model.json", options)))


@pytest.mark.parametrize("name", ["talk-rclpy", "pipeline-lttng"])
def test_summaries_of_recordings(name: str) -> None:
    schema("info").validate(summary(name))


def test_summaries_have_callbacks_of_the_kinds_of_models_and_unknown_ones() -> None:
    document = summary("talk-rclpy")
    kinds = document_of("model")["$defs"]["Callback"]["properties"]["kind"]["enum"]
    for kind in (*kinds, "unknown"):
        document["callbacks"][0]["kind"] = kind
        schema("info").validate(document)
    document["callbacks"][0]["kind"] = "thread"
    assert not schema("info").is_valid(document)


def summary(name: str) -> Json:
    trace = ROOT / "tests" / "recordings" / f"{name}.tar.xz"
    document: Json = json.loads(takt_native.info([str(trace)]))
    return document


MISTAKES = [
    ("/format", "takt/bounds"),
    ("/version", 2),
    ("/executors", {}),
    ("/executors/0/id", ""),
    ("/executors/0/kind", "magic"),
    ("/executors/0/threads", 0),
    ("/executors/0/supply/kind", "shared"),
    ("/executors/0/supply/budget", 0),
    ("/callbacks/0/activation/values", [0]),
    ("/callbacks/0/activation/values", [1, 2]),
    ("/callbacks/1/activation/period", 0),
    ("/callbacks/1/activation/kind", "sometimes"),
    ("/callbacks/1/execution_time/curve", []),
    ("/callbacks/1/execution_time/curve", [-1]),
    ("/callbacks/1/execution_time/curve", [1.5]),
    ("/callbacks/1/execution_time/curve", [10**16]),
    ("/callbacks/1/kind", "thread"),
    ("/callbacks/2/queue_depth", 0),
    ("/callbacks/2/callback_group", 1),
    ("/edges/0/delay", -1),
    ("/edges/0/message_size", -1),
    ("/joins/0/inputs", []),
    ("/joins/0/kind", "or"),
    ("/chains/0/callbacks", []),
    ("/chains/0/goal", 0),
]


@pytest.mark.parametrize(("pointer", "value"), MISTAKES)
def test_schema_and_libtakt_refuse_the_same_mistakes(pointer: str, value: object) -> None:
    document = copy.deepcopy(MODEL)
    *parents, last = pointer.removeprefix("/").split("/")
    place: Any = document
    for step in parents:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[last] = value
    assert not schema("model").is_valid(document)
    assert not accepted(document)


def test_models_of_the_project_are_valid() -> None:
    validator = schema("model")
    models = sorted((ROOT / "models").glob("*.json"))
    for path in models:
        document = json.loads(path.read_text("utf-8"))
        validator.validate(document)
        assert accepted(document), path
    assert models

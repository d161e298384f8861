"""Models of recordings: joins, sampled inputs and chains are those of the recorded systems, without
being told. Precision and recall over all recordings are 1.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from recordings import archive

Json = dict[str, Any]
Join = tuple[str, frozenset[str]]

# A node, and the nodes whose messages it joins.
AUTOWARE_JOINS = {
    ("/PointCloudFusion", frozenset({"/PointsTransformerFront", "/PointsTransformerRear"})),
    ("/NDTLocalizer", frozenset({"/VoxelGridDownsampler", "/PointCloudMapLoader"})),
    ("/Lanelet2GlobalPlanner", frozenset({"/Visualizer", "/NDTLocalizer"})),
    ("/Lanelet2MapLoader", frozenset({"/Lanelet2Map", "/Lanelet2GlobalPlanner"})),
    ("/VehicleInterface", frozenset({"/MPCController", "/BehaviorPlanner"})),
}
# A node, and the topics that a timer of the node reads.
PLANNER_READS = {
    ("/BehaviorPlanner", topic)
    for topic in (
        "/ObjectCollisionEstimator",
        "/NDTLocalizer",
        "/Lanelet2GlobalPlanner",
        "/Lanelet2MapLoader",
        "/ParkingPlanner",
        "/LanePlanner",
    )
}
JOINS: dict[str, set[Join]] = {
    "autoware-singlethreaded": AUTOWARE_JOINS,
    "autoware-multithreaded": AUTOWARE_JOINS,
    "mf-partial-sync": {("/partial_sync_n_to_m", frozenset({"/source"}))},
    "autoware": AUTOWARE_JOINS,
}
SAMPLED: dict[str, set[tuple[str, str]]] = {
    "autoware-singlethreaded": PLANNER_READS,
    "autoware-multithreaded": PLANNER_READS,
    "autoware": PLANNER_READS,
    "mf-periodic-async": {
        ("/periodic_async_n_to_m", "/topic_a"),
        ("/periodic_async_n_to_m", "/topic_b"),
    },
    "robot-multiprocess": {("/robot/planner", "/robot/pose")},
    "robot-multiprocess-mt": {("/robot/planner", "/robot/pose")},
}
NAMES = (
    "autoware",
    "autoware-singlethreaded",
    "autoware-multithreaded",
    "mf-transport",
    "mf-trivial",
    "mf-periodic-async",
    "mf-partial-sync",
    "robot-multiprocess",
    "robot-multiprocess-mt",
    "pipeline-lttng",
)
DECLARED = ("mf-periodic-async", "mf-partial-sync")
"""Recordings whose programs declare their message links."""

VIA_ESTIMATOR = [
    "/PointCloudFusion",
    "/RayGroundFilter",
    "/EuclideanClusterDetector",
    "/ObjectCollisionEstimator",
    "/BehaviorPlanner",
    "/MPCController",
    "/VehicleInterface",
    "/VehicleDBWSystem",
]


def takt(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "takt", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@cache
def model(name: str) -> Json:
    document: Json = json.loads(takt("model", str(archive(name))))
    return document


def by_id(document: Json) -> dict[str, Json]:
    return {callback["id"]: callback for callback in document["callbacks"]}


def nodes_of(document: Json, chain: Json) -> list[str]:
    """The nodes that a chain passes, each once."""
    callbacks = by_id(document)
    nodes: list[str] = []
    for callback in chain["callbacks"]:
        node = callbacks[callback]["node"]
        if not nodes or nodes[-1] != node:
            nodes.append(node)
    return nodes


@pytest.mark.parametrize("name", NAMES)
def test_joins_are_those_of_the_system(name: str) -> None:
    callbacks = by_id(model(name))
    found = {
        (
            callbacks[join["callback"]]["node"],
            frozenset(callbacks[source]["node"] for source in join["inputs"]),
        )
        for join in model(name)["joins"]
    }
    assert found == JOINS.get(name, set())
    assert all((join["confidence"] is None) == (name in DECLARED) for join in model(name)["joins"])


@pytest.mark.parametrize("name", NAMES)
def test_timers_sample_what_the_system_says(name: str) -> None:
    callbacks = by_id(model(name))
    found = {
        (callbacks[edge["from"]]["node"], callbacks[edge["from"]]["topic"])
        for edge in model(name)["edges"]
        if callbacks[edge["to"]]["kind"] == "timer"
    }
    assert found == SAMPLED.get(name, set())


@pytest.mark.parametrize("name", ["autoware-singlethreaded", "autoware-multithreaded", "autoware"])
def test_chains_lead_from_the_lidars_through_the_planners_timer_to_the_vehicle(name: str) -> None:
    document = model(name)
    paths = [nodes_of(document, chain) for chain in document["chains"]]
    for side in ("Front", "Rear"):
        assert [f"/{side}LidarDriver", f"/PointsTransformer{side}", *VIA_ESTIMATOR] in paths
    timer = next(
        c["id"]
        for c in document["callbacks"]
        if (c["node"], c["kind"]) == ("/BehaviorPlanner", "timer")
    )
    through = [chain for chain in document["chains"] if timer in chain["callbacks"][1:]]
    assert through
    assert all(nodes_of(document, chain)[-1] == "/VehicleDBWSystem" for chain in through)


def test_chains_through_the_planners_timer_are_measured() -> None:
    chains = json.loads(takt("latency", str(archive("autoware-singlethreaded")), "--json"))
    latencies = {
        chain["id"]: chain for chain in chains["chains"] if chain["id"].startswith("/RearLidar")
    }
    measured = [
        chain
        for chain in latencies.values()
        if chain["count"] > 150 and any("/BehaviorPlanner" in i for i in chain["callbacks"])
    ]
    assert measured
    for chain in measured:
        assert chain["max"] <= chain["bound"]
    for chain in chains["chains"]:
        if chain["count"] == 0:
            assert chain["verdict"] not in ("met", "bounded")


def signature(document: Json, callback: Json) -> tuple[str, str, str]:
    """What a callback is called in any model of a system: node, kind, and topics or period."""
    if callback["kind"] == "timer":
        return callback["node"], "timer", str(callback["activation"]["period"])
    sources = [edge for edge in document["edges"] if edge["to"] == callback["id"]]
    topics = sorted({edge["topic"] or "" for edge in sources})
    return callback["node"], callback["kind"], " ".join(topics)


def test_what_ran_as_a_model_gives_that_model_again() -> None:
    """The round trip: the recording was made by `takt run models/autoware_reference_system.json`.
    Callbacks, periods, joins and executors are the model's; so are the edges, but for those to the
    planner's timer, which the model does not have and the node's subscriptions suggest.
    """
    models = Path(__file__).resolve().parents[2] / "models"
    original: Json = json.loads((models / "autoware_reference_system.json").read_text())
    found = model("autoware")

    def names(document: Json) -> dict[str, tuple[str, str, str]]:
        return {c["id"]: signature(document, c) for c in document["callbacks"]}

    def edges(document: Json) -> Counter[tuple[Any, ...]]:
        name = names(document)
        observed = (edge for edge in document["edges"] if edge.get("confidence") is None)
        return Counter((name[e["from"]], name[e["to"]], e["topic"]) for e in observed)

    def joins(document: Json) -> set[tuple[Any, ...]]:
        name = names(document)
        return {
            (name[join["callback"]], join["kind"], frozenset(name[i] for i in join["inputs"]))
            for join in document["joins"]
        }

    def executors(document: Json) -> dict[str, set[Any]]:
        name = names(document)
        return {
            executor["id"]: {
                name[c["id"]] for c in document["callbacks"] if c["executor"] == executor["id"]
            }
            for executor in document["executors"]
        }

    assert Counter(names(found).values()) == Counter(names(original).values())
    assert edges(found) == edges(original)
    assert joins(found) == joins(original)
    assert executors(found) == executors(original)
    kinds = {e["id"]: (e["kind"], e["threads"]) for e in original["executors"]}
    assert {e["id"]: (e["kind"], e["threads"]) for e in found["executors"]} == kinds

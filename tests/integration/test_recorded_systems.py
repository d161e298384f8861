"""Recordings of real rclcpp systems: what takt finds in them is what their description says ran."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import recording
from recording import takt
from recordings import archive

MILLISECOND = 1_000_000

NAMES = (
    "autoware-singlethreaded",
    "autoware-multithreaded",
    "mf-transport",
    "mf-trivial",
    "mf-periodic-async",
    "mf-partial-sync",
    "robot-multiprocess",
    "robot-multiprocess-mt",
    "pipeline-lttng",
    "pipeline-ring",
)

# The application of each recording as its description has it: nodes (one entry a process), periods
# of timers in milliseconds, and (node, topic) of subscriptions and services that ran.

SENSORS = {
    "/FrontLidarDriver": 100,
    "/RearLidarDriver": 100,
    "/PointCloudMap": 120,
    "/Visualizer": 60,
    "/Lanelet2Map": 100,
    "/EuclideanClusterSettings": 25,
}
CONNECTIONS = {
    "/PointsTransformerFront": ("/FrontLidarDriver",),
    "/PointsTransformerRear": ("/RearLidarDriver",),
    "/PointCloudFusion": ("/PointsTransformerFront", "/PointsTransformerRear"),
    "/RayGroundFilter": ("/PointCloudFusion",),
    "/VoxelGridDownsampler": ("/PointCloudFusion",),
    "/PointCloudMapLoader": ("/PointCloudMap",),
    "/NDTLocalizer": ("/VoxelGridDownsampler", "/PointCloudMapLoader"),
    "/Lanelet2GlobalPlanner": ("/Visualizer", "/NDTLocalizer"),
    "/Lanelet2MapLoader": ("/Lanelet2Map", "/Lanelet2GlobalPlanner"),
    "/ParkingPlanner": ("/Lanelet2MapLoader",),
    "/LanePlanner": ("/Lanelet2MapLoader",),
    "/EuclideanClusterDetector": ("/RayGroundFilter", "/EuclideanClusterSettings"),
    "/ObjectCollisionEstimator": ("/EuclideanClusterDetector",),
    "/BehaviorPlanner": (
        "/ObjectCollisionEstimator",
        "/NDTLocalizer",
        "/Lanelet2GlobalPlanner",
        "/Lanelet2MapLoader",
        "/ParkingPlanner",
        "/LanePlanner",
    ),
    "/MPCController": ("/BehaviorPlanner",),
    "/VehicleInterface": ("/MPCController", "/BehaviorPlanner"),
    "/VehicleDBWSystem": ("/VehicleInterface",),
    "/IntersectionOutput": ("/EuclideanIntersection",),
}
AUTOWARE: dict[str, Any] = {
    "nodes": [*SENSORS, *CONNECTIONS],
    "timers": [*SENSORS.items(), ("/BehaviorPlanner", 100)],
    "inputs": [(node, topic) for node, topics in CONNECTIONS.items() for topic in topics],
}
ROBOT: dict[str, Any] = {
    "nodes": [
        "/robot/imu_driver",
        "/robot/lidar_driver",
        "/robot/scan_filter",
        "/robot/localizer",
        "/robot/planner",
        "/robot/actuator",
    ],
    "timers": [
        ("/robot/imu_driver", 10),
        ("/robot/lidar_driver", 50),
        ("/robot/planner", 100),
        ("/robot/planner", 1000),
        ("/robot/actuator", 20),
    ],
    "inputs": [
        ("/robot/scan_filter", "/robot/scan"),
        ("/robot/localizer", "/robot/imu"),
        ("/robot/localizer", "/robot/scan_filtered"),
        ("/robot/planner", "/robot/pose"),
        ("/robot/actuator", "/robot/cmd_vel"),
        ("/robot/actuator", "/robot/enable_brake"),
    ],
}
PIPELINE: dict[str, Any] = {  # models/pipeline.json
    "nodes": ["/camera", "/motor"],
    "timers": [("/camera", 50)],
    "inputs": [("/motor", "/image")],
}
SYSTEMS: dict[str, dict[str, Any]] = {
    "autoware-singlethreaded": AUTOWARE,
    "autoware-multithreaded": AUTOWARE,
    "mf-transport": {
        "nodes": ["/source", "/sink"],
        "timers": [("/source", 5)],
        "inputs": [("/sink", "/topic_a")],
    },
    "mf-trivial": {
        "nodes": ["/source", "/sync_one_to_one", "/sink"],
        "timers": [("/source", 5)],
        "inputs": [("/sync_one_to_one", "/topic_a"), ("/sink", "/topic_b")],
    },
    "mf-periodic-async": {
        "nodes": ["/source", "/source", "/periodic_async_n_to_m", "/sink"],
        "timers": [("/source", 5), ("/source", 12), ("/periodic_async_n_to_m", 8)],
        "inputs": [
            ("/periodic_async_n_to_m", "/topic_a"),
            ("/periodic_async_n_to_m", "/topic_b"),
            ("/sink", "/topic_c"),
            ("/sink", "/topic_d"),
        ],
    },
    "mf-partial-sync": {
        "nodes": ["/source", "/source", "/partial_sync_n_to_m", "/sink"],
        "timers": [("/source", 10), ("/source", 4)],
        "inputs": [
            ("/partial_sync_n_to_m", "/topic_a"),
            ("/partial_sync_n_to_m", "/topic_b"),
            ("/sink", "/topic_c"),
        ],
    },
    "robot-multiprocess": ROBOT,
    "robot-multiprocess-mt": ROBOT,
    "pipeline-lttng": PIPELINE,
    "pipeline-ring": PIPELINE,
}
MULTI_THREADED = {"autoware-multithreaded", "robot-multiprocess-mt"}


@cache
def info(name: str) -> dict[str, Any]:
    return recording.info(archive(name))


def is_ros_own(topic: str) -> bool:
    """Whether every rclcpp node has it: the description lists only what the application made."""
    return topic in ("/parameter_events", "/rosout")


@pytest.mark.parametrize("name", NAMES)
def test_nodes_and_timers_are_those_described(name: str) -> None:
    document = info(name)
    assert sorted(node["name"] for node in document["nodes"]) == sorted(SYSTEMS[name]["nodes"])
    assert sorted((timer["node"], timer["period"]) for timer in document["timers"]) == sorted(
        (node, period * MILLISECOND) for node, period in SYSTEMS[name]["timers"]
    )


@pytest.mark.parametrize("name", NAMES)
def test_callbacks_and_topics_are_those_described(name: str) -> None:
    document = info(name)
    ran = sorted(
        (callback["node"], callback["topic"])
        for callback in document["callbacks"]
        if callback["kind"] in ("subscription", "service")
        and callback["count"] > 0
        and not is_ros_own(callback["topic"])
    )
    assert ran == sorted(SYSTEMS[name]["inputs"])
    subscribed = {topic for _, topic in SYSTEMS[name]["inputs"]} - {"/robot/enable_brake"}
    topics = {topic["name"] for topic in document["topics"] if not is_ros_own(topic["name"])}
    assert topics == subscribed


@pytest.mark.parametrize("name", NAMES)
def test_executors_have_the_threads_described(name: str) -> None:
    kinds = Counter(executor["kind"] for executor in info(name)["executors"])
    assert kinds["multi_threaded"] == (1 if name in MULTI_THREADED else 0)
    assert sum(kinds.values()) == len(info(name)["processes"])


@pytest.mark.parametrize("name", NAMES)
def test_model_has_what_ran(name: str, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    done = takt("model", str(archive(name)), "-o", str(model))
    assert done.returncode == 0, done.stderr
    document = json.loads(model.read_text())
    modelled = {(callback["node"], callback["topic"]) for callback in document["callbacks"]}
    # A callback that joins stands for a subscription to each topic.
    node_of = {callback["id"]: callback["node"] for callback in document["callbacks"]}
    modelled |= {(node_of[edge["to"]], edge["topic"]) for edge in document["edges"]}
    assert modelled >= set(SYSTEMS[name]["inputs"])
    periods = Counter(
        (callback["node"], callback["activation"]["period"])
        for callback in document["callbacks"]
        if callback["kind"] == "timer"
    )
    assert periods == Counter(
        (node, period * MILLISECOND) for node, period in SYSTEMS[name]["timers"]
    )


def test_chain_of_three_processes_is_found() -> None:
    done = takt("model", str(archive("mf-trivial")))
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    callbacks = {callback["id"]: callback for callback in document["callbacks"]}
    paths = [[callbacks[c]["node"] for c in chain["callbacks"]] for chain in document["chains"]]
    assert ["/source", "/sync_one_to_one", "/sink"] in paths

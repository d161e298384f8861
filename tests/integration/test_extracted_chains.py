"""Chains and loads of recordings are those of the recorded systems' description."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from recording import takt
from recordings import archive
from test_recorded_systems import CONNECTIONS, SENSORS

Json = dict[str, Any]
MS = 1_000_000

MERGE = "/periodic_async_n_to_m"
THROUGH_THE_TIMER = [f"{MERGE}:timer-8ms"]
PLANNED = ["/robot/planner:timer-100ms", "/robot/actuator:/robot/cmd_vel"]
ROBOT = [
    PLANNED,
    ["/robot/imu_driver:timer-10ms", "/robot/localizer:/robot/imu"],
    [
        "/robot/lidar_driver:timer-50ms",
        "/robot/scan_filter:/robot/scan",
        "/robot/localizer:/robot/scan_filtered",
        "/robot/planner:/robot/pose",
        *PLANNED,
    ],
]
CHAINS = {
    "mf-transport": [["/source:timer-5ms", "/sink:/topic_a"]],
    "mf-trivial": [["/source:timer-5ms", "/sync_one_to_one:/topic_a", "/sink:/topic_b"]],
    "mf-periodic-async": [
        [*before, f"{MERGE}:timer-8ms", f"/sink:/topic_{sent}"]
        for before in (
            [],
            ["/source:timer-5ms", f"{MERGE}:/topic_a"],
            ["/source:timer-12ms", f"{MERGE}:/topic_b"],
        )
        for sent in "cd"
    ],
    "mf-partial-sync": [
        [f"/source:timer-{period}", "/partial_sync_n_to_m:/topic_a+/topic_b", "/sink:/topic_c"]
        for period in ("10ms", "4ms")
    ],
    "robot-multiprocess": ROBOT,
    "robot-multiprocess-mt": ROBOT,
}
LOADS = {
    "/robot/imu_driver:timer-10ms": 0.1,
    "/robot/lidar_driver:timer-50ms": 2,
    "/robot/scan_filter:/robot/scan": 5,
    "/robot/localizer:/robot/imu": 0.2,
    "/robot/localizer:/robot/scan_filtered": 4,
    "/robot/planner:timer-100ms": 8,
    "/robot/planner:timer-1s": 1,
    "/robot/actuator:/robot/cmd_vel": 0.5,
    "/robot/actuator:/robot/enable_brake": 3,
}
BESIDE = 0.15 * MS
"""What a callback costs beside its load: sending messages, and a line that is logged."""


@cache
def model(name: str) -> Json:
    done = takt("model", str(archive(name)))
    assert done.returncode == 0, done.stderr
    document: Json = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("name", CHAINS)
def test_chains_are_those_of_the_system(name: str) -> None:
    found = [chain["callbacks"] for chain in model(name)["chains"]]
    assert sorted(found) == sorted(CHAINS[name])


@pytest.mark.parametrize("name", ["robot-multiprocess", "robot-multiprocess-mt"])
def test_loads_come_out_as_they_were_given(name: str) -> None:
    """The least time: nothing of these recordings tells preemption, which adds to the others."""
    observed = model(name)["provenance"]["observed"]
    for callback, load in LOADS.items():
        assert load * MS <= observed[callback]["min"] <= load * MS + BESIDE, callback


def successors(node: str) -> list[str]:
    """The nodes that subscribe to what a node sends on behalf of any input but the settings."""
    return [other for other, topics in CONNECTIONS.items() if node in topics]


def autoware_paths() -> set[tuple[str, ...]]:
    """From every timer to where nothing is sent any more, by the description's tables."""
    # The settings go through the detector to another topic than its other input.
    settings = ("/EuclideanClusterSettings", "/EuclideanClusterDetector", "/IntersectionOutput")
    found: set[tuple[str, ...]] = {settings}
    paths: list[tuple[str, ...]] = [
        (node,) for node in (*SENSORS, "/BehaviorPlanner") if node != settings[0]
    ]
    while paths:
        path = paths.pop()
        nodes = successors(path[-1])
        if not nodes:
            found.add(path)
        paths += [(*path, node) for node in nodes if node not in path]
    return found


@pytest.mark.parametrize("name", ["autoware-singlethreaded", "autoware-multithreaded"])
def test_autowares_chains_are_all_paths_through_the_system(name: str) -> None:
    nodes = {callback["id"]: callback["node"] for callback in model(name)["callbacks"]}
    found = set()
    for chain in model(name)["chains"]:
        path = [nodes[callback] for callback in chain["callbacks"]]
        found.add(tuple(node for i, node in enumerate(path) if i == 0 or node != path[i - 1]))
    assert found == autoware_paths()

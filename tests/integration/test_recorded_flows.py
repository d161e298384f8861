"""Flows of recorded systems are those that their messages' histories tell, to the nanosecond."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from typing import Any

import pytest

from message_histories import System, Way, latencies
from recordings import archive

AUTOWARE = System(
    joins=frozenset(
        "/" + node
        for node in (
            "PointCloudFusion",
            "NDTLocalizer",
            "Lanelet2GlobalPlanner",
            "Lanelet2MapLoader",
            "VehicleInterface",
        )
    ),
    periodic=frozenset({"/BehaviorPlanner"}),
)
ROBOT = System(periodic=frozenset({"/robot/planner"}))

SYSTEMS: dict[str, tuple[System, int]] = {
    # The system and how many ways lead to its sinks.
    "autoware-singlethreaded": (AUTOWARE, 51),
    "autoware-multithreaded": (AUTOWARE, 51),
    "mf-transport": (System(), 1),
    "mf-trivial": (System(), 1),
    "mf-periodic-async": (System(periodic=frozenset({"/periodic_async_n_to_m"})), 6),
    "mf-partial-sync": (System(joins=frozenset({"/partial_sync_n_to_m"})), 2),
    "robot-multiprocess": (ROBOT, 3),
    "robot-multiprocess-mt": (ROBOT, 3),
    "pipeline-lttng": (System(), 1),
    "pipeline-ring": (System(), 1),
}


def flow_document(name: str, *options: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "takt", "flow", str(archive(name)), "--json", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_flow_is_that_of_the_messages_histories(name: str) -> None:
    system, ways = SYSTEMS[name]
    expected = latencies(archive(name), system)
    found: dict[tuple[str, Way], list[int]] = defaultdict(list)
    for flow in flow_document(name, "--instances")["flows"]:
        topics = tuple(step["publishes"] for step in flow["path"] if step["publishes"] is not None)
        found[flow["path"][-1]["node"], topics] += [
            instance["latency"] for instance in flow["instances"]
        ]
    assert found
    for key, values in found.items():
        assert sorted(values) == sorted(expected[key]), key
    sinks = {(node, topics[-1]) for node, topics in found}
    assert {key for key in expected if (key[0], key[1][-1]) in sinks} == set(found)
    assert len(found) == ways

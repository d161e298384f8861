"""Probes in the kernel on stock programs that run already: what is said of them is what they say
themselves, or that it is not known.
"""

from __future__ import annotations

import json
import statistics
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from recording import info, needs_privileges, takt
from running_robots import (
    PROGRAMS_OF,
    RCLCPP,
    Robot,
    Truth,
    await_chains,
    end,
    folder_of_all,
    names,
    recorder,
    runs,
    unseen,
)

CHAINS = 12
"""So many messages go through each robot while it is recorded."""

Recorded = tuple[Path, dict[str, Truth]]

needs_rclcpp = pytest.mark.skipif(
    not RCLCPP.exists(), reason="CMake found no rclcpp, so its programs are not built"
)


@pytest.fixture(scope="module", params=["rclpy", pytest.param("rclcpp", marks=needs_rclcpp)])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A recording of running robots by probes in the kernel, and what they logged."""
    folder = tmp_path_factory.mktemp("running")
    logs = folder_of_all(folder)
    trace = folder / "trace"
    with ExitStack() as stack:
        programs = PROGRAMS_OF[request.param].items()
        robots = [Robot(prefix, program, logs, stack) for prefix, program in programs]
        with recorder(robots, trace, "--backend", "ebpf"):
            await_chains(robots, CHAINS + 1)  # the first may have begun before
        return trace, end(robots)


@needs_privileges
def test_every_name_is_right_or_unknown(recorded: Recorded) -> None:
    trace, truths = recorded
    document = info(trace)
    for truth in truths.values():
        found = names(document, truth)
        assert found.wrong == []
        assert found.missing == [] or truth.process in unseen(document)
        assert len(found.unknown) <= len(found.right) / 4, found.unknown


@needs_privileges
def test_runs_are_those_that_the_programs_logged(tmp_path: Path, recorded: Recorded) -> None:
    trace, truths = recorded
    durations = runs(trace, tmp_path / "tables", truths)
    document = info(trace)
    expected = [
        topic
        for truth in truths.values()
        if not truth.is_silent and truth.process not in unseen(document)
        for topic in truth.owners["subscriptions"]
    ]
    # Each run is there, or counted as one without an end, or an event of it is lost.
    missing = sum(max(0, CHAINS - len(durations[topic])) for topic in expected)
    assert missing <= document["anomalies"]["runs_without_end"] + document["discarded"]
    judged = {topic: found for topic, found in durations.items() if len(found) >= CHAINS // 2}
    assert judged or not expected
    for topic, found in judged.items():
        assert 1 <= statistics.median(recorded / true for recorded, true in found) <= 1.1, topic


@needs_privileges
def test_chains_lead_through_all_nodes(recorded: Recorded) -> None:
    trace, truths = recorded
    done = takt("model", str(trace))
    assert done.returncode == 0, done.stderr
    model: dict[str, Any] = json.loads(done.stdout)
    edges = {(e["from"], e["to"]) for e in model["edges"]}
    document = info(trace)
    for truth in truths.values():
        if truth.is_silent or truth.process in unseen(document):
            continue
        owners = truth.owners["subscriptions"]
        callbacks = [f"{owners[topic]}:{topic}" for topic in sorted(owners)]
        for source, target in pairwise(callbacks):
            assert (source, target) in edges, truth.prefix

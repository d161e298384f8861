"""What `takt flow` finds in recordings of rclcpp's own executors is what the nodes' logs say: each
message that a sink handled, with every way that led to it, none missing and none invented.
"""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import takt
from recording import TAKT, Run

PROGRAM = Path(__file__).resolve().parents[2] / "build/release/tests/programs/rclcpp_histories"
MESSAGES = 120
"""They go on for longer than a program starts up: links are inferred from what follows that."""
FEW_MESSAGES = 40
"""They are over when a program has started up, for a second."""
FEWEST = 8
"""Messages that must have come through each way; a busy machine has nodes replace many of them."""

SOURCES = ("camera", "lidar")
OTHERS = ("detector", "tracker", "fusion", "planner", "asker", "checker", "actuator", "monitor")
SINKS = {
    "/actuator": {("/plan",), ("/image", "/tracks", "/plan")},
    "/monitor": set(),
}
CHECKED = {
    ("/image", "/objects", "/fused", "/check"),
    ("/scan", "/fused", "/check"),
}
SINKS["/actuator"] |= {(*way, "/check", "/answer") for way in CHECKED}
SINKS["/monitor"] |= {(*way, "/checked") for way in CHECKED}

Way = tuple[str, ...]
Handled = tuple[int, int]
"""When a source was about to publish, and when a sink's callback had begun."""


def logs(output: str) -> tuple[dict[str, dict[int, int]], dict[tuple[str, Way], list[Handled]]]:
    """When each publication of a topic ended, by when it began; and what nodes handled."""
    sent: dict[str, dict[int, int]] = defaultdict(dict)
    handled: dict[tuple[str, Way], list[Handled]] = defaultdict(list)
    for line in output.splitlines():
        kind, *words = line.split()
        if kind == "sent":
            topic, before, after = words
            sent[topic][int(before)] = int(after)
        else:
            node, way, before, time = words
            handled[node, tuple(way.split(">"))].append((int(before), int(time)))
    return sent, handled


def first_event(trace: Path) -> int:
    """When the trace begins, by the clock of the program's stamps."""
    events = takt.open(str(trace)).all_events()
    return min(int(batch.column("time")[0].as_py()) for _name, batch in events)


def flows(trace: Path, *options: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [*TAKT, "flow", str(trace), "--json", "--instances", *options],
        capture_output=True,
        check=True,
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)["flows"]
    return found


def check(trace: Path, output: str) -> None:
    sent, handled = logs(output)
    zero = first_event(trace)
    found: dict[tuple[str, Way], list[dict[str, Any]]] = defaultdict(list)
    for flow in flows(trace):
        way = tuple(step["publishes"] for step in flow["path"] if step["publishes"] is not None)
        found[flow["path"][-1]["node"], way] += flow["instances"]
    expected = {key: value for key, value in handled.items() if key[0] in SINKS}
    assert set(found) == set(expected) == {(node, way) for node in SINKS for way in SINKS[node]}
    for key, instances in found.items():
        told = sorted(expected[key])
        assert len(instances) == len(told) >= FEWEST, key
        source = sent[key[1][0]]
        # The same message of the source, and the same run of the sink.
        instances.sort(key=lambda instance: (instance["begin"], instance["times"][-1]))
        for instance, (before, time) in zip(instances, told, strict=True):
            start, end = instance["times"][-1]
            # The node looked at its clock before and after it published, and within the callback:
            # what lies between its stamps and the trace's is what the machine needs for that.
            assert before <= zero + instance["begin"] <= source[before], key
            assert instance["begin"] + instance["latency"] == start
            assert zero + start <= time <= zero + end, key


@pytest.fixture(scope="module")
def program() -> str:
    if not PROGRAM.exists():
        pytest.skip("CMake found no rclcpp, so the pipeline of its nodes is not built")
    return str(PROGRAM)


@pytest.mark.parametrize("way", ["middleware", "intra"])
@pytest.mark.parametrize(
    ("executor", "groups", "backend"),
    [
        ("single", "exclusive", "lttng"),
        ("single", "exclusive", "ring"),
        ("multi", "exclusive", "lttng"),
        ("multi", "reentrant", "ring"),
        ("events", "exclusive", "lttng"),
        ("events", "exclusive", "ring"),
    ],
)
def test_flows_are_those_of_the_nodes_logs(
    tmp_path: Path, program: str, executor: str, groups: str, backend: str, way: str
) -> None:
    command = [program, executor, groups, way, str(MESSAGES), *SOURCES, *OTHERS]
    run = Run.of(tmp_path / "trace", command, backend=backend)
    check(run.trace, run.output)


def test_flows_within_start_up_are_found(tmp_path: Path, program: str) -> None:
    command = [program, "single", "exclusive", "middleware", str(FEW_MESSAGES), *SOURCES, *OTHERS]
    run = Run.of(tmp_path / "trace", command, backend="ring")
    check(run.trace, run.output)


@pytest.mark.parametrize("executor", ["single", "multi", "events"])
def test_flows_cross_processes(tmp_path: Path, program: str, executor: str) -> None:
    parts = [
        f'"{program}" {executor} exclusive middleware {MESSAGES} {" ".join(nodes)} > "{name}"'
        for nodes, name in ((SOURCES, "sources"), (OTHERS, "others"))
    ]
    script = f'cd "{tmp_path}"; {parts[1]} & {parts[0]}; wait'
    run = Run.of(tmp_path / "trace", ["sh", "-c", script], backend="lttng")
    check(run.trace, "".join((tmp_path / name).read_text() for name in ("sources", "others")))

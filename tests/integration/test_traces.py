"""Recordings of real systems: every event is counted as babeltrace2 counts it, and every one has a
model that can be bounded.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import babeltrace
import recordings
import takt_native
from recording import takt
from recordings import NAMES

Json = dict[str, Any]

MODELLED = [name for name in NAMES if name != "talk-rclpy"]
"""The excluded program publishes what it hears, so its activations never end."""

LOST = {"pipeline-ebpf": 6}
"""Events that a recording says it lacks."""


def archive(name: str) -> str:
    return str(recordings.archive(name))


def info(name: str) -> Json:
    document: Json = json.loads(takt_native.info([archive(name)]))
    return document


@pytest.mark.parametrize("name", NAMES)
def test_info_counts_every_event(name: str) -> None:
    document = info(name)
    counts = recordings.described_counts(name)
    assert document["by_name"] == counts
    assert document["events"] == sum(counts.values())
    assert document["discarded"] == LOST.get(name, 0)
    assert len(document["warnings"]) == (1 if name in LOST else 0)


@pytest.mark.parametrize("name", NAMES)
def test_info_counts_what_babeltrace_counts(name: str, tmp_path: Path) -> None:
    with tarfile.open(archive(name)) as tar:
        tar.extractall(tmp_path)
    events = babeltrace.events(tmp_path, lossy=name in LOST)
    assert info(name)["by_name"] == Counter(event.name for event in events)


def test_robot_takes_the_time_that_its_readme_says() -> None:
    document = info("robot-multiprocess")
    assert {process["name"] for process in document["processes"]} == {
        "sensors",
        "perception",
        "planning",
        "actuation",
    }
    callbacks = {callback["id"]: callback for callback in document["callbacks"]}
    # The loads that the README gives, in ms; they are busy loops of processor time.
    for callback, load in {
        "/robot/lidar_driver:timer-50ms": 2.0,
        "/robot/scan_filter:/robot/scan": 5.0,
        "/robot/localizer:/robot/scan_filtered": 4.0,
        "/robot/planner:timer-100ms": 8.0,
        "/robot/actuator:/robot/enable_brake": 3.0,
    }.items():
        assert callbacks[callback]["execution_time"]["min"] >= load * 1e6
    assert callbacks["/robot/planner:timer-100ms"]["name"] == "Planner::Planner::lambda#2"


def edges(model: Json) -> set[tuple[str, str]]:
    return {(edge["from"], edge["to"]) for edge in model["edges"]}


@pytest.mark.parametrize("name", MODELLED)
def test_every_recording_has_a_model_that_can_be_analysed(name: str) -> None:
    text = takt_native.synthesize([archive(name)], "{}")
    model, warnings = takt_native.parse_model(text, name)
    assert warnings == []
    bounds = json.loads(takt_native.analyze(text, name, "combined"))
    assert {bound["id"] for bound in bounds["callbacks"]} == {
        callback["id"] for callback in json.loads(model)["callbacks"]
    }


@pytest.mark.parametrize("name", MODELLED)
def test_measured_is_what_the_model_says(name: str) -> None:
    text = takt_native.synthesize([archive(name)], "{}")
    model = json.loads(text)
    measured = json.loads(takt_native.measure([archive(name)], text, name))
    longest = {
        callback["id"]: callback["execution_time"]["max"] for callback in measured["callbacks"]
    }
    for callback in model["callbacks"]:
        # A join's curve also holds the runs that only stored a message.
        assert longest[callback["id"]] <= callback["execution_time"]["curve"][0]
    delays = {(edge["from"], edge["to"]): edge["delay"] for edge in model["edges"]}
    executors = {callback["id"]: callback["executor"] for callback in model["callbacks"]}
    for edge in measured["edges"]:
        path = (edge["from"], edge["to"])
        if executors[path[0]] != executors[path[1]] and edge["delay"]["max"] is not None:
            assert edge["delay"]["max"] <= delays[path]


def test_robots_chain_goes_through_all_processes() -> None:
    model = json.loads(takt_native.synthesize([archive("robot-multiprocess")], "{}"))
    assert edges(model) == {
        ("/robot/lidar_driver:timer-50ms", "/robot/scan_filter:/robot/scan"),
        ("/robot/scan_filter:/robot/scan", "/robot/localizer:/robot/scan_filtered"),
        ("/robot/localizer:/robot/scan_filtered", "/robot/planner:/robot/pose"),
        ("/robot/imu_driver:timer-10ms", "/robot/localizer:/robot/imu"),
        ("/robot/planner:/robot/pose", "/robot/planner:timer-100ms"),  # which samples it
        ("/robot/planner:timer-100ms", "/robot/actuator:/robot/cmd_vel"),
    }
    assert model["provenance"]["execution_time"] == "wall_time"


def test_command_line_from_trace_to_bounds(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    made = takt("model", archive("mf-trivial"), "-o", str(model))
    assert made.returncode == 0, made.stderr
    assert made.stdout == f"{model}: 3 executors, 3 callbacks, 2 edges, 0 joins, 1 chain\n"
    assert takt("analyze", str(model)).returncode == 0
    shown = takt("info", archive("mf-trivial"))
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("127")
    assert "/sync_one_to_one:/topic_a" in shown.stdout


@pytest.mark.parametrize("content", [b"", b"no trace"])
def test_what_is_no_trace_gets_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trace.tar.xz"
    path.write_bytes(content)
    for command in ("info", "model"):
        refused = takt(command, str(path))
        assert refused.returncode == 2
        assert refused.stdout == ""
        assert re.fullmatch(rf"takt: {re.escape(str(path))}: not a trace: .+\n", refused.stderr)


def test_a_truncated_recording_gives_its_readable_part(tmp_path: Path) -> None:
    with tarfile.open(archive("autoware")) as tar:
        tar.extractall(tmp_path)
    stream = max(tmp_path.rglob("takt_*[0-9]"), key=lambda path: path.stat().st_size)
    whole = json.loads(takt_native.info([str(tmp_path)]))
    with stream.open("r+b") as file:
        file.truncate(stream.stat().st_size * 6 // 10)
    part = json.loads(takt_native.info([str(tmp_path)]))
    assert 0.2 * whole["events"] < part["events"] < whole["events"]
    assert part["unreadable_bytes"] > 0
    # The packets behind that one are known from the index.
    assert "the file ends before them" in part["warnings"][0]
    assert "ends in the middle of a packet" in part["warnings"][1]
    json.loads(takt_native.synthesize([str(tmp_path)], "{}"))

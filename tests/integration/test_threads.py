"""Real programs whose threads do what executors do not: takt model tells what they are, and
bounds nothing that depends on a thread that nobody can classify (ros-llama S-4.4.3).
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import babeltrace
from recording import PROGRAMS, Run, takt

Json = dict[str, Any]

PROGRAM = Path(__file__).resolve().parents[2] / "build/release/tests/programs/rclcpp_threads"
MILLISECOND = 1_000_000
DURATION = 4000
"""Milliseconds: the first second is start-up (docs/model-synthesis.md)."""


def model(folder: Path, program: str, backend: str = "ring") -> Json:
    if not PROGRAM.exists():
        pytest.skip("CMake found no rclcpp, so its programs are not built")
    return model_of(folder, [str(PROGRAM), program, str(DURATION)], backend)


def model_of(folder: Path, command: list[str], backend: str = "ring") -> Json:
    recorded = Run.of(folder / "trace", command, backend=backend)
    done = takt("model", str(recorded.trace), "-o", str(folder / "model.json"))
    assert done.returncode == 0, done.stderr
    found: Json = json.loads((folder / "model.json").read_text())
    # `takt model` prints the warnings.
    for warning in found["provenance"]["warnings"]:
        assert warning in done.stderr
    return found


def callback(found: Json, id_: str) -> Json:
    (one,) = [c for c in found["callbacks"] if c["id"] == id_]
    return dict(one)


def executor_of(found: Json, id_: str) -> Json:
    (one,) = [e for e in found["executors"] if e["id"] == callback(found, id_)["executor"]]
    return dict(one)


def edges(found: Json) -> set[tuple[str, str]]:
    return {(edge["from"], edge["to"]) for edge in found["edges"]}


def bounds(folder: Path) -> Json:
    done = takt("analyze", str(folder / "model.json"), "--json")
    assert done.returncode in (0, 1), done.stderr  # 1: something has no bound
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("backend", ["ring", "lttng"])
def test_threads_of_rclpy(tmp_path: Path, backend: str) -> None:
    program = [sys.executable, str(PROGRAMS / "threaded.py"), str(DURATION / 1000)]
    found = model_of(tmp_path, program, backend)
    rate, driver = "/threaded:rate-50ms", "/threaded:/frames:source"
    assert callback(found, rate)["activation"]["period"] == 50 * MILLISECOND
    assert callback(found, driver)["activation"]["kind"] == "min_distance"
    assert {executor_of(found, id_)["kind"] for id_ in (rate, driver)} == {"event_source"}
    assert {(rate, "/threaded:/scan"), (driver, "/threaded:/frames")} <= edges(found)
    classes = {thread["class"]: thread["callbacks"] for thread in found["provenance"]["threads"]}
    assert classes == {"periodic": [rate], "data_driven": [driver]}


@pytest.mark.parametrize("backend", ["ring", "lttng"])
def test_a_thread_that_sleeps_by_a_rate_is_a_periodic_source(tmp_path: Path, backend: str) -> None:
    found = model(tmp_path, "rate", backend)
    lidar = callback(found, "/lidar:rate-50ms")
    assert lidar["kind"] == executor_of(found, lidar["id"])["kind"] == "event_source"
    assert lidar["activation"] == {
        "kind": "periodic",
        "period": 50 * MILLISECOND,
        "jitter": 0,
        "phase": None,
    }
    # The thread burns 2 ms of its own processor time, and sleeps in between.
    assert 2 * MILLISECOND <= lidar["execution_time"]["curve"][0] < 50 * MILLISECOND
    assert edges(found) == {("/lidar:rate-50ms", "/sink:/scan")}
    (thread,) = found["provenance"]["threads"]
    assert (thread["class"], thread["threads"]) == ("periodic", 1)
    assert found["provenance"]["warnings"] == []


def test_a_sleep_ends_also_when_the_context_is_shut_down(tmp_path: Path) -> None:
    if not PROGRAM.exists():
        pytest.skip("CMake found no rclcpp, so its programs are not built")
    recorded = Run.of(
        tmp_path / "trace", [str(PROGRAM), "rate_after_shutdown", "1000"], backend="ring"
    )
    names = [event.name for event in babeltrace.events(recorded.trace)]
    sleeps = [name for name in names if name.startswith("takt:rate_")]
    assert sleeps == ["takt:rate_sleep", "takt:rate_wakeup"] * 2


@pytest.mark.parametrize("backend", ["ring", "lttng"])
def test_a_thread_that_waits_for_a_device_is_a_data_driven_source(
    tmp_path: Path, backend: str
) -> None:
    found = model(tmp_path, "driver", backend)
    camera = callback(found, "/camera:/frames:source")
    assert camera["kind"] == executor_of(found, camera["id"])["kind"] == "event_source"
    spans = camera["activation"]["values"]
    assert camera["activation"]["kind"] == "min_distance"
    # A datum comes every 30 ms. Over many of them the thread can be ahead of its device only by as
    # much as it was late before, which depends on the machine.
    assert spans[-1] <= 30 * MILLISECOND * len(spans)
    assert 2 * MILLISECOND <= camera["execution_time"]["curve"][0] < 30 * MILLISECOND
    assert edges(found) == {("/camera:/frames:source", "/sink:/frames")}
    (thread,) = found["provenance"]["threads"]
    assert (thread["class"], thread["threads"]) == ("data_driven", 1)
    assert found["provenance"]["warnings"] == []


def test_a_thread_that_changes_is_two_sources(tmp_path: Path) -> None:
    found = model(tmp_path, "driver_then_rate")
    sources = {"/camera:/frames:source", "/camera:rate-50ms"}
    assert edges(found) == {(source, "/sink:/frames") for source in sources}
    (thread,) = found["provenance"]["threads"]
    assert thread["class"] == "periodic"
    assert set(thread["callbacks"]) == sources
    assert thread["changes"] == 2


def test_nothing_is_bounded_that_depends_on_spin_some(tmp_path: Path) -> None:
    found = model(tmp_path, "spin_some")
    timer, sender, sink = "/poller:timer-100ms", "/poller:/polled:sender", "/sink:/polled"
    assert "spin_some" in executor_of(found, timer)["unclassifiable"]
    assert executor_of(found, sender)["unclassifiable"]
    assert executor_of(found, sink)["unclassifiable"] is None
    assert edges(found) == {(sender, sink)}
    (thread,) = found["provenance"]["threads"]
    assert thread["class"] == "unclassifiable"
    assert set(thread["callbacks"]) == {timer, sender}
    (warning,) = found["provenance"]["warnings"]
    assert "unclassifiable" in warning
    bound = {c["id"]: c["bound"] for c in bounds(tmp_path)["callbacks"]}
    assert bound == {timer: None, sender: None, sink: None}


def test_a_callback_that_spins_makes_its_executor_unclassifiable(tmp_path: Path) -> None:
    found = model(tmp_path, "spin_within_callback")
    assert "spin_until_future_complete" in str(
        executor_of(found, "/asker:timer-100ms")["unclassifiable"]
    )
    assert executor_of(found, "/server:/check")["unclassifiable"] is None
    assert edges(found) == {("/asker:timer-100ms", "/server:/check")}


def test_executors_of_single_groups_are_told(tmp_path: Path) -> None:
    found = model(tmp_path, "isolated")
    timers = [f"/isolated:timer-{period}ms" for period in (20, 30, 50)]
    executors = [executor_of(found, timer)["id"] for timer in timers]
    assert len(set(executors)) == 3
    (isolated,) = found["provenance"]["callback_isolated"]
    assert isolated["node"] == "/isolated"
    assert isolated["executors"] == sorted(executors)


def test_work_that_no_event_names_makes_bounds_conditional(tmp_path: Path) -> None:
    found = model(tmp_path, "waitable")
    (work,) = found["provenance"]["unnamed_work"]
    (executor,) = found["executors"]
    assert work["executor"] == executor["id"]
    # A timer of 50 ms triggers it, and it takes 5 ms each time.
    assert work["longest"] >= 5 * MILLISECOND
    assert work["total"] >= work["count"] * 5 * MILLISECOND
    assert work["count"] > 10
    report = takt("report", str(tmp_path / "trace"), "--json", "-o", str(tmp_path / "report.html"))
    assert "work that no event names" in report.stdout + report.stderr


@pytest.mark.skipif(
    find_spec("test_msgs") is None, reason="ROS 2's package test_msgs, an action, is not installed"
)
def test_an_actions_parts_are_one(tmp_path: Path) -> None:
    found = model(tmp_path, "action")
    (action,) = found["provenance"]["actions"]
    assert action["action"] == "/move"
    parts = {
        "/arm:/move/_action/send_goal",
        "/arm:/move/_action/get_result",
        "/task:/move/_action/send_goal:response",
        "/task:/move/_action/get_result:response",
        "/task:/move/_action/feedback",
        "/task:/move/_action/status",
    }
    assert set(action["callbacks"]) == parts
    goal = callback(found, "/arm:/move/_action/send_goal")
    assert goal["execution_time"]["curve"][0] >= 5 * MILLISECOND
    assert ("/task:timer-100ms", goal["id"]) in edges(found)
    picture = tmp_path / "graph.dot"
    drawn = takt("graph", str(tmp_path / "model.json"), "-o", str(picture))
    assert drawn.returncode == 0, drawn.stderr
    assert "/move" in picture.read_text()

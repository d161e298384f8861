"""Recordings that begin when the system runs already: who is who is found out afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import babeltrace
from children import Child
from recording import PROGRAMS, TAKT, info, needs_privileges, until
from takt.processes.runtime import tracetools

PIPELINE = Path(__file__).resolve().parents[2] / "models" / "pipeline.json"
ROBOT = [sys.executable, str(PROGRAMS / "course.py")]


@pytest.fixture(params=["stock", "takt"])
def robot(request: pytest.FixtureRequest) -> Iterator[tuple[int, str]]:
    """A running system that nobody prepared, with ROS 2's own tracetools or with Takt's: its
    process, and which of the two.
    """
    ours = str(tracetools())
    environment = dict(os.environ)
    prefixes = environment["AMENT_PREFIX_PATH"].split(":")
    stock = ":".join(f"{prefix}/lib" for prefix in prefixes)
    environment["LD_LIBRARY_PATH"] = f"{stock}:{environment.get('LD_LIBRARY_PATH', '')}"
    if request.param == "takt":
        environment["LD_PRELOAD"] = ours
    with Child(
        ROBOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as program:
        assert program.stdout
        yield int(program.stdout.readline()), str(request.param)


def record(tmp_path: Path, process: int, backend: str) -> Path:
    """Records until the robot has been heard, and gives the trace of its process alone."""
    trace = tmp_path / "trace"
    command = [*TAKT, "record", "--backend", backend, "-o", str(trace)]
    with Child(command, stderr=subprocess.PIPE, text=True) as recorder:
        pattern = {"lttng": "ust/*/*/*/takt_*"}.get(backend, f"*/*-{process}*/thread_*")
        partial = Path(f"{trace}.partial")
        until(
            lambda: (
                any(stream.stat().st_size > 4096 for stream in partial.glob(pattern))
                or recorder.poll() is not None
            )
        )
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate()
    assert recorder.returncode == 0, said
    # The trace holds other processes' events, and the recorder is not one of them.
    assert recorder.pid not in {recorded["pid"] for recorded in info(trace)["processes"]}
    return trace


@needs_privileges
def test_objects_older_than_the_recording_are_known(tmp_path: Path, robot: tuple[int, str]) -> None:
    process, library = robot
    trace = record(tmp_path, process, "ebpf")
    check(trace, process)

    document = info(trace)
    recoveries = [r for r in document["recoveries"] if r["pid"] == process]
    heard = [c for c in document["callbacks"] if c["topic"] == "/course" and c["count"] > 0]
    assert [callback["node"] for callback in heard] == ["/helm"]
    if library == "takt":  # the objects are known from the process itself
        assert recoveries == []
        return
    (line,) = [line for line in document["warnings"] if f"process {process} " in line]
    (recovery,) = recoveries
    assert recovery["objects"] > 0
    assert "rclpy's callbacks: the times of runs that wake their executor" in line


@needs_privileges
def test_what_starts_later_is_recorded_with_whichever_library_of_the_search_paths(
    tmp_path: Path,
) -> None:
    """A recorder of a shell that was set up for Takt, and a robot of one for ROS 2 alone."""
    environment = dict(os.environ)
    prefixes = environment["AMENT_PREFIX_PATH"].split(":")
    stock = ":".join(f"{prefix}/lib" for prefix in prefixes)
    trace = tmp_path / "trace"
    both = environment | {"LD_LIBRARY_PATH": f"{tracetools().parent}:{stock}"}
    command = [*TAKT, "record", "--backend", "ebpf", "-o", str(trace)]
    with Child(command, stderr=subprocess.PIPE, text=True, env=both) as recorder:
        says = recorder.stderr
        assert says
        until(lambda: "Recording" in says.readline())
        with Child(
            ROBOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment | {"LD_LIBRARY_PATH": stock},
        ) as program:
            assert program.stdout
            process = int(program.stdout.readline())
            streams = f"ebpf/*-{process}-*/thread_*"
            # More than what its nodes say of themselves when they are made.
            until(
                lambda: any(
                    stream.stat().st_size > 32 << 10
                    for stream in Path(f"{trace}.partial").glob(streams)
                )
            )
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate()
    assert recorder.returncode == 0, said
    document = info(trace)
    assert process not in {one["pid"] for one in document["unrecorded"]}
    nodes = {node["name"] for node in document["nodes"] if node["pid"] == process}
    assert nodes == {"/bridge/pilot", "/helm"}
    heard = [c for c in document["callbacks"] if c["topic"] == "/course" and c["count"] > 0]
    assert [callback["node"] for callback in heard] == ["/helm"], "it is a program of rclpy"


@needs_privileges
def test_a_timing_model_of_what_runs(tmp_path: Path) -> None:
    run = [*TAKT, "run", str(PIPELINE), "--duration", "60"]
    with Child(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as system:
        children = Path(f"/proc/{system.pid}/task/{system.pid}/children")
        until(lambda: len(children.read_text().split()) == 2 or system.poll() is not None)
        trace = tmp_path / "trace"
        command = [*TAKT, "record", "--backend", "ebpf", "--duration", "5", "-o", str(trace)]
        recorded = subprocess.run(command, capture_output=True, text=True)
        system.send_signal(signal.SIGINT)
    assert recorded.returncode == 0, recorded.stderr
    done = subprocess.run([*TAKT, "model", str(trace)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    callbacks = {callback["id"]: callback for callback in json.loads(done.stdout)["callbacks"]}
    assert callbacks["/camera:timer-50ms"]["node"] == "/camera"
    assert callbacks["/camera:timer-50ms"]["activation"]["period"] == 50_000_000
    assert callbacks["/motor:/image"]["node"] == "/motor"


@pytest.mark.parametrize("backend", ["lttng", "ring"])
def test_takts_tracetools_remembers_objects(
    tmp_path: Path, robot: tuple[int, str], backend: str
) -> None:
    process, library = robot
    if library == "stock":
        pytest.skip("records only by probes in the kernel")
    check(record(tmp_path, process, backend), process)


def check(trace: Path, process: int) -> None:
    recorded = [e for e in babeltrace.events(trace) if e.process == process]

    def said(name: str) -> list[dict[str, Any]]:
        return [event.fields for event in recorded if event.name == f"ros2:{name}"]

    nodes = {
        e["node_handle"]: f"{e['namespace'].rstrip('/')}/{e['node_name']}"
        for e in said("rcl_node_init")
    }
    assert sorted(nodes.values()) == ["/bridge/pilot", "/helm"]

    publishers = {
        (nodes[e["node_handle"]], e["topic_name"], e["queue_depth"]): e
        for e in said("rcl_publisher_init")
    }
    assert set(publishers) == {
        (node, topic, 1000) for node in nodes.values() for topic in ("/rosout", "/parameter_events")
    } | {("/bridge/pilot", "/course", 7)}
    (heard,) = said("rcl_subscription_init")
    assert (nodes[heard["node_handle"]], heard["topic_name"], heard["queue_depth"]) == (
        "/helm",
        "/course",
        5,
    )
    services = {e["service_name"] for e in said("rcl_service_init")}
    assert {"/steer", "/helm/get_parameters", "/bridge/pilot/get_parameters"} <= services
    assert [e["service_name"] for e in said("rcl_client_init")] == ["/engine"]
    assert 20_000_000 in [e["period"] for e in said("rcl_timer_init")]

    # Later events carry the same handles.
    course = publishers["/bridge/pilot", "/course", 7]
    published = said("rcl_publish")
    assert published
    assert {e["publisher_handle"] for e in published} == {course["publisher_handle"]}
    taken = {e["rmw_subscription_handle"] for e in said("rmw_take") if e["taken"]}
    assert heard["rmw_subscription_handle"] in taken

    document = info(trace)
    (topic,) = (t for t in document["topics"] if t["name"] == "/course")
    assert topic["publications"] == len(published)
    assert {node["name"] for node in document["nodes"] if node["pid"] == process} == set(
        nodes.values()
    )

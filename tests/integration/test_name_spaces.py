"""Containers count their processes from 1 each: a recording of two keeps them apart, and one from
within a container is about the processes there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from children import Child
from recording import PROGRAMS, Run, needs_privileges, takt
from takt.processes.runtime import tracetools
from takt.recordings.recorder import RCLPY_TRACING

Json = dict[str, Any]


@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces of processes need privileges")
@pytest.mark.parametrize("backend", ["ring", "lttng"])
def test_processes_of_the_same_number_are_kept_apart(tmp_path: Path, backend: str) -> None:
    # Without random addresses the objects of both processes have the same addresses, too.
    program = f'setarch -R "{sys.executable}" "{PROGRAMS / "threaded.py"}"'
    contained = f"unshare --pid --fork {program}"
    script = f"{contained} 3 left & {contained} 3 right; wait"
    recorded = Run.of(tmp_path / "trace", ["sh", "-c", script], backend=backend)
    done = takt("model", str(recorded.trace))
    assert done.returncode == 0, done.stderr
    found: Json = json.loads(done.stdout)
    expected = set()
    for node in ("/left", "/right"):
        expected |= {
            (f"{node}:rate-50ms", f"{node}:{node}/scan"),
            (f"{node}:{node}/frames:source", f"{node}:{node}/frames"),
        }
    assert {(edge["from"], edge["to"]) for edge in found["edges"]} == expected
    process: dict[str, set[str]] = {c["id"].split(":")[0]: set() for c in found["callbacks"]}
    executors = {executor["id"]: executor["process"] for executor in found["executors"]}
    for callback in found["callbacks"]:
        process[callback["node"]].add(executors[callback["executor"]])
    assert len(process["/left"]) == len(process["/right"]) == 1
    assert process["/left"] != process["/right"]
    assert found["provenance"]["warnings"] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces of processes need privileges")
@pytest.mark.parametrize("backend", ["ring", "lttng"])
def test_what_runs_in_a_container_already_is_known_by_its_names(
    tmp_path: Path, backend: str
) -> None:
    contained = ["unshare", "--pid", "--fork", "--kill-child"]
    program = str(PROGRAMS / "running_nodes.py")
    traced = {
        "LD_PRELOAD": str(tracetools()),
        "PYTHONPATH": f"{RCLPY_TRACING}:{os.environ.get('PYTHONPATH', '')}",
    }
    robots = [
        Child(
            [*contained, sys.executable, program, name, "single", str(tmp_path / name)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(os.environ) | traced,
        )
        for name in ("left", "right")
    ]
    with robots[0] as left, robots[1] as right:
        for robot in (left, right):
            assert robot.stdout
            robot.stdout.readline()
        trace = tmp_path / "trace"
        done = takt("record", "--backend", backend, "--duration", "3", "-o", str(trace))
        assert done.returncode == 0, done.stderr
        for robot in (left, right):
            robot.communicate()  # ends it, and has it write what was true
    document: Json = json.loads(takt("info", "--json", str(trace)).stdout)
    ran = {callback["node"] for callback in document["callbacks"] if callback["count"] > 0}
    for name in ("left", "right"):
        assert ran >= set(json.loads((tmp_path / name).read_text())["nodes"])


@needs_privileges
@pytest.mark.parametrize("backend", ["ebpf", "ring"])
def test_a_recorder_in_a_container_sees_what_runs_there(tmp_path: Path, backend: str) -> None:
    """Also with the events of the scheduler; what runs outside is not in the recording."""
    truth = tmp_path / "truth.json"
    program = [sys.executable, str(PROGRAMS / "running_nodes.py"), "inner", "single", str(truth)]
    script = """
        mkfifo input
        "$@" < input > output & echo $! > process
        exec 3> input
        until grep -q ready output; do sleep 0.1; done
        python -m takt record --backend "$BACKEND" --kernel --duration 5 -o trace || exit 1
        exec 3>&-
        wait $(cat process)
    """
    environment = dict(os.environ) | {"BACKEND": backend}
    if backend == "ring":
        environment["LD_PRELOAD"] = str(tracetools())
    inside = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script]
    done = subprocess.run(
        [*inside, "sh", *program], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    shown = takt("info", "--json", str(tmp_path / "trace"))
    document: Json = json.loads(shown.stdout)
    expected = json.loads(truth.read_text())
    assert {node["name"] for node in document["nodes"]} >= set(expected["nodes"])
    process = int((tmp_path / "process").read_text())
    assert {node["pid"] for node in document["nodes"]} == {process}
    # Each expiry of the timer wakes the thread, which then waits again.
    published = document["by_name"]["ros2:rcl_publish"]
    assert published > 10
    expiries = published / 6
    assert document["by_name"]["sched_switch"] > expiries
    assert document["by_name"]["sched_wakeup"] > expiries / 2
    if backend == "ebpf":
        sources = {
            callback["execution_time"]["source"]
            for callback in document["callbacks"]
            if callback["count"] > 0
        }
        assert sources == {"sched_switch"}

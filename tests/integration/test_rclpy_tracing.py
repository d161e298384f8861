"""Unmodified rclpy programs: their callbacks are traced although rclpy has no events of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recording import PROGRAMS, TAKT, Run
from takt.recordings.recorder import RCLPY_TRACING

TICKS = 50


def document(*arguments: str) -> Any:
    return json.loads(subprocess.run([*TAKT, *arguments], capture_output=True, check=True).stdout)


@pytest.mark.parametrize("backend", ["lttng", "ring"])
@pytest.mark.parametrize("threads", [[], ["--threads"]], ids=["one thread", "two threads"])
def test_the_callbacks_are_those_the_program_counted(
    tmp_path: Path, backend: str, threads: list[str]
) -> None:
    program = [sys.executable, str(PROGRAMS / "camera_robot.py"), str(TICKS), *threads]
    run = Run.of(tmp_path / "trace", program, backend=backend)
    counted = json.loads(run.output)
    assert counted == {"image": TICKS, "objects": TICKS, "check": TICKS, "steered": TICKS}

    callbacks = {
        (callback["node"], callback["kind"], callback["topic"]): callback
        for callback in document("info", "--json", str(run.trace))["callbacks"]
    }
    assert callbacks["/detector", "subscription", "/image"]["count"] == TICKS
    assert callbacks["/detector", "service", "/check"]["count"] == TICKS
    assert callbacks["/pilot", "subscription", "/objects"]["count"] == TICKS
    assert callbacks["/camera", "timer", None]["count"] >= TICKS
    names = {callback["name"] for callback in callbacks.values()}
    assert names >= {"__main__.shoot", "__main__.detect", "__main__.check", "__main__.steer"}


def test_the_model_follows_messages_from_node_to_node(tmp_path: Path) -> None:
    program = [sys.executable, str(PROGRAMS / "camera_robot.py"), str(4 * TICKS)]
    run = Run.of(tmp_path / "trace", program)
    path = tmp_path / "model.json"
    subprocess.run([*TAKT, "model", str(run.trace), "-o", str(path)], check=True)
    model = json.loads(path.read_text())
    nodes = {callback["id"]: callback["node"] for callback in model["callbacks"]}
    edges = {(nodes[edge["from"]], edge["topic"], nodes[edge["to"]]) for edge in model["edges"]}
    assert edges >= {("/camera", "/image", "/detector"), ("/detector", "/objects", "/pilot")}
    assert {executor["kind"] for executor in model["executors"]} == {"single_threaded"}


def python(*arguments: str, path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(RCLPY_TRACING), str(path)])}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment
    )


def test_a_machines_own_sitecustomize_is_still_loaded(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('customised')\n")
    done = python("-c", "print('ran')", path=tmp_path)
    assert (done.stdout, done.stderr) == ("customised\nran\n", "")


def test_what_cannot_be_traced_is_said_and_runs_all_the_same(tmp_path: Path) -> None:
    package = tmp_path / "rclpy"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "timer.py").write_text("class NotTheTimerWeKnow: pass\n")
    done = python("-c", "import rclpy.timer; print('ran')", path=tmp_path)
    assert done.stdout == "ran\n"
    assert done.stderr.startswith("takt: rclpy.timer is not traced: ")
    assert done.stderr.count("\n") == 1

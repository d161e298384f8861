"""takt record --snapshot: the newest events, and who is who in full."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import babeltrace
import takt_native
from children import Child
from recording import TAKT, needs_privileges, until
from takt.recordings import labels

# An object at the start, then more events than a megabyte holds, a line, and one more object. The
# program stays on one processor: LTTng has a buffer for each, and one may keep events that are
# older than those that another lost.
PROGRAM = """
import ctypes, os, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
library = ctypes.CDLL("libtracetools.so")
library.ros_trace_rcl_timer_init(ctypes.c_void_p(1), ctypes.c_int64(111))
for i in range(100_000):
    library.ros_trace_rclcpp_executor_wait_for_work(ctypes.c_int64(i))
library.ros_trace_rcl_timer_init(ctypes.c_void_p(2), ctypes.c_int64(222))
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture(params=["lttng", "ring", pytest.param("ebpf", marks=needs_privileges)])
def recorder(
    tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[tuple[subprocess.Popen[str], Path, dict[str, str]]]:
    """A snapshot recording of a program that has done all it does, the name of its traces and the
    environment in which it is found.
    """
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    output = tmp_path / "robot"
    options = ["--snapshot", "--snapshot-size", "1", "--backend", request.param, "-o", str(output)]
    with Child(
        [*TAKT, "record", *options, "--", sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield process, output, environment


def snapshot(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TAKT, "snapshot"], capture_output=True, text=True, env=environment, check=False
    )


def test_the_newest_events_and_all_objects(
    recorder: tuple[subprocess.Popen[str], Path, dict[str, str]],
) -> None:
    process, output, environment = recorder
    for number in (1, 2):
        done = snapshot(environment)
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"{output}-{number}\n"
    for number in (1, 2):
        recorded = babeltrace.events(Path(f"{output}-{number}"), lossy=True)
        # Other programs of the machine may be in the trace as well.
        program = next(e.process for e in recorded if e.fields.get("period") == 111)
        recorded = [event for event in recorded if event.process == program]
        objects = [e.fields["period"] for e in recorded if e.name == "ros2:rcl_timer_init"]
        assert objects == [111, 222]
        waits = [e.fields["timeout"] for e in recorded if e.name.endswith("wait_for_work")]
        assert 0 < len(waits) < 100_000
        # A program that is faster than its recorder loses events, which are counted. Those before
        # the first that is kept may have been overwritten, as they should.
        assert waits == sorted(set(waits))
        lost = json.loads(takt_native.info([f"{output}-{number}"]))["discarded"]
        assert 100_000 - waits[0] - len(waits) <= lost
    process.communicate()
    assert process.returncode == 0


CRASH = """
import ctypes, os, signal
library = ctypes.CDLL("libtracetools.so")
library.ros_trace_rcl_node_init(ctypes.c_void_p(1), ctypes.c_void_p(2), b"talker", b"/")
for i in range(1000):
    library.ros_trace_rclcpp_executor_wait_for_work(ctypes.c_int64(i))
os.kill(os.getpid(), signal.SIGKILL)
"""
RUN_TO_THE_CRASH = """
import subprocess, sys
subprocess.run([sys.executable, "-c", sys.argv[1]])
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("backend", ["lttng", "ring"])
def test_the_objects_of_a_program_that_has_crashed(tmp_path: Path, backend: str) -> None:
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    output = tmp_path / "robot"
    command = [sys.executable, "-c", RUN_TO_THE_CRASH, CRASH]
    with Child(
        [*TAKT, "record", "--snapshot", "--backend", backend, "-o", str(output), "--", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        done = snapshot(environment)
        assert done.returncode == 0, done.stderr
        process.communicate()
    info = json.loads(takt_native.info([f"{output}-1"]))
    assert [node["name"] for node in info["nodes"]] == ["/talker"]
    assert info["by_name"]["ros2:rclcpp_executor_wait_for_work"] == 1000


def test_a_signal_asks_as_well(
    recorder: tuple[subprocess.Popen[str], Path, dict[str, str]],
) -> None:
    process, output, _ = recorder
    process.send_signal(signal.SIGUSR1)
    until(lambda: Path(f"{output}-1").exists() or process.poll() is not None)
    process.communicate()
    assert process.returncode == 0
    # The recorder's own files are gone.
    assert [file.name for file in output.parent.rglob("*.json")] == [labels.FILE]


def test_nobody_to_ask(tmp_path: Path) -> None:
    done = snapshot({**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)})
    assert done.returncode == 2
    assert done.stderr == (
        "takt: no snapshot recording runs: start one with 'takt record --snapshot'\n"
    )

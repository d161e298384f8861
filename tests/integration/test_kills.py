"""The recorder and the robot are killed at random moments: the trace opens, what is in it has no
gap, and nothing is left behind.

TAKT_KILLS: how many times for each case; the short form is what continuous integration runs.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import babeltrace
from recording import TAKT, needs_privileges, until

KILLS = int(os.environ.get("TAKT_KILLS", "3"))
BACKENDS = ["lttng", "ring", pytest.param("ebpf", marks=needs_privileges)]
TICKED = "ros2:rclcpp_executor_wait_for_work"

# Ticks every millisecond and says, when it ends, how many ticks and how long the longest took.
ROBOT = """
import ctypes, os, signal, sys, time
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
emit = ctypes.CDLL("libtracetools.so").ros_trace_rclcpp_executor_wait_for_work
print(os.getpid(), flush=True)
count = longest = 0
while not ended:
    before = time.monotonic_ns()
    emit(ctypes.c_int64(count))
    longest = max(longest, time.monotonic_ns() - before)
    count += 1
    time.sleep(0.001)
print(count, longest, flush=True)
"""


def numbers_in(trace: Path, process: int) -> list[int]:
    return [
        event.fields["timeout"]
        for event in babeltrace.events(trace, lossy=True)
        if event.name == TICKED and event.process == process
    ]


def left_behind(recorder: int) -> list[str]:
    """Sessions and guards of a recorder that has ended."""
    listed = subprocess.run(["lttng", "list"], capture_output=True, text=True, check=False).stdout
    found = ["session"] if f"takt-{recorder}-" in listed else []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            name = entry.read_text("latin-1")
            command = (entry.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if b"takt-guard" in command and f"takt-{recorder}-".encode() in command:
            found.append(name.split()[0])
    return found


@pytest.mark.parametrize("victim", ["recorder", "robot"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_killed_at_any_moment(tmp_path: Path, backend: str, victim: str) -> None:
    seed = int(os.environ.get("TAKT_SEED", "1"))
    chance = random.Random(f"{seed} {backend} {victim}")
    for number in range(KILLS):
        trace = tmp_path / f"trace-{number}"
        with subprocess.Popen(
            [
                *TAKT,
                "record",
                "--json",
                "--backend",
                backend,
                "-o",
                str(trace),
                "--",
                sys.executable,
                "-c",
                ROBOT,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as recorder:
            assert recorder.stderr
            line = recorder.stderr.readline()
            while not line.strip().isdigit():
                assert line, "the robot did not start"
                line = recorder.stderr.readline()
            robot = int(line)
            # The moment is what is random here: nothing waits for it.
            time.sleep(chance.uniform(0, 1.5))
            if victim == "robot":
                os.kill(robot, signal.SIGKILL)
                said, complained = recorder.communicate()
                assert recorder.returncode == 128 + signal.SIGKILL, complained
                lost = sum(json.loads(said)["losses"].values())
                recorded = numbers_in(trace, robot) if trace.exists() else []
                if not lost:
                    assert recorded == list(range(len(recorded)))
            else:
                recorder.kill()
                recorder.wait()
                time.sleep(chance.uniform(0, 0.1))
                os.kill(robot, signal.SIGTERM)
                # Standard error is the robot's standard output, and stays open until its end.
                count, longest = map(int, recorder.stderr.read().split()[-2:])
                assert count > 0
                assert longest < 1_000_000_000
                partial = Path(f"{trace}.partial")
                if any(partial.rglob("metadata")):
                    recorded = numbers_in(partial, robot)
                    assert recorded == list(range(len(recorded)))
        until(lambda: not left_behind(recorder.pid))

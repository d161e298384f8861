"""The recorder and the robot are killed at random moments: the trace opens, what is missing from it
is counted, the robot is not delayed, and nothing is left behind.

TAKT_KILLS: how many times for each case; the short form is what continuous integration runs.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

import babeltrace
from children import Child
from recording import EBPF, TAKT, probe_is_placed, until
from takt import pipeline

KILLS = int(os.environ.get("TAKT_KILLS", "5"))
# A kill takes two seconds, or ten on a machine with much else to do; what hangs is ended.
pytestmark = [pytest.mark.alone, pytest.mark.timeout(100 + 40 * KILLS)]
BACKENDS = ["lttng", "ring", EBPF]
SECOND = 1_000_000_000

# Ticks every millisecond. The file that it is given holds, at any time, the number of ticks that
# have returned and the nanoseconds of the longest.
ROBOT = """
import ctypes, mmap, os, signal, struct, sys, time
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
emit = ctypes.CDLL("libtracetools.so").ros_trace_rclcpp_executor_wait_for_work
told = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 16)
print(os.getpid(), os.environ.get("TAKT_GATE", ""), flush=True)
count = longest = 0
while not ended:
    before = time.monotonic_ns()
    emit(ctypes.c_int64(count))
    longest = max(longest, time.monotonic_ns() - before)
    count += 1
    told[:] = struct.pack("qq", count, longest)
    time.sleep(0.001)
"""


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


def kill_once(trace: Path, backend: str, victim: str, chance: random.Random) -> None:
    told = trace.with_suffix(".told")
    told.write_bytes(bytes(16))
    command = [*TAKT, "record", "--json", "--backend", backend, "-o", str(trace)]
    with (
        told.open("r+b") as file,
        mmap.mmap(file.fileno(), 16) as ticks,
        Child(
            [*command, "--", sys.executable, "-c", ROBOT, str(told)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as recorder,
    ):
        assert recorder.stderr
        said: list[str] = []
        words: list[str] = []
        while not (words and words[0].isdigit()):
            assert recorder.poll() is None, f"the robot did not start: {''.join(said)}"
            said.append(recorder.stderr.readline())
            words = said[-1].split()
        robot = int(words[0])
        # The moment is what is random here: nothing waits for it.
        time.sleep(chance.uniform(0, 1.5))
        if victim == "robot":
            os.kill(robot, signal.SIGKILL)
            document, complained = recorder.communicate()
            count, longest = struct.unpack("qq", ticks[:])
            assert recorder.returncode == 128 + signal.SIGKILL, complained
            lost = sum(json.loads(document)["losses"].values())
            # Before LTTng has described the events of a program, babeltrace refuses its streams.
            recorded = (
                babeltrace.ticks(trace, robot, lossy=True) if trace.exists() and count else []
            )
            # The last event may have been cut off by the kill.
            assert len(recorded) + lost >= count
            assert lost or recorded == list(range(len(recorded)))
            opened = trace
        else:
            admitted = struct.unpack("qq", ticks[:])[0] > 0
            recorder.kill()
            recorder.wait()
            if backend == "ebpf":
                until(lambda: not probe_is_placed(robot))
            until(lambda: struct.unpack("qq", ticks[:])[0] > 0)
            time.sleep(chance.uniform(0, 0.1))
            os.kill(robot, signal.SIGTERM)
            # Standard error is the robot's standard output, and stays open until its end.
            recorder.stderr.read()
            _, longest = struct.unpack("qq", ticks[:])
            # LTTng's daemons write until the session's guard has ended it.
            until(lambda: not left_behind(recorder.pid))
            opened = Path(f"{trace}.partial")
            if any(opened.rglob("metadata")):
                recorded = babeltrace.ticks(opened, robot, lossy=True)
                # A recorder that dies while it admits the robot may have asked LTTng to record it,
                # which then happens while the robot runs.
                first = 0 if admitted or not recorded else recorded[0]
                assert recorded == list(range(first, first + len(recorded)))
        assert longest < SECOND
        if any(opened.rglob("metadata")):
            pipeline.info([str(opened)])
        shutil.rmtree(opened, ignore_errors=True)
    until(lambda: not left_behind(recorder.pid))
    if words[1:]:
        until(lambda: not Path(words[1]).parent.exists())


@pytest.mark.parametrize("victim", ["recorder", "robot"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_killed_at_any_moment(tmp_path: Path, backend: str, victim: str) -> None:
    seed = int(os.environ.get("TAKT_SEED", "1"))
    chance = random.Random(f"{seed} {backend} {victim}")
    for number in range(KILLS):
        kill_once(tmp_path / f"trace-{number}", backend, victim, chance)

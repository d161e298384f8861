"""A disk that becomes full, or a daemon that is killed, ends the recording and not the robot, and
nothing is lost unseen.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import babeltrace
from children import Child
from recording import EBPF, TAKT, TICK, fill, info, needs_root, record
from takt.commands.info import headline

# Emits events as fast as it can, in a process that is recorded already.
FLOOD = """
import ctypes, sys
library = ctypes.CDLL("libtracetools.so")
library.ros_trace_rcl_init(None)  # from here on it is recorded
change = library.ros_trace_rcl_lifecycle_transition
name = ctypes.c_char_p(b"x" * 400)
print("ready", flush=True)
for i in range(int(sys.argv[1])):
    change(ctypes.c_void_p(i), name, name)
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], check=True)
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@needs_root
@pytest.mark.parametrize("backend", ["ring", EBPF])
def test_a_disk_that_becomes_full_ends_the_recording_and_not_the_robot(
    small_disk: Path, backend: str
) -> None:
    trace = small_disk / "trace"
    command = [sys.executable, "-c", FLOOD + "\nsys.stdin.read()\nprint('whole', flush=True)"]
    with Child(
        [*TAKT, "record", "--backend", backend, "-o", str(trace), "--", *command, "20000"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as recorder:
        assert recorder.stdout
        assert recorder.stderr
        assert recorder.stdout.readline() == "ready\n"
        # The recorder says it while the robot runs, and the robot goes on to its end.
        while "No space left on device: the recording ends" not in recorder.stderr.readline():
            assert recorder.poll() is None
        said, complained = recorder.communicate("")
    assert said == "whole\n"
    assert recorder.returncode == 2
    (line,) = complained.splitlines()
    assert "No space left on device; the recording ended after" in line
    assert "discarded events until then" in line
    partial = Path(f"{trace}.partial")
    assert f"{partial}" in line
    recorded = [
        event.fields["state_machine"]
        for event in babeltrace.events(partial, lossy=True)
        if event.name == "ros2:rcl_lifecycle_transition"
    ]
    assert recorded == list(range(len(recorded)))
    assert 0 < len(recorded) < 20000
    document = info(partial)
    assert document["unreadable_bytes"] == 0
    assert any("interrupted" in warning for warning in document["warnings"])
    assert "not complete" in headline(document)
    assert "none lost" not in headline(document)


@needs_root
def test_lttng_is_not_let_write_to_a_disk_that_it_could_fill_unseen(small_disk: Path) -> None:
    trace = small_disk / "trace"
    done = record("-o", str(trace), "--", sys.executable, "-c", FLOOD, "20000")
    assert done.returncode == 2
    assert "the disk is full" in done.stderr
    assert list(small_disk.iterdir()) == []


def test_a_disk_that_others_fill_while_lttng_records(disk: Path) -> None:
    trace = disk / "trace"
    with Child(
        [*TAKT, "record", "-o", str(trace), "--", *TICK],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as recorder:
        assert recorder.stdout
        assert recorder.stderr
        assert int(recorder.stdout.readline()) > 0
        fill(disk)
        while "the disk is full" not in recorder.stderr.readline():
            assert recorder.poll() is None
        recorder.send_signal(signal.SIGINT)
        _, complained = recorder.communicate()
    assert recorder.returncode == 2
    assert "the recording ended after" in complained
    assert info(Path(f"{trace}.partial"))["events"] > 0


def test_a_robot_goes_on_when_lttngs_daemon_is_killed(
    tmp_path: Path, ordinary_user: list[str]
) -> None:
    trace = tmp_path / "trace"
    with Child(
        [*ordinary_user, *TAKT, "record", "-o", str(trace), "--", *TICK],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as recorder:
        assert recorder.stdout
        assert recorder.stderr
        assert int(recorder.stdout.readline()) > 0
        daemon = tmp_path / "home" / ".lttng" / "lttng-sessiond.pid"
        os.kill(int(daemon.read_text()), signal.SIGKILL)
        daemon.unlink()
        while "No session daemon is available: the recording ends" not in (
            recorder.stderr.readline()
        ):
            assert recorder.poll() is None
        recorder.send_signal(signal.SIGINT)
        ticked, complained = recorder.communicate()
    assert recorder.returncode == 2
    assert int(ticked) > 0
    (line,) = complained.splitlines()
    assert line.startswith("takt: LTTng cannot say what it lost: No session daemon is available; ")
    assert line.endswith(f"an unknown number of events lost until then: {trace}.partial")

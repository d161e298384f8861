"""The library in the robot leaves a program its files, memory, signals and children."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import babeltrace
from children import Child
from recording import TAKT, Run, needs_root, record, stop, until
from takt.processes.runtime import tracetools

LIBRARY = "import ctypes, os, sys; library = ctypes.CDLL('libtracetools.so')\n"
EMIT = LIBRARY + "emit = lambda n: library.ros_trace_rclcpp_executor_wait_for_work(\n"
EMIT += "    ctypes.c_int64(n))\n"
INIT = "init = lambda n: library.ros_trace_rcl_timer_init(ctypes.c_void_p(n), ctypes.c_int64(n))\n"


def test_a_descriptor_of_the_programs_own_stays_open_in_its_children(tmp_path: Path) -> None:
    """A program closes what it did not open, as daemons do, and then uses the numbers again."""
    program = (
        EMIT + "emit(1)\n"
        "os.closerange(3, 1000)\n"
        "files = [os.open('/dev/null', os.O_RDONLY) for _ in range(50)]\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    for file in files: os.fstat(file)\n"
        "    os._exit(0)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = record(
        "--backend", "ring", "-o", str(tmp_path / "t"), "--", sys.executable, "-c", program
    )
    assert done.returncode == 0, done.stderr


def test_a_robot_whose_standard_output_is_closed_prints_into_no_ring(tmp_path: Path) -> None:
    program = (
        EMIT + "for i in range(1000): emit(i)\n"
        "try: os.write(1, b'said to nobody ' * 50)\n"
        "except OSError: pass\n"
        "for i in range(1000, 2000): emit(i)\n"
    )
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-c", program]
    run = Run.of(tmp_path / "t", closed, backend="ring")
    ticks = babeltrace.ticks(run.trace)
    assert ticks == list(range(2000))
    assert not any(run.document["losses"].values())


def test_a_forked_child_without_free_descriptors_goes_on(tmp_path: Path) -> None:
    program = (
        EMIT + INIT + "import resource\nemit(1)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\n"
        "    for i in range(100_000): emit(i)\n"
        "    init(7)\n"
        "    os._exit(0)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    run = Run.of(tmp_path / "t", [sys.executable, "-c", program], backend="ring")
    assert babeltrace.ticks(run.trace) == [1]


def test_an_object_introduced_in_a_signal_handler_is_no_deadlock(tmp_path: Path) -> None:
    """A timer interrupts a thread that introduces objects without end, and introduces its own. The
    handler runs at once, in C: a function of the library is the handler itself.
    """
    program = (
        LIBRARY + "import signal, time\n"
        "libc = ctypes.CDLL(None)\n"
        # The signal's number is the handle; of the period nothing is known.
        "handler = ctypes.cast(library.ros_trace_rcl_timer_init, ctypes.c_void_p)\n"
        "libc.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]\n"
        "libc.signal(int(signal.SIGALRM), handler)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)\n"
        "init = library.ros_trace_rcl_timer_init\n"
        "deadline = time.monotonic() + 2\n"
        "count = 0\n"
        # No more than the log has room for: a reader that is late may lose the others.
        "while time.monotonic() < deadline and count < 200_000:\n"
        "    count += 1\n"
        "    init(ctypes.c_void_p(1000 + count), ctypes.c_int64(1))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0)\n"
        "print(count)\n"
    )
    run = Run.of(tmp_path / "t", [sys.executable, "-c", program], backend="ring")
    handles = [
        e.fields["timer_handle"]
        for e in babeltrace.events(run.trace, lossy=True)
        if e.name == "ros2:rcl_timer_init"
    ]
    ours = [handle for handle in handles if handle > 1000]
    assert set(ours) == {1000 + number for number in range(1, int(run.output) + 1)}
    assert int(signal.SIGALRM) in handles


def test_a_program_that_locks_its_memory_pays_for_no_log_that_is_empty() -> None:
    program = (
        LIBRARY + INIT + "libc = ctypes.CDLL(None, use_errno=True)\n"
        "init(1)\n"
        "if libc.mlockall(3) != 0: sys.exit('mlockall: ' + os.strerror(ctypes.get_errno()))\n"
        "init(2)\n"
        "size, wanted = 0, False\n"
        "for line in open('/proc/self/smaps'):\n"
        "    head = line.split()[0]\n"
        "    if '-' in head and ':' not in head: wanted = 'takt-ring' in line\n"
        "    elif wanted and line.startswith('Rss:'): size += int(line.split()[1])\n"
        "print(size)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "LD_PRELOAD": str(tracetools())},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert 0 < int(done.stdout) < 4096  # kilobytes: 2 MiB of ring, and a piece of the log


def recorder_of(trace: Path, *command: str) -> Child[str]:
    """A recorder by the ring, whose command is talked to through it."""
    return Child(
        [*TAKT, "record", "--json", "--backend", "ring", "-o", str(trace), "--", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def stopped_recorder(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """A recorder of a shell, stopped, and the environment of the shell's programs."""
    said = tmp_path / "environment"
    wait = f"env -0 > {said}.new; mv {said}.new {said}; read line"
    with recorder_of(tmp_path / "trace", "sh", "-c", wait) as recorder:
        until(lambda: said.exists() or recorder.poll() is not None)
        entries = said.read_bytes().decode().split("\0")
        stop(recorder.pid)
        yield recorder, dict(entry.split("=", 1) for entry in entries if entry)


def test_a_stopped_recorder_keeps_no_robot_from_starting(tmp_path: Path) -> None:
    """The robot goes on by itself, and the recorder says what it missed."""
    with stopped_recorder(tmp_path) as (recorder, environment):
        robot = [sys.executable, "-c", EMIT + "emit(1)"]
        assert subprocess.run(robot, env=environment, check=False).returncode == 0
        recorder.send_signal(signal.SIGCONT)
        said, complained = recorder.communicate("\n")
    assert json.loads(said)["losses"]["late_processes"] == 1
    assert "1 late process" in complained


@needs_root
def test_a_robot_outside_of_the_recorders_name_space_of_processes_is_counted(
    tmp_path: Path,
) -> None:
    """The recorder has no number for it, and so cannot tell when it ends."""
    inside = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    said = tmp_path / "environment"
    wait = f"env -0 > {said}.new; mv {said}.new {said}; read line"
    with Child(
        [
            *(*inside, *TAKT, "record", "--json", "--backend", "ring"),
            *("-o", str(tmp_path / "trace"), "--", "sh", "-c", wait),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as recorder:
        until(lambda: said.exists() or recorder.poll() is not None)
        entries = said.read_bytes().decode().split("\0")
        environment = dict(entry.split("=", 1) for entry in entries if entry)
        robot = [sys.executable, "-c", EMIT + "emit(1)"]
        assert subprocess.run(robot, env=environment, check=False).returncode == 0
        document, complained = recorder.communicate("\n")
    assert json.loads(document)["losses"]["unrecorded_processes"] == 1, complained


def test_a_forked_child_waits_for_no_recorder(tmp_path: Path) -> None:
    """Also what it did before the recorder had its ring is in the trace."""
    program = (
        EMIT + "emit(1)\nprint('ready', flush=True)\nsys.stdin.readline()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    for i in range(10, 1010): emit(i)\n"
        "    print('done', flush=True); os._exit(0)\n"
        "os.waitpid(child, 0)\n"
    )
    trace = tmp_path / "trace"
    with recorder_of(trace, sys.executable, "-c", program) as recorder:
        assert recorder.stdin
        assert recorder.stderr
        while recorder.stderr.readline() != "ready\n":
            assert recorder.poll() is None
        stop(recorder.pid)
        recorder.stdin.write("\n")
        recorder.stdin.flush()
        # Said while the recorder cannot have admitted it.
        assert recorder.stderr.readline() == "done\n"
        recorder.send_signal(signal.SIGCONT)
        said, complained = recorder.communicate("")
    assert recorder.returncode == 0, complained
    assert not any(json.loads(said)["losses"].values())
    by_process: dict[int, list[int]] = {}
    for event in babeltrace.events(trace):
        by_process.setdefault(event.process, []).append(event.fields["timeout"])
    assert sorted(by_process.values()) == [[1], list(range(10, 1010))]

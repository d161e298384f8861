"""Losing events is never silent: what is missing is counted, in the trace and by takt info."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import babeltrace
from recording import TAKT, Run, needs_privileges

EBPF = pytest.param("ebpf", marks=needs_privileges)

# Emits as many events as told, when told.
FLOOD = """
import ctypes, sys
emit = ctypes.CDLL("libtracetools.so").ros_trace_rclcpp_executor_wait_for_work
emit.argtypes = [ctypes.c_int64]
print("ready", flush=True)
count = int(sys.stdin.readline())
for i in range(count):
    emit(i)
print("done", flush=True)
sys.stdin.readline()
"""


def discarded(trace: Path) -> int:
    done = subprocess.run([*TAKT, "info", "--json", str(trace)], capture_output=True, text=True)
    return int(json.loads(done.stdout)["discarded"])


@pytest.mark.parametrize("backend", ["ring", EBPF])
def test_overflow_is_counted_exactly(tmp_path: Path, backend: str) -> None:
    """The recorder is stopped while more happens than the buffers hold."""
    count = {"ring": 40_000, "ebpf": 200_000}[backend]
    trace = tmp_path / "trace"
    command = [*TAKT, "record", "--json", "--backend", backend, "-o", str(trace)]
    with subprocess.Popen(
        [*command, "--", sys.executable, "-c", FLOOD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as recorder:
        assert recorder.stdin
        assert recorder.stderr
        while recorder.stderr.readline() != "ready\n":
            assert recorder.poll() is None
        os.kill(recorder.pid, signal.SIGSTOP)
        recorder.stdin.write(f"{count}\n")
        recorder.stdin.flush()
        assert recorder.stderr.readline() == "done\n"
        os.kill(recorder.pid, signal.SIGCONT)
        said, complained = recorder.communicate("\n")
    assert recorder.returncode == 0, complained
    lost = json.loads(said)["losses"]["discarded_events"]
    recorded = [
        e.fields["timeout"]
        for e in babeltrace.events(trace, lossy=True)
        if e.name.endswith("wait_for_work")
    ]
    assert recorded == list(range(len(recorded)))
    assert lost > 0
    assert len(recorded) + lost == count
    assert discarded(trace) == lost


@pytest.mark.parametrize("backend", ["ring", EBPF])
def test_long_texts_are_whole_or_counted(tmp_path: Path, backend: str) -> None:
    lengths = [0, 1, 510, 511, 512, 513, 3000, 16_000]
    too_long = 70_000
    program = (
        "import ctypes\n"
        "library = ctypes.CDLL('libtracetools.so')\n"
        "def register(length):\n"
        "    text = ctypes.c_char_p(b'x' * length)\n"
        "    library.ros_trace_rclcpp_callback_register(ctypes.c_void_p(1), text)\n"
        f"for length in {[*lengths, too_long]}: register(length)\n"
        "links = (ctypes.c_void_p * 500)(*range(500))\n"
        "count = ctypes.c_size_t(500)\n"
        "library.takt_trace_message_link_partial_sync(links, count, links, count)\n"
    )
    options = ["--event", "ros2:*"]
    preload = {"ring": [], "ebpf": ["env", f"LD_PRELOAD={_tracetools()}"]}[backend]
    run = Run.of(
        tmp_path / "trace",
        [*preload, sys.executable, "-c", program],
        backend=backend,
        options=options,
    )
    recorded = babeltrace.events(run.trace, lossy=True)
    registered = [e.fields["symbol"] for e in recorded if e.name == "ros2:rclcpp_callback_register"]
    assert [len(symbol) for symbol in registered] == lengths
    (link,) = (e.fields for e in recorded if e.name == "ros2:message_link_partial_sync")
    assert link["subs"] == link["pubs"] == list(range(500))
    assert run.document["losses"]["discarded_events"] == discarded(run.trace) == 1


def _tracetools() -> Path:
    from takt.recorder import tracetools

    return tracetools()


def test_a_malicious_process_loses_its_own_events_alone(tmp_path: Path) -> None:
    """One process overwrites its ring with garbage while another one works."""
    program = """
import ctypes, mmap, os, random, sys
emit = ctypes.CDLL("libtracetools.so").ros_trace_rclcpp_executor_wait_for_work
emit.argtypes = [ctypes.c_int64]
emit(-1)
child = os.fork()
if child == 0:
    emit(-2)
    ring = next(f for f in os.listdir("/proc/self/fd")
                if "takt-ring" in os.readlink(f"/proc/self/fd/{f}"))
    memory = mmap.mmap(int(ring), os.fstat(int(ring)).st_size)
    chance = random.Random(1)
    for _ in range(300):
        at = chance.randrange(0, 3 << 20)
        memory[at : at + 4096] = chance.randbytes(4096)
        emit(-3)
    os._exit(0)
for i in range(5000):
    emit(i)
os.waitpid(child, 0)
print(os.getpid())
"""
    run = Run.of(tmp_path / "trace", [sys.executable, "-c", program], backend="ring")
    process = int(run.output)
    numbers = [
        e.fields["timeout"]
        for e in babeltrace.events(run.trace, lossy=True)
        if e.process == process and e.name.endswith("wait_for_work")
    ]
    assert numbers == [-1, *range(5000)]

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
from children import Child
from recording import TAKT, Run, needs_privileges, stop

EBPF = pytest.param("ebpf", marks=needs_privileges)

# When told, changes a state 10 000 times, with a long name: 40 MB of events, more than any buffer
# holds. Of one processor, as LTTng has a buffer for each.
COUNT = 10_000
FLOOD = f"""
import ctypes, os, sys
change = ctypes.CDLL("libtracetools.so").ros_trace_rcl_lifecycle_transition
name = ctypes.c_char_p(b"x" * 4000)
os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}})
print("ready", flush=True)
sys.stdin.readline()
for i in range({COUNT}):
    change(ctypes.c_void_p(i), name, name)
print("done", flush=True)
sys.stdin.readline()
"""


def discarded(trace: Path) -> int:
    done = subprocess.run([*TAKT, "info", "--json", str(trace)], capture_output=True, text=True)
    return int(json.loads(done.stdout)["discarded"])


@pytest.mark.parametrize("backend", ["lttng", "ring", EBPF])
def test_overflow_is_counted_exactly(
    tmp_path: Path, ordinary_user: list[str], backend: str
) -> None:
    """Who empties the buffers is stopped while more happens than they hold."""
    # LTTng's consumer daemon serves all of a user: this one is of a user who has nothing else.
    user = ordinary_user if backend == "lttng" else []
    trace = tmp_path / "trace"
    command = [*user, *TAKT, "record", "--json", "--backend", backend, "-o", str(trace)]
    with Child(
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
        readers = consumers_of(tmp_path) if backend == "lttng" else [recorder.pid]
        for reader in readers:
            stop(reader)
        recorder.stdin.write("\n")
        recorder.stdin.flush()
        assert recorder.stderr.readline() == "done\n"
        for reader in readers:
            os.kill(reader, signal.SIGCONT)
        said, complained = recorder.communicate("\n")
    assert recorder.returncode == 0, complained
    lost = json.loads(said)["losses"]["discarded_events"]
    recorded = [
        event.fields["state_machine"]
        for event in babeltrace.events(trace, lossy=True)
        if event.name == "ros2:rcl_lifecycle_transition"
    ]
    assert recorded == list(range(len(recorded)))
    assert lost > 0
    assert len(recorded) + lost == COUNT
    assert discarded(trace) == lost


def consumers_of(home: Path) -> list[int]:
    """The processes that write the traces of the LTTng session daemon of a test's own user."""
    (number,) = home.rglob("lttng-sessiond.pid")
    daemon = int(number.read_text())
    children = {
        int(child)
        for task in Path(f"/proc/{daemon}/task").iterdir()
        for child in (task / "children").read_text().split()
    }
    return [
        child
        for child in children
        if "lttng-consumerd" in Path(f"/proc/{child}/cmdline").read_text()
    ]


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
    from takt.runtime import tracetools

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

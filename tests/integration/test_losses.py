"""Losing events is never silent: what is missing is counted, in the trace and by takt info."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import babeltrace
from children import Child
from recording import EBPF, TAKT, Run, info, needs_privileges, stop, takt, until

# When told, changes a state 10 000 times, with a long name: 40 MB of events, more than any buffer
# holds. It stays on one processor, because LTTng has a buffer for each.
COUNT = 10_000
FLOOD = f"""
import ctypes, os, sys
library = ctypes.CDLL("libtracetools.so")
library.ros_trace_rcl_init(None)  # from here on it is recorded
change = library.ros_trace_rcl_lifecycle_transition
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
    """The process that empties the buffers is stopped while more happens than they hold."""
    # LTTng's consumer daemon serves all recordings of a user, so this user has no other.
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


@pytest.mark.parametrize("backend", ["ring", EBPF])
def test_a_copy_of_a_recording_says_which_processes_it_lacks(tmp_path: Path, backend: str) -> None:
    """Whether or not it was joined with another recording."""
    change = "ros_trace_rcl_lifecycle_transition"
    program = f"import ctypes; ctypes.CDLL('libtracetools.so').{change}(None, b'a', b'b')"
    preload = f"LD_PRELOAD={_tracetools()}" if backend == "ebpf" else "OTHER="
    twice = ["sh", "-c", 'env "$@" & env "$@" & wait', "sh", preload]
    run = Run.of(tmp_path / "trace", [*twice, sys.executable, "-c", program], backend=backend)
    other = Run.of(tmp_path / "other", [sys.executable, "-c", program], backend="ring")
    joined = tmp_path / "joined"
    done = takt("record", "--join", "-o", str(joined), "--", str(run.trace), str(other.trace))
    assert done.returncode == 0, done.stderr
    for copy in (run.trace, joined):
        assert info(copy)["unreadable_bytes"] == 0
        folder = next(copy.rglob(f"{backend}/*/metadata")).parent
        streams = [path for path in folder.iterdir() if path.name != "metadata"]
        size = sum(path.stat().st_size for path in streams)
        shutil.rmtree(folder)
        lacking = info(copy)
        assert lacking["unreadable_bytes"] == size > 0
        (said,) = (warning for warning in lacking["warnings"] if "not there" in warning)
        assert said.startswith(f"{backend}/{folder.name}: ")
        assert said.endswith("the folder is missing")


def _tracetools() -> Path:
    from takt.processes.runtime import tracetools

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


# A process with an object log that has lost five entries, or with a ring of another version.
CHANGED = """
import ctypes, mmap, os, struct, sys
place, form, value = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
ctypes.CDLL("libtracetools.so").ros_trace_rcl_init(None)  # from here on it has a ring
ring = next(f for f in os.listdir("/proc/self/fd")
            if "takt-ring" in os.readlink(f"/proc/self/fd/{f}"))
memory = mmap.mmap(int(ring), os.fstat(int(ring)).st_size)
memory[place : place + struct.calcsize(form)] = struct.pack(form, value)
print(os.getpid(), flush=True)
for line in sys.stdin:
    pass
"""
VERSION = ("8", "I", "3")  # places as in libtakt/capture/include/takt/capture/ring/layout.hpp
LOST_OBJECTS = ("4360", "Q", "5")


def record_running(trace: Path, backend: str, change: tuple[str, str, str]) -> dict[str, int]:
    """The losses of a recording of a process that runs already, and whose ring was changed."""
    with Child(
        [sys.executable, "-c", CHANGED, *change],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LD_PRELOAD": str(_tracetools())},
    ) as process:
        assert process.stdout
        assert process.stdout.readline()
        done = subprocess.run(
            [*TAKT, "record", "--json", "--backend", backend, "--duration", "1", "-o", str(trace)],
            capture_output=True,
            text=True,
            check=False,
        )
        process.communicate("")
    losses: dict[str, int] = json.loads(done.stdout)["losses"]
    return losses


@pytest.mark.parametrize("backend", ["lttng", "ring", EBPF])
def test_objects_that_a_process_could_not_keep_are_counted(tmp_path: Path, backend: str) -> None:
    losses = record_running(tmp_path / "trace", backend, LOST_OBJECTS)
    assert losses["discarded_events"] == 5
    assert discarded(tmp_path / "trace") == 5


@pytest.mark.parametrize("backend", ["lttng", "ring"])
def test_processes_with_a_ring_of_another_version_are_counted(tmp_path: Path, backend: str) -> None:
    losses = record_running(tmp_path / "trace", backend, VERSION)
    # What other tests start finds this user's recorder, too, and may count as unrecorded.
    assert losses["unrecorded_processes"] >= 1


@pytest.mark.parametrize("backend", ["ring", EBPF])
def test_threads_beyond_those_that_have_streams_are_counted(tmp_path: Path, backend: str) -> None:
    count = 4200
    program = (
        "import ctypes, threading\n"
        "emit = ctypes.CDLL('libtracetools.so').ros_trace_rclcpp_executor_wait_for_work\n"
        f"for i in range({count}):\n"
        "    thread = threading.Thread(target=emit, args=(ctypes.c_int64(i),))\n"
        "    thread.start()\n"
        "    thread.join()\n"
    )
    preload = {"ring": [], "ebpf": ["env", f"LD_PRELOAD={_tracetools()}"]}[backend]
    run = Run.of(tmp_path / "trace", [*preload, sys.executable, "-c", program], backend=backend)
    recorded = babeltrace.events(run.trace, lossy=True)
    ticks = [e for e in recorded if e.name == "ros2:rclcpp_executor_wait_for_work"]
    assert len(ticks) < count
    assert run.document["losses"]["discarded_events"] == count - len(ticks)


class Followed:
    """The kernel's table of the processes that a recorder follows (probes.bpf.c)."""

    LOOK_UP, UPDATE, NEXT_MAP, MAP_OF, DESCRIBE = 1, 2, 12, 14, 15
    SIZE = 65536

    def __init__(self, recorder: int) -> None:
        number = 0
        while True:
            following = ctypes.create_string_buffer(struct.pack("IIII", number, 0, 0, 0))
            self._call(self.NEXT_MAP, following)
            number = struct.unpack("IIII", following.raw[:16])[1]
            of_number = ctypes.create_string_buffer(struct.pack("III", number, 0, 0))
            self._map = self._call(self.MAP_OF, of_number)
            about = ctypes.create_string_buffer(64)
            self._call(
                self.DESCRIBE,
                ctypes.create_string_buffer(
                    struct.pack("IIQ", self._map, len(about), ctypes.addressof(about))
                ),
            )
            if about.raw[24:40].rstrip(b"\0") == b"processes" and recorder in self:
                return
            os.close(self._map)

    def __contains__(self, process: int) -> bool:
        try:
            self._of(self.LOOK_UP, process)
        except OSError:
            return False
        return True

    def fill(self) -> None:
        """Adds processes that there are not, until there is no room."""
        try:
            for process in range(1 << 30, (1 << 30) + self.SIZE):
                self._of(self.UPDATE, process)
        except OSError as refusal:
            if refusal.errno != errno.E2BIG:
                raise

    def _of(self, command: int, process: int) -> None:
        key = ctypes.create_string_buffer(struct.pack("I", process), 4)
        value = ctypes.create_string_buffer(8)
        addresses = (ctypes.addressof(key), ctypes.addressof(value))
        request = struct.pack("IIQQQ", self._map, 0, *addresses, 0)
        self._call(command, ctypes.create_string_buffer(request))

    @staticmethod
    def _call(command: int, request: ctypes.Array[ctypes.c_char]) -> int:
        libc = ctypes.CDLL(None, use_errno=True)
        bpf = 321  # of x86-64, as the probes are
        result: int = libc.syscall(bpf, command, request, len(request))
        if result < 0:
            raise OSError(ctypes.get_errno(), "bpf")
        return result


@pytest.mark.parametrize("full", [False, True], ids=["room", "full"])
@needs_privileges
def test_processes_that_find_no_room_in_the_kernel_are_counted(tmp_path: Path, full: bool) -> None:
    """The kernel forgets processes that have ended; while too many run, it counts new ones."""
    script = "read go; true & echo $!; wait; echo done; read end"
    command = [*TAKT, "record", "--json", "--backend", "ebpf", "-o", str(tmp_path / "trace")]
    with Child(
        [*command, "--", "sh", "-c", f"echo ready; {script}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as recorder:
        assert recorder.stdin
        assert recorder.stderr
        while recorder.stderr.readline() != "ready\n":
            assert recorder.poll() is None
        followed = Followed(recorder.pid)
        if full:
            followed.fill()
        recorder.stdin.write("\n")
        recorder.stdin.flush()
        process = int(recorder.stderr.readline())
        assert recorder.stderr.readline() == "done\n"
        until(lambda: process not in followed)
        said, _ = recorder.communicate("\n")
    assert json.loads(said)["losses"]["unrecorded_processes"] == int(full)

"""The recorder's library in programs that know nothing of ROS 2, and in those that do before their
first object: they are as without it. And what it leaves of their descriptors afterwards.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import babeltrace
from recording import Run, needs_root, takt
from takt.processes.runtime import tracetools

BACKENDS = ["lttng", "ring"]

# What a program can see of itself, as JSON.
SELF = """
import ctypes, json, os
def files():
    listed = os.listdir("/proc/self/fd")  # with the descriptor of the list, which is closed by now
    return sorted(os.readlink(f"/proc/self/fd/{n}") for n in listed
                  if os.path.lexists(f"/proc/self/fd/{n}"))
def seen():
    maps = open("/proc/self/maps").read()
    return {"threads": len(os.listdir("/proc/self/task")), "files": len(files()),
            "lttng": "lttng" in maps, "ring": "takt-ring" in maps}
"""
LIBRARY = """
library = ctypes.CDLL("libtracetools.so")
emit = lambda number: library.ros_trace_rclcpp_executor_wait_for_work(ctypes.c_int64(number))
init = lambda: library.ros_trace_rcl_init(ctypes.c_void_p(1))
"""


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


@pytest.fixture
def session_of_somebody(tmp_path: Path) -> Iterator[Path]:
    """A session of LTTng that somebody started by hand, with buffers so small that programs have to
    wake its reader; yields its trace.
    """
    trace = tmp_path / "by-hand"
    for words in (
        ["create", "by-hand", "-o", str(trace)],
        ["enable-channel", "-u", "-s", "by-hand", "c", "--subbuf-size=4096", "--num-subbuf=4"],
        ["enable-event", "-u", "-s", "by-hand", "-c", "c", "ros2:*"],
        ["start", "by-hand"],
    ):
        subprocess.run(["lttng", *words], check=True, capture_output=True)
    yield trace
    subprocess.run(["lttng", "destroy", "by-hand"], check=True, capture_output=True)


def recorded(backend: str, trace: Path, command: list[str]) -> tuple[str, str, int]:
    """What a command, which may have nothing to record, says on standard output and standard error
    in a recording, and its status.
    """
    out, err, status = (trace.with_suffix(f".{name}") for name in ("out", "err", "status"))
    script = 'out=$1; err=$2; status=$3; shift 3; "$@" > "$out" 2> "$err"; echo $? > "$status"'
    inner = ["sh", "-c", script, "sh", str(out), str(err), str(status), *command]
    takt("record", "--backend", backend, "-o", str(trace), "--", *inner)
    return out.read_text(), err.read_text(), int(status.read_text())


@needs_root
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "id", "-u"],
            id="drops-root-as-container-entry-points-do",
        ),
        pytest.param(["unshare", "-Ur", "id", "-u"], id="enters-a-user-name-space"),
        pytest.param(["unshare", "--mount", "--pid", "--fork", "id", "-u"], id="a-container"),
        pytest.param(["su", "nobody", "-s", "/bin/sh", "-c", "id -u"], id="a-set-uid-tool"),
        pytest.param(["sh", "-c", "exec setpriv --reuid=1 id -u"], id="a-start-script"),
        pytest.param(["env", "-i", "/usr/bin/id", "-u"], id="an-empty-environment"),
    ],
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_programs_that_change_who_they_are_do(
    backend: str, command: list[str], tmp_path: Path
) -> None:
    alone = subprocess.run(command, capture_output=True, text=True, check=True)
    assert recorded(backend, tmp_path / "t", command) == (alone.stdout, alone.stderr, 0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_program_has_no_thread_no_file_and_no_lttng_of_ours_before_it_uses_ros(
    backend: str, tmp_path: Path
) -> None:
    program = python(SELF + "print(json.dumps(seen()))")
    alone = subprocess.run(program, capture_output=True, text=True, check=True, close_fds=True)
    assert recorded(backend, tmp_path / "t", program) == (alone.stdout, "", 0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_all_starts_with_the_first_event_and_loses_none(backend: str, tmp_path: Path) -> None:
    program = (
        SELF + LIBRARY + "before = seen()\n"
        "init()\n"
        "for number in range(100): emit(number)\n"
        "print(json.dumps([before, seen()]))\n"
    )
    run = Run.of(tmp_path / "t", python(program), backend=backend)
    before, after = json.loads(run.output)
    assert before["threads"] == 1
    assert not before["lttng"]
    assert not before["ring"]
    assert after["ring"]
    assert after["lttng"] or backend == "ring"
    events = list(babeltrace.events(run.trace))
    assert [event.name for event in events if event.name == "ros2:rcl_init"] == ["ros2:rcl_init"]
    assert [e.fields["timeout"] for e in events if e.name == babeltrace.TICKED] == list(range(100))
    assert not any(run.document["losses"].values())


def test_threads_whose_first_events_come_at_once_lose_none(tmp_path: Path) -> None:
    """One of them starts the library, and the others wait for it."""
    program = (
        SELF + LIBRARY + "import threading\n"
        "together = threading.Barrier(8)\n"
        "def run(first):\n"
        "    together.wait()\n"
        "    for number in range(first, first + 50): emit(number)\n"
        "threads = [threading.Thread(target=run, args=(100 * i,)) for i in range(8)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
    )
    expected = sorted(100 * i + number for i in range(8) for number in range(50))
    for backend in BACKENDS:
        run = Run.of(tmp_path / backend, python(program), backend=backend)
        ticks = babeltrace.ticks(run.trace)
        assert sorted(ticks) == expected
        assert not any(run.document["losses"].values())


def test_a_child_starts_by_itself_where_its_parent_has_not(tmp_path: Path) -> None:
    program = (
        SELF + LIBRARY + "child = os.fork()\n"
        "if child == 0:\n"
        "    init()\n"
        "    for number in range(100): emit(number)\n"
        "    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert not seen()['ring'] and not seen()['lttng']\n"
    )
    for backend in BACKENDS:
        run = Run.of(tmp_path / backend, python(program), backend=backend)
        ticks = babeltrace.ticks(run.trace)
        assert ticks == list(range(100))
        assert not any(run.document["losses"].values())


def test_a_session_of_somebody_elses_sees_programs_that_start_in_it(
    session_of_somebody: Path,
) -> None:
    program = SELF + LIBRARY + "init()\nfor number in range(10): emit(number)\n"
    environment = {**os.environ, "LD_PRELOAD": str(tracetools())}
    subprocess.run(python(program), env=environment, check=True)
    subprocess.run(["lttng", "stop", "by-hand"], check=True, capture_output=True)
    names = [event.name for event in babeltrace.events(session_of_somebody)]
    assert names == ["ros2:rcl_init", *[babeltrace.TICKED] * 10]


# Descriptors

CLOSE_ALL = {
    "closerange": "os.closerange(3, 1 << 20)",
    "one-by-one": (
        "for number in range(3, 1024):\n    try: os.close(number)\n    except OSError: pass"
    ),
    "closefrom": "ctypes.CDLL(None).closefrom(3)",
    "close_range": "ctypes.CDLL(None).close_range(3, ctypes.c_uint(-1), 0)",
    "daemon": (
        "child = os.fork()\n"
        "if child: os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        "os.setsid()\n"
        "os.closerange(3, 1 << 20)"
    ),
}

# Then it uses the numbers for sockets of its own, and looks what arrives there.
SOCKETS = """
import socket, time
pairs = [socket.socketpair() for _ in range(40)]
for number in range(20000): emit(number)
time.sleep(1)  # for LTTng's threads, which look now and then
foreign = ends = 0
for end in [end for pair in pairs for end in pair]:
    end.setblocking(False)
    try:
        bytes_ = end.recv(1 << 16)
        foreign += len(bytes_)
        ends += not bytes_
    except BlockingIOError:
        pass
os._exit(1 if foreign or ends else 0)
"""


@pytest.mark.parametrize("close_all", CLOSE_ALL.values(), ids=CLOSE_ALL)
@pytest.mark.parametrize("backend", BACKENDS)
def test_who_closes_all_descriptors_gets_no_bytes_of_ours(
    backend: str, close_all: str, session_of_somebody: Path, tmp_path: Path
) -> None:
    program = SELF + LIBRARY + f"init()\nemit(-1)\n{close_all}\n{SOCKETS}"
    assert recorded(backend, tmp_path / "t", python(program)) == ("", "", 0)


def test_the_ring_of_who_closes_all_descriptors_is_recorded_to_the_end(tmp_path: Path) -> None:
    """Objects, too: their log grows after the descriptor is closed."""
    program = (
        SELF + LIBRARY + "init()\n"
        "os.closerange(3, 1 << 20)\n"
        "keep = [os.open('/dev/null', os.O_RDWR) for _ in range(40)]\n"
        "for number in range(20000):\n"
        "    library.ros_trace_rcl_timer_init(ctypes.c_void_p(number), ctypes.c_int64(1))\n"
        "for number in range(1000): emit(number)\n"
    )
    run = Run.of(tmp_path / "t", python(program), backend="ring")
    events = list(babeltrace.events(run.trace))
    assert sum(event.name == "ros2:rcl_timer_init" for event in events) == 20000
    assert [e.fields["timeout"] for e in events if e.name == babeltrace.TICKED] == list(range(1000))
    assert not any(run.document["losses"].values())


# Other roots, other users, other networks

INSIDE = {
    "a-tmp-of-its-own": "mount -t tmpfs none /tmp; exec",
    "chroot": "mkdir $0/root; mount --rbind / $0/root; mount -t tmpfs none $0/root/tmp; "
    "exec chroot $0/root",
    "another-user": "exec setpriv --reuid=65534 --regid=65534 --clear-groups",
}


@needs_root
@pytest.mark.parametrize("inside", INSIDE.values(), ids=INSIDE)
def test_children_that_cannot_reach_the_recorders_tmp_are_recorded(
    inside: str, tmp_path: Path
) -> None:
    program = SELF + LIBRARY + "init()\nfor number in range(3000): emit(number)\n"
    shell = ["unshare", "--mount", "sh", "-c", f'{inside} "$@"', str(tmp_path)]
    run = Run.of(tmp_path / "t", [*shell, *python(program)], backend="ring")
    ticks = babeltrace.ticks(run.trace)
    assert ticks == list(range(3000))
    assert not any(run.document["losses"].values())


@needs_root
@pytest.mark.parametrize("inside", INSIDE.values(), ids=INSIDE)
def test_where_lttng_cannot_see_a_child_that_is_said(inside: str, tmp_path: Path) -> None:
    """LTTng's daemon is as hard to reach from there."""
    program = SELF + LIBRARY + "init()\nemit(1)\n"
    hidden = f"mount -t tmpfs none /var/run/lttng/; {inside}"
    shell = ["unshare", "--mount", "sh", "-c", f'{hidden} "$@"', str(tmp_path)]
    both = f'"$@"; exec "$0" -c \'{SELF + LIBRARY}init()\''
    command = ["sh", "-c", both, sys.executable, *shell, *python(program)]
    run = Run.of(tmp_path / "t", command, backend="lttng")
    assert run.document["losses"]["unrecorded_processes"] == 1


@needs_root
def test_a_child_in_another_network_and_another_tmp_is_late_and_that_is_said(
    tmp_path: Path,
) -> None:
    program = (
        SELF
        + LIBRARY
        + (
            "import time\n"
            "init()\n"
            "deadline = time.monotonic() + 15\n"
            "while time.monotonic() < deadline: emit(1); time.sleep(0.01)\n"
        )
    )
    shell = ["unshare", "--mount", "--net", "sh", "-c", 'mount -t tmpfs none /tmp; exec "$@"', "sh"]
    run = Run.of(tmp_path / "t", [*shell, *python(program)], backend="ring")
    assert run.document["losses"]["late_processes"] == 1
    assert any(event.name == babeltrace.TICKED for event in babeltrace.events(run.trace))

"""What a robot's owner relies on: the recorder hurts neither the robot nor the machine, whoever
runs beside it, and never says that nothing was lost when something was.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import babeltrace
from children import Child
from recording import PROGRAMS, TAKT, Run, fill, needs_privileges, stop, until
from takt.runtime import tracetools

TICK = [sys.executable, str(PROGRAMS / "tick.py")]
TICKED = "ros2:rclcpp_executor_wait_for_work"
EBPF = pytest.param("ebpf", marks=needs_privileges)
MODEL = Path(__file__).resolve().parents[2] / "models" / "pipeline.json"
BACKENDS = ["lttng", "ring", EBPF]

needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="mounts, devices and a second user need root"
)

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


def record(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TAKT, "record", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def info(trace: Path) -> dict[str, Any]:
    done = subprocess.run(
        [*TAKT, "info", "--json", str(trace)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


# Disks that are full


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


# Recording nothing


@pytest.mark.parametrize("backend", BACKENDS)
def test_recording_nothing_is_no_success(tmp_path: Path, backend: str) -> None:
    done = record("--json", "--backend", backend, "-o", str(tmp_path / "t"), "--", "true")
    assert done.returncode == 1
    assert json.loads(done.stdout)["events"] == 0
    assert "takt: nothing was recorded: no process with ROS 2's tracepoints" in done.stderr


def test_a_command_that_fails_and_records_nothing_has_its_own_status(tmp_path: Path) -> None:
    done = record("--backend", "ring", "-o", str(tmp_path / "t"), "--", "sh", "-c", "exit 7")
    assert done.returncode == 7
    assert "nothing was recorded" in done.stderr


# Containers

CONTAINER = """
set -e
root=$1; library=$2; shift 2
mount --make-rprivate /
mount -t tmpfs none "$root"
for entry in /*; do
  if [ -L "$entry" ]; then cp -P "$entry" "$root$entry"
  elif [ -d "$entry" ]; then mkdir "$root$entry"; mount --rbind "$entry" "$root$entry"; fi
done
mkdir "$root/robot"
cp "$library" "$root/robot/libtracetools.so"
cd "$root"
mkdir former
pivot_root . former
umount -l former
export LD_LIBRARY_PATH="/robot:$LD_LIBRARY_PATH"
exec "$@"
"""


@needs_root
@needs_privileges
def test_a_robot_in_a_container_is_recorded(tmp_path: Path) -> None:
    """The container's tracing library has a path where the machine has no file."""
    root = tmp_path / "root"
    root.mkdir()
    container = ["unshare", "--mount", "sh", "-c", CONTAINER, "sh", str(root), str(tracetools())]
    with Child([*container, *TICK], stdout=subprocess.PIPE, text=True) as robot:
        assert robot.stdout
        process = int(robot.stdout.readline())
        assert "/robot/libtracetools.so" in Path(f"/proc/{process}/maps").read_text()
        trace = tmp_path / "trace"
        done = record("--backend", "ebpf", "--duration", "2", "-o", str(trace))
        robot.send_signal(signal.SIGINT)
    assert done.returncode == 0, done.stderr
    recorded = [
        event.fields["timeout"]
        for event in babeltrace.events(trace, lossy=True)
        if event.name == TICKED and event.process == process
    ]
    assert len(recorded) > 100
    assert recorded == list(range(recorded[0], recorded[0] + len(recorded)))


# Python programs that run already


# Probes see them (test_running_robots.py).
@pytest.mark.parametrize("backend", ["lttng", "ring"])
def test_a_running_rclpy_robot_whose_callbacks_nobody_sees_is_named(
    tmp_path: Path, backend: str
) -> None:
    environment = {**os.environ, "LD_PRELOAD": str(tracetools())}
    robot = [sys.executable, str(PROGRAMS / "course.py")]
    with Child(
        robot, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as program:
        assert program.stdout
        process = int(program.stdout.readline())
        trace = tmp_path / "trace"
        done = record("--backend", backend, "--duration", "2", "-o", str(trace))
    assert done.returncode == 0, done.stderr
    for warnings in (done.stderr.splitlines(), info(trace)["warnings"]):
        (line,) = (warning for warning in warnings if f"process {process} " in warning)
        assert "callbacks" in line
        assert "takt record -- COMMAND" in line


def test_a_recorded_rclpy_robot_is_not_complained_of(tmp_path: Path) -> None:
    talk = [sys.executable, str(PROGRAMS / "talk.py"), "20"]
    run = Run.of(tmp_path / "trace", talk, backend="ring")
    assert run.document["warnings"] == []


# Files that are not to be replaced


@needs_root
def test_a_device_stays_a_device(tmp_path: Path) -> None:
    device = tmp_path / "null"
    os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    made = subprocess.run([*TAKT, "analyze", str(MODEL), "--json", "-o", str(device)], check=False)
    assert made.returncode == 0
    assert stat.S_ISCHR(device.lstat().st_mode)


def test_a_pipe_gets_the_document(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with Child([*TAKT, "analyze", str(MODEL), "--json", "-o", str(pipe)]) as writer:
        text = pipe.read_text()
    assert writer.returncode == 0
    assert json.loads(text)["format"] == "takt/bounds"
    assert stat.S_ISFIFO(pipe.lstat().st_mode)


# Other users


AS_OTHER_USER = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def as_other_user(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*AS_OTHER_USER, *command],
        capture_output=True,
        text=True,
        check=True,
    )


@needs_root
@pytest.mark.skipif(
    Path(__file__).is_relative_to("/tmp"), reason="it hides /tmp, where the repository is"
)
@pytest.mark.parametrize("planted", ["directory", "link"])
def test_snapshot_recorders_trust_no_directory_of_another_user(
    tmp_path: Path, planted: str
) -> None:
    """In a /tmp of its own, as the directory's name is fixed."""
    tmp_path.chmod(0o755)
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").write_text("precious")
    plant = {
        "directory": f"mkdir -m 777 /tmp/takt-0-recorders; "
        f"ln -s {victim}/file /tmp/takt-0-recorders/1.json",
        "link": f"ln -s {victim} /tmp/takt-0-recorders",
    }[planted]
    script = f"""
    mount -t tmpfs -o mode=1777 none /tmp
    setpriv --reuid 65534 --regid 65534 --clear-groups sh -c {shlex.quote(plant)}
    exec "$@"
    """
    here = Path(tempfile.mkdtemp(dir=Path.home()))
    try:
        command = [*TAKT, "record", "--snapshot", "--backend", "ring", "-o", str(here / "s")]
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-ec", script, "sh", *command, "--", "true"],
            capture_output=True,
            text=True,
            env={k: v for k, v in os.environ.items() if k not in ("XDG_RUNTIME_DIR", "TMPDIR")},
            check=False,
        )
        assert done.returncode == 2, done.stderr
        assert "/tmp/takt-0-recorders: not a directory of this user alone" in done.stderr
    finally:
        shutil.rmtree(here)
    assert (victim / "file").read_text() == "precious"
    assert [path.name for path in victim.iterdir()] == ["file"]


@needs_root
def test_root_with_another_users_runtime_directory_writes_nothing_there(tmp_path: Path) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    os.chown(runtime, 65534, 65534)
    done = subprocess.run(
        [
            *TAKT,
            "record",
            "--snapshot",
            "--backend",
            "ring",
            "-o",
            str(tmp_path / "s"),
            "--",
            "sh",
            "-c",
            f"ls {runtime}",
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


# A robot whose ROS 2 is another one


def test_a_robot_of_another_distribution_is_not_started(tmp_path: Path) -> None:
    source = tmp_path / "stock.c"
    source.write_text("void ros_trace_rcl_init(void) {}\nvoid ros_trace_of_tomorrow(void) {}\n")
    library = tmp_path / "libtracetools.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    done = record(
        *("--backend", "ring", "-o", str(tmp_path / "trace"), "--", "true"),
        LD_LIBRARY_PATH=str(tmp_path),
        ROS_DISTRO="rolling",
    )
    assert done.returncode == 2
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("takt: "))
    assert line.startswith(f"takt: {library}: of ROS 2 rolling, whose programs call ")
    assert "ros_trace_of_tomorrow" in line
    assert not (tmp_path / "trace.partial").exists()


# The library in the robot

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
    ticks = [e.fields["timeout"] for e in babeltrace.events(run.trace) if e.name == TICKED]
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
    (emitted,) = (e.fields["timeout"] for e in babeltrace.events(run.trace) if e.name == TICKED)
    assert emitted == 1


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


@contextmanager
def stopped_recorder(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """A recorder of a shell, stopped, and the environment of the shell's programs."""
    said = tmp_path / "environment"
    wait = f"env -0 > {said}.new; mv {said}.new {said}; read line"
    with Child(
        [
            *TAKT,
            "record",
            "--json",
            "--backend",
            "ring",
            "-o",
            str(tmp_path / "trace"),
            "--",
            "sh",
            "-c",
            wait,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as recorder:
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
    with Child(
        [
            *TAKT,
            "record",
            "--json",
            "--backend",
            "ring",
            "-o",
            str(trace),
            "--",
            sys.executable,
            "-c",
            program,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as recorder:
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


# What is left behind


def gates() -> set[Path]:
    return set(Path("/tmp").glob("takt-*/gate"))


def sessions() -> str:
    return subprocess.run(["lttng", "list"], capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("started", [True, False], ids=["command", "running"])
def test_a_killed_recorder_leaves_its_trace_alone(
    tmp_path: Path, backend: str, started: bool
) -> None:
    environment = {**os.environ, "LD_PRELOAD": str(tracetools())} if backend != "ebpf" else None
    trace = tmp_path / "trace"
    command = [*TAKT, "record", "--backend", backend, "-o", str(trace)]
    with Child(TICK, stdout=subprocess.PIPE, text=True, env=environment) as robot:
        assert robot.stdout
        robot.stdout.readline()
        recorder = subprocess.Popen(
            [*command, *(["--", *TICK] if started else [])],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert recorder.stdout
        if started:
            program = int(recorder.stdout.readline())
        until(lambda: any(Path(f"{trace}.partial").rglob("*_*")) or recorder.poll() is not None)
        mine = {
            gate
            for gate in gates()
            if f"{gate}" in Path("/proc/net/unix").read_text() and owner_of(gate) == recorder.pid
        }
        recorder.kill()
        recorder.wait()
        if started:
            os.kill(program, signal.SIGKILL)
        until(lambda: not any(gate.exists() for gate in mine))
        until(lambda: f"takt-{recorder.pid}-" not in sessions())
        robot.send_signal(signal.SIGINT)
    assert [path.name for path in tmp_path.iterdir()] == ["trace.partial"]


def owner_of(gate: Path) -> int:
    """The process that listens at a gate."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(str(gate))
    credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    client.close()
    return int.from_bytes(credentials[:4], sys.byteorder)


def test_a_trace_that_is_being_recorded_is_not_called_interrupted(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    command = [*TAKT, "record", "--backend", "ring", "-o", str(trace), "--", *TICK]
    with Child(command, stdout=subprocess.PIPE, text=True) as recorder:
        assert recorder.stdout
        recorder.stdout.readline()
        again = record("--backend", "ring", "-o", str(trace), "--", "true")
        recorder.send_signal(signal.SIGINT)
    assert again.returncode == 2
    assert again.stderr.splitlines()[-1] == (
        f"takt: {trace}.partial: another recorder writes to it; name another directory with -o"
    )


def test_a_duration_ends_grandchildren_but_no_daemons(tmp_path: Path) -> None:
    """A grandchild that outlives its parent, one that is deaf to SIGINT, and one in a session of
    its own.
    """
    tick = " ".join(TICK)
    said = tmp_path / "said"
    script = (
        f"(exec {tick}) & echo $! >> {said}; "
        f"(trap '' INT; exec env --ignore-signal=INT sleep 1000) & echo $! >> {said}; "
        f"setsid sh -c 'echo $$ >> {said}; exec sleep 1000' > /dev/null 2>&1 & "
        "sleep 1000"
    )
    done = record(
        *("--backend", "ring", "-o", str(tmp_path / "trace"), "--duration", "2"),
        *("--", "sh", "-c", script),
    )
    assert done.returncode == 0, done.stderr
    tick_process, deaf, daemon = map(int, said.read_text().split())
    try:
        assert not Path(f"/proc/{tick_process}").exists()
        assert not Path(f"/proc/{deaf}").exists()
        assert Path(f"/proc/{daemon}").exists()
    finally:
        os.kill(daemon, signal.SIGKILL)


LEADERLESS = """
import ctypes, os, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
print(os.getpid(), flush=True)
ctypes.CDLL(None).syscall(60, 0)
"""
"""Its first thread ends, by exit(2) of x86-64, and the other goes on: /proc calls it a zombie."""


def test_a_duration_ends_a_program_whose_first_thread_has_ended(tmp_path: Path) -> None:
    left = tmp_path / "left.py"
    left.write_text(LEADERLESS)
    said = tmp_path / "said"
    script = f"{sys.executable} {left} > {said} & exec {' '.join(TICK)}"
    done = record(
        *("--backend", "ring", "-o", str(tmp_path / "trace"), "--duration", "2"),
        *("--", "sh", "-c", script),
    )
    assert done.returncode == 0, done.stderr
    assert not Path(f"/proc/{int(said.read_text())}").exists()


# Processes that mean harm

MALICE = """
import ctypes, mmap, os, sys
prefix, kind = sys.argv[1:3]
library = ctypes.CDLL(prefix + "/lib/libtracetools.so")
if kind == "memory":
    # Words that all look like the beginning of an object of the middleware interface.
    name = open(prefix + "/lib/librmw_fastrtps_cpp.so", "r+b")
    constants = mmap.mmap(name.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)
    address = next(
        int(line.split("-")[0], 16)
        for line in open("/proc/self/maps")
        if "librmw_fastrtps_cpp.so" in line
    )
    memory = mmap.mmap(-1, 256 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[:] = address.to_bytes(8, "little") * (len(memory) // 8)
print("ready", flush=True)
emit = library.ros_trace_rclcpp_executor_wait_for_work
for line in sys.stdin:
    for i in range(100): emit(ctypes.c_int64(i))
"""


REASONABLE = 400 << 10
"""Kilobytes of memory of a recorder: Python, 64 MiB of the kernel's buffers, seen twice."""


def peak_memory(process: int) -> int:
    """Kilobytes of memory that a process has had at most."""
    (line,) = (
        line
        for line in Path(f"/proc/{process}/status").read_text().splitlines()
        if line.startswith("VmHWM:")
    )
    return int(line.split()[1])


@pytest.fixture
def place_for_all() -> Iterator[Path]:
    """A directory that other users may look into."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        yield place


def python_of_all() -> str:
    """A Python that other users can read; our own may be where they cannot."""
    return str(shutil.which("python3", path="/usr/bin:/bin"))


@contextmanager
def attacker_of(script: str, *arguments: str) -> Iterator[Child[str]]:
    """A process of another user that runs a Python script, as soon as that says it is ready."""
    with Child(
        [*AS_OTHER_USER, python_of_all(), "-c", script, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    ) as attacker:
        assert attacker.stdout
        assert attacker.stdout.readline() == "ready\n"
        yield attacker


@needs_root
@needs_privileges
@pytest.mark.parametrize("malice", ["pipe", "zero", "memory"])
def test_no_process_of_another_user_can_hang_or_feed_the_recorder(
    tmp_path: Path, place_for_all: Path, malice: str
) -> None:
    """A pipe or a link to endless zeros in place of the package's description, and memory that
    looks like thirty million objects.
    """
    prefix = place_for_all / "prefix"
    (prefix / "lib").mkdir(parents=True)
    shutil.copy(tracetools(), prefix / "lib")
    (prefix / "lib" / "librmw_fastrtps_cpp.so").write_bytes(b"rmw_fastrtps_cpp\0" + bytes(8192))
    description = prefix / "share" / "tracetools" / "package.xml"
    description.parent.mkdir(parents=True)
    if malice == "pipe":
        os.mkfifo(description)
    else:
        description.symlink_to("/dev/zero")
    for path in [prefix, *prefix.rglob("*")]:
        os.chown(path, 65534, 65534, follow_symlinks=False)
    with attacker_of(MALICE, str(prefix), malice) as attacker:
        assert attacker.stdin
        trace = tmp_path / "trace"
        with Child(
            [*TAKT, "record", "--backend", "ebpf", "-o", str(trace)],
            stderr=subprocess.PIPE,
            text=True,
        ) as recorder:
            streams = f"ebpf/*-{attacker.pid}-*/*"
            until(
                lambda: any(Path(f"{trace}.partial").glob(streams)) or recorder.poll() is not None
            )
            attacker.stdin.write("\n")
            attacker.stdin.flush()
            until(
                lambda: (
                    any(Path(f"{trace}.partial").glob(f"{streams}_*"))
                    or recorder.poll() is not None
                )
            )
            peak = peak_memory(recorder.pid)
            recorder.send_signal(signal.SIGINT)
            _, said = recorder.communicate()
        attacker.stdin.close()
    assert recorder.returncode == 0, said
    assert peak < REASONABLE
    ticks = [
        e.fields["timeout"]
        for e in babeltrace.events(trace, lossy=True)
        if e.process == attacker.pid and e.name == TICKED
    ]
    assert ticks == list(range(100))


def with_many_tables(library: bytes) -> bytes:
    """The library with twenty tables of symbols of 63 MiB each, in the same place. Its loader does
    not look at them.
    """
    tables, size, dynamic_symbols = 20, 63 << 20, 11
    start = len(library) + -len(library) % 8
    table = struct.pack("<IIQQQQIIQQ", 0, dynamic_symbols, 0, 0, 0, size - size % 24, 0, 0, 8, 24)
    header = bytearray(library[:64])
    struct.pack_into("<Q", header, 0x28, start)
    struct.pack_into("<HHH", header, 0x3A, 64, tables + 1, 0)
    changed = bytes(header) + library[64:]
    return (changed.ljust(start, b"\0") + bytes(64) + table * tables).ljust(size, b"\0")


def with_invalid_code(library: bytes) -> bytes:
    """The library with code that no probe can be placed on, in a function that nobody calls."""
    function = "ros_trace_rcl_lifecycle_transition"
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", str(tracetools())],
        capture_output=True,
        text=True,
        check=True,
    )
    (address,) = (
        int(line.split()[0], 16)
        for line in symbols.stdout.splitlines()
        if line.endswith(f" {function}")
    )
    segments, size, count = (
        *struct.unpack_from("<Q", library, 0x20),
        *struct.unpack_from("<HH", library, 0x36),
    )
    for segment in range(segments, segments + size * count, size):
        kind, _, offset, start, _, length = struct.unpack_from("<IIQQQQ", library, segment)
        if kind == 1 and start <= address < start + length:
            position = address - start + offset
    no_instruction_of_64_bits = b"\x06"
    return library[:position] + no_instruction_of_64_bits + library[position + 1 :]


@needs_root
@needs_privileges
@pytest.mark.parametrize("malice", [with_many_tables, with_invalid_code])
def test_a_library_made_to_harm_costs_its_own_process_alone(
    tmp_path: Path, place_for_all: Path, malice: Callable[[bytes], bytes]
) -> None:
    library = place_for_all / "lib" / "libtracetools.so"
    library.parent.mkdir()
    library.write_bytes(malice(tracetools().read_bytes()))
    with (
        attacker_of(MALICE, str(place_for_all), "library"),
        Child(TICK, stdout=subprocess.PIPE, text=True) as robot,
    ):
        assert robot.stdout
        robot.stdout.readline()
        trace = tmp_path / "trace"
        with Child(
            [*TAKT, "record", "--backend", "ebpf", "-o", str(trace)],
            stderr=subprocess.PIPE,
            text=True,
        ) as recorder:
            streams = f"ebpf/*-{robot.pid}-*/*"
            until(
                lambda: any(Path(f"{trace}.partial").glob(streams)) or recorder.poll() is not None
            )
            peak = peak_memory(recorder.pid) if recorder.poll() is None else 0
            recorder.send_signal(signal.SIGINT)
            _, said = recorder.communicate()
        robot.send_signal(signal.SIGINT)
    assert recorder.returncode == 0, said
    assert peak < REASONABLE
    assert "1 unrecorded process" in said
    ticks = [
        e.fields["timeout"]
        for e in babeltrace.events(trace, lossy=True)
        if e.process == robot.pid and e.name == TICKED
    ]
    assert ticks


# Waits until somebody opens the library that it uses, and then makes that a terabyte long.
GROW = """
import ctypes, os, sys
library = sys.argv[1]
ctypes.CDLL(library)
libc = ctypes.CDLL(None)
watch = libc.inotify_init1(0)
opened = 0x20
assert libc.inotify_add_watch(watch, library.encode(), opened) > 0
print("ready", flush=True)
os.read(watch, 4096)
os.truncate(library, 1 << 40)
print("grown", flush=True)
sys.stdin.read()
"""


def bytes_read(process: int) -> int:
    (line,) = (
        line
        for line in Path(f"/proc/{process}/io").read_text().splitlines()
        if line.startswith("rchar:")
    )
    return int(line.split()[1])


@needs_root
@needs_privileges
def test_a_library_that_grows_while_it_is_read_is_not_read_to_its_end(
    tmp_path: Path, place_for_all: Path
) -> None:
    library = place_for_all / "libtracetools.so"
    shutil.copy(tracetools(), library)
    os.chown(library, 65534, 65534)
    trace = tmp_path / "trace"
    with (
        attacker_of(GROW, str(library)) as attacker,
        Child(TICK, stdout=subprocess.PIPE, text=True) as robot,
    ):
        assert attacker.stdin
        assert attacker.stdout
        assert robot.stdout
        robot.stdout.readline()
        with Child(
            [*TAKT, "record", "--backend", "ebpf", "-o", str(trace)],
            stderr=subprocess.PIPE,
            text=True,
        ) as recorder:
            assert attacker.stdout.readline() == "grown\n"
            streams = f"ebpf/*-{robot.pid}-*/*"
            limit = 1 << 30

            def is_settled() -> bool:
                recorded = any(Path(f"{trace}.partial").glob(streams))
                return recorded or recorder.poll() is not None or bytes_read(recorder.pid) > limit

            until(is_settled)
            assert recorder.poll() is None
            assert bytes_read(recorder.pid) < limit
            recorder.send_signal(signal.SIGINT)
            _, said = recorder.communicate()
        robot.send_signal(signal.SIGINT)
        attacker.stdin.close()
    assert recorder.returncode == 0, said


# Processes that use a library of their own each, named by its number.
MANY = """
import mmap, os, sys
place, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    if os.fork() == 0:
        with open(f"{place}/{number}/libtracetools.so", "rb") as library:
            mapped = mmap.mmap(library.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ)
        sys.stdin.read()
        os._exit(0)
print("ready", flush=True)
sys.stdin.read()
"""


@needs_root
@needs_privileges
def test_processes_with_many_libraries_leave_the_recorder_its_descriptors(
    tmp_path: Path, place_for_all: Path
) -> None:
    descriptors, count = 200, 300
    source = tmp_path / "library.c"
    source.write_text("void ros_trace_rcl_init(void) {}\n")
    library = tmp_path / "libtracetools.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    for number in range(count):
        place = place_for_all / str(number)
        place.mkdir()
        shutil.copy(library, place)
    with (
        attacker_of(MANY, str(place_for_all), str(count)) as others,
        Child(TICK, stdout=subprocess.PIPE, text=True) as robot,
    ):
        assert others.stdin
        assert robot.stdout
        robot.stdout.readline()
        trace = tmp_path / "trace"
        done = subprocess.run(
            [
                *("prlimit", f"--nofile={descriptors}:{descriptors}", *TAKT, "record", "--json"),
                *("--backend", "ebpf", "--duration", "1", "-o", str(trace)),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        robot.send_signal(signal.SIGINT)
        others.stdin.close()
    assert done.returncode == 0, done.stderr
    unrecorded = json.loads(done.stdout)["losses"]["unrecorded_processes"]
    assert count - descriptors < unrecorded <= count
    ticks = [
        e.fields["timeout"]
        for e in babeltrace.events(trace, lossy=True)
        if e.process == robot.pid and e.name == TICKED
    ]
    assert ticks


@needs_root
@pytest.mark.parametrize("backend", ["ring", EBPF])
def test_who_reads_events_has_no_capability_but_to_write(tmp_path: Path, backend: str) -> None:
    trace = tmp_path / "trace"
    command = [*TAKT, "record", "--backend", backend, "-o", str(trace), "--", *TICK]
    with Child(command, stdout=subprocess.PIPE, text=True) as recorder:
        assert recorder.stdout
        recorder.stdout.readline()
        threads = {
            (task / "comm").read_text().strip(): (task / "status").read_text()
            for task in Path(f"/proc/{recorder.pid}/task").iterdir()
        }
        recorder.send_signal(signal.SIGINT)
    said = dict(
        line.split(":\t") for line in threads["takt-recorder"].splitlines() if ":\t" in line
    )
    for kind in ("CapEff", "CapPrm", "CapInh"):
        assert int(said[kind], 16) in (0, 1 << 1)  # CAP_DAC_OVERRIDE

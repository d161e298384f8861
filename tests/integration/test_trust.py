"""What a robot's owner relies on: the recorder hurts neither the robot nor the machine, and never
says that nothing was lost when something was. Also: test_full_disks, test_library_in_robot,
test_other_users.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import babeltrace
from children import Child
from recording import (
    EBPF,
    PROGRAMS,
    TAKT,
    TICK,
    Run,
    info,
    needs_privileges,
    needs_root,
    record,
    until,
)
from takt.processes.runtime import tracetools

MODEL = Path(__file__).resolve().parents[2] / "models" / "pipeline.json"
BACKENDS = ["lttng", "ring", EBPF]


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
    recorded = babeltrace.ticks(trace, process, lossy=True)
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

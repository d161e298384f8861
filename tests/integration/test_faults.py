"""What the system may refuse: space, memory, descriptors, an uninterrupted call. The recorder, the
reader and `takt run` end with one line and no harm to the robot, or work as if nothing had been;
what a recording lost is counted, and nothing is left behind.

TAKT_FAULTS: how many moments of each fault are tried, evenly over all that there are, as `make
faults` does. Nothing is tried without it: a recorder that waits for ever is only found by its time
limit.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import babeltrace
from children import Child
from recording import EBPF, TAKT, needs_root, until
from takt import pipeline

MOMENTS = int(os.environ.get("TAKT_FAULTS", "2"))
ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "models" / "pipeline.json"
pytestmark = pytest.mark.skipif("TAKT_FAULTS" not in os.environ, reason="run by make faults")
needs_strace = pytest.mark.skipif(
    subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], check=False).returncode != 0
    if shutil.which("strace")
    else True,
    reason="strace, which makes calls of the system fail, is missing or may not trace",
)

# Ticks a thousand times when told, and ends when its standard input does.
ROBOT = """
import ctypes, sys
emit = ctypes.CDLL("libtracetools.so").ros_trace_rclcpp_executor_wait_for_work
emit(ctypes.c_int64(0))  # from here on it has a trace
print("ready", flush=True)
sys.stdin.readline()
for i in range(1, 1000): emit(ctypes.c_int64(i))
print("done", flush=True)
sys.stdin.read()
print("whole", flush=True)
"""
TICKS = 1000


def one_line(said: str) -> bool:
    """Whether a program ended with one line, as users are promised."""
    lines = said.strip().splitlines()
    return bool(lines) and lines[-1].startswith("takt: ") and "Traceback" not in said


def moments(total: int) -> list[int]:
    """A selection of the numbers 1 … total, with the first."""
    return sorted({1 + total * i // MOMENTS for i in range(min(MOMENTS, total))})


@contextmanager
def disk(place: Path, size: str) -> Iterator[Path]:
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


# Calls of the system that fail


def record_with_fault(trace: Path, backend: str, fault: str | None, call: str) -> tuple[int, bool]:
    """Records the robot while a fault is injected into the recorder, and checks what is to hold.
    Returns how often the recorder made the call and whether the fault occurred.
    """
    log = trace.with_suffix(".strace")
    command = [*TAKT, "record", "--json", "--backend", backend, "-o", str(trace)]
    with Child(
        [*command, "--", sys.executable, "-c", ROBOT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as recorder:
        assert recorder.stdin
        assert recorder.stderr
        while recorder.stderr.readline() != "ready\n":
            assert recorder.poll() is None
        injection = ["-e", f"inject={call}:{fault}"] if fault else []
        partial = Path(f"{trace}.partial")
        until(lambda: any(partial.rglob("metadata")) or recorder.poll() is not None)
        if call in CALLS_ON_FILES:  # those of the trace, not what wakes threads and the like
            (files,) = (path.parent for path in partial.rglob("metadata"))
            robot = files.name.split("-")[1]
            for path in (trace, partial, files, *files.iterdir(), files / f"thread_{robot}"):
                injection += ["-P", str(path)]
        with Child(
            ["strace", "-f", "-o", log, "-e", f"trace={call}", *injection, "-p", str(recorder.pid)],
            stderr=subprocess.PIPE,
            text=True,
        ) as strace:
            assert strace.stderr
            while "attached" not in strace.stderr.readline():
                assert strace.poll() is None
            recorder.stdin.write("\n")
            recorder.stdin.flush()
            said, complained = recorder.communicate()
    calls = log.read_text()
    status = recorder.returncode
    # The robot has run to its own end, even if its recorder has not.
    assert {"done", "whole"} <= set(complained.splitlines()), complained
    if fault and "KILL" in fault and status == -signal.SIGKILL:
        pass
    elif status == 0:
        losses = sum(json.loads(said)["losses"].values())
        recorded = babeltrace.ticks(trace, lossy=True)
        assert len(recorded) + losses >= TICKS, complained
        assert losses or recorded == list(range(TICKS))
    else:
        assert one_line(complained), complained
    for place in (trace, partial):
        if any(place.rglob("metadata")):
            pipeline.info([str(place)])
    return len(re.findall(rf"\b{call}\(", calls)), "(INJECTED)" in calls or "SIGKILL" in calls


CALLS_ON_FILES = {"openat", "write", "newfstatat", "mkdir", "ftruncate", "rename"}
FAULTS = [
    ("openat", "error=ENOSPC"),
    ("openat", "error=EMFILE"),
    ("openat", "error=ENOMEM"),
    ("write", "error=ENOSPC"),
    ("write", "error=EIO"),
    ("write", "error=EINTR"),
    ("mkdir", "error=ENOSPC"),
    ("newfstatat", "error=EIO"),
    ("rename", "error=EIO"),
    ("poll", "error=EINTR"),
    ("mmap", "error=ENOMEM"),
    ("write", "signal=KILL"),
    ("rename", "signal=KILL"),
]


@needs_strace
@pytest.mark.parametrize("backend", ["ring", EBPF])
@pytest.mark.parametrize(("call", "fault"), FAULTS)
def test_a_recorder_whose_calls_fail(tmp_path: Path, backend: str, call: str, fault: str) -> None:
    total, _ = record_with_fault(tmp_path / "counted", backend, None, call)
    for number in moments(total):
        trace = tmp_path / f"trace-{number}"
        record_with_fault(trace, backend, f"{fault}:when={number}", call)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("recorded")
    with tarfile.open(ROOT / "tests" / "recordings" / "pipeline-ring.tar.xz") as archive:
        archive.extractall(place, filter="data")
    return place / "pipeline-ring"


def without_times(document: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in document.items() if name not in ("seconds", "provenance")
    }


@needs_strace
@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("openat", "EMFILE"),
        ("openat", "EINTR"),
        ("openat", "EACCES"),
        ("mmap", "ENOMEM"),
        ("read", "EIO"),
        ("read", "EINTR"),
        ("newfstatat", "EIO"),
        ("fstat", "EIO"),
    ],
)
def test_a_reader_whose_calls_fail(recorded: Path, tmp_path: Path, call: str, error: str) -> None:
    """The reader refuses the trace, or counts what it could not read."""
    whole = without_times(pipeline.info([str(recorded)]))
    paths = [argument for path in sorted(recorded.rglob("*")) for argument in ("-P", str(path))]
    log = tmp_path / "log"

    def read(injection: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                *("strace", "-f", "-qq", "-o", str(log), *paths, "-e", f"trace={call}", *injection),
                *(*TAKT, "info", "--json", str(recorded)),
            ],
            capture_output=True,
            text=True,
            check=False,
        )

    read([])
    for number in moments(len(re.findall(rf"\b{call}\(", log.read_text()))):
        done = read(["-e", f"inject={call}:error={error}:when={number}"])
        if done.returncode == 0:
            document = json.loads(done.stdout)
            losses = document["unreadable_bytes"] + document["discarded"]
            assert losses or without_times(document) == whole
        else:
            assert done.returncode == 2
            assert one_line(done.stderr), done.stderr


# Limits


@pytest.mark.parametrize("command", ["info", "model", "run"])
@pytest.mark.parametrize("limit", ["--nofile=", "--as="])
def test_a_program_with_too_little(
    recorded: Path, tmp_path: Path, command: str, limit: str
) -> None:
    """Limits on descriptors or memory, from just enough for Python to start upwards."""
    arguments = {
        "info": ["info", "--json", str(recorded)],
        "model": ["model", str(recorded), "-o", str(tmp_path / "model.json")],
        "run": ["run", str(MODEL), "--duration", "1", "--json"],
    }[command]
    amounts = range(6, 26) if limit == "--nofile=" else range(160 << 20, 480 << 20, 16 << 20)
    for number in moments(len(amounts)):
        amount = amounts[number - 1]
        done = subprocess.run(
            ["prlimit", f"{limit}{amount}", *TAKT, *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode >= 0, f"ended by a signal at {amount}: {done.stderr}"
        assert done.returncode == 0 or one_line(done.stderr), f"{amount}: {done.stderr}"
        if done.returncode != 0:
            assert not (tmp_path / "model.json").exists()


# Disks that are full


@needs_root
@pytest.mark.parametrize("backend", ["ring", EBPF])
def test_a_disk_that_is_full_at_some_write(tmp_path: Path, backend: str) -> None:
    """From a disk without room for a directory to one that has almost enough."""
    sizes = range(4, 104, 4)
    for number in moments(len(sizes)):
        size = sizes[number - 1]
        with disk(tmp_path / f"disk-{size}", f"{size}k") as place:
            trace = place / "trace"
            done = subprocess.run(
                [
                    *(*TAKT, "record", "--json", "--backend", backend, "-o", str(trace)),
                    *("--", sys.executable, "-c", ROBOT),
                ],
                input="\n",
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode == 0:
                assert babeltrace.ticks(trace, lossy=True) == list(range(TICKS))
            else:
                assert one_line(done.stderr), done.stderr
                for partial in place.glob("trace*"):
                    if any(partial.rglob("metadata")):
                        ticks = babeltrace.ticks(partial, lossy=True)
                        assert ticks == list(range(len(ticks)))


@needs_root
@pytest.mark.parametrize("what", ["model", "export", "report"])
def test_a_disk_without_room_for_a_document(recorded: Path, tmp_path: Path, what: str) -> None:
    """The former document stays as it was, and no part of the new one is left."""
    with disk(tmp_path / "disk", "32k") as place:
        target = place / "document"
        target.write_text("former")
        filler = place / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass
        arguments = {
            "model": ["model", str(recorded), "-o", str(target)],
            "export": ["export", str(recorded), "--format", "perfetto", "-o", str(target)],
            "report": ["report", str(recorded), "-o", str(target)],
        }[what]
        done = subprocess.run([*TAKT, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 2, done.stderr
        assert one_line(done.stderr)
        assert "No space left on device" in done.stderr
        assert target.read_text() == "former"
        assert sorted(path.name for path in place.iterdir()) == ["document", "filler"]


@needs_root
@pytest.mark.parametrize("what", ["info", "run"])
def test_a_full_temporary_directory(tmp_path: Path, what: str) -> None:
    archive = ROOT / "tests" / "recordings" / "pipeline-ring.tar.xz"
    arguments = {
        "info": ["info", "--json", str(archive)],
        "run": ["run", str(MODEL), "--duration", "1", "--json"],
    }[what]
    with disk(tmp_path / "disk", "4k") as place:
        done = subprocess.run(
            [*TAKT, *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "TMPDIR": str(place)},
            check=False,
        )
        assert done.returncode == 0 or one_line(done.stderr), done.stderr
        assert done.returncode in (0, 2)
        assert list(place.iterdir()) == []


@needs_root
@pytest.mark.parametrize("backend", ["ring", "lttng", EBPF])
def test_shared_memory_that_is_full(tmp_path: Path, backend: str) -> None:
    """In a /dev/shm, and with a session daemon, of its own. There is room for the two pages that
    LTTng needs in any program, with or without Takt: it ends by SIGBUS where one is missing.
    """
    trace = tmp_path / "trace"
    home = tmp_path / "home"
    home.mkdir()
    script = 'mount -t tmpfs -o size=8k none /dev/shm && exec "$@"'
    done = subprocess.run(
        [
            *("unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script, "sh"),
            *(*TAKT, "record", "--json", "--backend", backend, "-o", str(trace)),
            *("--", sys.executable, "-c", ROBOT),
        ],
        input="\n",
        capture_output=True,
        text=True,
        env={**os.environ, "HOME": str(home), "LTTNG_HOME": str(home)},
        check=False,
    )
    assert {"done", "whole"} <= set(done.stderr.splitlines()), done.stderr
    if done.returncode == 0:
        losses = sum(json.loads(done.stdout)["losses"].values())
        assert losses or babeltrace.ticks(trace, lossy=True) == list(range(TICKS))
    else:
        assert one_line(done.stderr), done.stderr


# Others who record


@needs_root
@pytest.mark.parametrize("backend", ["ring", "lttng", EBPF])
def test_several_recorders_of_two_users_at_once(tmp_path: Path, backend: str) -> None:
    """Each has its robot's events, and no other's."""
    if backend == "ebpf":
        users: list[list[str]] = [[], []]
    else:
        users = [[], [], ["unshare", "--user", "--map-user=1234", "--map-group=1234"]]
    recorders = []
    for number, user in enumerate(users):
        home = tmp_path / f"home-{number}"
        home.mkdir()
        trace = tmp_path / f"trace-{number}"
        recorders.append(
            subprocess.Popen(
                [
                    *(*user, *TAKT, "record", "--json", "--backend", backend, "-o", str(trace)),
                    *("--", sys.executable, "-c", ROBOT),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "HOME": str(home)} if user else None,
            )
        )
    for recorder in recorders:
        assert recorder.stderr
        while recorder.stderr.readline() != "ready\n":
            assert recorder.poll() is None
    for number, recorder in enumerate(recorders):
        said, complained = recorder.communicate("\n")
        assert recorder.returncode == 0, complained
        assert not any(json.loads(said)["losses"].values())
        assert babeltrace.ticks(tmp_path / f"trace-{number}", lossy=True) == list(range(TICKS))
    for daemon in tmp_path.glob("home-*/.lttng/lttng-sessiond.pid"):
        os.kill(int(daemon.read_text()), signal.SIGTERM)

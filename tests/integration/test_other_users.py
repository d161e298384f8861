"""Other users of the machine neither write where the recorder does nor hang or feed it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import babeltrace
from children import Child
from recording import EBPF, TAKT, TICK, info, needs_privileges, needs_root, until
from takt.processes.runtime import tracetools

# Directories that others may have planted

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


def recorder_by_probes(trace: Path) -> Child[str]:
    command = [*TAKT, "record", "--backend", "ebpf", "-o", str(trace)]
    return Child(command, stderr=subprocess.PIPE, text=True)


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
        with recorder_by_probes(trace) as recorder:
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
    ticks = babeltrace.ticks(trace, attacker.pid, lossy=True)
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
        attacker_of(MALICE, str(place_for_all), "library") as attacker,
        Child(TICK, stdout=subprocess.PIPE, text=True) as robot,
    ):
        assert robot.stdout
        robot.stdout.readline()
        trace = tmp_path / "trace"
        with recorder_by_probes(trace) as recorder:
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
    # What other tests start may not be recorded either.
    unrecorded = [one["pid"] for one in info(trace)["unrecorded"]]
    assert {attacker.pid, robot.pid} & set(unrecorded) == {attacker.pid}
    assert f"{len(unrecorded)} unrecorded process" in said
    ticks = babeltrace.ticks(trace, robot.pid, lossy=True)
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
        with recorder_by_probes(trace) as recorder:
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
    ticks = babeltrace.ticks(trace, robot.pid, lossy=True)
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

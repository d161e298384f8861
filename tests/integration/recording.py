"""Runs of `takt record`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

needs_privileges = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/sys/kernel/btf/vmlinux").exists(),
    reason="probes in the kernel need privileges and the kernel's types",
)

needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="mounts, name spaces and other users need root"
)
EBPF = pytest.param("ebpf", marks=needs_privileges)

PROGRAMS = Path(__file__).parent / "programs"
TAKT = [sys.executable, "-m", "takt"]
TICK = [sys.executable, str(PROGRAMS / "tick.py")]


def until(condition: Callable[[], bool]) -> None:
    """Waits as long as it takes; the test run's own time limit is the only one."""
    while not condition():
        time.sleep(0.01)


def is_gone(process: int) -> bool:
    """Whether a process has ended; its parent may not have reaped it yet."""
    try:
        return "State:\tZ" in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return True


def stop(process: int) -> None:
    """Stops a process, and waits until all its threads have stopped."""

    def stopped(task: Path) -> bool:
        try:
            return (task / "stat").read_text().rpartition(")")[2].split()[0] == "T"
        except OSError:
            return False

    os.kill(process, signal.SIGSTOP)
    until(lambda: all(map(stopped, Path(f"/proc/{process}/task").iterdir())))


def fill(disk: Path) -> None:
    """Leaves 4 MiB of it, with which LTTng could lose events unseen."""
    with (disk / "other").open("wb") as other:
        os.posix_fallocate(other.fileno(), 0, shutil.disk_usage(disk).free - (4 << 20))


BREAKPOINT = 0xCC  # what a probe puts in place of an instruction's first byte (x86-64)


def probe_is_placed(process: int) -> bool:
    """Whether the function that ticks has a probe, in a running process."""
    maps = Path(f"/proc/{process}/maps").read_text().splitlines()
    mapping = next(m for m in maps if m.endswith("libtracetools.so"))
    library = mapping.split()[-1]
    symbols = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True)
    function = " ros_trace_rclcpp_executor_wait_for_work"
    symbol = next(s for s in symbols.stdout.splitlines() if s.endswith(function))
    address = int(mapping.split("-")[0], 16) + int(symbol.split()[0], 16)
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(1)[0] == BREAKPOINT


@dataclass(frozen=True)
class Run:
    """A command that was recorded."""

    backend: str
    trace: Path
    document: dict[str, Any]
    """What `takt record --json` said."""
    output: str
    """What the command printed."""

    @staticmethod
    def of(
        trace: Path,
        command: Sequence[str],
        *,
        backend: str = "lttng",
        text: str = "",
        options: Sequence[str] = (),
    ) -> Run:
        """Records a command that ends by itself, with status 0."""
        printed = trace.with_suffix(".output")
        inner = ["sh", "-c", 'out=$1; shift; exec "$@" > "$out"', "sh", str(printed), *command]
        done = subprocess.run(
            [
                *(*TAKT, "record", "--json", "--backend", backend),
                *("-o", str(trace), *options, "--", *inner),
            ],
            input=text,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return Run(backend, trace, json.loads(done.stdout), printed.read_text())


def takt(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*TAKT, *arguments], capture_output=True, text=True, check=False)


def record(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TAKT, "record", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def info(trace: Path) -> dict[str, Any]:
    """What `takt info` says of a trace."""
    done = takt("info", "--json", str(trace))
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document

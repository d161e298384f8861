"""The latency manager is killed at random moments: every thread is scheduled again as it was, and
nothing is left behind.

TAKT_KILLS: how many times; the short form is what continuous integration runs.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from children import Child
from recording import TAKT, until
from takt import loopback
from takt.processes import runtime

pytestmark = pytest.mark.alone
Json = dict[str, Any]

KILLS = int(os.environ.get("TAKT_KILLS", "10"))
LONGEST = 5.0
"""Seconds: within them the manager begins to see the programs, reserves, and decides again."""
PATIENCE = 900 + 60 * KILLS
"""Seconds, on a machine that does much besides."""
CHAIN = ("/kill_test_camera", "/kill_test_motor")
MS = 1_000_000
DEADLINE = 6  # SCHED_DEADLINE in sched(7)
CPUSETS = Path("/sys/fs/cgroup/cpuset")


@dataclass(frozen=True)
class Scheduling:
    """How a thread is scheduled."""

    policy: int
    nice: int
    priority: int
    processors: frozenset[int]
    cpuset: str

    @classmethod
    def of(cls, task: Path) -> Scheduling:
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        return cls(
            policy=int(fields[38]),
            nice=int(fields[16]),
            priority=int(fields[37]),
            processors=frozenset(os.sched_getaffinity(int(task.name))),
            cpuset=(task / "cpuset").read_text(),
        )


def model() -> Json:
    camera, motor = CHAIN
    executors = ("camera", "motor")
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": f"kill_test_{executor}"} for executor in executors],
        "callbacks": [
            {
                "id": "frame",
                "node": camera,
                "kind": "timer",
                "executor": "kill_test_camera",
                "execution_time": {"curve": [2 * MS]},
                "activation": {"kind": "periodic", "period": 20 * MS},
            },
            {
                "id": "command",
                "node": motor,
                "kind": "subscription",
                "executor": "kill_test_motor",
                "execution_time": {"curve": [2 * MS]},
            },
        ],
        "edges": [{"from": "frame", "to": "command"}],
    }


@pytest.fixture
def robot(tmp_path: Path) -> Iterator[list[int]]:
    """A running system that the manager finds: its processes."""
    document = tmp_path / "model.json"
    document.write_text(json.dumps(model()))
    environment = {
        **os.environ,
        **loopback.environment(),
        "LD_PRELOAD": str(runtime.tracetools()),
    }
    with Child(
        [*TAKT, "run", str(document)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as program:
        try:
            until(lambda: len(workloads(program.pid)) == 2)
            yield workloads(program.pid)
        finally:
            program.terminate()


def workloads(parent: int) -> list[int]:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(child) for child in children]


def threads(processes: list[int]) -> dict[int, Scheduling]:
    """Those that are there; one may end between two looks."""
    found = {}
    for process in processes:
        for task in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError):
                found[int(task.name)] = Scheduling.of(task)
    return found


def guards() -> set[int]:
    """The guards that run; in a container nobody may reap those that have ended."""
    running = ["pgrep", "-x", "--runstates", "RSD", "takt-guard"]
    found = subprocess.run(running, capture_output=True, check=False).stdout
    return set(map(int, found.split()))


def segments() -> set[str]:
    """Files of shared memory that nobody has mapped: tests and fuzzers that run beside this have
    files and folders there, too.
    """
    files = {entry.name for entry in Path("/dev/shm").iterdir() if entry.is_file()}
    for process in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):  # it has ended
            mapped = process.read_text("latin-1")
            files -= {name for name in files if f"/dev/shm/{name}" in mapped}
    return files


def cpusets() -> set[str]:
    """The cpusets of cgroup version 1, and whether the load is balanced over all processors."""
    if not CPUSETS.is_dir():
        return set()
    balanced = (CPUSETS / "cpuset.sched_load_balance").read_text()
    return {balanced} | {entry.name for entry in CPUSETS.iterdir() if entry.is_dir()}


@pytest.mark.timeout(PATIENCE)
@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
def test_killed_at_any_moment_it_leaves_threads_as_they_were(
    robot: list[int], tmp_path: Path
) -> None:
    kill_again_and_again(robot, tmp_path, KILLS, margin=10, cores=[])


@pytest.mark.timeout(PATIENCE)
@pytest.mark.skipif(os.geteuid() != 0, reason="reservations need root")
@pytest.mark.skipif(not CPUSETS.is_dir(), reason="there are no cpusets of cgroup version 1")
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two processors")
def test_killed_while_threads_are_kept_on_cores_it_leaves_no_cpuset(
    robot: list[int], tmp_path: Path
) -> None:
    """Each executor wants two thirds of a core, more than the test without pinning allows."""
    cores = sorted(os.sched_getaffinity(0))
    kill_again_and_again(robot, tmp_path, max(KILLS // 5, 5), margin=550, cores=cores)


def kill_again_and_again(
    robot: list[int], tmp_path: Path, kills: int, margin: int, cores: list[int]
) -> None:
    chance = random.Random(os.environ.get("TAKT_SEED", "1"))
    goals = tmp_path / "goals.yaml"
    goals.write_text(
        "period: 1s\n"
        f"chains: [{{name: kill test, from: {CHAIN[0]}, to: {CHAIN[1]}, latency: 500ms}}]\n"
    )
    socket = tmp_path / "manager.sock"
    settings = {
        "goals": str(goals),
        "backend": "ring",
        "only_started": False,
        "dry_run": False,
        "margin": margin,
        "left": 100,
        "period": 5 * MS,
        "pinned": cores,
        "log": "",
        "socket": str(socket),
        "slots": 0,
        "shaped": [],
    }
    # Wait for the threads that the middleware makes on its first use.
    until(lambda: len(threads(robot)) > len(robot))
    time.sleep(1)
    before, guarding, shared, sets = threads(robot), guards(), segments(), cpusets()
    usual = list(before.values())

    def restored() -> bool:
        """Also threads that are newer are scheduled as others were before."""
        now = threads(robot)
        return before.items() <= now.items() and all(one in usual for one in now.values())

    reserved = pinned = 0
    done = 0
    # Without any reservation, or core, it would have shown nothing.
    while done < kills or reserved == 0 or (cores and pinned == 0):
        done += 1
        with Child(
            [str(runtime.manager()), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        ) as manager:
            # The moment is what is random here: nothing waits for it.
            # On a busy machine the manager may take longer to decide.
            time.sleep(chance.uniform(0, LONGEST * max(1, done / kills)))
            now = threads(robot).values()
            reserved += any(one.policy == DEADLINE for one in now)
            pinned += any(one.cpuset.startswith("/takt-core-") for one in now)
            manager.kill()
        until(restored)
        until(lambda: guards() <= guarding)
        until(lambda: segments() <= shared)
        assert cpusets() == sets
    print(f"{done} kills, {reserved} with reservations, {pinned} with threads kept on cores")
    assert bool(pinned) == bool(cores)

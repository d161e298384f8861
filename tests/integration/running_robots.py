"""Robots of stock rclpy and rclcpp that run before they are recorded, and log what they do."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

from children import Child
from recording import PROGRAMS, TAKT, takt, until

Json = dict[str, Any]

NOBODY = "65534"
OTHER_USER = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]
NAME_SPACE = ["unshare", "--pid", "--fork", "--mount-proc"]
RCLPY = [sys.executable, str(PROGRAMS / "running_nodes.py")]
RCLCPP = Path(__file__).resolve().parents[2] / "build/release/tests/programs/rclcpp_running"


@dataclass(frozen=True)
class Program:
    command: list[str]
    executor: str

    @property
    def is_silent(self) -> bool:
        """rclcpp's EventsExecutor does not say what it runs: its callbacks are unknown."""
        return self.executor == "events"


PROGRAMS_OF: dict[str, dict[str, Program]] = {
    "rclpy": {
        "alone": Program(RCLPY, "single"),
        "pool": Program(RCLPY, "multi"),
        "other": Program([*OTHER_USER, *RCLPY], "single"),
        "inner": Program([*NAME_SPACE, *RCLPY], "multi"),
    },
    "rclcpp": {
        "alone": Program([str(RCLCPP)], "single"),
        "pool": Program([str(RCLCPP)], "multi"),
        "events": Program([str(RCLCPP)], "events"),
        "other": Program([*OTHER_USER, str(RCLCPP)], "single"),
        "inner": Program([*NAME_SPACE, str(RCLCPP)], "multi"),
    },
}
"""By client library, and by what the names of such a robot begin with."""


def stock_environment() -> dict[str, str]:
    environment = dict(os.environ)
    stock = ":".join(f"{prefix}/lib" for prefix in environment["AMENT_PREFIX_PATH"].split(":"))
    environment["LD_LIBRARY_PATH"] = f"{stock}:{environment.get('LD_LIBRARY_PATH', '')}"
    return environment


class Robot:
    """A program that runs: a message goes through its nodes in every period (seconds)."""

    def __init__(
        self,
        prefix: str,
        program: Program,
        folder: Path,
        stack: ExitStack,
        *,
        period: float = 0.2,
        environment: Mapping[str, str] = {},
    ) -> None:
        self.prefix = prefix
        self.program = program
        self.log = folder / f"{prefix}.json"
        self.child = stack.enter_context(
            Child(
                [*program.command, prefix, program.executor, str(self.log), str(period)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**stock_environment(), "ROS_LOG_DIR": str(folder), **environment},
            )
        )
        assert self.child.stdout
        assert self.child.stdout.readline() == "ready\n"
        self.chains = 0
        Thread(target=self._count_chains, daemon=True).start()
        self.process = self.child.pid
        if program.command[: len(NAME_SPACE)] == NAME_SPACE:
            children = Path(f"/proc/{self.process}/task/{self.process}/children")
            self.process = int(children.read_text())

    def _count_chains(self) -> None:
        assert self.child.stdout
        with suppress(ValueError):  # closed, because a test failed
            for _ in self.child.stdout:
                self.chains += 1

    def has_ended(self) -> bool:
        return self.child.poll() is not None


@dataclass
class Truth:
    """What a robot has logged."""

    prefix: str
    process: int
    is_silent: bool
    nodes: list[str]
    owners: dict[str, dict[str, str]]
    """By kind of endpoint and name: the node."""
    runs: dict[str, list[tuple[int, int]]]
    """By topic: when each run of the callback began and ended."""


def folder_of_all(folder: Path) -> Path:
    """A new folder in which programs of any user can write."""
    logs = folder / "logs"
    logs.mkdir()
    logs.chmod(0o777)
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(parent.stat().st_mode | 0o055)
    return logs


def end(robots: Sequence[Robot]) -> dict[str, Truth]:
    for robot in robots:
        assert robot.child.stdin
        robot.child.stdin.close()
    truths = {}
    for robot in robots:
        assert robot.child.wait() == 0
        said = json.loads(robot.log.read_text())
        truths[robot.prefix] = Truth(
            robot.prefix,
            robot.process,
            robot.program.is_silent,
            said["nodes"],
            {kind: said[kind] for kind in KINDS},
            said["runs"],
        )
    return truths


def await_chains(robots: Sequence[Robot], count: int) -> None:
    """Waits until so many messages have gone through all nodes of each robot."""
    goals = [robot.chains + count for robot in robots]
    until(
        lambda: all(
            robot.chains >= goal or robot.has_ended()
            for robot, goal in zip(robots, goals, strict=True)
        )
    )


@contextmanager
def recorder(
    robots: Sequence[Robot], trace: Path, *options: str
) -> Iterator[subprocess.Popen[str]]:
    """Records for the time of a `with` block, which begins when something of each robot is in its
    file.
    """
    command = [*TAKT, "record", *options, "-o", str(trace)]
    with Child(command, stderr=subprocess.PIPE, text=True) as recording:
        partial = Path(f"{trace}.partial")

        def is_recorded(robot: Robot) -> bool:
            streams = partial.glob(f"*/*-{robot.process}*/thread_*")
            return any(stream.stat().st_size > 4096 for stream in streams)

        until(lambda: all(map(is_recorded, robots)) or recording.poll() is not None)
        yield recording
        recording.send_signal(signal.SIGINT)
        _, said = recording.communicate()
        assert recording.returncode == 0, (recording.returncode, said)


def unseen(document: Json) -> set[int]:
    """Processes of which the recording says that it may lack anything."""
    return {r["pid"] for r in document["recoveries"] if "searched to the end" in r["unknown"]}


KINDS = {"subscriptions": "topic", "publishers": "topic", "services": "name", "clients": "name"}
"""What has a node, and what its name is called in documents."""


@dataclass
class Names:
    """What a recording says of the nodes and endpoints of a robot."""

    right: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)  # those whose node is not said
    wrong: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def names(document: Json, truth: Truth) -> Names:
    found = Names()

    def judge(name: str, right: bool | None) -> None:
        {True: found.right, False: found.wrong, None: found.unknown}[right].append(name)

    nodes = {n["name"] for n in document["nodes"] if n["name"].startswith(f"/{truth.prefix}/")}
    for node in nodes:
        judge(node, node in truth.nodes)
    found.missing += set(truth.nodes) - nodes
    for kind, key in KINDS.items():
        owners = truth.owners[kind]
        told = {e[key]: e["node"] for e in document[kind] if e[key] in owners}
        for name, node in told.items():
            judge(f"{kind}: {name}", None if node is None else node == owners[name])
        found.missing += [f"{kind}: {name}" for name in owners if name not in told]
    # Those that every node has are told by their names.
    for service in document["services"]:
        name = service["name"]
        node = name.rpartition("/")[0]
        if node in truth.nodes and name not in truth.owners["services"]:
            judge(f"services: {name}", None if service["node"] is None else service["node"] == node)
    return found


def rows(table: Path) -> list[dict[str, str]]:
    with table.open(newline="") as text:
        return list(csv.DictReader(text))


def runs(
    trace: Path, tables: Path, truths: Mapping[str, Truth]
) -> dict[str, list[tuple[int, int]]]:
    """By topic, the recorded and the logged duration of each run of its callback. Fails if a
    recorded run is not around exactly one that the program logged.
    """
    done = takt("export", str(trace), "--format", "csv", "-o", str(tables))
    assert done.returncode == 0, done.stderr
    callbacks = {row["callback"]: row for row in rows(tables / "objects/callbacks.csv")}
    logged = {topic: log for truth in truths.values() for topic, log in truth.runs.items()}
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for run in rows(tables / "happened/runs.csv"):
        callback = callbacks[run["callback"]]
        if callback["kind"] != "subscription" or callback["topic"] not in logged:
            continue
        begin, duration = int(run["start"]), int(run["duration"])
        within = [(b, e) for b, e in logged[callback["topic"]] if begin <= b <= begin + duration]
        ((true_begin, true_end),) = within
        assert true_end <= begin + duration
        found[callback["topic"]].append((duration, true_end - true_begin))
    return found

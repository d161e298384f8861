"""takt watch beside stock programs that run already, heard by probes in the kernel: what it says of
them is what they say themselves, or that it is not known.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import takt_native
from children import Child
from recording import TAKT, needs_privileges
from running_robots import (
    NAME_SPACE,
    PROGRAMS_OF,
    RCLCPP,
    RCLPY,
    Program,
    Robot,
    Truth,
    end,
    folder_of_all,
    stock_environment,
)

Json = dict[str, Any]

pytestmark = [pytest.mark.alone, needs_privileges]
CHAINS = 12
IN_START_UP = 6
"""Runs of a callback in the second that counts as start-up, at most."""
"""So many messages go through each robot while it is watched."""

needs_rclcpp = pytest.mark.skipif(
    not RCLCPP.exists(), reason="CMake found no rclcpp, so its programs are not built"
)


def goals_of(programs: dict[str, Program]) -> str:
    """For each robot, from its first topic to the end of the last node's callback."""
    chains = [
        f"  - {{name: {prefix}, from: /{prefix}/t0, to: '/{prefix}/n/n/n/n/n:/{prefix}/t4',"
        " latency: 10s}"
        for prefix in programs
    ]
    return "\n".join(["chains:", *chains])


@dataclass
class Watched:
    """Robots that were watched: what Takt said of them, and what they logged themselves."""

    document: Json
    model: Json
    placed: int
    began: int
    ended: int
    """Before the probes were placed, and when it was watched; nanoseconds since the epoch."""
    used: dict[int, float]
    """Seconds of processor time that each process took since before the probes were placed."""
    truths: dict[str, Truth]


def poll_until(watch: takt_native.Watch, condition: Callable[[], bool]) -> None:
    while not condition():
        watch.poll()
        time.sleep(0.05)


@pytest.fixture(scope="module", params=["rclpy", pytest.param("rclcpp", marks=needs_rclcpp)])
def watched(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    programs = PROGRAMS_OF[request.param]
    logs = folder_of_all(tmp_path_factory.mktemp("watched"))
    with ExitStack() as stack:
        robots = [Robot(prefix, program, logs, stack) for prefix, program in programs.items()]
        placed = time.time_ns()
        before = {robot.process: processor_time(robot.process) for robot in robots}
        watch = takt_native.Watch("ebpf", goals_of(programs), "goals", False, 60 * 10**9)
        began = time.time_ns()
        goals = [robot.chains + CHAINS + 1 for robot in robots]

        def enough() -> bool:
            return all(robot.chains >= goal for robot, goal in zip(robots, goals, strict=True))

        poll_until(watch, enough)
        assert watch.refresh()  # from now on chains are measured
        for i, robot in enumerate(robots):
            goals[i] = robot.chains + CHAINS + 1
        poll_until(watch, enough)
        ended = time.time_ns()
        watch.refresh()
        document, model = json.loads(watch.document()), json.loads(watch.model())
        used = {process: processor_time(process) - earlier for process, earlier in before.items()}
        return Watched(document, model, placed, began, ended, used, end(robots))


def callbacks_of(model: Json, truth: Truth) -> Iterator[tuple[str | None, str]]:
    """The node and topic of each callback that receives a topic of this robot."""
    for callback in model["callbacks"]:
        topic = callback.get("topic")
        if topic in truth.owners["subscriptions"]:
            yield callback.get("node"), topic


def test_every_name_is_right_or_unknown(watched: Watched) -> None:
    for truth in watched.truths.values():
        owners = truth.owners["subscriptions"]
        told = list(callbacks_of(watched.model, truth))
        assert truth.is_silent or told
        for node, topic in told:
            assert node == owners[topic] or not node or "unknown" in node, (node, topic)
        known = [topic for node, topic in told if node == owners[topic]]
        assert len(known) >= 3 * len(told) / 4


def test_what_cannot_be_seen_is_named(watched: Watched) -> None:
    assert watched.document["backend"] == "ebpf"
    for truth in watched.truths.values():
        lines = [line for line in watched.document["unseen"] if f"process {truth.process} " in line]
        assert len(lines) == 1
        assert "timers: their nodes" in lines[0]


def is_found(watched: Watched, truth: Truth) -> bool:
    """Whether its objects could be found in its memory, which it may have had too much of."""
    cut = [line for line in watched.document["unseen"] if "searched to the end" in line]
    return not any(f"process {truth.process} " in line for line in cut)


def test_executors_are_those_of_the_programs(watched: Watched) -> None:
    processes = {executor["process"] for executor in watched.document["executors"]}
    assert processes >= {
        truth.process for truth in watched.truths.values() if is_found(watched, truth)
    }
    for executor in watched.document["executors"]:
        assert executor["threads"]


def test_runs_take_as_long_as_the_programs_say(watched: Watched) -> None:
    topics = {callback["id"]: callback.get("topic") for callback in watched.model["callbacks"]}
    for id_, observed in watched.model["provenance"]["observed"].items():
        for truth in watched.truths.values():
            if truth.is_silent or topics.get(id_) not in truth.owners["subscriptions"]:
                continue
            runs = truth.runs[topics[id_]]
            all_ = [stop - start for start, stop in runs if stop > watched.placed]
            assert observed["count"] <= len(all_)
            # Each run is there, or it is said that some have no end.
            certain = [start for start, stop in runs if watched.began < start < watched.ended]
            if not any("count nowhere" in line for line in watched.document["unseen"]):
                assert observed["count"] >= len(certain) - IN_START_UP
            # The program's clock also counts time in which its thread had no processor.
            assert observed["max"] <= 1.1 * max(all_)


def test_runs_take_the_processor_time_that_the_kernel_counts(watched: Watched) -> None:
    processes = {
        each["id"]: each["process"]
        for each in watched.document["executors"]
        if each["process"] in watched.used  # other programs of the machine are watched, too
    }
    total: dict[int, float] = defaultdict(float)
    for callback in watched.model["callbacks"]:
        seen = watched.model["provenance"]["observed"].get(callback["id"])
        if seen and callback["executor"] in processes:
            total[processes[callback["executor"]]] += seen["count"] * seen["mean"] / 1e9
    assert total
    for process, seconds in total.items():
        used = watched.used[process]
        assert seconds <= 1.05 * used + 0.05
        without_end = any("count nowhere" in line for line in watched.document["unseen"])
        # Callbacks take most of it; start-up is left out.
        assert without_end or seconds >= 0.4 * used


def processor_time(process: int) -> float:
    """Seconds that a process has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_chains_are_measured_as_the_programs_say(watched: Watched) -> None:
    judged = 0
    for chain in watched.document["chains"]:
        truth = watched.truths[chain["id"]]
        if truth.is_silent or not chain["count"]:
            continue
        judged += 1
        last = truth.runs[f"/{truth.prefix}/t4"]
        assert chain["count"] <= len([1 for _, stop in last if stop > watched.placed])
        # All callbacks ran in it, one after the other.
        least = sum(min(stop - start for start, stop in runs) for runs in truth.runs.values())
        timer = min(stop - start for start, stop in truth.runs["timer"])
        assert least - timer <= chain["p50"] <= chain["max"] <= watched.ended - watched.placed
    assert judged


def test_edges_lead_through_all_nodes(watched: Watched) -> None:
    topics = {callback["id"]: callback.get("topic") for callback in watched.model["callbacks"]}
    edges = {(topics[edge["from"]], topics[edge["to"]]) for edge in watched.model["edges"]}
    for truth in watched.truths.values():
        if truth.is_silent or not is_found(watched, truth):
            continue
        for source, target in pairwise(sorted(truth.owners["subscriptions"])):
            assert (source, target) in edges, truth.prefix


def test_probes_are_chosen_where_nobody_has_the_library(tmp_path: Path) -> None:
    """In a namespace of processes, as other programs on this machine may have the library."""
    logs = folder_of_all(tmp_path)
    program = Program([*NAME_SPACE, *RCLPY], "single")
    with ExitStack() as stack:
        robot = Robot("alone", program, logs, stack)
        beside_it = ["nsenter", "--target", str(robot.process), "--pid", "--mount"]
        command = [*beside_it, *TAKT, "watch", "--duration", "8", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        end([robot])
    said = "takt: 1 program of ROS 2, none with Takt's library: hearing "
    assert any(line.startswith(said) for line in done.stderr.splitlines()), done.stderr
    document = json.loads(done.stdout)
    assert document["backend"] == "ebpf"
    assert document["events"] > 0
    assert [e["process"] for e in document["executors"]] == [1]
    # From the timer, whose node is not known.
    assert [chain["id"] for chain in document["chains"]] == ["unknown->/alone/n/n/n/n/n"]
    assert document["chains"][0]["total"] > 0


def test_a_program_that_starts_and_ends_while_it_is_watched(tmp_path: Path) -> None:
    logs = folder_of_all(tmp_path)
    programs = {"alone": PROGRAMS_OF["rclpy"]["alone"]}
    watch = takt_native.Watch("ebpf", goals_of(programs), "goals", False, 60 * 10**9)
    with ExitStack() as stack:
        robot = Robot("alone", programs["alone"], logs, stack)
        poll_until(watch, lambda: robot.chains >= CHAINS)
        assert watch.refresh()
        assert not [line for line in json.loads(watch.document())["unseen"] if "ran before" in line]
        structure = watch.structure()
        end([robot])
    poll_until(watch, lambda: watch.structure() > structure)
    model = json.loads(watch.model())
    nodes = {callback.get("node") for callback in model["callbacks"]}
    assert f"/{robot.prefix}/n/n/n/n/n" in nodes


def test_who_may_place_no_probes_is_told(tmp_path: Path) -> None:
    folder_of_all(tmp_path)
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *TAKT]
    done = subprocess.run(
        [*command, "watch", "--backend", "ebpf", "--duration", "1"],
        capture_output=True,
        text=True,
        check=False,
        env=stock_environment(),
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("takt: not allowed to ")
    assert "CAP_BPF" in line


# The stock library, with a text that no record has room for.
TALKATIVE = """
import ctypes, sys
library = ctypes.CDLL("libtracetools.so")
library.ros_trace_rcl_node_init(ctypes.c_void_p(1), ctypes.c_void_p(2), b"talker", b"/")
print("ready", flush=True)
sys.stdin.readline()
for i in range(1000):
    library.ros_trace_rclcpp_executor_wait_for_work(ctypes.c_int64(i))
library.ros_trace_rclcpp_callback_register(ctypes.c_void_p(3), b"x" * 20000)
print("done", flush=True)
sys.stdin.readline()
"""


def test_what_is_lost_is_counted() -> None:
    program = [sys.executable, "-c", TALKATIVE]
    with Child(
        program,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=stock_environment(),
    ) as child:
        assert child.stdin
        assert child.stdout
        assert child.stdout.readline() == "ready\n"
        watch = takt_native.Watch("ebpf", None, "", False, 10**10)
        child.stdin.write("\n")
        child.stdin.flush()
        assert child.stdout.readline() == "done\n"
        poll_until(watch, lambda: json.loads(watch.document())["events"] >= 1000)
        document = json.loads(watch.document())
        child.stdin.close()
    assert document["lost"] == {"events": 1, "programs": 0}

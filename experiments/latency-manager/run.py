"""ROS-Llama, 6.3, and what reservations are for beside a competing load. See README.md."""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import os
import statistics
import tempfile
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from takt.trials.experiments import Row, Rows
from takt.trials.node_runs import Log
from takt.trials.scheduling_trials import Goal, Outcome, Way, load, measure

from . import by_phase

Json = dict[str, Any]

MODELS = Path(__file__).parents[2] / "models"
ROBOT = MODELS / "navigation_robot.json"
REFERENCE_SYSTEM = MODELS / "autoware_reference_system.json"

WARM_UP = 15.0
PHASE, PHASES = 15.0, 3
"""Seconds of each: no load, normal load, high load."""
FULL_PHASE, FULL_ROUNDS = 50.0, 4
NONE, NORMAL, DECODING, TRACKING = 0.05, 1, 400, 4
"""Factors of the model's execution times: the tracker without objects, the normal load, and
decoding and tracking in the last phase, which is more than the machine can do.
"""

OVERLOAD = 60
"""Factor of 6 ms in every 200 ms."""

HIGHEST = 70
"""The priority of the most important chain's threads, if priorities are given by hand."""
LOADS_PER_CORE = (8, 32)
NEVER = "never completed"
ROUNDS = 3

GOALS = {
    "heartbeat": Goal("/watchdog", "/watchdog", 100),
    "pilot": Goal("/planner", "/motor", 125),
    "odometry-nav": Goal("/odometry", "/costmap:/odom", 75),
    "laser-scanner": Goal("/lidar", "/costmap:/scan", 150),
    "localization": Goal("/amcl:/scan", "/amcl:/scan", 450),
    "odometry-loc": Goal("/odometry", "/amcl:/odom", 100),
    "tracker": Goal("/camera", "/tracker", 990),
}
"""Table 6.2: from, to and goal in ms, the most important first."""

MANAGED, DEFAULT, ROUND_ROBIN, BY_HAND = "managed", "default", "SCHED_RR", "threads by hand"
CHAINS = {
    "lidar to collision estimate": Goal("/RearLidarDriver", "/ObjectCollisionEstimator", 110),
    "plan to vehicle": Goal("/BehaviorPlanner", "/VehicleDBWSystem", 110),
    "map to localization": Goal("/PointCloudMap", "/NDTLocalizer", 110),
}

# Figure 6.7: violations and completions in about 800 s.
PUBLISHED = {
    MANAGED: "0/7989 0/5712 0/15980 0/3968 0/3968 0/15980 211/809",
    DEFAULT: "0/7979 32/5480 0/15959 0/3969 0/3969 0/15959 175/808",
    ROUND_ROBIN: "0/7975 66/5429 105/15946 5/3961 0/3958 76/15946 179/808",
}
COST = "30 to 45 %"


def run(full: bool = False) -> Rows:
    if full:
        return (
            robot(FULL_PHASE, FULL_ROUNDS)
            + contained(FULL_PHASE)
            + [row for loads in LOADS_PER_CORE for row in beside_a_load(ROUNDS, FULL_PHASE, loads)]
        )
    return (
        robot(PHASE, 1)
        + contained(PHASE)
        + [row for loads in LOADS_PER_CORE for row in beside_a_load(1, PHASE, loads)]
    )


def robot(phase: float, rounds: int) -> Rows:
    """The navigation robot in three phases under each way of scheduling."""
    model: Json = json.loads(ROBOT.read_text(encoding="utf-8"))
    by_hand = isolated(model)
    ways = [
        (Way(MANAGED, managed=True), model),
        (Way(DEFAULT), model),
        (Way(ROUND_ROBIN, set_up=lambda status: _prioritise(model, status, os.SCHED_RR)), model),
        (Way(BY_HAND, set_up=lambda status: _prioritise(by_hand, status, os.SCHED_FIFO)), by_hand),
    ]
    start = WARM_UP
    ends = [start + (number + 1) * phase for number in range(PHASES)]
    surges = [
        f"track={NONE}@0-{ends[0]}",
        f"track={TRACKING}@{ends[1]}-{ends[2]}",
        f"frame={DECODING}@{ends[1]}-{ends[2]}",
    ]
    rows: Rows = []
    for way, variant in ways:
        outcomes, logs = _measured(variant, way, PHASES * phase, surges, rounds)
        rows += by_phase.latencies(way.name, logs, ends)
        published = PUBLISHED.get(way.name, "").split()
        for name, expected in zip_longest(GOALS, published):
            missed = sum(outcome.chains[name].missed for outcome in outcomes)
            completed = sum(outcome.chains[name].completed for outcome in outcomes)
            what = f"{way.name}: {name}, violations"
            place = "Figure 6.7" if expected is not None else ""
            rows.append(Row(what, expected, f"{missed} of {completed}", place=place))
        pilot = max(outcome.chains["pilot"].worst for outcome in outcomes)
        rows.append(Row(f"{way.name}: pilot, longest", None, pilot, "ms"))
        if way.managed:
            cpu = statistics.median(outcome.cpu for outcome in outcomes)
            planning = max(outcome.planning for outcome in outcomes)
            rows.append(
                Row(
                    "manager and extractor, of a core",
                    COST,
                    cpu,
                    "%",
                    "section 6.3, by Figure 6.11",
                )
            )
            rows.append(Row("longest decision", None, planning, "ms"))
            rows += by_phase.costs(outcomes, logs, ends)
            tracker = {state for outcome in outcomes for state in outcome.chains["tracker"].states}
            ours = "degraded" if "degraded" in tracker else ", ".join(sorted(tracker))
            rows.append(Row("tracker", "degraded", ours, place="section 6.3.1"))
    return rows


def _measured(
    model: Json, way: Way, seconds: float, surges: Sequence[str], rounds: int
) -> tuple[list[Outcome], list[Log]]:
    """What the manager reported and what the nodes said, of each round."""
    outcomes, logs = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="takt-") as folder:
            nodes = Path(folder) / "nodes.jsonl"
            outcomes.append(measure(model, GOALS, way, WARM_UP, seconds, surges, nodes))
            logs.append(Log.read(nodes))
    return outcomes, logs


def contained(seconds: float) -> Rows:
    """The costmap, which guaranteed chains depend on, takes more than its reservation and more than
    a core; chains that do not depend on it shall not notice.
    """
    model: Json = json.loads(ROBOT.read_text(encoding="utf-8"))
    surges = [f"track={NONE}@0-{2 * WARM_UP + seconds}"]
    surges.append(f"obstacles={OVERLOAD}@{2 * WARM_UP}-{2 * WARM_UP + seconds}")
    # The chains have their reservations before the surge.
    outcome = measure(model, GOALS, Way(MANAGED, managed=True), 1.5 * WARM_UP, seconds, surges)
    rows: Rows = []
    for name in ("heartbeat", "pilot", "localization"):
        chain = outcome.chains[name]
        promised = f"≤ {chain.bound:.1f}" if chain.bound is not None else "not guaranteed"
        what = f"surge of the costmap: {name}, longest"
        rows.append(Row(what, None, chain.worst, "ms", expected=promised))
    return rows


def isolated(model: Json) -> Json:
    """The model with a process and thread for each callback, as if each had a callback group of its
    own.
    """
    result = copy.deepcopy(model)
    executors = {executor["id"]: executor for executor in result["executors"]}
    result["executors"] = []
    for callback in result["callbacks"]:
        executor = copy.deepcopy(executors[callback["executor"]])
        executor |= {"id": callback["id"], "name": callback["id"], "process": callback["id"]}
        result["executors"].append(executor)
        callback["executor"] = callback["id"]
    return result


def _prioritise(model: Json, status: Json, policy: int) -> None:
    """Threads have the priority of the most important chain that they serve."""
    executors = {callback["id"]: callback["executor"] for callback in model["callbacks"]}
    priorities: dict[str, int] = {}
    for chain in model["chains"]:
        for executor in map(executors.__getitem__, chain["callbacks"]):
            priority = HIGHEST - 2 * chain["rank"]
            priorities[executor] = max(priorities.get(executor, 0), priority)
    for running in status["executors"]:
        for thread in running["threads"]:
            os.sched_setscheduler(thread, policy, os.sched_param(priorities[running["id"]]))


def beside_a_load(rounds: int, seconds: float, loads: int) -> Rows:
    """The reference system, under the default scheduler and managed in turns, beside so many
    processes for each core that do nothing but compute. They begin when all chains have been seen:
    a system that starts beside them may take minutes to start.
    """
    model: Json = json.loads(REFERENCE_SYSTEM.read_text(encoding="utf-8"))
    for executor in model["executors"]:
        executor["supply"] = {"kind": "dedicated"}
    before: list[Outcome] = []
    after: list[Outcome] = []
    processes = loads * len(os.sched_getaffinity(0))
    for _ in range(rounds):
        for name, outcomes in ((DEFAULT, before), (MANAGED, after)):
            with contextlib.ExitStack() as others:
                begin = functools.partial(_begin_load, others, processes)
                way = Way(name, managed=name == MANAGED, set_up=begin)
                outcomes.append(measure(model, CHAINS, way, WARM_UP, seconds))
    rows: Rows = []
    for name in CHAINS:
        free, managed = (_longest(outcomes, name) for outcomes in (before, after))
        bounds = [outcome.chains[name].bound for outcome in after]
        promised = max((bound for bound in bounds if bound is not None), default=None)
        what = f"beside {processes} processes: {name}, longest"
        ratio = free / managed if free is not None and managed is not None else NEVER
        rows += [
            Row(f"{what}, default", None, NEVER if free is None else free, "ms"),
            Row(
                f"{what}, managed",
                None,
                NEVER if managed is None else managed,
                "ms",
                expected=f"≤ {promised:.1f}" if promised else "not guaranteed",
            ),
            Row(f"{what}, default / managed", None, ratio, expected="≥ 5"),
        ]
    return rows


def _begin_load(until: contextlib.ExitStack, processes: int, _status: Json) -> None:
    until.enter_context(load(processes))


def _longest(outcomes: Sequence[Outcome], chain: str) -> float | None:
    """The longest latency of all runs, in ms; None if one of them never completed the chain."""
    if any(outcome.chains[chain].worst == 0 for outcome in outcomes):
        return None
    return max(outcome.chains[chain].worst for outcome in outcomes)

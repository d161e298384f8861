"""Events executor with priorities on real threads: Figures 3.2 to 3.4 and 3.6. See README.md."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import takt_design
from takt.errors import UserError
from takt.trials import experiments, node_runs
from takt.trials.experiments import RATIO, Row, Rows, drawn
from takt.trials.node_runs import Missed

Json = dict[str, Any]
Spans = tuple[tuple[str, float, float], ...]

MS = 1_000_000
SECONDS, FULL_SECONDS = 6.0, 300.0
HOT_SECONDS, FULL_HOT_SECONDS = 8.0, 600.0

RUNS, CYCLES = 3, 2
UNIT = 10 * MS
"""Of the small example on threads; one ms in the simulation."""
EXAMPLE = {"τ1": (3, 10), "τ2": (10, 30), "τ3": (10, 30)}
"""Execution time and period, in units."""
SECOND_JOB: dict[str, tuple[str, Json, float, str]] = {
    "default": ("single_threaded", {}, 23.0, "section 3.1.1, with Figure 3.2"),
    "events": ("events", {}, 23.0, "section 3.1.4, with Figure 3.2"),
    "by rate": ("fixed_priority", {}, 13.0, "section 3.1.4, with Figure 3.2"),
}
"""Kind, options of the simulator, when the second job of τ1 starts, and where that is printed."""

SETS = {"60 %": 10, "80 %": 14, "90 %": 16}
"""Execution time of the cameras in ms."""
DRAWN = "90 %"
TIMERS = {"default": "single_threaded", "events": "events", "RM": "fixed_priority", "EDF": "edf"}
MISSED = {
    "default": Missed.SKIPPED,
    "events": Missed.KEPT,
    "RM": Missed.KEPT,
    "EDF": Missed.REPLACED,
}
LOST: dict[str, tuple[str, str]] = {
    "default": ("repeatedly", "> 0"),
    "RM": ("none", "≤ 0"),
    "EDF": ("none", "≤ 0"),
}
OVERRUNS = {"default": "> 0", "events": "> 0", "RM": "≤ 0"}
"""Of the inertial unit, by the text; by rate, of all."""

ORDERS = {"rate_monotonic": "by rate", "edf": "by deadline"}
GRAPH_AWARE = ("graph-aware by rate", "graph-aware by deadline")
FIGURE_3_9 = "section 3.2.8, with Figure 3.9"
FIGURE_3_8 = "section 3.2.8, with Figure 3.8"

HOT_PATH = {
    "default": "single_threaded",
    "multi-threaded": "multi_threaded",
    "events": "events",
    "by rate": "fixed_priority",
    "graph-aware by rate": "graph_aware",
    "graph-aware by deadline": "graph_aware",
    "by hand": "fixed_priority",
}


def run(full: bool = False) -> Rows:
    seconds, hot = (FULL_SECONDS, FULL_HOT_SECONDS) if full else (SECONDS, HOT_SECONDS)
    return [*example(), *timers(seconds), *trees(seconds), *hot_path(hot)]


def example() -> Rows:
    rows: Rows = []
    for name, (kind, options, second, place) in SECOND_JOB.items():
        schedules = {
            "simulated": _simulated(kind, options),
            "on threads": _on_threads(kind),
        }
        for how, spans in schedules.items():
            what = f"Example, {name}, {how}"
            first = [span for span in spans if span[0] == "τ1"]
            rows.append(
                Row(f"{what}: second job of τ1 starts", second, first[1][1], "units", place)
            )
            # Three expiries within a period of the others: 0, 10, 20.
            skips = len([span for span in first if span[1] < 29.5]) < 3
            if name == "default":
                ours = "skipped" if skips else "served"
                rows.append(Row(f"{what}: expiry at 20", "skipped", ours, place=place))
            else:
                ended = first[1][2]
                late = "misses" if ended > 20 else "meets"
                said = "misses" if name == "events" else "meets"
                rows.append(Row(f"{what}: deadline of the second job", said, late, place=place))
            rows.append(Row(what, None, "drawn", "units", figure="Figure 3.2", spans=spans))
    return rows


def _example(kind: str, unit: int) -> Json:
    return _timers_model(
        kind, [(name, time * unit, period * unit) for name, (time, period) in EXAMPLE.items()]
    )


def _simulated(kind: str, options: Json) -> Spans:
    wanted = json.dumps(options | {"duration": 30 * MS, "timeline": 20})
    text = json.dumps(_example(kind, MS))
    timeline = json.loads(takt_design.simulate(text, "model", wanted))["timeline"]
    return tuple(
        (one["callback"], one["start"] / MS, one["end"] / MS)
        for one in timeline
        if one["start"] < 30 * MS
    )


def _on_threads(kind: str) -> Spans:
    """The schedule of the cycle in which the second job of τ1 has its median start, because the
    machine may stand still in some.
    """
    cycle = 30 * UNIT
    cycles: list[Spans] = []
    for _ in range(RUNS):
        log, _ = node_runs.run(_example(kind, UNIT), (CYCLES + 1) * cycle / 1e9)
        # All timers expire together for the first time after a cycle.
        origin = log.origin({name: period * UNIT for name, (_, period) in EXAMPLE.items()})
        starts = [origin + number * cycle for number in range(1, CYCLES + 1)]
        cycles += [_relative(log, start, start + cycle) for start in starts]
    whole = [found for found in cycles if sum(name == "τ1" for name, _, _ in found) > 1]
    if not whole:
        raise UserError(f"the example on {kind}: no cycle in which τ1 ran twice")
    whole.sort(key=_second_job)
    return whole[len(whole) // 2]


def _relative(log: node_runs.Log, start: int, end: int) -> Spans:
    """What ran from one moment to another, in units since the first. A run may begin a little
    before, as the first one, from which the grid is known, was late.
    """
    return tuple(
        sorted(
            (
                (name, (span.begin - start) / UNIT, (span.end - start) / UNIT)
                for name in EXAMPLE
                for span in log.spans(name)
                if start - UNIT / 2 <= span.begin < end - UNIT / 2
            ),
            key=lambda span: span[1],
        )
    )


def _second_job(spans: Sequence[tuple[str, float, float]]) -> float:
    """When it starts."""
    return sorted(start for name, start, _ in spans if name == "τ1")[1]


def timers(seconds: float) -> Rows:
    simulated = experiments.find("events-executor-schedulability").module()
    rows: Rows = []
    overruns = dict.fromkeys(TIMERS, 0)
    for load, camera in SETS.items():
        tasks = [
            (f"{kind} {number}", round(time * MS), period * MS)
            for number, (kind, time, period) in enumerate(simulated.tasks(camera))
        ]
        bounds = simulated._bounds(camera)
        for name, executor in TIMERS.items():
            log, machine = node_runs.run(_timers_model(executor, tasks), seconds)
            origin = log.origin({timer: period for timer, _, period in tasks})
            lost = jobs = interrupted = 0
            found: dict[str, list[float]] = {}
            for timer, time, period in tasks:
                ran = [span.end - span.begin for span in log.spans(timer)]
                interrupted = max([interrupted, *(length - time for length in ran)])
                spans, skipped = log.responses([timer], period, origin, MISSED[name])
                responses = [(span.end - span.begin) / MS for span in spans]
                found.setdefault(timer.split()[0], []).extend(responses)
                lost, jobs = lost + skipped, jobs + skipped + len(spans)
                if name == "RM" or timer.startswith("IMU"):
                    overruns[name] += sum(one > period / MS for one in responses)
            said, meaning = LOST.get(name, (None, None))
            place = "section 3.1.7, with Figure 3.3" if said else ""
            what = f"{load}, {name}, on threads"
            share = 100 * lost / max(jobs, 1)
            rows.append(Row(f"{what}: lost jobs", said, share, "%", place, meaning=meaning))
            rows += _responses(what, found, bounds if name == "RM" else {}, load == DRAWN)
            rows.append(Row(f"{what}: longest interruption of a job", None, interrupted / MS, "ms"))
            rows.append(machine.row(what))
    rows += [
        Row(
            f"{name}, on threads: deadline overruns",
            "none" if limit == "≤ 0" else "some",
            overruns[name],
            "jobs",
            "section 3.1.7, with Figure 3.4",
            meaning=limit,
        )
        for name, limit in OVERRUNS.items()
    ]
    return rows


def _responses(
    what: str, found: dict[str, list[float]], bounds: dict[str, float], is_drawn: bool
) -> Rows:
    """The longest by kind of timer, by rate with the bounds of Table 3.1."""
    return [
        Row(
            f"{what}: {kind}, longest response",
            None,
            max(responses, default=0.0),
            "ms",
            expected=f"≤ {bounds[kind]:.2f}" if kind in bounds else None,
            figure="Figure 3.4" if is_drawn and responses else "",
            samples=drawn(responses) if is_drawn else (),
        )
        for kind, responses in found.items()
    ]


def _timers_model(kind: str, tasks: Sequence[tuple[str, int, int]]) -> Json:
    """Timers on one executor, the first the most urgent where they are alike; times in ns."""
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": "e", "kind": kind, "order": "registered", "cpu": 0}],
        "callbacks": [
            {
                "id": name,
                "node": f"/n{number}",
                "executor": "e",
                "kind": "timer",
                "registration": number,
                "execution_time": {"curve": [time]},
                "activation": {"kind": "periodic", "period": period},
            }
            for number, (name, time, period) in enumerate(tasks)
        ],
    }


def trees(seconds: float) -> Rows:
    """The graph-aware executor with Table 3.2's sets, by rate and by deadline."""
    simulated = experiments.find("graph-aware-many-to-many").module()
    rows: Rows = []
    for load, times in simulated.SETS.items():
        bounds = simulated.bounds(times)
        for order, bound in bounds.items():
            log, machine = node_runs.run(_trees_model(simulated, times, order), seconds)
            what = f"{load}, {ORDERS[order]}, on threads"
            periods = {tree: period * MS for tree, period in simulated.TREES.items()}
            origin = log.origin(periods)
            for tree, period in periods.items():
                found = _tree(log, tree, simulated.SUBSCRIBERS, period, origin)
                rows.append(
                    Row(
                        f"{what}: tree {tree}, 99.7th percentile",
                        "closely match",
                        _percentile(found, 99.7) / bound[tree] if found else "never completed",
                        place=FIGURE_3_8,
                        meaning=simulated.CLOSE,
                        figure="Figure 3.8" if found and load == DRAWN else "",
                        samples=drawn(one / bound[tree] for one in found) if load == DRAWN else (),
                        unit="of the bound",
                    )
                )
            rows.append(machine.row(what))
    return rows


def _trees_model(simulated: ModuleType, times: tuple[int, ...], order: str) -> Json:
    model: Json = copy.deepcopy(simulated._model(times))
    model["executors"][0]["cpu"] = 0
    for edge in model["edges"]:
        edge["topic"] = "/data"
    for callback in model["callbacks"]:
        callback["node"] = "/" + callback["id"].replace(" ", "_")
        if callback["kind"] == "subscription":
            callback |= {"topic": "/data", "queue_depth": 10}
        elif order == "edf":
            callback["deadline"] = callback["activation"]["period"]
    return model


def _tree(
    log: node_runs.Log, root: str, leaves: Sequence[str], period: int, origin: int
) -> list[float]:
    """In ms, from each expiry of the root to the end of the last run that its message came to."""
    ends: dict[int, list[int]] = {}
    for leaf in leaves:
        for span in log.responses([root, leaf], period, origin, Missed.KEPT)[0]:
            ends.setdefault(span.begin, []).append(span.end)
    return [
        (max(found) - expiry) / MS for expiry, found in ends.items() if len(found) == len(leaves)
    ]


def _percentile(values: Sequence[float], percent: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def hot_path(seconds: float) -> Rows:
    system = experiments.find("autoware-hot-path").module()
    variants: dict[str, Callable[[Json], None]] = {"by rate": system._prioritise_by_rate}
    rows: Rows = []
    worst = {}
    for name, kind in HOT_PATH.items():
        model = copy.deepcopy(system.model(kind, {"kind": "dedicated"}))
        if kind == "multi_threaded":
            model["executors"][0]["threads"] = 2
        if kind == "graph_aware":
            for callback in model["callbacks"]:
                del callback["priority"]
                if name == "graph-aware by deadline" and callback["kind"] == "timer":
                    callback["deadline"] = callback["activation"]["period"]
        variants.get(name, lambda _model: None)(model)
        log, machine = node_runs.run(model, seconds)
        latencies = [
            (one.end - one.begin) / MS
            for chain in model["chains"]
            for one in log.latencies(chain["callbacks"])
        ]
        worst[name] = max(latencies, default=0.0)
        rows.append(
            Row(
                f"hot path, {name}, on threads: longest",
                None,
                worst[name] if latencies else "never completed",
                "ms",
                figure="Figure 3.6" if latencies else "",
                samples=drawn(latencies),
            )
        )
        rows.append(machine.row(f"hot path, {name}"))
    place = "section 3.1.7, with Figure 3.6"
    published = [name for name in HOT_PATH if name not in ("by hand", *GRAPH_AWARE)]
    best = min(published, key=worst.__getitem__)
    what = "hot path, on threads"
    for name in GRAPH_AWARE:
        rows.append(Row(f"{what}, {name}: worst", "< 25 ms", worst[name], "ms", FIGURE_3_9))
        for other, printed in (("default", 63.0), ("events", 61.0)):
            gain = 100 * (1 - worst[name] / max(worst[other], 1e-9))
            rows.append(Row(f"{what}, {name}, below {other} by", printed, gain, "%", FIGURE_3_9))
    return [
        *rows,
        Row(f"{what}: the best worst case has", "by rate", best, place=place),
        Row(
            f"{what}: worst, default / by rate",
            2.6,
            worst["default"] / max(worst["by rate"], 1e-9),
            RATIO,
            place,
        ),
        Row(
            f"{what}: worst, default / by hand",
            None,
            worst["default"] / max(worst["by hand"], 1e-9),
            RATIO,
        ),
    ]

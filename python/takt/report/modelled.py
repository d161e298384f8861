"""The viewer's document of a model without its recording: what takt/model says and, where they are
given, what takt/bounds and takt/measurement say of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from takt.documents import (
    Activation,
    Bounds,
    Callback,
    Chain,
    Edge,
    Executor,
    Instance,
    Join,
    MeasuredCallback,
    MeasuredChain,
    Measurement,
    Model,
    Statistics,
    Way,
)
from takt.documents.names import executor_labels, labels
from takt.report import viewer
from takt.report.graph import rate
from takt.text.formatting import count, duration, frequency

Json = dict[str, Any]

MOST_LISTED = 6
"""Values of a curve that are shown."""

TIMES = {"reaction": "reaction time", "age": "data age"}
"""What people call the time that a goal is about which is no latency."""


def document(
    model: Model, bounds: Bounds, measurement: Measurement | None
) -> tuple[Json, dict[str, bytes]]:
    """The index and the tables, as pipeline.view() gives them of a recording."""
    position = {callback.id: i for i, callback in enumerate(model.callbacks)}
    executors = {executor.id: i for i, executor in enumerate(model.executors)}
    used = [*(c.topic for c in model.callbacks), *(edge.topic for edge in model.edges)]
    topics = {name: i for i, name in enumerate(dict.fromkeys(filter(None, used)))}
    tracks, spans = _timeline(measurement.timeline if measurement else (), position, executors)
    shown = max((span["start"] + span["duration"] for span in spans), default=0)
    excerpt = f"The timeline shows {duration(shown)} of the recording"
    index = {
        "format": "takt/viewer",
        "version": 1,
        "title": model.name,
        "origin": None,
        "duration": shown,
        "facts": [],
        "scheduling": False,
        "hosts": [],
        "processes": [],
        "executors": _executors(model),
        "tracks": tracks,
        "topics": [{"name": name, "side": ""} for name in topics],
        "callbacks": list(_callbacks(model, bounds, measurement, topics, executors)),
        "edges": list(_edges(model, measurement, topics, position)),
        "chains": [_chain(chain, measurement, position) for chain in model.chains],
        "actors": [],
        "phrases": [],
        "answer": [],
        "warnings": [{"tone": "none", "title": excerpt, "lines": []}] if spans else [],
        "provenance": [],
    }
    return index, {"spans": viewer.block(spans)} if spans else {}


def _executors(model: Model) -> list[Json]:
    names = executor_labels(model)
    return [
        {
            "name": names[executor.id],
            "kind": executor.kind,
            "process": -1,
            "supply": _supply(executor),
        }
        for executor in model.executors
    ]


def _supply(executor: Executor) -> str:
    supply = executor.supply
    if supply.kind == "dedicated":
        return "assumes a processor of its own"
    if supply.kind == "slots":
        return f"slots: {_share(sum(s.end - s.start for s in supply.slots), supply.cycle)}"
    if supply.kind == "fixed_priority":
        return f"what others leave at priority {supply.priority}"
    return f"reservation: {_share(supply.budget, supply.period)}"


def _share(time: int | None, period: int | None) -> str:
    share = f" ({100 * time / period:.0f} %)" if time and period else ""
    return f"{duration(time)} every {duration(period)}{share}"


def _callbacks(
    model: Model,
    bounds: Bounds,
    measurement: Measurement | None,
    topics: dict[str, int],
    executors: dict[str, int],
) -> Iterator[Json]:
    bound_of = {bound.id: bound for bound in bounds.callbacks}
    measured_of = {entry.id: entry for entry in measurement.callbacks} if measurement else {}
    joins = {join.callback: join for join in model.joins}
    ways = {(e.source, e.target): e.way for e in measurement.edges} if measurement else {}
    names = labels(model.callbacks)
    inputs: dict[str, list[Edge]] = {}
    for edge in model.edges:
        inputs.setdefault(edge.target, []).append(edge)
    for callback in model.callbacks:
        measured = measured_of.get(callback.id) or MeasuredCallback(id=callback.id, count=0)
        bound = bound_of.get(callback.id)
        by = (bound.reason if bound.bound is None else bound.by) if bound else None
        curve, join = callback.execution_time.curve, joins.get(callback.id)
        facts = list(_facts(callback, join))
        for edge in inputs.get(callback.id, []):
            way = ways.get((edge.source, edge.target))
            facts.append((f"from {names.get(edge.source, edge.source)}", _carried(edge, way)))
        yield {
            "id": callback.id,
            "name": callback.name or callback.id,
            "node": callback.node,
            "kind": callback.kind,
            "topic": topics.get(callback.topic or "", -1),
            "executor": executors.get(callback.executor, -1),
            "side": "",
            "period": callback.activation.period if callback.activation else None,
            "count": measured.count,
            "execution": _statistics(measured.execution_time),
            "response": _statistics(measured.response_time),
            "bound": None,
            "model": {
                "rate": rate(callback.activation) or "",
                "assumed": curve[0] if curve else None,
                "join": _join(join) if join else "",
                "by": (by or "").replace("_", " "),
                "facts": [list(fact) for fact in facts if fact[1]],
            },
        }


def _facts(callback: Callback, join: Join | None) -> Iterator[tuple[str, str]]:
    """What the model says of a callback beside its inputs; empty: nothing."""
    yield "activated", _often(callback.activation) if callback.activation else ""
    yield "joins its inputs", _join(join) if join else ""
    yield "execution of 1, 2, … runs", _curve(callback.execution_time.curve)
    if callback.suspension:
        yield "suspended in 1, 2, … runs", _curve(callback.suspension.curve)
        yield (
            "times suspended",
            _listed(map(str, callback.suspension.times_in_a_row or [callback.suspension.times])),
        )
    yield "priority", "" if callback.priority is None else str(callback.priority)
    yield "deadline", duration(callback.deadline) if callback.deadline else ""
    yield "queue", count(callback.queue_depth, "message") if callback.queue_depth else ""
    yield "callback group", callback.callback_group or ""


def _often(activation: Activation) -> str:
    if activation.kind == "periodic" and activation.period:
        jitter = f", up to {duration(activation.jitter)} late" if activation.jitter else ""
        return f"every {duration(activation.period)} ({frequency(activation.period)}){jitter}"
    if activation.min_separation:
        return f"at least {duration(activation.min_separation)} apart"
    return f"2, 3, … within {_curve(activation.values[1:])} at least"


def _curve(values: tuple[int, ...]) -> str:
    return _listed(map(duration, values))


def _listed(values: Iterable[str]) -> str:
    first = list(islice(values, MOST_LISTED + 1))
    more = ", …" if len(first) > MOST_LISTED else ""
    return ", ".join(first[:MOST_LISTED]) + more


def _join(join: Join) -> str:
    sure = "" if join.confidence is None else f", {join.confidence} % sure"
    return f"{join.kind} of {len(join.inputs)}{sure}"


def _carried(edge: Edge, way: Way | None) -> str:
    """How messages get to a callback, and how long the parts of their ways took."""
    parts = [
        edge.topic or "without a topic",
        f"at most {duration(edge.delay)} under way" if edge.delay else "",
        (edge.transport or "").replace("_", " "),
        f"link {edge.link}" if edge.link else "",
        f"{edge.confidence} % sure" if edge.confidence is not None else "",
    ]
    if way is not None:
        parts.append(count(way.count, "message"))
        for name in ("sending", "transport", "waiting"):
            times: Statistics = getattr(way, name)
            parts.append(f"{name} p50 {duration(times.p50)}, max {duration(times.max)}")
    return ", ".join(filter(None, parts))


def _edges(
    model: Model, measurement: Measurement | None, topics: dict[str, int], position: dict[str, int]
) -> Iterator[Json]:
    counts = {(e.source, e.target): e.count for e in measurement.edges} if measurement else {}
    for edge in model.edges:
        target = model.callbacks[position[edge.target]]
        # A timer, or what has no input of its own, finds what was stored for it.
        stored = target.kind in ("timer", "event_source")
        service = target.kind in ("service", "client")
        yield {
            "from": position[edge.source],
            "to": position[edge.target],
            "topic": topics.get(edge.topic or "", -1),
            "kind": "stored" if stored else "service" if service else "message",
            "count": counts.get((edge.source, edge.target), 0),
            "side": "",
        }


def _chain(chain: Chain, measurement: Measurement | None, position: dict[str, int]) -> Json:
    found = {entry.id: entry for entry in measurement.chains} if measurement else {}
    measured = found.get(chain.id) or MeasuredChain(id=chain.id, count=0)
    numbers = ("count", "incomplete", "min", "mean", "p50", "p99", "max")
    about = {"time": TIMES[chain.kind]} if chain.kind in TIMES else {}
    return about | {
        "name": chain.id,
        "callbacks": [position[step] for step in chain.callbacks],
        "goal": chain.goal,
        "bound": None,
        **{name: getattr(measured, name) for name in numbers},
        "latencies": sorted(measured.samples),
        "tone": "none",
        "verdict": "",
        "cause": "",
        "worst": -1,
        "endings": [],
    }


def _statistics(times: Statistics) -> Json:
    return {"p50": times.p50, "p99": times.p99, "max": times.max}


def _timeline(
    instances: Iterable[Instance], position: dict[str, int], executors: dict[str, int]
) -> tuple[list[Json], list[dict[str, int]]]:
    """Tracks and spans of the runs that a measurement shows, from the first one. A callback that
    runs within another is on a track of its own.
    """
    known = [i for i in instances if i.callback in position and i.executor in executors]
    known.sort(key=lambda instance: (executors[instance.executor], instance.thread, instance.start))
    begin = min((instance.start for instance in known), default=0)
    ends: dict[tuple[str, int, int], int] = {}
    """When the last run of each track ended, by executor, thread and depth of nesting."""
    placed = []
    for run in known:
        depth = 0
        while ends.get((run.executor, run.thread, depth), begin) > run.start:
            depth += 1
        ends[run.executor, run.thread, depth] = run.end
        placed.append(((run.executor, run.thread, depth), run))
    track_of = {key: i for i, key in enumerate(ends)}
    tracks = [
        {"kind": "thread", "name": f"thread {thread}", "executor": executors[name], "host": -1}
        for name, thread, _ in ends
    ]
    spans = [
        {
            "track": track_of[key],
            "start": run.start - begin,
            "duration": run.end - run.start,
            "subject": position[run.callback],
        }
        for key, run in placed
    ]
    return tracks, sorted(spans, key=lambda span: (span["track"], span["start"]))

"""Models that ran as real nodes, and the models of their recordings: in what they differ.

Callbacks are the same if their names are: `takt run` tells the trace the model's names.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from recording import TAKT, Run, takt

Json = dict[str, Any]

SECOND = 1_000_000_000
ENOUGH = 10
"""The least instances of the slowest source: a recording of fewer shows too little."""
START_UP = 2.5
"""Seconds at least in which nothing is modelled yet (docs/model-synthesis.md)."""

LEAST = ENOUGH // 2
"""Instances that each callback must have had, start-up included; else the machine was too busy."""
ATTEMPTS = 5

LEAST_SHARE = 0.85
"""The share of an execution time that must come out: `takt run` leaves a tenth unused, at most
0.1 ms, for what the trace counts beside the work (ros/workload/src/work.cpp)."""
MOST_SHARE = 1.1
SLACK = 1_000_000
"""Interrupts, and what a hypervisor steals, count as a thread's processor time."""


def period(callback: Json) -> int | None:
    """The time between two activations from outside, as `takt run` makes them."""
    match callback.get("activation"):
        case {"kind": "periodic", "period": int(time)}:
            return time
        case {"kind": "sporadic", "min_separation": int(time)}:
            return time
        case {"values": [_, *spans]}:
            return max([1, *(-(-int(span) // n) for n, span in enumerate(spans, start=1))])
    return None


def duration(model: Json) -> float:
    periods = [period(callback) or 0 for callback in model["callbacks"]]
    return START_UP + ENOUGH * max(periods) / SECOND


def record(model: Path, folder: Path, seconds: float | None = None) -> tuple[Json, Json]:
    """Runs and records a model. Returns the report of `takt run` and the model of the recording.

    Executors without a reservation get what the machine has left. If that was too little for a
    callback, the recording does not show it, so there is another of twice the length.
    """
    seconds = seconds or duration(json.loads(model.read_text()))
    for attempt in range(ATTEMPTS):
        command = [*TAKT, "run", str(model), "--duration", f"{seconds:.3f}", "--json"]
        recorded = Run.of(folder / f"trace-{attempt}", command, backend="ring")
        ran: Json = json.loads(recorded.output)
        if all(callback["count"] >= LEAST for callback in ran["callbacks"]):
            break
        seconds *= 2
    done = takt("model", str(recorded.trace))
    assert done.returncode == 0, done.stderr
    return ran, json.loads(done.stdout)


def absolute(name: str) -> str:
    return name if name.startswith("/") else "/" + name


class Graph:
    """What two models must have in common, by names."""

    def __init__(self, model: Json) -> None:
        self.model = model
        self.names = {c["id"]: c.get("name") or c["id"] for c in model["callbacks"]}
        self.callbacks = {self.names[c["id"]]: c for c in model["callbacks"]}
        assert len(self.callbacks) == len(model["callbacks"]), "names are not unique"
        self.kinds = {c["id"]: c["kind"] for c in model["callbacks"]}
        self.senders = {
            c["id"]: {e["from"] for e in self.edges() if e["to"] == c["id"]}
            for c in model["callbacks"]
        }

    def edges(self) -> list[Json]:
        return list(self.model.get("edges", []))

    def topic(self, edge: Json) -> str | None:
        """The topic of its messages; None: the receiver samples, so there are none."""
        if self.kinds[edge["to"]] in ("timer", "event_source", "waitable"):
            return None
        receiver = next(c for c in self.model["callbacks"] if c["id"] == edge["to"])
        topic = edge.get("topic") or receiver.get("topic")
        return absolute(topic) if topic else None

    def vertices(self) -> dict[str, tuple[Any, ...]]:
        found = {}
        for name, callback in self.callbacks.items():
            topics = {self.topic(e) for e in self.edges() if e["to"] == callback["id"]}
            if not topics and callback["kind"] != "timer" and callback.get("topic"):
                topics = {absolute(callback["topic"])}
            found[name] = (
                callback["kind"],
                absolute(callback["node"]),
                callback["executor"],
                frozenset(topics) if callback["kind"] != "timer" else period(callback),
                callback.get("activation") is not None,
            )
        return found

    def triggers(self, edge: Json) -> frozenset[str]:
        """The callbacks whose messages make the edge's sender send."""
        triggers = edge.get("triggered_by")
        every = self.senders[edge["from"]]
        return frozenset(self.names[c] for c in (every if triggers is None else triggers))

    def connections(self) -> Counter[tuple[Any, ...]]:
        return Counter(
            (
                self.names[edge["from"]],
                self.names[edge["to"]],
                self.topic(edge),
                self.triggers(edge),
                edge.get("messages"),
                edge.get("instances"),
                edge.get("confidence"),
            )
            for edge in self.edges()
        )

    def joins(self) -> set[tuple[Any, ...]]:
        return {
            (
                self.names[join["callback"]],
                join.get("kind", "and"),
                frozenset(self.names[i] for i in join["inputs"]),
                join.get("confidence"),
            )
            for join in self.model.get("joins", [])
        }

    def executors(self) -> dict[str, tuple[Any, ...]]:
        return {
            executor["id"]: (
                executor["kind"],
                executor.get("timers", "polled"),
                executor.get("threads", 1),
                executor.get("cpu"),
            )
            for executor in self.model["executors"]
        }


def differences(original: Json, found: Json, ran: Json) -> list[str]:
    """Lines on all differences between the model of a recording and the model that ran. `ran`: the
    report of `takt run`.
    """
    before, after = Graph(original), Graph(found)
    lines = []
    for what, a, b in (
        ("callbacks", before.vertices(), after.vertices()),
        ("executors", before.executors(), after.executors()),
    ):
        lines += [
            f"{what}: {name}: {a.get(name)} became {b.get(name)}"
            for name in sorted(a.keys() | b.keys())
            if a.get(name) != b.get(name)
        ]
    edges = before.connections(), after.connections()
    lines += [f"edges: lost {edge}" for edge in edges[0] - edges[1]]
    lines += [f"edges: added {edge}" for edge in edges[1] - edges[0]]
    lines += [f"joins: lost {join}" for join in before.joins() - after.joins()]
    lines += [f"joins: added {join}" for join in after.joins() - before.joins()]
    longest = {before.names[each["id"]]: each["longest"] for each in ran["callbacks"]}
    for name, callback in before.callbacks.items():
        if name in after.callbacks:
            lines += execution_times(name, callback, after.callbacks[name], longest[name])
    return lines


def execution_times(name: str, before: Json, after: Json, longest: int) -> list[str]:
    """`longest`: what the callback's own thread clock said of its longest instance, which may be
    longer than modelled.
    """
    modelled = before["execution_time"]["curve"]
    observed = after["execution_time"]["curve"]
    excess = max(0, longest - modelled[0])
    lines = []
    if observed[0] < LEAST_SHARE * modelled[0]:
        lines.append(f"execution time: {name}: {modelled[0]} became {observed[0]}")
    lines += [
        f"execution time: {name}: {n + 1} instances, {most} became {least}"
        for n, (most, least) in enumerate(zip(modelled, observed, strict=False))
        if least > MOST_SHARE * most + (n + 1) * (SLACK + excess)
    ]
    return lines

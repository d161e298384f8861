"""What a model and the model of its recording must have in common, by names."""

from __future__ import annotations

from collections import Counter
from typing import Any

Json = dict[str, Any]


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


def structural_differences(before: Graph, after: Graph) -> list[str]:
    """Lines on all differences between two models but those of execution times."""
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
    return lines

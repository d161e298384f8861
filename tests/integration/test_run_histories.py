"""What `takt flow` finds in recordings of `takt run` is what the nodes' own log says: each message
that a sink handled, with every way that led to it, none missing and none invented.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from recording import TAKT, Run
from takt.documents import Executor
from test_rclcpp_histories import first_event, flows

Json = dict[str, Any]
Way = tuple[str, ...]
"""The topics that a message's content passed on its way, from its source's."""

REFERENCE_SYSTEM = Path(__file__).resolve().parents[2] / "models/autoware_reference_system.json"
MS = 1_000_000
SECONDS = 2


KINDS = [
    kind
    for kind in get_args(get_type_hints(Executor)["kind"])
    if kind != "event_source"  # stands for a device, which nothing runs
]


class Cases:
    """The cases of the message-flow specification, all of them as one model."""

    def __init__(self) -> None:
        self.callbacks: list[Json] = []
        self.edges: list[Json] = []
        self.joins: list[Json] = []

    def add(self, name: str, executor: str, kind: str, **more: Any) -> str:
        callback = {
            "id": name,
            "node": "/" + name.partition(".")[0],
            "executor": executor,
            "kind": kind,
            "execution_time": {"curve": [MS // 10]},
            **more,
        }
        if kind == "subscription":
            callback["queue_depth"] = 10
        self.callbacks.append(callback)
        return name

    def timer(self, name: str, executor: str, period: int) -> str:
        activation = {"kind": "periodic", "period": period * MS}
        return self.add(name, executor, "timer", activation=activation)

    def connect(self, source: str, topic: str | None, *sinks: str) -> None:
        for sink in sinks:
            self.edges.append({"from": source, "to": sink, "topic": topic})

    def subscription(self, name: str, executor: str, source: str, topic: str) -> str:
        self.add(name, executor, "subscription", topic=topic)
        self.connect(source, topic, name)
        return name

    def join(self, name: str, kind: str, **inputs: str) -> str:
        """`inputs`: callbacks by the names of their topics."""
        self.add(name, "middle", "subscription")
        for topic, source in inputs.items():
            self.connect(source, "/" + topic, name)
        self.joins.append({"callback": name, "kind": kind, "inputs": list(inputs.values())})
        return name


def message_flow_cases(slow: int = 1) -> Json:
    """The specification's periods, `slow` times as long."""
    cases = Cases()
    sink = cases.subscription
    source = cases.timer("source", "sources", 5 * slow)
    sink("transport_sink", "sinks", source, "/transport")
    relay = cases.subscription("relay", "middle", source, "/trivial_a")
    sink("trivial_sink", "sinks", relay, "/trivial_b")

    periodic = cases.timer("periodic", "middle", 8 * slow)
    for name, period in (("a", 5), ("b", 12)):
        topic = f"/periodic_{name}"
        storing = cases.add(f"periodic.{name}", "middle", "subscription", topic=topic)
        cases.connect(cases.timer(f"periodic_{name}", "sources", period * slow), topic, storing)
        cases.connect(storing, None, periodic)
    sink("periodic_sink.c", "sinks", periodic, "/periodic_c")
    sink("periodic_sink.d", "sinks", periodic, "/periodic_d")

    partial_a = cases.timer("partial_a", "sources", 10 * slow)
    partial_b = cases.timer("partial_b", "sources", 4 * slow)
    cases.join("partial", "newest", partial_a=partial_a, partial_b=partial_b)
    sink("partial_sink", "sinks", "partial", "/partial_c")

    # Each message is used, so that the ones of the relay wait for those of the source behind them.
    late = sink("late", "sinks", source, "/queued_early")
    cases.join("queued", "and", queued_early=source, queued_late=late)
    sink("queued_sink", "sinks", "queued", "/queued_c")

    asking = cases.timer("asking", "sources", 20 * slow)
    cases.add("asking.answered", "sources", "client", topic="/ask")
    cases.add("answering", "middle", "service", topic="/ask")
    cases.connect(asking, "/ask", "answering")
    cases.connect("answering", "/ask", "asking.answered")
    sink("answer_sink", "sinks", "asking.answered", "/answer")
    model: Json = {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": name} for name in ("sources", "middle", "sinks")],
        "callbacks": cases.callbacks,
        "edges": cases.edges,
        "joins": cases.joins,
    }
    return model


def reference_system() -> Json:
    """The reference system, whose planner's timer reads what its subscriptions store."""
    model: Json = json.loads(REFERENCE_SYSTEM.read_text())
    for executor in model["executors"]:
        del executor["supply"]
    storing = [c["id"] for c in model["callbacks"] if c["id"].startswith("BehaviorPlanner.")]
    assert len(storing) == 6
    model["edges"] += [{"from": name, "to": "BehaviorPlanner"} for name in storing]
    return model


def on(model: Json, kind: str) -> Json:
    """The model on executors of a kind."""
    for executor in model["executors"]:
        executor["kind"] = kind
        if kind == "multi_threaded":
            executor["threads"] = 2
        if kind == "table_driven":
            names = [c["id"] for c in model["callbacks"] if c["executor"] == executor["id"]]
            slot = MS
            executor["table"] = {
                "cycle": slot * len(names),
                "slots": [
                    {"start": slot * i, "end": slot * (i + 1), "callback": name}
                    for i, name in enumerate(names)
                ],
            }
    return model


class Log:
    """The nodes' log: for each message what it was made of."""

    def __init__(self, path: Path, model: Json) -> None:
        self.callbacks = {callback["id"]: callback for callback in model["callbacks"]}
        self.entries: list[Json] = [json.loads(line) for line in path.read_text().splitlines()]
        self.sender: dict[tuple[Any, ...], Json] = {}
        self.times: dict[tuple[Any, ...], tuple[int, int]] = {}
        for entry in self.entries:
            for sent in entry["sent"]:
                message = tuple(sent["message"])
                assert message not in self.sender
                self.sender[message] = entry
                self.times[message] = sent["begin"], sent["end"]
        self._ways: dict[tuple[Any, ...], list[tuple[Way, tuple[Any, ...]]]] = {}

    def ways(self, message: tuple[Any, ...]) -> list[tuple[Way, tuple[Any, ...]]]:
        """How content came to the message: the topics, and the message with which it began."""
        if message not in self._ways:
            entry = self.sender[message]
            topic = message[0]
            made_of = {tuple(used["message"]) for used in entry["used"]}
            if entry["received"] is not None:
                made_of.add(tuple(entry["received"]))
            ways = [((*way, topic), first) for part in made_of for way, first in self.ways(part)]
            if self.callbacks[entry["callback"]]["kind"] == "timer":
                ways.append(((topic,), message))
            self._ways[message] = ways
        return self._ways[message]

    def handled(self, sinks: set[str]) -> dict[tuple[str, Way], list[tuple[int, int, int]]]:
        """For each sink and each way to it: when its source began and ended to publish, and when
        the sink's callback had begun.
        """
        found = defaultdict(list)
        for entry in self.entries:
            if entry["callback"] in sinks:
                assert not entry["sent"]
                node = self.callbacks[entry["callback"]]["node"]
                for way, first in self.ways(tuple(entry["received"])):
                    found[node, way].append((*self.times[first], entry["begin"]))
        return found


def check(trace: Path, log: Log, sinks: set[str]) -> None:
    zero = first_event(trace)
    found: dict[tuple[str, Way], list[Json]] = defaultdict(list)
    for flow in flows(trace):
        way = tuple(step["publishes"] for step in flow["path"] if step["publishes"] is not None)
        found[flow["path"][-1]["node"], way] += flow["instances"]
    expected = log.handled(sinks)
    assert set(found) == set(expected)
    for key, instances in found.items():
        told = sorted(expected[key], key=lambda each: (each[0], each[2]))
        assert len(instances) == len(told), key
        instances.sort(key=lambda instance: (instance["begin"], instance["times"][-1]))
        for instance, (before, after, time) in zip(instances, told, strict=True):
            start, end = instance["times"][-1]
            # The nodes looked at their clock before and after they published, and within the
            # callback: what lies between is what the machine needs for that.
            assert before <= zero + instance["begin"] <= after, key
            assert instance["begin"] + instance["latency"] == start
            assert zero + start <= time <= zero + end, key


def record(model: Json, folder: Path, backend: str) -> tuple[Path, Log]:
    path = folder / "model.json"
    path.write_text(json.dumps(model))
    log = folder / "log.jsonl"
    command = [*TAKT, "run", str(path), "--duration", str(SECONDS), "--log", str(log)]
    trace = Run.of(folder / "trace", command, backend=backend).trace
    return trace, Log(log, model)


@pytest.mark.parametrize("backend", ["ring", "lttng"])
@pytest.mark.parametrize("kind", KINDS)
def test_message_flow_cases_have_the_flows_of_the_nodes_log(
    tmp_path: Path, kind: str, backend: str
) -> None:
    model = on(message_flow_cases(slow=4 if kind == "table_driven" else 1), kind)
    trace, log = record(model, tmp_path, backend)
    sinks = {c["id"] for c in model["callbacks"] if "_sink" in c["id"]}
    assert len(sinks) == 7
    check(trace, log, sinks)


@pytest.mark.parametrize(
    ("kind", "backend"),
    [(kind, "lttng" if i % 2 == 0 else "ring") for i, kind in enumerate(KINDS)]
    + [("single_threaded", "ring"), ("multi_threaded", "ring")],
)
def test_the_reference_system_has_the_flows_of_the_nodes_log(
    tmp_path: Path, kind: str, backend: str
) -> None:
    model = on(reference_system(), kind)
    trace, log = record(model, tmp_path, backend)
    check(trace, log, {"VehicleDBWSystem", "IntersectionOutput"})

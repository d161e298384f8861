"""Message Flow Analysis, Figures 5.5 and 5.8, as real nodes. See README.md."""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

from takt import pipeline
from takt.errors import UserError
from takt.recordings import recorder
from takt.trials import node_runs
from takt.trials.experiments import Row, Rows, drawn

Json = dict[str, Any]

MS = 1_000_000
SECONDS, FULL_SECONDS = 5.0, 60.0


SLAM = ("/camera/camera", "/rgbd_odometry", "/rtabmap", "/rviz")
"""The nodes of the main pipeline in order, as the caption of Figure 5.8b has them."""
ODOMETRY, MAPPING, WHOLE = 89.5, 112.5, 242.3
"""Published ms: two callbacks, and the pipeline."""
FRAME = 400
"""ms between two images; the document prints no rate."""
LISTENERS = ("/listener_odometry", "/listener_rtabmap", "/listener_rviz")
FIGURE_5_5, FIGURE_5_8 = "Figure 5.5", "section 5.6.2, with Figure 5.8"
KINDS = {"periodic_async": "periodic asynchronous", "partial_sync": "partial synchronous"}


def run(full: bool = False) -> Rows:
    seconds = FULL_SECONDS if full else SECONDS
    return [*_all_links(seconds), *_slam(seconds)]


def _all_links(seconds: float) -> Rows:
    found = _flow(links_model(), seconds, {"instances": True})
    receivers = {
        step["node"]
        for flow in found["flows"]
        for before, step in pairwise(flow["path"])
        if before["publishes"] == "/third" and step["topic"] == "/third"
    }
    chosen = _chosen(found, "/first_source", "/sink")
    return [
        Row(
            "subscriptions that receive the third message",
            "two",
            len(receivers),
            place=FIGURE_5_5,
            meaning=2,
        ),
        Row(
            "link of the first message to that of the timer",
            "periodic asynchronous",
            _kind(found, "/first", "/second"),
            place=FIGURE_5_5,
        ),
        Row(
            "link of the timer's message to the final one",
            "partial synchronous",
            _kind(found, "/second", "/final"),
            place=FIGURE_5_5,
        ),
        Row(
            "link of the other message to the final one",
            "partial synchronous",
            _kind(found, "/third", "/final"),
            place=FIGURE_5_5,
        ),
        _pictured("a first message to the final one", chosen, FIGURE_5_5),
    ]


def _kind(found: Json, source: str, target: str) -> str:
    """What links messages of one topic to those of another."""
    kinds = {
        KINDS[link["kind"]]
        for link in found["links"]
        if any(name.endswith(f":{source}") for name in link["inputs"])
        and any(name.endswith(f":{target}") for name in link["outputs"])
    }
    return ", ".join(sorted(kinds)) or "none"


def _slam(seconds: float) -> Rows:
    found = _flow(slam_model(), seconds, {"instances": True})
    main = _chosen(found, SLAM[0], SLAM[-1])
    way = " → ".join(dict.fromkeys(step["node"] for step in main["path"]))
    latencies = [one["latency"] / MS for one in main["instances"]]
    last = {(flow["path"][-1]["node"], flow["path"][-1]["topic"]) for flow in found["flows"]}
    beyond = sum(
        before["topic"] == "/tf" for flow in found["flows"] for before in flow["path"][:-1]
    )
    return [
        Row("pipeline", " → ".join(SLAM), way, place=FIGURE_5_8),
        Row("first subscription, odometry", ODOMETRY, _running(main, 1), "ms", FIGURE_5_8),
        Row("second subscription, mapping", MAPPING, _running(main, 2), "ms", FIGURE_5_8),
        Row(
            "from image to display",
            WHOLE,
            statistics.median(latencies),
            "ms",
            FIGURE_5_8,
            figure="Figure 5.8",
            samples=drawn(latencies),
        ),
        Row(
            "where a flow of an image ends",
            "one-to-many",
            len(last),
            "subscriptions",
            FIGURE_5_8,
            meaning="> 1",
        ),
        Row(
            "flows that go on after a subscription to /tf",
            "none",
            beyond,
            place="section 5.5.3, with Figure 5.8",
            meaning="≤ 0",
        ),
        _pictured("an image to the display", main, "Figure 5.8"),
    ]


def _chosen(found: Json, source: str, sink: str) -> Json:
    """The flow between two nodes. UserError if there is none."""
    for flow in found["flows"]:
        if (flow["path"][0]["node"], flow["path"][-1]["node"]) == (source, sink):
            chosen: Json = flow
            return chosen
    raise UserError(f"no message of {source} came to {sink}")


def _running(flow: Json, subscription: int) -> float:
    """The median time in ms that the callback of a step took."""
    times = [instance["times"][subscription] for instance in flow["instances"]]
    return statistics.median(end - begin for begin, end in times) / MS


def _pictured(what: str, flow: Json, figure: str) -> Row:
    """The instance of the median latency: which callback ran when, in ms since the first."""
    instances = sorted(flow["instances"], key=lambda one: one["latency"])
    instance = instances[len(instances) // 2]
    zero = instance["times"][0][0]
    spans = tuple(
        (step["callback"], (begin - zero) / MS, (end - zero) / MS)
        for step, (begin, end) in zip(flow["path"], instance["times"], strict=True)
    )
    return Row(what, None, instance["latency"] / MS, "ms", figure=figure, spans=spans)


class Model:
    """A takt/model document that grows callback by callback."""

    def __init__(self) -> None:
        self.callbacks: list[Json] = []
        self.edges: list[Json] = []
        self.joins: list[Json] = []

    def add(self, name: str, node: str, time: float, **more: Any) -> None:
        """Time in ms; without `period` a subscription, and then with a `topic` if it has one."""
        period = more.pop("period", None)
        callback: Json = {
            "id": name,
            "node": node,
            "executor": node.removeprefix("/").replace("/", "_"),
            "kind": "subscription" if period is None else "timer",
            "execution_time": {"curve": [round(time * MS)]},
            **more,
        }
        if period is not None:
            callback["activation"] = {"kind": "periodic", "period": round(period * MS)}
        else:
            callback["queue_depth"] = 10
        self.callbacks.append(callback)

    def connect(self, source: str, topic: str | None, *sinks: str) -> None:
        self.edges += [{"from": source, "to": sink, "topic": topic} for sink in sinks]

    def document(self) -> Json:
        executors = sorted({callback["executor"] for callback in self.callbacks})
        return {
            "format": "takt/model",
            "version": 1,
            "executors": [{"id": name, "kind": "events"} for name in executors],
            "callbacks": self.callbacks,
            "edges": self.edges,
            "joins": self.joins,
        }


def links_model() -> Json:
    """All kinds of links, as the caption of Figure 5.5 describes them."""
    model = Model()
    model.add("first", "/first_source", 0.1, period=40)
    model.add("cache", "/periodic", 0.1, topic="/first")
    model.connect("first", "/first", "cache")
    model.add("periodic", "/periodic", 0.1, period=30)
    model.connect("cache", None, "periodic")
    model.add("third", "/third_source", 0.1, period=50)
    model.add("fusion", "/fusion", 0.1)
    model.connect("periodic", "/second", "fusion")
    model.connect("third", "/third", "fusion", "monitor")
    model.joins.append({"callback": "fusion", "kind": "newest", "inputs": ["periodic", "third"]})
    model.add("monitor", "/monitor", 0.1, topic="/third")
    model.add("sink", "/sink", 0.1, topic="/final")
    model.connect("fusion", "/final", "sink")
    return model.document()


def slam_model() -> Json:
    """The shape of RTAB-Map's pipeline: the camera's images go to odometry, the odometry to the
    mapping, and the map's graph to the display; odometry and mapping also send transforms, which
    listeners store.
    """
    camera, odometry, mapping, display = SLAM
    model = Model()
    model.add("camera", camera, 1, period=FRAME)
    model.add("odometry", odometry, ODOMETRY, topic="/camera/color/image_raw")
    model.connect("camera", "/camera/color/image_raw", "odometry")
    model.add("mapping", mapping, MAPPING, topic="/odom")
    model.connect("odometry", "/odom", "mapping")
    model.add("display", display, 1, topic="/mapGraph")
    model.connect("mapping", "/mapGraph", "display")
    for listener in LISTENERS:
        name = listener.removeprefix("/")
        model.add(name, listener, 0.1, topic="/tf")
        model.connect("odometry", "/tf", name)
        model.connect("mapping", "/tf", name)
    return model.document()


def _flow(model: Json, seconds: float, options: Json) -> Json:
    """The flows of the model as real nodes, recorded."""
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as nowhere:
        path, trace = Path(folder) / "model.json", Path(folder) / "trace"
        path.write_text(json.dumps(model), encoding="utf-8")
        run = ("run", str(path), "--duration", str(seconds))
        priority = ("--priority", "50") if node_runs.may_have_priorities() else ()
        command = (sys.executable, "-m", "takt", *run, *priority)
        request = recorder.Request("ring", trace, command=command, command_output=nowhere.fileno())
        recorder.record(request, lambda *_: None)
        found: Json = pipeline.flow([str(trace)], options)
        return found

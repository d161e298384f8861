"""Autoware reference system: worst case of the hot path by executor. See README.md."""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import takt_design
from takt import pipeline, recorder
from takt.errors import UserError
from takt.experiments import Row, Rows

Json = dict[str, Any]

MS = 1_000_000
SIMULATED = 12_000 * MS
PHASES = 40
SPREAD = 5 * MS  # between the starts of the sensors, which one program starts
SEED = 33
RECORDED = 20  # seconds

REFERENCE_SYSTEM = Path(__file__).parents[2] / "models" / "autoware_reference_system.json"

LIDARS = {"front": "FrontLidarDriver", "rear": "RearLidarDriver"}
TRANSFORMERS = {"front": "PointsTransformerFront", "rear": "PointsTransformerRear"}
COMMON = (
    "PointCloudFusion",
    "RayGroundFilter",
    "EuclideanClusterDetector",
    "ObjectCollisionEstimator",
)
HOT_PATH = {*LIDARS.values(), *TRANSFORMERS.values(), *COMMON}

# In the order of the benchmark's own system builder, in which its nodes are made; the rest follows.
REGISTRATION = (
    *("FrontLidarDriver", "RearLidarDriver", "PointCloudMap", "Visualizer", "Lanelet2Map"),
    *("EuclideanClusterSettings", "PointsTransformerFront", "PointsTransformerRear"),
    *("VoxelGridDownsampler", "PointCloudMapLoader", "RayGroundFilter"),
    *("ObjectCollisionEstimator", "MPCController", "ParkingPlanner", "LanePlanner"),
    *("PointCloudFusion", "NDTLocalizer", "VehicleInterface", "Lanelet2GlobalPlanner"),
    *("Lanelet2MapLoader", "BehaviorPlanner", "EuclideanClusterDetector"),
)

# Execution time of the callbacks that compute in the benchmark, chosen so that the default
# executor's worst case is the published one; and a scale of the others, which only pass messages
# on.
COMPUTING = 3_520_000
SCALE = 1.6

DEDICATED: Json = {"kind": "dedicated"}
# Nearly a core: the kernel keeps a twentieth of each for other work.
RESERVED: Json = {"kind": "reservation", "budget": 900_000, "period": 1_000_000}

# Kind, options of the simulator, and the published worst case in ms.
EXECUTORS: dict[str, tuple[str, Json, float | str | None]] = {
    "default": ("single_threaded", {}, 68.0),
    "events": ("events", {}, 64.0),
    "fixed priority": ("fixed_priority", {}, None),
    "chain priority": ("chain_priority", {}, None),
    "graph-aware": ("graph_aware", {"root_order": "priority"}, "< 25 ms"),
    "graph-aware, by rate": ("graph_aware", {"root_order": "rate_monotonic"}, "< 25 ms"),
    "graph-aware, by deadline": ("graph_aware", {"root_order": "edf"}, "< 25 ms"),
}
RUN = ("default", "fixed priority", "graph-aware")
BETTER = {"fixed priority": 61.5, "graph-aware": 63.0}


def run(full: bool = False) -> Rows:
    return [*simulated(), *(real() if full else [])]


def simulated() -> Rows:
    worst = {
        name: _simulate(model(kind, DEDICATED), options)
        for name, (kind, options, _) in EXECUTORS.items()
    }
    return _rows("simulated", worst)


def real() -> Rows:
    return _rows("real", {name: _record(model(EXECUTORS[name][0], RESERVED)) for name in RUN})


def _rows(how: str, worst: dict[str, float]) -> Rows:
    rows = [
        Row(f"{how}, {name}, worst case", EXECUTORS[name][2], ours, "ms")
        for name, ours in worst.items()
    ]
    for name, published in BETTER.items():
        ours = 100 * (1 - worst[name] / worst["default"])
        rows.append(Row(f"{how}, {name}, below default by", published, ours, "%"))
    return rows


def model(kind: str, supply: Json) -> Json:
    """The reference system on one executor, the hot path more urgent than the rest."""
    document: Json = json.loads(REFERENCE_SYSTEM.read_text(encoding="utf-8"))
    document["executors"] = [{"id": "e", "kind": kind, "supply": supply}]
    heaviest = max(c["execution_time"]["curve"][0] for c in document["callbacks"])
    for callback in document["callbacks"]:
        callback["executor"] = "e"
        callback["priority"] = 2 if callback["id"] in HOT_PATH else 1
        (time,) = callback["execution_time"]["curve"]
        computes = time == heaviest
        callback["execution_time"]["curve"] = [COMPUTING if computes else round(SCALE * time)]
    for edge in document["edges"]:
        edge["delay"] = 0
    order = {name: position for position, name in enumerate(REGISTRATION)}
    document["callbacks"].sort(key=lambda callback: order.get(callback["id"], len(order)))
    document["edges"].sort(key=lambda edge: order.get(edge["to"], len(order)))
    for registration, callback in enumerate(document["callbacks"]):
        callback["registration"] = registration
    document["chains"] = [
        {"id": side, "callbacks": [LIDARS[side], TRANSFORMERS[side], *COMMON], "rank": 1}
        for side in LIDARS
    ]
    return document


def _simulate(document: Json, options: Json) -> float:
    """The greatest latency in ms over starts of the timers a little apart, and at once."""
    generator = random.Random(SEED)
    timers = [callback for callback in document["callbacks"] if callback["kind"] == "timer"]
    text = json.dumps(document)
    worst = 0.0
    for attempt in range(PHASES + 1):
        offsets = {timer["id"]: generator.randrange(SPREAD) if attempt else 0 for timer in timers}
        wanted = json.dumps(options | {"duration": SIMULATED, "offsets": offsets})
        chains = json.loads(takt_design.simulate(text, "model", wanted))["chains"]
        worst = max(worst, *(chain["max"] or 0 for chain in chains))
    return worst / MS


def _record(document: Json) -> float:
    """The greatest latency in ms of real nodes."""
    text = json.dumps(document)
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as nowhere:
        path = Path(folder) / "model.json"
        path.write_text(text, encoding="utf-8")
        trace = Path(folder) / "trace"
        command = (sys.executable, "-m", "takt", "run", str(path), "--duration", str(RECORDED))
        request = recorder.Request("lttng", trace, command=command, command_output=nowhere.fileno())
        recorder.record(request, lambda *_: None)
        chains = pipeline.measure([str(trace)], text, "model").chains
    latencies = [float(chain.max) for chain in chains if chain.max is not None]
    if not latencies:
        kind = document["executors"][0]["kind"]
        raise UserError(f"the run with executor {kind}: no chain is complete in its trace")
    return max(latencies) / MS

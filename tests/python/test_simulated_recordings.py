"""takt simulate -o TRACE: what is read from the recording is what was simulated.

The simulator and the interpreter of recordings share no code, so each is the other's oracle.
TAKT_SIMULATIONS says how many random models there are; usually a few.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import takt_design
from model_graphs import Graph, period, structural_differences
from robot import run_takt
from takt import documents, pipeline

Json = dict[str, Any]

MODELS = Path(__file__).resolve().parents[2] / "models"
SEEDS = int(os.environ.get("TAKT_SIMULATIONS", "40"))
KINDS = ["single_threaded", "events", "fixed_priority", "multi_threaded"]
FEATURES = {
    "as_ros": 100,
    "second_sender": 50,
    "join": 50,
    "sampling": 10,
    # What a recording cannot say, see docs/simulation.md.
    "jitter": 0,
    "burst": 0,
    "delay": 0,
    "local_delay": 0,
    "overhead": 0,
}
SELDOM_TRIGGER = 133
"""A seed with a sender whose messages trigger nothing, and led to one instance."""
SECOND = 1_000_000_000
INSTANCES = 12


TRIES = 20


def duration(model: Json) -> int:
    return INSTANCES * max(period(callback) or 0 for callback in model["callbacks"])


def recorded(text: str, trace: Path, seed: int) -> Json:
    """Simulates and records the model; what the simulation said."""
    trace.mkdir(parents=True)
    options: Json = {"execution": "random", "order": "random", "releases": "random", "seed": seed}
    options |= {"duration": duration(json.loads(text)), "timeline": 1_000_000}
    simulation = pipeline.simulate(text, "model", options, str(trace))
    document: Json = json.loads(documents.to_json(simulation))
    return document


def can_be_read(model: Json, simulated: Json) -> bool:
    """Whether each callback ran, and timers of default executors first within a period: nothing
    shows by how many of them such a timer's first run is late.
    """
    first = {entry["callback"]: entry for entry in reversed(simulated["timeline"])}
    waits = {e["id"] for e in model["executors"] if e["kind"] == "single_threaded"}
    for callback, seen in zip(model["callbacks"], simulated["callbacks"], strict=True):
        if not seen["count"]:
            return False
        if callback["kind"] == "timer" and callback["executor"] in waits:
            entry, most = first[callback["id"]], period(callback) or 0
            if entry["start"] - entry["activation"] > most:
                return False
    return True


@pytest.fixture(params=sorted({*range(1, SEEDS + 1), SELDOM_TRIGGER}))
def run(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Json, Json, Path]:
    """A random model, what its simulation said, and the recording."""
    for attempt in range(TRIES):
        seed = request.param + attempt * 1_000_000
        text = takt_design.generate(seed, KINDS, (1, 3), (2, 12), 4, (5, 60), FEATURES)
        trace = tmp_path / f"trace-{attempt}"
        simulated = recorded(text, trace, seed)
        model: Json = json.loads(text)
        if can_be_read(model, simulated):
            return model, simulated, trace
    raise AssertionError("no model of so many can be read")


FEWEST_SILENT = 8
"""A sender whose messages led to fewer instances is taken to trigger what these send
(libtakt/synthesis/src/builder.cpp).
"""


def trigger_as_seen(model: Json, trace: Path) -> None:
    """Adds to the senders that trigger an edge those of which too few instances show that they do
    not.
    """
    measured = pipeline.measure([str(trace)], json.dumps(model), "model")
    counts = {(edge.source, edge.target): edge.count for edge in measured.edges}
    for edge in model["edges"]:
        if edge["triggered_by"] is None:
            continue
        seldom = {
            each["from"]
            for each in model["edges"]
            if each["to"] == edge["from"] and counts[each["from"], each["to"]] < FEWEST_SILENT
        }
        edge["triggered_by"] = sorted({*edge["triggered_by"], *seldom})


def test_a_model_comes_back(run: tuple[Json, Json, Path]) -> None:
    model, _, trace = run
    found = pipeline.synthesize([str(trace)])
    trigger_as_seen(model, trace)
    used = {callback["executor"] for callback in model["callbacks"]}
    model["executors"] = [each for each in model["executors"] if each["id"] in used]
    # An input that completes no set does not show what it would trigger.
    for document in (model, found):
        joins = {join["callback"] for join in document["joins"]}
        for edge in document["edges"]:
            if edge["from"] in joins:
                edge["triggered_by"] = None
    assert not structural_differences(Graph(model), Graph(found))


def figures(document: Json) -> dict[str, tuple[Any, ...]]:
    """Count, least and largest of the response times of callbacks and the latencies of chains."""
    found = {}
    for kind in ("callbacks", "chains"):
        for each in document[kind]:
            times = each.get("response_time", each)
            found[each["id"]] = (each["count"], times["min"], times["max"])
    return found


def test_times_come_back(run: tuple[Json, Json, Path]) -> None:
    model, simulated, trace = run
    measured = pipeline.measure([str(trace)], json.dumps(model), "model")
    said, seen = figures(simulated), figures(json.loads(documents.to_json(measured)))
    assert {name: seen[name] for name in said if seen[name] != said[name]} == {}


def test_the_run_repeats_itself(run: tuple[Json, Json, Path]) -> None:
    """takt simulate --replay: every executor that can be compared decides as in the recording."""
    model, _, trace = run
    told = pipeline.replay([str(trace)], json.dumps(model), "model")
    untold = {
        callback["executor"]
        for callback in model["callbacks"]
        if callback["kind"] not in ("timer", "subscription", "service")
    }
    for executor in told["executors"]:
        if executor["not_compared"] is None:
            assert executor["agreeing"] == executor["decisions"], executor
            assert executor["without_release"] == 0 or executor["id"] in untold


def test_the_recording_counts_what_ran(run: tuple[Json, Json, Path]) -> None:
    model, simulated, trace = run
    info = pipeline.info([str(trace)])
    assert not info["warnings"]
    runs = {callback["name"]: callback["count"] for callback in info["callbacks"]}
    joins = {join["callback"] for join in model["joins"]}
    for said in simulated["callbacks"]:
        if said["id"] not in joins:  # whose other messages run, too
            assert runs[said["id"]] == said["count"]


def test_a_recording_has_labels(tmp_path: Path) -> None:
    trace = tmp_path / "run"
    model = MODELS / "pipeline.json"
    done = run_takt(
        *("simulate", model, "--duration", "1", "-o", trace, "--label", "robot=r1", "--json"),
        TAKT_LABELS="version=2",
    )
    assert done.returncode == 0, done.stderr
    info = json.loads(run_takt("info", trace, "--json").stdout)
    assert info["labels"][0]["labels"] == {"robot": "r1", "version": "2"}
    assert {node["name"] for node in info["nodes"]} == {"/camera", "/motor"}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run"]


def limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def test_a_recording_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    trace = tmp_path / "run"
    command = ["takt", "simulate", str(MODELS / "pipeline.json"), "-o", str(trace)]
    done = subprocess.run(
        [sys.executable, "-m", *command],
        preexec_fn=limit_files,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    where = trace / "simulated" / "events"
    assert done.stderr.splitlines()[-1] == f"takt: {where}: cannot be written: File too large"
    assert not list(tmp_path.iterdir())


def test_mistakes_are_named(tmp_path: Path) -> None:
    model = MODELS / "pipeline.json"
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "file").touch()
    for arguments, message in (
        (["-o", tmp_path / "run"], f"{tmp_path}/run: exists; remove it, or name another folder"),
        (
            ["--label", "robot=r1"],
            "--label: only a recording keeps labels; name its folder with -o",
        ),
        (
            ["-o", tmp_path / "new", "--label", "r1"],
            "--label: 'r1': write KEY=VALUE, such as robot=r7",
        ),
    ):
        done = run_takt("simulate", model, "--duration", "1", *arguments)
        assert (done.returncode, done.stderr) == (2, f"takt: {message}\n")


def test_a_link_is_no_recording_of_one_host(tmp_path: Path) -> None:
    model = json.loads((MODELS / "pipeline.json").read_text())
    model["links"] = [{"id": "wifi", "bandwidth": 1_000_000}]
    model["edges"][0]["link"] = "wifi"
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    done = run_takt("simulate", path, "-o", tmp_path / "run")
    assert done.returncode == 2
    assert "takes a link between hosts, and a simulated recording is of one host" in done.stderr
    assert not (tmp_path / "run").exists()

"""The round trip: what ran as a model gives that model again.

Callbacks, periods, edges with their trigger sets, joins and executors are the same exactly;
execution times within the tolerances of round_trips.py, each with its reason. TAKT_ROUND_TRIPS says
how many random models run; usually a few.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import round_trips
from recording import takt

Json = dict[str, Any]

MODELS = Path(__file__).resolve().parents[2] / "models"
NAMED = (
    "autoware_reference_system",
    "parking",
    "synthetic",
    "service_call",
    "pipeline",
    "navigation_robot",
    "fusion",
)
SEEDS = int(os.environ.get("TAKT_ROUND_TRIPS", "5"))
TRIES = 3
"""What a busy machine adds to an execution time it adds now and then; what Takt measures wrongly is
wrong in each recording.
"""
FEATURES = ("jitter=0", "burst=0", "second_sender=50", "join=50", "sampling=10")
"""A run is one of the strictly periodic ones that a model allows, so models have no jitter; the
rest makes it likely that a few models have everything."""


def check(model: Path, folder: Path, seconds: float | None = None) -> None:
    document = json.loads(model.read_text())
    for attempt in range(TRIES):
        (recorded := folder / str(attempt)).mkdir()
        ran, found = round_trips.record(model, recorded, seconds)
        differences = round_trips.differences(document, found, ran)
        if not round_trips.are_times_alone(differences):
            break
    assert not differences, "\n".join(differences)
    # Executors without a process have one each, and a node on two of them is two nodes of one name.
    twins = found["provenance"]["alike_nodes"]
    # A recording does not tell that timers bypass the ready set, which changes the order.
    bypassed = [e["id"] for e in document["executors"] if e.get("timers") == "privileged"]
    warnings = [
        warning
        for warning in found["provenance"]["warnings"]
        if not any(
            warning.startswith(f"executor {executor} ran what it found ready together")
            for executor in bypassed
        )
    ]
    # Beside much else to do a service may be behind for most of the recording.
    warnings = [
        warning for warning in warnings if " had no response, the first for " not in warning
    ]
    assert all(any(f"nodes are called {node} " in w for node in twins) for w in warnings), warnings
    assert all(callback["count"] > 0 for callback in ran["callbacks"])


@pytest.mark.parametrize("name", NAMED)
def test_models_with_a_name(name: str, tmp_path: Path) -> None:
    check(MODELS / f"{name}.json", tmp_path)


def test_a_caller_that_calls_now_and_then(tmp_path: Path) -> None:
    model: Json = json.loads((MODELS / "service_call.json").read_text())
    model["edges"][0] |= {"messages": 1, "instances": 5}
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    check(path, tmp_path, seconds=4)


@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
def test_random_models(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    features = [argument for feature in FEATURES for argument in ("--feature", feature)]
    made = takt("generate", "--seed", str(seed), *features, "-o", str(path))
    assert made.returncode == 0, made.stderr
    check(path, tmp_path)

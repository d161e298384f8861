"""What is learnt of programs while they run is what a recording made beside it shows."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import round_trips
import takt_native
from recording import TAKT, takt
from takt import recorder

MODELS = Path(__file__).resolve().parents[2] / "models"
Json = dict[str, Any]


def watched(command: list[str], environment: Mapping[str, str]) -> tuple[Json, int]:
    """The model of the rings of what a command starts, at its end, and its status."""
    watch = takt_native.Watch(None, "", only_started=True, window=10**9)
    traced = recorder.traced(environment, watch, recorder.preloaded("ring"))
    with subprocess.Popen(command, env=traced, stdout=subprocess.DEVNULL) as running:
        while running.poll() is None:
            watch.poll()
            try:
                running.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
        watch.poll()
    assert watch.refresh()
    model: Json = json.loads(watch.model())
    return model, running.returncode


def shape(model: Json) -> dict[str, Any]:
    """All but times: the two tracers read the clock one after the other."""
    graph = round_trips.Graph(model)
    return {
        "callbacks": graph.vertices(),
        "edges": graph.connections(),
        "joins": graph.joins(),
        "executors": graph.executors(),
        "chains": {chain["id"]: chain["callbacks"] for chain in model["chains"]},
        "losses": model["provenance"]["losses"],
    }


@pytest.mark.parametrize("name", ["synthetic", "parking"])
def test_the_model_of_running_programs_is_that_of_a_recording_beside_it(
    name: str, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    run = [*TAKT, "run", str(MODELS / f"{name}.json"), "--duration", "4"]
    record = [*TAKT, "record", "--backend", "lttng", "-o", str(trace), "--", *run]
    live, status = watched(record, os.environ)
    assert status == 0
    done = takt("model", str(trace))
    assert done.returncode == 0, done.stderr
    offline: Json = json.loads(done.stdout)
    assert shape(live) == shape(offline)
    counts = {
        id_: (times["count"], offline["provenance"]["observed"][id_]["count"])
        for id_, times in live["provenance"]["observed"].items()
    }
    # Start-up ends a second after the last object: an instance may be on either side of it.
    assert all(abs(a - b) <= 1 for a, b in counts.values()), counts

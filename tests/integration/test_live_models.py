"""What is learnt of programs while they run is what a recording made beside it shows.

The recorder is the one with probes in the kernel, which sees no service calls in programs of Jazzy:
models without.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from model_graphs import Graph
from recording import PROGRAMS, TAKT, Run, needs_privileges, takt

MODELS = Path(__file__).resolve().parents[2] / "models"
Json = dict[str, Any]


def shape(model: Json) -> dict[str, Any]:
    """Everything of a model but times: the two tracers read the clock one after the other."""
    graph = Graph(model)
    return {
        "callbacks": graph.vertices(),
        "edges": graph.connections(),
        "joins": graph.joins(),
        "executors": graph.executors(),
        "chains": {chain["id"]: chain["callbacks"] for chain in model["chains"]},
        "losses": model["provenance"]["losses"],
    }


@needs_privileges
@pytest.mark.parametrize("name", ["autoware_reference_system", "parking"])
def test_the_model_of_running_programs_is_that_of_a_recording_beside_it(
    name: str, tmp_path: Path
) -> None:
    watched = tmp_path / "live.json"
    run = [*TAKT, "run", str(MODELS / f"{name}.json"), "--duration", "4"]
    watch = [sys.executable, str(PROGRAMS / "watched.py"), str(watched), *run]
    recorded = Run.of(tmp_path / "trace", watch, backend="ebpf")
    live: Json = json.loads(watched.read_text())
    done = takt("model", str(recorded.trace))
    assert done.returncode == 0, done.stderr
    offline: Json = json.loads(done.stdout)
    assert shape(live) == shape(offline)
    counts = {
        id_: (times["count"], offline["provenance"]["observed"][id_]["count"])
        for id_, times in live["provenance"]["observed"].items()
    }
    # Start-up ends a second after the last object: an instance may be on either side of it.
    assert all(abs(a - b) <= 1 for a, b in counts.values()), counts

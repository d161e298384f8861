"""Simulated executors decide as real ones did: takt run, recorded and replayed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import babeltrace
from recording import TAKT, Run

MS = 1_000_000
CHAINS = 3
LENGTH = 3


def callback(chain: int, place: int) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": f"c{chain}{place}",
        "node": f"/n{chain}{place}",
        "kind": "timer" if place == 0 else "subscription",
        "executor": "e",
        "execution_time": {"curve": [MS]},
        "registration": place,
        "priority": (5 * chain + 2 * place) % (CHAINS * LENGTH),
    }
    if place == 0:
        described["activation"] = {"kind": "periodic", "period": (10 + 3 * chain) * MS}
    return described


def model(executor: dict[str, Any]) -> dict[str, Any]:
    """Chains that load an executor of one thread with 70 %, so that decisions are to be made."""
    steps = [(chain, place) for chain in range(CHAINS) for place in range(LENGTH)]
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": "e", **executor}],
        "callbacks": [callback(*step) for step in steps],
        "edges": [
            {"from": f"c{chain}{place - 1}", "to": f"c{chain}{place}"}
            for chain, place in steps
            if place > 0
        ],
        "chains": [
            {"id": f"chain{chain}", "callbacks": [f"c{chain}{place}" for place in range(LENGTH)]}
            for chain in range(CHAINS)
        ],
    }


SLOTS = [
    {"start": n * MS, "end": (n + 1) * MS, "callback": f"c{n // LENGTH}{n % LENGTH}"}
    for n in range(CHAINS * LENGTH)
]
EXECUTORS: list[dict[str, Any]] = [
    {"kind": "single_threaded"},
    {"kind": "single_threaded", "timers": "privileged"},
    {"kind": "multi_threaded", "threads": 1},
    {"kind": "events"},
    {"kind": "fixed_priority"},
    {"kind": "edf"},
    {"kind": "chain_priority"},
    {"kind": "graph_aware"},
    {"kind": "table_driven", "table": {"cycle": 10 * MS, "slots": SLOTS}},
]


def replay(model: Path, trace: Path) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [*TAKT, "simulate", str(model), "--replay", str(trace), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, document


def record(directory: Path, executor: dict[str, Any], backend: str) -> tuple[Path, Path]:
    path = directory / "model.json"
    path.write_text(json.dumps(model(executor)))
    run = Run.of(directory / "trace", [*TAKT, "run", str(path), "--duration", "1"], backend=backend)
    return path, run.trace


BY_LTTNG = [executor for executor in EXECUTORS if executor["kind"] in ("single_threaded", "edf")]


@pytest.mark.parametrize(
    ("executor", "backend"),
    [
        *((executor, "ring") for executor in EXECUTORS),
        *((executor, "lttng") for executor in BY_LTTNG),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value.values()))[:28],
)
def test_every_decision_is_the_same(executor: dict[str, Any], backend: str, tmp_path: Path) -> None:
    path, trace = record(tmp_path, executor, backend)
    status, document = replay(path, trace)
    (compared,) = document["executors"]
    assert compared["first_difference"] is None, compared
    assert status == 0, document
    assert compared["kind"] == executor["kind"]
    starts = sum(event.name == "ros2:callback_start" for event in babeltrace.events(trace))
    assert compared["agreeing"] == compared["decisions"] == starts > 10


def test_another_policy_is_noticed(tmp_path: Path) -> None:
    """Priorities in the model that are not those of the run are seen."""
    path, trace = record(tmp_path, {"kind": "fixed_priority"}, "ring")
    changed = json.loads(path.read_text())
    for described in changed["callbacks"]:
        described["priority"] = CHAINS * LENGTH - described["priority"]
    path.write_text(json.dumps(changed))
    status, document = replay(path, trace)
    (compared,) = document["executors"]
    assert status == 1
    assert compared["agreeing"] < compared["decisions"]
    assert compared["first_difference"]["recorded"] != compared["first_difference"]["simulated"]

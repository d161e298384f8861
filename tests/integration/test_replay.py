"""Simulated executors decide as real ones did: takt run, recorded and replayed."""

from __future__ import annotations

import itertools
import json
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import babeltrace
from recording import TAKT, Run
from takt import pipeline

SCHEMA = Draft202012Validator(
    json.loads((resources.files("takt") / "schemas" / "replay.schema.json").read_text("utf-8"))
)

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


JOIN = {
    "id": "join",
    "node": "/join",
    "kind": "subscription",
    "executor": "e",
    "execution_time": {"curve": [MS]},
    "registration": LENGTH,
    "priority": CHAINS * LENGTH,
}


def model(executor: dict[str, Any]) -> dict[str, Any]:
    """Chains that load an executor of one thread with 80 %, so that decisions are to be made.

    The outputs of the first two chains are joined. `leave_out`: a part that the model leaves out.
    """
    executor = dict(executor)
    leave_out = executor.pop("leave_out", None)
    ends = [f"c{chain}{LENGTH - 1}" for chain in range(2)]
    steps = [(chain, place) for chain in range(CHAINS) for place in range(LENGTH)]
    callbacks = [*(callback(*step) for step in steps), dict(JOIN)]
    if leave_out == "priorities":
        for described in callbacks:
            del described["priority"]
    document: dict[str, Any] = {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": "e", **executor}],
        "callbacks": callbacks,
        "edges": [
            {"from": f"c{chain}{place - 1}", "to": f"c{chain}{place}"}
            for chain, place in steps
            if place > 0
        ]
        + [{"from": end, "to": "join"} for end in ends],
        "joins": [{"callback": "join", "kind": "newest", "inputs": ends}],
        "chains": [
            {"id": f"chain{chain}", "callbacks": [f"c{chain}{place}" for place in range(LENGTH)]}
            for chain in range(CHAINS)
        ]
        + [{"id": "joined", "callbacks": [f"c1{place}" for place in range(LENGTH)] + ["join"]}],
    }
    if leave_out == "joined chain":
        del document["chains"][-1]
    return document


SLOTS = [
    {"start": n * MS, "end": (n + 1) * MS, "callback": f"c{n // LENGTH}{n % LENGTH}"}
    for n in range(CHAINS * LENGTH)
]
SLOTS.append({"start": CHAINS * LENGTH * MS, "end": (CHAINS * LENGTH + 1) * MS, "callback": "join"})
EXECUTORS: list[dict[str, Any]] = [
    {"kind": "single_threaded"},
    {"kind": "single_threaded", "timers": "privileged"},
    {"kind": "multi_threaded", "threads": 1},
    {"kind": "events"},
    {"kind": "fixed_priority"},
    # Uses inherited deadlines, as two chains share more than their first callback.
    {"kind": "edf"},
    # Uses the deadlines of chain instances.
    {"kind": "edf", "leave_out": "joined chain"},
    {"kind": "chain_priority"},
    {"kind": "graph_aware"},
    {"kind": "graph_aware", "leave_out": "priorities"},
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


def record(
    directory: Path, executor: dict[str, Any], backend: str, seconds: str = "1"
) -> tuple[Path, Path]:
    path = directory / "model.json"
    path.write_text(json.dumps(model(executor)))
    run = Run.of(
        directory / "trace", [*TAKT, "run", str(path), "--duration", seconds], backend=backend
    )
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
    SCHEMA.validate(document)
    assert compared["first_difference"] is None, compared
    assert status == 0, document
    assert compared["kind"] == executor["kind"]
    names = [event.name for event in babeltrace.events(trace)]
    decisions = names.count("ros2:callback_start")
    if executor["kind"] != "single_threaded":
        # None of the callbacks that only add to the join is chosen: these follow their take at
        # once.
        steps = itertools.pairwise(name for name in names if name != "takt:callback_release")
        decisions -= sum(step == ("ros2:rclcpp_take", "ros2:callback_start") for step in steps)
    assert compared["agreeing"] == compared["decisions"] == decisions > 10


@pytest.mark.parametrize("kind", ["single_threaded", "events", "edf", "graph_aware"])
def test_messages_are_followed_while_executors_keep_them(kind: str, tmp_path: Path) -> None:
    path, trace = record(tmp_path, {"kind": kind}, "ring", seconds="2.5")
    measured = pipeline.measure([str(trace)], path.read_text(), "model")
    ran = {described.id: described.count for described in measured.callbacks}
    assert min(ran.values()) > 0
    for edge in measured.edges:
        if edge.target != "join":
            assert edge.count == ran[edge.target], edge  # each instance has its message
    into_join = sum(edge.count for edge in measured.edges if edge.target == "join")
    assert into_join > ran["join"]
    for chain in measured.chains[:CHAINS]:
        assert chain.count > 0, chain
        # takt run leaves a tenth of each execution time to what surrounds the work.
        assert chain.min is not None
        assert chain.min >= 0.9 * MS * LENGTH
    for described in measured.callbacks:
        assert described.response_time.min is not None
        assert described.execution_time.min is not None
        assert described.response_time.min >= described.execution_time.min
    assert measured.losses == {"discarded": 0}


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

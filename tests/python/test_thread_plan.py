"""takt plan --threads: a takt/threads file, and the bounds under exactly its reservations."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from robot import run_takt
from takt import pipeline
from takt.errors import UserError
from takt.planning import thread_plan
from takt.processors import Processors

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
PIPELINE = ROOT / "models" / "pipeline.json"
SCHEMA = json.loads((ROOT / "python/takt/schemas/threads.schema.json").read_text())
UNITS = {"ns": 1, "us": 1000, "ms": 1_000_000, "s": 1_000_000_000}


def nanoseconds(text: str) -> int:
    matched = re.fullmatch(r"(\d+)(ns|us|ms|s)", text)
    assert matched
    return int(matched[1]) * UNITS[matched[2]]


def reserved(model: Json, document: Json) -> Json:
    """The model under the reservations of a file, by the names of its nodes alone."""
    executors = {executor["id"]: executor for executor in model["executors"]}
    for executor in executors.values():
        executor["supply"] = {"kind": "dedicated"}
        executor["cpu"] = None
    for row in document["threads"]:
        if row["policy"] != "deadline":
            continue
        times = [nanoseconds(part) for part in row["reservation"].split("/")]
        for callback in model["callbacks"]:
            if callback["node"] == row.get("executor", row.get("node")):
                executors[callback["executor"]]["supply"] = {
                    "kind": "reservation",
                    "budget": times[0],
                    "deadline": times[-2] if len(times) == 3 else times[-1],
                    "period": times[-1],
                }
    return model


def test_the_bound_is_that_of_the_model_with_exactly_these_reservations(tmp_path: Path) -> None:
    done = run_takt("plan", str(PIPELINE), "--threads", "-o", str(tmp_path / "t.yaml"), "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMA)
    chain, bound = re.findall(r"takt: (.*): guaranteed: at most ([\d.]+) ms, goal", done.stderr)[0]
    model = reserved(json.loads(PIPELINE.read_text()), document)
    (tmp_path / "model.json").write_text(json.dumps(model))
    analyzed = run_takt("analyze", str(tmp_path / "model.json"), "--json")
    (found,) = [one for one in json.loads(analyzed.stdout)["chains"] if one["id"] == chain]
    # It is printed with three digits.
    assert found["bound"] / 1e6 == pytest.approx(float(bound), rel=1e-3)
    # A little less would not do: the reservations are the smallest.
    for row in document["threads"]:
        if row["policy"] == "deadline":
            budget, period = map(nanoseconds, row["reservation"].split("/"))
            row["reservation"] = f"{budget * 9 // 10}ns/{period}ns"
    (tmp_path / "model.json").write_text(json.dumps(reserved(model, document)))
    less = run_takt("analyze", str(tmp_path / "model.json"), "--json")
    assert less.returncode == 1


def test_the_file_says_what_the_document_says(tmp_path: Path) -> None:
    done = run_takt("plan", str(PIPELINE), "--threads")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "format: takt/threads",
        "version: 1",
        "threads:",
        "  - {executor: /camera, policy: deadline, reservation: 670us/10ms}",
        "  - {executor: /motor, policy: deadline, reservation: 1170us/10ms}",
        "  - {middleware: /camera, policy: rr, priority: 1}",
        "  - {middleware: /motor, policy: rr, priority: 1}",
    ]


def model_of(*callbacks: tuple[str, str, str], threads: int = 1) -> str:
    """Callbacks (node, executor, topic) that one chain passes, one after the other."""
    ids = [f"c{number}" for number in range(len(callbacks))]
    return json.dumps(
        {
            "format": "takt/model",
            "version": 1,
            "executors": [
                {
                    "id": id_,
                    "kind": "multi_threaded" if threads > 1 else "single_threaded",
                    "threads": threads,
                }
                for id_ in dict.fromkeys(executor for _, executor, _ in callbacks)
            ],
            "callbacks": [
                {
                    "id": id_,
                    "node": node,
                    "executor": executor,
                    "kind": "subscription" if number else "timer",
                    "topic": topic if number else None,
                    "registration": number,
                    "execution_time": {"curve": [1_000_000]},
                    "activation": None
                    if number
                    else {"kind": "periodic", "period": 100_000_000, "jitter": 0},
                }
                for number, (id_, (node, executor, topic)) in enumerate(
                    zip(ids, callbacks, strict=True)
                )
            ],
            "edges": [{"from": a, "to": b} for a, b in itertools.pairwise(ids)],
            "chains": [{"id": "x", "callbacks": ids, "goal": 90_000_000, "rank": 1}],
        }
    )


def test_a_node_on_two_executors_is_named_by_its_groups() -> None:
    found = thread_plan.propose(model_of(("/a", "one", ""), ("/a", "two", "/scan")), "model")
    subjects = [
        {key: row[key] for key in ("node", "group", "executor") if key in row}
        for row in found.document["threads"]
        if row["policy"] == "deadline"
    ]
    assert subjects == [
        {"node": "/a", "group": "timer-100ms"},
        {"node": "/a", "group": "/scan"},
    ]
    jsonschema.validate(found.document, SCHEMA)


def test_what_no_name_tells_is_said() -> None:
    model = model_of(("/a", "one", ""), ("/a", "two", "/scan"), threads=2)
    with pytest.raises(UserError, match="no node is on it alone"):
        thread_plan.propose(model, "model")


def test_goals_that_cannot_be_kept_are_no(tmp_path: Path) -> None:
    model = json.loads(model_of(("/a", "one", "")))
    model["chains"][0]["goal"] = 500_000
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    done = run_takt("plan", str(path), "--threads", "-o", str(tmp_path / "t.yaml"))
    assert done.returncode in (1, 2)
    assert "reservations guarantee no chain with a goal" in done.stderr
    assert not (tmp_path / "t.yaml").exists()


def test_other_options_do_not_go_with_it() -> None:
    done = run_takt("plan", str(PIPELINE), "--threads", "--executor", "edf")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def three_heavy_executors() -> str:
    """Each needs most of a core, so that reservations have to be kept on cores."""
    names = ("a", "b", "c")
    return json.dumps(
        {
            "format": "takt/model",
            "version": 1,
            "name": "heavy",
            "executors": [{"id": name, "kind": "single_threaded"} for name in names],
            "callbacks": [
                {
                    "id": f"/{name}:timer-10ms",
                    "node": f"/{name}",
                    "executor": name,
                    "kind": "timer",
                    "execution_time": {"curve": [6_000_000]},
                    "activation": {"kind": "periodic", "period": 10_000_000},
                }
                for name in names
            ],
            "chains": [
                {"id": name, "callbacks": [f"/{name}:timer-10ms"], "goal": 20_000_000}
                for name in names
            ],
        }
    )


def test_a_core_is_left_to_the_system_where_reservations_are_kept_on_cores() -> None:
    """`takt apply` refuses what leaves none."""
    for leave, kept, guaranteed in ((False, {0, 1, 2}, 3), (True, {None}, 2)):
        found, _ = pipeline.budget(
            three_heavy_executors(), "heavy", available=Processors(3), leave_core=leave
        )
        assert {executor["core"] for executor in found["executors"]} == kept
        assert sum(chain["state"] == "guaranteed" for chain in found["chains"]) == guaranteed

"""takt plan: what executors are told of a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from robot import run_takt

MODELS = Path(__file__).parents[2] / "models"

Json = dict[str, Any]


def plan(*arguments: str) -> Json:
    done = run_takt("plan", str(MODELS / "pipeline.json"), *arguments)
    assert done.returncode == 0, done.stderr
    document: Json = json.loads(done.stdout)
    return document


def test_callbacks_are_addressed_by_what_nodes_have() -> None:
    document = plan("--executor", "edf")
    assert (document["format"], document["version"]) == ("takt/plan", 1)
    callbacks = {
        callback["id"]: callback
        for executor in document["executors"]
        for callback in executor["callbacks"]
    }
    model = json.loads((MODELS / "pipeline.json").read_text())
    assert callbacks.keys() == {callback["id"] for callback in model["callbacks"]}
    assert callbacks["camera"]["kind"] == "timer"
    assert callbacks["camera"]["period"] > 0
    assert all(callback["node"].startswith("/") for callback in callbacks.values())
    assert all(
        topic.startswith("/")
        for callback in callbacks.values()
        for topic in callback.get("topics", [])
    )


def test_where_it_came_from() -> None:
    document = plan()
    assert document["provenance"]["inputs"][0]["path"].endswith("pipeline.json")


def test_it_is_written_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    done = run_takt("plan", str(MODELS / "pipeline.json"), "-o", str(path))
    assert done.returncode == 0
    assert done.stdout.startswith(f"{path}: 2 executors, ")
    assert json.loads(path.read_text())["format"] == "takt/plan"


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    options = tmp_path / "options.json"
    options.write_text("[]")
    model = str(MODELS / "pipeline.json")
    for arguments, message in (
        (["nowhere.json"], "nowhere.json: cannot be read"),
        ([model, "--executor", "magic"], '"magic" is none of'),
        ([model, "--executor", "table_driven"], "is table-driven: give its slots"),
        ([model, "--options", str(options)], "must hold a JSON object"),
    ):
        done = run_takt("plan", *arguments)
        assert done.returncode == 2
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1


def timer(name: str, period: int) -> Json:
    return {
        "id": name,
        "node": "/robot",
        "executor": "main",
        "kind": "timer",
        "execution_time": {"curve": [4_000_000]},
        "activation": {"kind": "periodic", "period": period},
    }


def urgent_but_slow(urgent: int = 9_000_000) -> str:
    """Two fast timers that have time, and a slow one that has none: one callback that has begun may
    go before it, but not two.
    """
    fast, slow = 20_000_000, 100_000_000
    goals = {"fast": 19_000_000, "fast too": 19_000_000, "urgent": urgent}
    return json.dumps(
        {
            "format": "takt/model",
            "version": 1,
            "executors": [{"id": "main", "kind": "single_threaded"}],
            "callbacks": [timer("fast", fast), timer("fast too", fast), timer("urgent", slow)],
            "edges": [],
            "chains": [{"id": n, "callbacks": [n], "goal": goal} for n, goal in goals.items()],
        }
    )


def test_priorities_guarantee_the_most_chains(tmp_path: Path) -> None:
    model, path = tmp_path / "model.json", tmp_path / "plan.json"
    model.write_text(urgent_but_slow())
    done = run_takt("plan", str(model), "--priorities", "best", "-o", str(path))
    assert done.returncode == 0, done.stderr
    assert "priorities by deadline_monotonic guarantee 3 of 3 chains" in done.stderr
    assert "rate_monotonic 2" in done.stderr
    (executor,) = json.loads(path.read_text())["executors"]
    priorities = {one["id"]: one["priority"] for one in executor["callbacks"]}
    assert (executor["kind"], executor["rule"]) == ("fixed_priority", "priority")
    assert max(priorities, key=lambda name: priorities[name]) == "urgent"


def test_goals_that_no_priorities_keep_are_an_answer(tmp_path: Path) -> None:
    model, path = tmp_path / "model.json", tmp_path / "plan.json"
    model.write_text(urgent_but_slow(urgent=5_000_000))
    done = run_takt("plan", str(model), "--priorities", "audsley", "-o", str(path))
    assert done.returncode == 1
    assert "priorities by audsley guarantee 2 of 3 chains" in done.stderr
    assert json.loads(path.read_text())["format"] == "takt/plan"


def test_mistakes_with_priorities_are_one_line(tmp_path: Path) -> None:
    model, without = tmp_path / "model.json", tmp_path / "without.json"
    model.write_text(urgent_but_slow())
    goalless = json.loads(model.read_text())
    for chain in goalless["chains"]:
        del chain["goal"]
    without.write_text(json.dumps(goalless))
    for arguments, message in (
        ([str(model), "--priorities", "magic"], '"magic" is not one of best, rate_monotonic'),
        ([str(model), "--priorities", "best", "--executor", "edf"], "not for edf"),
        ([str(model), "--priorities", "best", "--threads"], "--threads plans threads"),
        ([str(without), "--priorities", "best"], "no chain has a goal"),
    ):
        done = run_takt("plan", *arguments)
        assert done.returncode == 2
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1

"""takt diff and takt analyze --sensitivity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from robot import run_takt


def model(wcet: int, goal: int, period: int = 1000) -> dict[str, Any]:
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": "e", "supply": {"kind": "reservation", "budget": 50, "period": 100}}],
        "callbacks": [
            {
                "id": "tick",
                "executor": "e",
                "kind": "timer",
                "execution_time": {"curve": [wcet]},
                "activation": {"kind": "periodic", "period": period},
            }
        ],
        "chains": [{"id": "only", "callbacks": ["tick"], "goal": goal}],
    }


def write(path: Path, document: dict[str, Any]) -> Path:
    path.write_text(json.dumps(document), "utf-8")
    return path


def test_diff_of_a_slower_callback(tmp_path: Path) -> None:
    before = write(tmp_path / "before.json", model(40, 200))
    after = write(tmp_path / "after.json", model(60, 200))
    # sbf^-1: 100 + 40 and, with a second budget, 200 + 10.
    result = run_takt("diff", before, after, "--json")
    assert result.returncode == 1, result.stderr
    document = json.loads(result.stdout)
    assert document["format"] == "takt/diff"
    expected = {"only_in": None, "before": 140, "after": 210, "worse": True}
    assert document["callbacks"] == [{"id": "tick", **expected}]
    assert document["chains"] == [{"id": "only", **expected}]
    text = run_takt("diff", before, after)
    assert "+70 ns" in text.stdout
    assert run_takt("diff", after, before).returncode == 0
    assert "1 of 1 unchanged" in run_takt("diff", before, before).stdout


def test_diff_of_a_lost_bound(tmp_path: Path) -> None:
    before = write(tmp_path / "before.json", model(40, 200))
    after = write(tmp_path / "after.json", model(600, 200))
    result = run_takt("diff", before, after)
    assert result.returncode == 1
    assert "no bound any more" in result.stdout


def test_sensitivity_to_the_nanosecond(tmp_path: Path) -> None:
    path = write(tmp_path / "model.json", model(40, 200))
    result = run_takt("analyze", path, "--sensitivity", "--json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    # 50 fit into the first budget and are supplied after 150; 51 need 201.
    assert document["callbacks"] == [{"id": "tick", "growth": 10}]
    # With budget q < 40, the second budget comes after 2·100 + 100 − 2q + 40 − q > 200.
    assert document["executors"] == [{"id": "e", "budget": 50, "smallest_budget": 40}]
    assert "10 ns" in run_takt("analyze", path, "--sensitivity").stdout


def test_sensitivity_of_a_missed_goal(tmp_path: Path) -> None:
    path = write(tmp_path / "model.json", model(40, 100))
    result = run_takt("analyze", path, "--sensitivity")
    assert result.returncode == 1
    assert "missed already" in result.stdout

"""takt budget."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from robot import Json, run_takt

MODELS = Path(__file__).parents[2] / "models"
REFERENCE_SYSTEM = MODELS / "autoware_reference_system.json"


def document(*arguments: str | Path, status: int = 0) -> Json:
    done = run_takt("budget", *arguments, "--json")
    assert done.returncode == status, done.stderr
    found: Json = json.loads(done.stdout)
    assert (found["format"], found["version"]) == ("takt/budget", 1)
    return found


def changed(folder: Path, **goals: int) -> Path:
    model = json.loads(REFERENCE_SYSTEM.read_text())
    for chain in model["chains"]:
        chain["goal"] = goals.get(chain["id"].split()[0], chain["goal"])
    path = folder / "model.json"
    path.write_text(json.dumps(model))
    return path


def test_the_planned_model_meets_every_goal_by_analysis(tmp_path: Path) -> None:
    planned = tmp_path / "planned.json"
    found = document(REFERENCE_SYSTEM, "--cores", "2", "-o", planned)
    assert found["met"]
    assert [chain["state"] for chain in found["chains"]] == ["guaranteed"] * 4
    done = run_takt("analyze", planned, "--json")
    assert done.returncode == 0
    bounds = {chain["id"]: chain["bound"] for chain in json.loads(done.stdout)["chains"]}
    assert bounds == {chain["id"]: chain["bound"] for chain in found["chains"]}
    supplies = {e["id"]: e["supply"] for e in json.loads(planned.read_text())["executors"]}
    for executor in found["executors"]:
        assert supplies[executor["id"]]["budget"] == executor["budget"]
    # The hand-written reservations ask for more.
    given = json.loads(REFERENCE_SYSTEM.read_text())["executors"]
    by_hand = sum(e["supply"]["budget"] / e["supply"]["period"] for e in given)
    assert found["processors"]["bandwidth"] < by_hand


def test_a_margin_takes_more(tmp_path: Path) -> None:
    without = document(REFERENCE_SYSTEM, "--cores", "4")
    with_margin = document(REFERENCE_SYSTEM, "--cores", "4", "--margin", "15")
    assert with_margin["margin_percent"] == 15
    assert with_margin["processors"]["bandwidth"] > without["processors"]["bandwidth"]


def test_a_goal_out_of_reach_is_status_1_with_what_it_needs(tmp_path: Path) -> None:
    model = changed(tmp_path, lidar=1_000_000)
    found = document(model, "--cores", "2", status=1)
    first = found["chains"][0]
    assert (first["met"], first["state"]) == (False, "not possible")
    assert first["needs"]["goal"] > 1_000_000
    assert {chain["state"] for chain in found["chains"][1:]} == {"degraded"}
    assert found["executors"] == []
    done = run_takt("budget", model, "--cores", "2")
    assert done.returncode == 1
    assert "possible with a goal of at least" in done.stdout


def test_too_few_cores_are_named(tmp_path: Path) -> None:
    found = document(REFERENCE_SYSTEM, "--cores", "1", status=1)
    missing = next(chain for chain in found["chains"] if chain["state"] == "not possible")
    assert missing["needs"]["cores"] == 2


def test_analyze_points_to_it(tmp_path: Path) -> None:
    model = changed(tmp_path, lidar=1_000_000)
    done = run_takt("analyze", model)
    assert done.returncode == 1
    assert f"takt budget {model}" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cores", "0"], "--cores"),
        (["--margin", "-1"], "--margin"),
        (["--period", "0"], "--period"),
        (["--analysis", "magic"], "magic"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], said: str) -> None:
    done = run_takt("budget", REFERENCE_SYSTEM, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_model_without_goals_is_refused(tmp_path: Path) -> None:
    model = json.loads(REFERENCE_SYSTEM.read_text())
    for chain in model["chains"]:
        del chain["goal"]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    done = run_takt("budget", path)
    assert done.returncode == 2
    assert "no chain has a goal" in done.stderr


def test_the_best_period_is_one_for_all_reservations() -> None:
    found = document(REFERENCE_SYSTEM, "--cores", "2", "--period", "auto")
    assert found["met"]
    assert len({executor["period"] for executor in found["executors"]}) == 1


@pytest.mark.parametrize("period", ["never", "0", "nan", "99999"])
def test_what_is_no_period_is_told(period: str) -> None:
    done = run_takt("budget", REFERENCE_SYSTEM, "--period", period)
    assert done.returncode == 2
    assert f"'{period}' is neither 'auto' nor from 0.1 to 10000 milliseconds" in done.stderr

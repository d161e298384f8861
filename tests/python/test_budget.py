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


def test_a_search_whose_effort_is_used_up_says_so_and_more_finds_more() -> None:
    short = document(REFERENCE_SYSTEM, "--cores", "4", "--effort", "100000")
    full = document(REFERENCE_SYSTEM, "--cores", "4")
    assert (short["gave_up"], full["gave_up"]) == (True, False)
    assert short["met"]
    assert short["processors"]["bandwidth"] > full["processors"]["bandwidth"]
    told = run_takt("budget", REFERENCE_SYSTEM, "--cores", "4", "--effort", "100000").stderr
    assert "the search ended with this" in told
    assert "--effort allows more" in told


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


def test_too_few_cores_are_named() -> None:
    few = ("--cores", "1", "--capacity", "50")
    found = document(REFERENCE_SYSTEM, *few, status=1)
    missing = next(chain for chain in found["chains"] if not chain["met"])
    assert missing["state"] == "not found"
    assert missing["needs"]["cores"] == 2
    done = run_takt("budget", REFERENCE_SYSTEM, *few)
    assert "not found: possible with 2 cores" in done.stdout


SYNTHETIC = MODELS / "synthetic.json"


def test_executors_that_wait_for_each_other_fit_on_two_cores(tmp_path: Path) -> None:
    planned = tmp_path / "planned.json"
    found = document(SYNTHETIC, "--cores", "2", "-o", planned)
    assert [chain["state"] for chain in found["chains"]] == ["guaranteed"] * 4
    assert run_takt("analyze", planned).returncode == 0


def test_one_chain_of_them_takes_less_than_a_core() -> None:
    found = document(SYNTHETIC, "--cores", "2", "--capacity", "50", status=1)
    assert found["chains"][0]["state"] == "guaranteed"
    assert found["processors"]["bandwidth"] < 0.91


def test_what_a_chain_needs_is_enough(tmp_path: Path) -> None:
    few = ("--cores", "1")
    found = document(SYNTHETIC, *few, status=1)
    missing = next(i for i, chain in enumerate(found["chains"]) if not chain["met"])
    needs = found["chains"][missing]["needs"]
    assert {chain["state"] for chain in found["chains"][missing + 1 :]} == {"degraded"}
    assert all(chain["needs"] is None for chain in found["chains"][missing + 1 :])
    more = document(SYNTHETIC, "--cores", str(needs["cores"]))
    assert more["chains"][missing]["met"]
    model = json.loads(SYNTHETIC.read_text())
    model["chains"][missing]["goal"] = needs["goal"]
    later = tmp_path / "later.json"
    later.write_text(json.dumps(model))
    assert document(later, *few, status=1)["chains"][missing]["met"]


def test_a_model_without_reservations_is_not_said_to_have_some(tmp_path: Path) -> None:
    planned = tmp_path / "planned.json"
    done = run_takt("budget", changed(tmp_path, lidar=1_000_000), "--cores", "2", "-o", planned)
    assert done.returncode == 1
    assert "% of a core" not in done.stderr
    assert "Best effort, as no guaranteed chain needs them" in done.stderr
    assert f"The model without reservations: {planned}" in done.stderr
    supplies = {e["supply"]["kind"] for e in json.loads(planned.read_text())["executors"]}
    assert supplies == {"dedicated"}


def test_analyze_points_to_it_where_it_helps(tmp_path: Path) -> None:
    for goal, helps in ((40_000_000, True), (1_000_000, False)):
        model = changed(tmp_path, lidar=goal)
        done = run_takt("analyze", model, "--cores", "2")
        assert done.returncode == 1
        assert (f"takt budget {model}" in done.stderr) == helps


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


def test_periods_have_units_or_are_milliseconds() -> None:
    budgets = [
        document(REFERENCE_SYSTEM, "--period", period)["executors"]
        for period in ("5", "5ms", "0.005s", "5e0", "5000us")
    ]
    assert all(executor["period"] == 5_000_000 for executor in budgets[0])
    assert all(budget == budgets[0] for budget in budgets)


def test_a_period_that_the_kernel_does_not_enforce_is_said() -> None:
    """Ticks are a millisecond apart at least, so 0.2 ms is too short for every kernel."""
    done = run_takt("budget", REFERENCE_SYSTEM, "--period", "0.2")
    assert "takt: warning: this kernel enforces budgets at its ticks, every " in done.stderr
    assert "with a period of 0.2 ms" in done.stderr
    assert "enforces" not in run_takt("budget", REFERENCE_SYSTEM, "--period", "20").stderr


@pytest.mark.parametrize("period", ["never", "0", "nan", "99999", "20s", "50us"])
def test_what_is_no_period_is_told(period: str) -> None:
    done = run_takt("budget", REFERENCE_SYSTEM, "--period", period)
    assert done.returncode == 2
    assert f"'{period}' is neither 'auto' nor from 0.1 to 10000 milliseconds" in done.stderr

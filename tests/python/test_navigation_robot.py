"""models/navigation_robot.json is the documented case (ros-llama S-5.1, Table 6.2)."""

from __future__ import annotations

import json
from pathlib import Path

import takt_native

MODEL = Path(__file__).parents[2] / "models" / "navigation_robot.json"
MS = 1_000_000

# Chain, callbacks, goal in ms; the most important first.
TABLE_6_2 = [
    ("heartbeat", 1, 100),
    ("pilot", 2, 125),
    ("odometry-nav", 2, 75),
    ("laser-scanner", 2, 150),
    ("localization", 1, 450),
    ("odometry-loc", 2, 100),
    ("tracker", 2, 990),
]


def test_chains_ranks_and_goals_are_those_of_the_table() -> None:
    chains = json.loads(MODEL.read_text())["chains"]
    found = [(c["id"], len(c["callbacks"]), c["goal"] // MS) for c in chains]
    assert found == TABLE_6_2
    assert [c["rank"] for c in chains] == list(range(1, len(TABLE_6_2) + 1))


def test_fact_29_goals_add_up() -> None:
    goal = {name: limit for name, _, limit in TABLE_6_2}
    document = json.loads(MODEL.read_text())
    period = {
        c["id"]: (c["activation"] or {}).get("period", 0) // MS for c in document["callbacks"]
    }
    # The newest odometry that the planner reads is no older than its period.
    assert goal["odometry-nav"] + period["odometry"] == goal["pilot"] == period["plan"]
    # The pose expires 1 s after the scan, of which one may be skipped.
    assert 1000 - 2 * period["scan"] == goal["laser-scanner"] + goal["localization"]
    assert 600 - goal["localization"] - period["odometry"] == goal["odometry-loc"]


def test_all_goals_are_guaranteed_on_two_cores_and_a_surge_degrades_the_tracker_alone() -> None:
    def states(model: str) -> list[str]:
        found, _ = takt_native.budget(model, "model", "combined", 0, [0, 1], 0.9, None, False, None)
        return [chain["state"] for chain in json.loads(found)["chains"]]

    text = MODEL.read_text()
    assert states(text) == ["guaranteed"] * 7
    document = json.loads(text)
    (tracker,) = (c for c in document["callbacks"] if c["id"] == "track")
    tracker["execution_time"]["curve"] = [1_100 * MS]
    assert states(json.dumps(document)) == ["guaranteed"] * 6 + ["not possible"]

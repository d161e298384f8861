"""takt experiment: the published numbers come out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from robot import run_takt
from takt import experiments

Json = dict[str, Any]

# What the README of the experiment explains.
EXPLAINED = {
    "Table 2, default, chain 2, min",
    "Table 2, PiCAS, chain 1, max",
    "Table 2, PiCAS, chain 1, standard deviation",
}


def rows(name: str) -> list[Json]:
    done = run_takt("experiment", name, "--json")
    assert done.returncode == 0, done.stderr
    found: list[Json] = json.loads(done.stdout)["rows"]
    return found


def test_dac_table_2_within_a_tenth_but_for_what_is_explained() -> None:
    compared = [
        row
        for row in rows("edf-case-study")
        if isinstance(row["published"], float) and row["what"] not in EXPLAINED
    ]
    assert len(compared) == 3 * 2 * 4 - len(EXPLAINED)
    for row in compared:
        assert row["ours"] == pytest.approx(row["published"], rel=0.1), row["what"]


def test_table_3_1_to_a_hundredth_of_a_millisecond() -> None:
    found = rows("events-executor-schedulability")
    table = [row for row in found if row["what"].startswith("Table 3.1")]
    assert len(table) == 9
    for row in table:
        assert row["ours"] == pytest.approx(row["published"], abs=0.0101), row["what"]
    assert len(limited(found)) == 9


def test_trees_are_within_their_bounds_and_reach_them_at_high_load() -> None:
    found = limited(rows("graph-aware-many-to-many"))
    assert len(found) == 18
    for row in found:
        if row["what"].startswith(("70 %, rate", "90 %, rate")):
            assert row["ours"] == pytest.approx(float(row["published"][2:]), abs=0.1), row["what"]


def limited(found: list[Json]) -> list[Json]:
    """The rows with a published limit; none may be above it (the limits have two decimals)."""
    chosen = [row for row in found if str(row["published"]).startswith("≤ ")]
    for row in chosen:
        assert row["ours"] <= float(row["published"][2:]) + 0.01, row["what"]
    return chosen


def test_list_names_every_folder_with_its_title() -> None:
    done = run_takt("experiment", "--list", "--json")
    listed = {entry["name"]: entry["title"] for entry in json.loads(done.stdout)["experiments"]}
    assert listed == {e.name: e.title for e in experiments.all_experiments()}
    assert all(listed.values())


def test_unknown_experiment_names_the_known_ones() -> None:
    done = run_takt("experiment", "nothing")
    assert done.returncode == 2
    assert 'takt: there is no experiment "nothing"; one of edf-case-study, ' in done.stderr
    assert run_takt("experiment").returncode == 2

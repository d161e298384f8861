"""Links within nodes: what flows and models say of programs that printed what they did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robot import run_takt

RECORDINGS = Path(__file__).resolve().parents[1] / "recordings" / "links"

Json = dict[str, Any]
CLOCK_READING = 3_000_000
"""ns: a program looks at its clock before it publishes, and after its callback has begun."""


def document(command: str, name: str, *arguments: str) -> Json:
    done = run_takt(command, str(RECORDINGS / f"{name}.tar.xz"), *arguments, "--json")
    assert done.returncode in (0, 1), done.stderr
    parsed: Json = json.loads(done.stdout)
    return parsed


def truth(name: str) -> list[list[int]]:
    lines = (RECORDINGS / f"{name}.txt").read_text().splitlines()
    return [[int(word) for word in line.split()] for line in lines]


def only(flows: list[Json], source: str) -> Json:
    (flow,) = (flow for flow in flows if flow["from"].startswith(source))
    return flow


@pytest.mark.parametrize("name", ["transforms-apart", "transforms-together"])
def test_a_planner_uses_the_newest_objects_and_no_transforms(name: str) -> None:
    expected = sorted(line[0] for line in truth(name))
    found = document("flow", name, "--from", "/scan", "--to", "/base:/cmd_vel", "--instances")
    (flow,) = found["flows"]
    measured = sorted(instance["latency"] for instance in flow["instances"])
    assert len(expected) >= 200
    assert len(measured) == len(expected)
    apart = [abs(one - other) for one, other in zip(measured, expected, strict=True)]
    assert max(apart) < CLOCK_READING
    (link,) = (link for link in found["links"] if "/planner:/objects" in link["inputs"])
    assert link["inputs"] == ["/planner:/objects"]
    assert not any("/tf" in text for link in found["links"] for text in link["inputs"])


@pytest.mark.parametrize("name", ["transforms-apart", "transforms-together", "transforms-case"])
def test_models_have_the_links_of_flows(name: str) -> None:
    links = document("flow", name)["links"]
    model = document("model", name)
    sampled = {(edge["from"], edge["to"]) for edge in model["edges"] if not edge["topic"]}
    readers = {to.split(":")[0] for _, to in sampled}
    inferred = {text for link in links for text in link["inputs"]}
    assert {text for text, _ in sampled} == inferred
    assert readers == {text.split(":")[0] for text in inferred}
    assert model["joins"] == []


def test_a_goal_is_about_the_way_that_was_observed(tmp_path: Path) -> None:
    goals = tmp_path / "goals.yaml"
    goals.write_text("chains: [{name: drive, from: /scan, to: /cmd_vel, latency: 10s}]\n")
    measured = document("latency", "transforms-case", "--goals", str(goals))
    (chain,) = measured["chains"]
    assert chain["callbacks"] == ["/detector:/scan", "/planner:/objects"]


@pytest.mark.parametrize(
    "name", ["filters-exact-10-10", "filters-approximate-10-10", "filters-approximate-20-7"]
)
def test_joins_of_message_filters_are_in_flows_and_models(name: str) -> None:
    found = document("flow", name, "--to", "/sink")
    (link,) = found["links"]
    assert (link["kind"], link["inputs"]) == ("partial_sync", ["/fusion:/a", "/fusion:/b"])
    assert link["matches_stamps"]
    assert any("message_filters" in line for line in found["provenance"]["warnings"])
    expected = truth(name)
    # The input that completed the sets: the truth is what was observed.
    completing = only(found["flows"], "/b")
    assert completing["count"] == len(expected)
    assert completing["p50"] == pytest.approx(
        sorted(b for _, b in expected)[len(expected) // 2], abs=CLOCK_READING
    )
    # The other input may be older than the newest message, and the document says so.
    assert (
        only(found["flows"], "/a")["p50"]
        <= sorted(a for a, _ in expected)[len(expected) // 2] + CLOCK_READING
    )
    model = document("model", name)
    (join,) = model["joins"]
    assert {text.split(":")[0] for text in join["inputs"]} == {"/a", "/b"}
    assert any("message_filters" in line for line in model["provenance"]["warnings"])

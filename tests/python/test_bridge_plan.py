"""takt plan --link: a file for takt bridge of a model's links."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from linked_models import MS, Json, callback
from robot import run_takt

HOSTS = "robot=10.0.0.1,base=10.0.0.2"


def _model() -> Json:
    """On the robot, a camera and a log; on the base, what sees and drives."""
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": "sensors"}, {"id": "planner"}, {"id": "motors"}],
        "callbacks": [
            callback("camera", "sensors", period=100 * MS),
            callback("log", "sensors", period=20 * MS),
            callback("see", "planner", "/image"),
            callback("keep", "planner", "/log"),
            callback("drive", "motors", "/drive") | {"queue_depth": 3},
        ],
        "links": [
            {"id": "up", "bandwidth": 10**9, "overhead": 150_000},
            {"id": "down", "bandwidth": 10**9, "overhead": 100_000},
        ],
        "edges": [
            {"from": "camera", "to": "see", "link": "up", "message_size": 921_600},
            {"from": "log", "to": "keep", "link": "up", "message_size": 1000},
            {"from": "see", "to": "drive", "link": "down", "message_size": 100},
            # The motors are on the robot.
            {"from": "log", "to": "drive"},
        ],
        "chains": [
            {"id": "picture", "callbacks": ["camera", "see"], "goal": 90 * MS},
            {"id": "pilot", "callbacks": ["camera", "see", "drive"], "goal": 120 * MS},
        ],
    }


def _plan(model: Json, folder: Path, *arguments: str) -> Json:
    path = folder / "model.json"
    path.write_text(json.dumps(model))
    done = run_takt("plan", str(path), "--link", HOSTS, *arguments)
    assert done.returncode == 0, done.stderr
    found: Json = yaml.safe_load(done.stdout)
    return found


def test_topics_cross_links_in_the_order_of_their_goals(tmp_path: Path) -> None:
    planned = _plan(_model(), tmp_path)
    assert planned["hosts"] == {
        "robot": {"address": "10.0.0.1", "port": 7500},
        "base": {"address": "10.0.0.2", "port": 7500},
    }
    topics = {topic["topic"]: topic for topic in planned["topics"]}
    assert {name: (t["from"], t["to"]) for name, t in topics.items()} == {
        "/image": ("robot", ["base"]),
        "/log": ("robot", ["base"]),
        "/drive": ("base", ["robot"]),
    }
    assert {name: topic["priority"] for name, topic in topics.items()} == {
        "/image": 2,
        "/drive": 1,
        "/log": 0,
    }
    # Topics without a goal are limited to twice their rate; those with one have no period.
    assert {name: topic.get("period") for name, topic in topics.items()} == {
        "/image": None,
        "/drive": None,
        "/log": "10000000ns",
    }
    assert topics["/image"]["largest_message"] == 1_013_760
    assert topics["/drive"]["depth"] == 3
    # An image takes 7.4 ms, and more with the overhead of its chunks.
    assert 7.4e6 < int(topics["/image"]["latency"].removesuffix("ns")) < 20e6


def test_chunks_waste_little_of_the_link(tmp_path: Path) -> None:
    link = _plan(_model(), tmp_path)["link"]
    assert link["bandwidth"] == "1000000000bit/s"
    assert link["overhead"] == "150000ns"
    # 150 us are 5 % of 150 us and 2.85 ms.
    assert link["chunk"] == pytest.approx(2.85e-3 * 1e9 / 8, rel=1e-3)


def test_hosts_of_one_machine_have_ports_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(_model()))
    done = run_takt("plan", str(path), "--link", "robot=127.0.0.1,base=127.0.0.1")
    assert done.returncode == 0, done.stderr
    hosts = yaml.safe_load(done.stdout)["hosts"]
    assert [hosts[name]["port"] for name in ("robot", "base")] == [7500, 7501]


def test_names_of_the_model_add_no_lines(tmp_path: Path) -> None:
    model = _model()
    more = '\n  - {topic: "/more", from: base, to: [robot]}\n#'
    model["chains"][0]["id"] += more
    model["callbacks"][0]["node"] += more
    planned = _plan(model, tmp_path)
    assert {topic["topic"] for topic in planned["topics"]} == {"/image", "/log", "/drive"}


def test_priorities_of_edges_stay(tmp_path: Path) -> None:
    model = _model()
    model["edges"][1]["priority"] = 7
    topics = {topic["topic"]: topic for topic in _plan(model, tmp_path)["topics"]}
    assert [topics[name]["priority"] for name in ("/image", "/log", "/drive")] == [0, 7, 0]


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "model.json"

    def complaint(model: Json, *arguments: str) -> str:
        path.write_text(json.dumps(model))
        done = run_takt("plan", str(path), *arguments)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        (line,) = done.stderr.splitlines()
        return line

    assert '"robot" is not like robot=192.168.1.2' in complaint(_model(), "--link", "robot")
    told = complaint(_model(), "--link", "robot=10.0.0.1")
    assert "has 2 hosts, name each of them once: 1: /camera, /log, /drive; 2: /see, /keep" in told
    assert "not executors" in complaint(_model(), "--link", HOSTS, "--executor", "edf")
    model = _model()
    model["edges"].append({"from": "log", "to": "see"})
    assert 'takes the link "up", but' in complaint(model, "--link", HOSTS)
    for edge in (model := _model())["edges"]:
        edge.pop("link", None)
    assert "no edge takes a link" in complaint(model, "--link", HOSTS)

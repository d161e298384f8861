"""Bridges run a file that takt plan --link wrote for a model."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import yaml

from bridged import Json, digests, joined, namespaces_of_experiment, needs_hosts
from linked_models import MS, callback
from recording import TAKT

MEGABYTE = 1_000_000
MEGABITS = 10


def _model() -> Json:
    """The base stops the robot by what it sees; maps have more time."""
    bandwidth = MEGABITS * 1_000_000
    return {
        "format": "takt/model",
        "version": 1,
        "executors": [{"id": "sensors"}, {"id": "planner"}],
        "callbacks": [
            callback("map", "sensors", period=10_000 * MS),
            callback("bump", "sensors", period=500 * MS),
            callback("draw", "planner", "/map"),
            callback("stop", "planner", "/bump") | {"queue_depth": 30},
            callback("brake", "sensors", "/brake"),
        ],
        "links": [
            {"id": "up", "bandwidth": bandwidth, "overhead": 150_000},
            {"id": "down", "bandwidth": bandwidth, "overhead": 150_000},
        ],
        "edges": [
            {"from": "map", "to": "draw", "link": "up", "message_size": MEGABYTE},
            {"from": "bump", "to": "stop", "link": "up", "message_size": 100},
            {"from": "stop", "to": "brake", "link": "down", "message_size": 100},
        ],
        "chains": [
            {"id": "maps", "callbacks": ["map", "draw"], "goal": 9_000 * MS},
            {"id": "bumper", "callbacks": ["bump", "stop", "brake"], "goal": 400 * MS},
        ],
    }


def _plan(folder: Path) -> Json:
    """Writes the bridge file of the model as people do, and the key that it names."""
    (folder / "model.json").write_text(json.dumps(_model()))
    robot, base = namespaces_of_experiment().ADDRESSES
    hosts = f"robot={robot},base={base}"
    file = folder / "bridge.yaml"
    plan = ["plan", str(folder / "model.json"), "--link", hosts, "-o", str(file)]
    subprocess.run([*TAKT, *plan], check=True)
    planned: Json = yaml.safe_load(file.read_text())
    subprocess.run([*TAKT, "bridge", "--make-key", str(folder / planned["key"])], check=True)
    return planned


@needs_hosts
def test_messages_go_by_the_priorities_of_the_plan(tmp_path: Path) -> None:
    planned = {topic["topic"]: topic for topic in _plan(tmp_path)["topics"]}
    assert planned["/bump"]["priority"] > planned["/map"]["priority"]
    # Three maps take 2.5 s.
    with joined(tmp_path, MEGABITS) as net:
        robot, base = net.ends
        for topic in ("/map", "/bump"):
            base.ask("subscribe", topic)
            robot.ask("advertise", topic)
        robot.ask("subscribe", "/brake")
        base.ask("advertise", "/brake")
        bridges = net.bridges()
        for topic in ("/map", "/bump"):
            robot.ask("matched", topic, count=1)
        base.ask("matched", "/brake", count=1)
        robot.publish("/bump", ["first"])
        base.hears("/bump", ["first"])
        robot.ask("fill", "/map", letters="abc", length=MEGABYTE)
        bumps = [str(n) for n in range(20)]
        robot.publish("/bump", bumps)
        base.publish("/brake", ["brake"])
        robot.hears("/brake", ["brake"])
        base.hears("/map", digests("abc", MEGABYTE))
        base.hears("/bump", ["first", *bumps])
        last = base.order.index(("/bump", "19"))
        assert any(topic == "/map" for topic, _ in base.order[last:]), "the maps came first"
        reports = [bridge.stop() for bridge in bridges]
    sent = {one["topic"]: one for report in reports for one in report["sent"]}
    assert {name: one["priority"] for name, one in sent.items()} == {
        name: topic["priority"] for name, topic in planned.items()
    }
    assert {name: one["delivered"] for name, one in sent.items()} == {
        "/map": 3,
        "/bump": 21,
        "/brake": 1,
    }
    # Messages that exceed the plan's bound are counted.
    assert all(one["late"] is not None for one in sent.values())

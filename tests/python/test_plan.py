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

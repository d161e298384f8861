"""Options of takt model that make it forget the past."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robot import run_takt

TRACE = Path(__file__).parents[1] / "recordings" / "pipeline-ring.tar.xz"


def model(*options: str) -> dict[str, Any]:
    done = run_takt("model", str(TRACE), *options)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def longest(document: dict[str, Any]) -> dict[str, int]:
    return {c["id"]: c["execution_time"]["curve"][0] for c in document["callbacks"]}


def test_aging_is_told_and_its_margin_is_added() -> None:
    plain = longest(model())
    document = model("--aging", "margin=1, period=64, weight=0.5")
    assert document["provenance"]["aging"] == {
        "period": 64,
        "weight": 0.5,
        "threshold": 0.9,
        "margin": 1,
    }
    assert any("execution times age" in line for line in document["provenance"]["warnings"])
    assert longest(document) == {id_: 2 * time for id_, time in plain.items()}
    assert longest(model("--aging", "weight=0")) == plain


def test_a_changed_model_is_written_and_says_so(tmp_path: Path) -> None:
    changed = model("--what-if", "time(/motor)=3ms")
    for callback in changed["callbacks"]:
        alone = callback["execution_time"]["curve"] == [3_000_000]
        assert alone == (callback["node"] == "/motor")
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(changed))
    done = run_takt("latency", str(TRACE), path)
    assert "the model was changed by --what-if 'time(/motor)=3ms'" in done.stdout + done.stderr


def test_a_model_is_changed_as_a_recording_is(tmp_path: Path) -> None:
    path, goals = tmp_path / "robot.json", tmp_path / "goals.yaml"
    path.write_text(json.dumps(model()))
    goals.write_text("chains: [{name: pilot, from: /camera, to: /motor, latency: 1s}]")
    changes = ("--what-if", "time(/motor)=3ms", "--goals", str(goals), "--name", "faster")
    done = run_takt("model", path, *changes)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == model(*changes)
    for option in ("--phases", "--aging=margin=1"):
        refused = run_takt("model", path, option)
        assert refused.returncode == 2
        assert refused.stderr == f"takt: {option[:8].rstrip('=')}: not with a model; leave it out\n"
    two = run_takt("model", path, TRACE)
    assert (two.returncode, len(two.stderr.splitlines())) == (2, 1)


def test_phases_are_told() -> None:
    """Nobody changed a parameter during this recording."""
    assert model("--phases")["provenance"]["phases"] == []


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("period=63", "period must be at least 64"),
        ("weight=1.5", "from 0 to 1"),
        ("margin=-1", "margin must be"),
        ("speed=1", '"speed=1" is not understood'),
        ("period", '"period" is not understood'),
        ("weight=nan", '"weight=nan" is not understood'),
        ("weight=1e99", '"weight=1e99" is not understood'),
    ],
)
def test_mistakes_are_one_line(settings: str, said: str) -> None:
    done = run_takt("model", str(TRACE), "--aging", settings)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


@pytest.mark.parametrize("option", ["--chains-from", "--supplies-from"])
def test_what_is_no_model_is_named(tmp_path: Path, option: str) -> None:
    goals = tmp_path / "goals.yaml"
    goals.write_text("chains: []\n")
    done = run_takt("model", str(TRACE), option, str(goals))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"takt: {goals}: line 1, column 1: not valid JSON")
    assert done.stderr.count("\n") == 1

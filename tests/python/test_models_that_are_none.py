"""Commands that read a model and hand it on refuse what is no model, in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import robot

PIPELINE = Path(__file__).resolve().parents[2] / "models" / "pipeline.json"

NO_MODELS = {
    "empty": "",
    "deep": "[" * 100_000,
    "not a number": '{"format": "takt/model", "version": NaN}',
    "another version": '{"format": "takt/model", "version": 2}',
}


@pytest.mark.parametrize("command", ["model", "budget"])
@pytest.mark.parametrize("text", NO_MODELS.values(), ids=NO_MODELS.keys())
def test_what_is_no_model_is_refused_in_one_line(tmp_path: Path, command: str, text: str) -> None:
    file = tmp_path / "model.json"
    file.write_text(text)
    done = robot.run_takt(command, str(file))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"takt: {file}: ")
    assert done.stderr.count("\n") == 1


def test_a_model_that_is_handed_on_has_its_unknown_fields_told(tmp_path: Path) -> None:
    model = json.loads(PIPELINE.read_text())
    model["callbacks"][0]["colour"] = "red"
    file = tmp_path / "model.json"
    file.write_text(json.dumps(model))
    done = robot.run_takt("model", str(file))
    assert done.returncode == 0
    assert json.loads(done.stdout) == model
    assert done.stderr.count("callbacks[0].colour: unknown field") == 1

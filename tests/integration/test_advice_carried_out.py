"""`takt run` admits what takt advises: it plans the advised model, and runs nothing."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest

import takt_design
import takt_native
from takt import inputs, pipeline, processors
from takt.trials import runner
from takt.verdicts import remedies, verdict

MODELS = Path(__file__).resolve().parents[2] / "models"


def advised(model: dict[str, Any]) -> str | None:
    """The model with everything that is advised on this machine; None: nothing is."""
    text = inputs.ModelText(json.dumps(model), "model.json")
    evaluation = inputs.evaluate(inputs.Given(model=text), pipeline.DEFAULT_ANALYSIS)
    judged = verdict.judge(evaluation.model, evaluation.bounds, None)
    advice = remedies.find(text, evaluation.model, judged)
    assert advice.processors.cores == len(os.sched_getaffinity(0))
    if advice.changes:
        text = inputs.ModelText(pipeline.change(*text, ", ".join(advice.changes)), text.source)
    if advice.reservations:
        available = processors.find({})
        return pipeline.budget(*text, analysis=pipeline.DEFAULT_ANALYSIS, available=available)[1]
    return text.text if advice.changes else None


def assert_admitted(text: str, path: Path) -> None:
    path.write_text(text)
    found = runner.plan(str(path)).reservations
    if found is None:
        return
    assert found["admission"] is None, found["admission"]
    pinned = [e for e in json.loads(text)["executors"] if e.get("cpu") is not None]
    assert found["gfb"]["holds"] or pinned, shlex.quote(text)


@pytest.mark.parametrize("percent", [30, 40, 50])
def test_the_reference_system_as_advised(tmp_path: Path, percent: int) -> None:
    model = json.loads((MODELS / "autoware_reference_system.json").read_text())
    for chain in model["chains"]:
        chain["goal"] = chain["goal"] * percent // 100
    better = advised(model)
    assert better is not None or percent == 30
    if better is not None:
        assert_admitted(better, tmp_path / "better.json")


def test_random_models_as_advised(tmp_path: Path) -> None:
    admitted = 0
    for seed in range(20):
        features = {"reservation": 70, "as_ros": 100}
        text = takt_design.generate(
            seed, ["single_threaded", "events"], (1, 3), (4, 10), 3, (15, 50), features
        )
        model = json.loads(text)
        bounds = json.loads(takt_native.analyze(text, "model", "combined"))["chains"]
        for chain, bound in zip(model["chains"], bounds, strict=True):
            chain["goal"] = bound["bound"] * 80 // 100 if bound["bound"] else None
        if (better := advised(model)) is not None:
            assert_admitted(better, tmp_path / "better.json")
            admitted += 1
    assert admitted > 5

"""A real action server: what its goals cost is in the model, under the action's name."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from recording import PROGRAMS, Run, takt

Json = dict[str, Any]

GOALS = 20
COST = 10
"""Milliseconds of processor time that a goal takes."""


@pytest.mark.skipif(
    find_spec("test_msgs") is None, reason="ROS 2's package test_msgs, an action, is not installed"
)
def test_what_goals_cost_is_in_the_model(tmp_path: Path) -> None:
    program = [sys.executable, str(PROGRAMS / "acting.py"), str(GOALS), str(COST)]
    recorded = Run.of(tmp_path / "trace", program, backend="ring")
    assert json.loads(recorded.output) == {"ended": GOALS}
    done = takt("model", str(recorded.trace))
    assert done.returncode == 0, done.stderr
    provenance: Json = json.loads(done.stdout)["provenance"]
    (action,) = provenance["actions"]
    assert action["action"] == "/move"
    assert "/arm:/move/_action/send_goal" in action["callbacks"]
    assert "/task:/move/_action/get_result:response" in action["callbacks"]
    # No event names these callbacks, so their work is told by the part that they belong to, or as
    # unnamed work.
    named = [provenance["observed"][part] for part in action["callbacks"]]
    total = sum(part["count"] * (part["mean"] + 1) for part in named)
    total += sum(work["total"] for work in provenance["unnamed_work"])
    assert total >= GOALS * COST * 1_000_000

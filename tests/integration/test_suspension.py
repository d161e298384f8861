"""Callbacks that sleep and wait, on stock rclpy: what the recording shows of it, and the bounds.

The program logs for how long it waited. Nothing that was recorded may be above its bound, with the
thread under SCHED_FIFO and under a reservation of SCHED_DEADLINE.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from recording import PROGRAMS, Run
from takt import pipeline
from takt.verdicts import assumptions
from takt.verdicts.assumptions import Standing, Subject

pytestmark = [pytest.mark.alone, pytest.mark.timeout(200)]
SECONDS = 8
SLEEPER = PROGRAMS / "rclpy_sleeper.py"
TICK = 10_000_000
"""Nanoseconds: the unit of /proc/stat."""
IDS = {"sleeps": "/robot:timer-130ms", "waits": "/robot:timer-170ms"}


def stolen() -> int:
    """Nanoseconds that the host has taken from any of this machine's processors."""
    fields = Path("/proc/stat").read_text().splitlines()[0].split()
    return int(fields[8]) * TICK


def record(policy: str, folder: Path) -> tuple[Run, int]:
    before = stolen()
    command = [sys.executable, str(SLEEPER), str(SECONDS), policy]
    recorded = Run.of(folder / policy, command, backend="ring")
    return recorded, stolen() - before + 2 * TICK


def by_id(things: Any) -> dict[str, Any]:
    return {thing["id"]: thing for thing in things}


@pytest.fixture(scope="module", params=["fifo", "deadline"])
def sleeping(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Run, int]:
    if os.geteuid() != 0:
        pytest.skip("SCHED_FIFO and SCHED_DEADLINE need privileges")
    return record(request.param, tmp_path_factory.mktemp("suspension"))


def said(recorded: Run) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(recorded.output.splitlines()[-1])
    return said


def model_of(recorded: Run) -> dict[str, Any]:
    """The model of the recording; stock rclpy does not say that its thread has a reservation."""
    model: dict[str, Any] = pipeline.synthesize([str(recorded.trace)])
    callbacks = by_id(model["callbacks"])
    executor = by_id(model["executors"])[callbacks[IDS["sleeps"]]["executor"]]
    executor["supply"] = said(recorded)["supply"]
    return model


def test_the_model_has_what_the_program_waited(sleeping: tuple[Run, int]) -> None:
    recorded, taken = sleeping
    model = model_of(recorded)
    waited = said(recorded)["waited"]
    callbacks = by_id(model["callbacks"])
    assert model["provenance"]["suspension"] in ("thread_waits", "sched_switch")
    for name, times in (("sleeps", 1), ("waits", 3)):
        suspension = callbacks[IDS[name]]["suspension"]
        # Between the readings of the clocks the program may have lost its processor.
        assert suspension["curve"][0] >= waited[name] - taken
        assert suspension["times"] >= times
    assert callbacks[IDS["sleeps"]]["execution_time"]["curve"][0] < 40_000_000


def test_nothing_measured_is_above_its_bound(sleeping: tuple[Run, int]) -> None:
    recorded, taken = sleeping
    source = str(recorded.trace)
    text = json.dumps(model_of(recorded))
    bounds = pipeline.analyze(text, source)
    measurement = pipeline.measure([source], text, source)
    of_callbacks = {callback.id: callback.bound for callback in bounds.callbacks}
    # The sensor competes with whatever else runs.
    seen = [c for c in measurement.callbacks if c.count and c.id.startswith("/robot:")]
    assert len(seen) == 3
    for callback in seen:
        bound, longest = of_callbacks[callback.id], callback.response_time.max
        assert bound is not None
        assert longest is not None
        print(f"{callback.id}: {longest / 1e6:.1f} of {bound / 1e6:.1f} ms")
        assert longest <= bound + taken, callback.id
    # The subscription waits for the one that sleeps.
    subscription = next(c for c in seen if c.id == "/robot:/scan")
    assert subscription.response_time.max is not None
    assert (of_callbacks[subscription.id] or 0) > 40_000_000
    findings = assumptions.examine(pipeline.read_model(text, source), bounds, measurement)
    assert not [f.text for f in findings if f.standing is Standing.VIOLATED]


def test_a_model_without_suspension_is_refuted_by_its_name(sleeping: tuple[Run, int]) -> None:
    recorded, _ = sleeping
    source = str(recorded.trace)
    model = model_of(recorded)
    changes = ", ".join(f"suspension({id_})=0%" for id_ in IDS.values())
    text = pipeline.change(json.dumps(model), source, changes)
    bounds = pipeline.analyze(text, source)
    measurement = pipeline.measure([source], text, source)
    findings = assumptions.examine(pipeline.read_model(text, source), bounds, measurement)
    refuted = [f for f in findings if f.standing is Standing.VIOLATED]
    assert {f.subject for f in refuted} == {Subject.SUSPENSION}
    assert all(
        f.text.startswith("callbacks do not suspend themselves longer than seen") for f in refuted
    )

"""What was recorded runs as often when it is simulated."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from recording import PROGRAMS, TAKT, Run, takt

# An overloaded machine leaves expiries of timers out, which the simulated one does not.
pytestmark = pytest.mark.alone
MODELS = Path(__file__).resolve().parents[2] / "models"
Json = dict[str, Any]

CALLS = 150
PERIOD = 1_000_000_000 // 30


def model_of(trace: Path, file: Path) -> Json:
    done = takt("model", str(trace), "-o", str(file))
    assert done.returncode == 0, done.stderr
    document: Json = json.loads(file.read_text())
    return document


def simulated(model: Path, nanoseconds: float) -> Counter[str]:
    done = takt("simulate", str(model), "--duration", f"{nanoseconds / 1e9:.9f}", "--json")
    assert done.returncode in (0, 1), done.stderr
    return Counter({c["id"]: c["count"] for c in json.loads(done.stdout)["callbacks"]})


@pytest.mark.parametrize("how", ["timer", "main"])
def test_a_service_runs_as_often_as_it_was_called(how: str, tmp_path: Path) -> None:
    """Called 30 times a second, from a timer's callback or from a thread in no callback."""
    program = [sys.executable, str(PROGRAMS / "calling.py"), how, str(CALLS)]
    recorded = Run.of(tmp_path / "trace", program, backend="ring")
    assert json.loads(recorded.output) == {"made": CALLS, "served": CALLS}
    model = model_of(recorded.trace, tmp_path / "model.json")
    (calls,) = model["provenance"]["service_calls"]
    assert sum(calls["callers"].values(), calls["unknown"]) == calls["count"] <= CALLS
    assert (calls["unknown"] == 0) == (how == "timer")
    ran = simulated(tmp_path / "model.json", calls["count"] * PERIOD)[calls["service"]]
    if how == "timer":
        # The last call is on its way when the time is over, or a call more than calls were made.
        assert abs(ran - calls["count"]) <= 1
        return
    service = next(c for c in model["callbacks"] if c["id"] == calls["service"])
    distances = service["activation"]["values"]
    earliest = max(n * PERIOD - span for n, span in enumerate(distances))
    # Calls may be as close together as seen once per as many calls as the model has distances.
    windows = -(-calls["count"] // (len(distances) - 1))
    assert calls["count"] <= ran <= calls["count"] + windows * (-(-earliest // PERIOD) + 1)


TRIES = 3
LONG = 50
"""Factor of the simulated time to the recorded one: instances that are unfinished at the end then
matter less.
"""


@pytest.mark.parametrize("name", ["synthetic", "service_call"])
def test_what_ran_as_a_model_runs_as_often_when_its_model_is_simulated(
    name: str, tmp_path: Path
) -> None:
    # A machine without time for it leaves instances unfinished at the ends, now and then.
    for attempt in range(TRIES):
        differences = counts_that_differ(name, tmp_path / str(attempt))
        if not differences:
            break
    assert not differences


def counts_that_differ(name: str, folder: Path) -> dict[str, float]:
    """Of callbacks, by how much more often they ran when they were simulated."""
    folder.mkdir()
    run = [*TAKT, "run", str(MODELS / f"{name}.json"), "--duration", "4"]
    recorded = Run.of(folder / "trace", run, backend="ring")
    model = model_of(recorded.trace, folder / "model.json")
    observed = model["provenance"]["observed"]
    # The recording goes on when the timers have stopped.
    time = max(
        observed[callback["id"]]["count"] * callback["activation"]["period"]
        for callback in model["callbacks"]
        if callback["kind"] == "timer"
    )
    ran = simulated(folder / "model.json", LONG * time)
    joined = {join["callback"]: len(join["inputs"]) for join in model["joins"]}
    # `observed` counts each input of a set. At either end of the recording an instance may be on
    # one side of it and its cause on the other; timers begin at different times.
    more = {
        callback: ran[callback] / LONG - times["count"] / joined.get(callback, 1)
        for callback, times in observed.items()
    }
    return {callback: count for callback, count in more.items() if abs(count) > 2}

"""Autoware reference system: from one lidar message to vehicle commands. See README.md."""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from takt import pipeline
from takt.errors import UserError
from takt.recordings import recorder
from takt.trials.experiments import Row, Rows

Json = dict[str, Any]

ROOT = Path(__file__).parents[2]
REFERENCE_SYSTEM = ROOT / "models" / "autoware_reference_system.json"
RECORDING = ROOT / "tests" / "recordings" / "autoware.tar.xz"
FROM, TO = "FrontLidarDriver", "VehicleDBWSystem"

MS = 1_000_000
SECONDS = 10
COMPUTING = 5 * MS
"""Execution time of each callback that computes: one executor thread is busy with all for 97 % of
the time, two are not."""

PUBLISHED_FIRST, PUBLISHED_LAST, PUBLISHED_TWO_THREADS = 370.0, 571.0, 298.0


def run(full: bool = False) -> Rows:
    if not full:
        return _rows("one executor for each process", str(RECORDING))[0]
    rows, first = _record("single_threaded", 1)
    more, first_of_two = _record("multi_threaded", 2)
    printed = 100 * (1 - PUBLISHED_TWO_THREADS / PUBLISHED_FIRST)
    gain = 100 * (1 - first_of_two / first)
    what = "first command, earlier by the second thread"
    return [*rows, *more, Row(what, None, gain, "%", expected=round(printed, 1))]


def _rows(how: str, trace: str, published: bool = True) -> tuple[Rows, float]:
    """What happened to a message of the lidar, and the median time to its first command in ms."""
    flows = pipeline.flow([trace], {"from": FROM, "to": TO, "instances": True})["flows"]
    commands: dict[int, dict[int, int]] = defaultdict(dict)
    for flow in flows:
        for instance in flow["instances"]:
            commands[instance["begin"]][instance["instance"]] = instance["latency"]
    if not commands:
        raise UserError(f"{how}: no message of the lidar led to a command")
    most = max(map(len, commands.values()))
    first = statistics.median(min(reached.values()) for reached in commands.values()) / MS
    last = statistics.median(
        max(reached.values()) for reached in commands.values() if len(reached) == most
    )
    expected = PUBLISHED_FIRST if published else PUBLISHED_TWO_THREADS
    place = f"section 5.6.1, with Figure {'5.6' if published else '5.7'}"
    rows = [
        Row(
            f"{how}: most commands that one message led to",
            3 if published else None,
            most,
            place=place if published else "",
        ),
        Row(f"{how}: first command", expected, round(first, 1), "ms", place),
        Row(
            f"{how}: last of the most commands",
            PUBLISHED_LAST if published else None,
            round(last / MS, 1),
            "ms",
            place if published else "",
        ),
    ]
    return rows, first


def _record(kind: str, threads: int) -> tuple[Rows, float]:
    document: Json = json.loads(REFERENCE_SYSTEM.read_text(encoding="utf-8"))
    document["executors"] = [{"id": "e", "kind": kind, "order": "registered", "threads": threads}]
    heaviest = max(callback["execution_time"]["curve"][0] for callback in document["callbacks"])
    for callback in document["callbacks"]:
        callback["executor"] = "e"
        (time,) = callback["execution_time"]["curve"]
        callback["execution_time"]["curve"] = [COMPUTING if time == heaviest else time]
    # The planner's timer reads the data that its subscriptions store. The run declares only what
    # the model says, so without these edges the data would count as unused.
    storing = [c["id"] for c in document["callbacks"] if c["id"].startswith("BehaviorPlanner.")]
    document["edges"] += [{"from": name, "to": "BehaviorPlanner"} for name in storing]
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as nowhere:
        model = Path(folder) / "model.json"
        model.write_text(json.dumps(document), encoding="utf-8")
        trace = Path(folder) / "trace"
        command = (sys.executable, "-m", "takt", "run", str(model), "--duration", str(SECONDS))
        request = recorder.Request("ring", trace, command=command, command_output=nowhere.fileno())
        recorder.record(request, lambda *_: None)
        how = f"{threads} thread{'s' if threads > 1 else ''}"
        return _rows(how, str(trace), published=threads == 1)

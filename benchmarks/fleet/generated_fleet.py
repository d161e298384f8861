"""A fleet that is simulated: what a recording costs, from the first to the last, and what is found.

    python benchmarks/fleet/generated_fleet.py --recordings 60

Each recording, of about a million events, is made by `takt simulate -o`, added to a store and
removed before the next one. Since the middle version one callback takes 25 % longer, and another
one takes half as long again on one robot; all execution times of a run vary by 10 %. Prints the
processor time for a million events by tenths of the recordings, the disk, and what
`takt fleet report` says.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

Json = dict[str, Any]

MODEL = Path(__file__).resolve().parents[2] / "models" / "autoware_reference_system.json"
VERSIONS = 6
SLOWER_SINCE = 3
SLOWER, GROWTH = "NDTLocalizer", 1.25
ROBOTS = 5
UNLIKE = "r4"
UNLIKE_CALLBACK, UNLIKE_GROWTH = "EuclideanClusterDetector", 1.5
SPREAD = 0.1
TENTHS = 10


class Cost(NamedTuple):
    """Processor time for a million events, in seconds."""

    made: float
    added: float


def takt(*arguments: object, status: tuple[int, ...] = (0,)) -> tuple[str, float]:
    """What a command prints, and its processor time with that of its children."""
    command = [sys.executable, "-m", "takt", *map(str, arguments)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    printed = child.stdout.read()
    _, ended, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(ended)
    if child.returncode not in status:
        sys.exit(f"takt {' '.join(command[3:])}: status {child.returncode}")
    return printed, usage.ru_utime + usage.ru_stime


def alone(model: Json) -> Json:
    """The model with each executor on a processor of its own, so that no reservation hides how much
    longer a callback takes, and without overhead, which no recording tells from callbacks.
    """
    free = {"supply": {"kind": "dedicated"}, "overhead": []}
    return model | {"executors": [executor | free for executor in model["executors"]]}


def of_run(model: Json, version: int, robot: str, factor: float) -> Json:
    """The model of one run, with what is planted in it."""
    changed = copy.deepcopy(model)
    for callback in changed["callbacks"]:
        mine = factor
        if version >= SLOWER_SINCE and callback["id"] == SLOWER:
            mine *= GROWTH
        if robot == UNLIKE and callback["id"] == UNLIKE_CALLBACK:
            mine *= UNLIKE_GROWTH
        curve = callback["execution_time"]["curve"]
        callback["execution_time"]["curve"] = [round(time * mine) for time in curve]
    return changed


def simulate(model: Path, trace: Path, seconds: float, seed: int, *labels: str) -> float:
    """Makes a recording; its processor time. Status 1: a chain missed its goal."""
    given = [word for label in labels for word in ("--label", label)]
    _, cost = takt(
        *("simulate", model, "--seed", seed, "--duration", f"{seconds:.3f}", "-o", trace),
        *(*given, "--json"),
        status=(0, 1),
    )
    return cost


def events_of(trace: Path) -> int:
    return int(json.loads(takt("info", trace, "--json")[0])["events"])


def tenths(values: list[float]) -> Iterator[float]:
    """The medians of ten parts of a list."""
    for n in range(TENTHS):
        yield statistics.median(values[n * len(values) // TENTHS : (n + 1) * len(values) // TENTHS])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recordings", type=int, default=60)
    parser.add_argument("--events", type=int, default=1_000_000, help="of a recording")
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--store", type=Path, help="keep the store in this folder")
    parser.add_argument("--scratch", type=Path, help="where recordings are made")
    options = parser.parse_args()
    if options.recordings < TENTHS:
        parser.error(f"--recordings: at least {TENTHS}")
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        measure(Path(folder), options)


def measure(scratch: Path, options: argparse.Namespace) -> None:
    model = alone(json.loads(options.model.read_text()))
    file, trace = scratch / "model.json", scratch / "run"
    store = options.store or scratch / "store"
    file.write_text(json.dumps(model))
    simulate(file, trace, 10, 1)
    seconds = 10 * options.events / events_of(trace)
    shutil.rmtree(trace)
    choice = random.Random(1)
    costs: list[Cost] = []
    largest = 0
    begin = time.monotonic()
    for number in range(options.recordings):
        version = number * VERSIONS // options.recordings
        robot = f"r{number % ROBOTS + 1}"
        factor = choice.lognormvariate(0, SPREAD)
        file.write_text(json.dumps(of_run(model, version, robot, factor)))
        labels = (f"robot={robot}", f"version=1.{version}")
        made = simulate(file, trace, seconds, number + 1, *labels)
        millions = events_of(trace) / 1e6
        largest = max(largest, size_of(trace))
        _, added = takt("fleet", "add", store, trace)
        shutil.rmtree(trace)
        costs.append(Cost(made / millions, added / millions))
        print(f"{number + 1}: {millions:.3f} million events, {costs[-1]}", file=sys.stderr)
    show(costs, largest, size_of(store), time.monotonic() - begin)
    print(takt("fleet", "report", store, "-o", scratch / "fleet.html")[0])


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def show(costs: list[Cost], recording: int, store: int, seconds: float) -> None:
    print("| processor time for a million events | made | added |\n|---|---:|---:|")
    made = list(tenths([cost.made for cost in costs]))
    added = list(tenths([cost.added for cost in costs]))
    for n, row in enumerate(zip(made, added, strict=True)):
        print(f"| tenth {n + 1} | {row[0]:.2f} s | {row[1]:.2f} s |")
    for name, values in (("made", made), ("added", added)):
        middle = statistics.median(values)
        away = max(abs(value / middle - 1) for value in values)
        print(f"{name}: median {middle:.2f} s, tenths within {100 * away:.1f} % of it")
    print(f"disk: {recording / 1e6:.0f} MB for a recording, {store / 1e6:.1f} MB for the store")
    print(f"{len(costs)} recordings in {seconds / 60:.1f} min")


if __name__ == "__main__":
    main()

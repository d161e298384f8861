"""What Dask costs when recordings are added to a store, and what a second worker saves.

    python benchmarks/fleet/workers.py --recordings 12 --rounds 7

Adds the same simulated recordings, of about a million events each, to an empty store: one after
the other in one process, and by two workers of Dask, in turns. Prints the processor time and the
time of each, their medians, what Dask adds to the processor time, and how much sooner two workers
are done. A round is slower if something else runs on the machine meanwhile, so ratios are those
within a round.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from generated_fleet import MODEL, events_of, simulate, takt

WORKERS = 2


class Cost(NamedTuple):
    processor: float
    """Seconds, of the command and all of its processes."""
    wall: float
    """Seconds."""


def added(store: Path, runs: Path, workers: int) -> Cost:
    begin = time.monotonic()
    _, processor = takt("fleet", "add", store, runs, "--workers", workers)
    cost = Cost(processor, time.monotonic() - begin)
    shutil.rmtree(store)
    return cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recordings", type=int, default=12)
    parser.add_argument("--events", type=int, default=1_000_000, help="of a recording")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs, store = Path(folder) / "runs", Path(folder) / "store"
        runs.mkdir()
        simulate(MODEL, runs / "run", 10, 0)
        seconds = 10 * options.events / events_of(runs / "run")
        shutil.rmtree(runs / "run")
        for number in range(options.recordings):
            labels = (f"robot=r{number % 3}", f"version=1.{number % 2}")
            simulate(MODEL, runs / f"run{number}", seconds, number, *labels)
        print("| round | one process | two workers | processor time | sooner |")
        print("|---|---:|---:|---:|---:|")
        overheads, gains = [], []
        for number in range(options.rounds):
            alone, shared = (added(store, runs, workers) for workers in (1, WORKERS))
            overheads.append(shared.processor / alone.processor)
            gains.append(alone.wall / shared.wall)
            row = " | ".join(f"{c.wall:.1f} s ({c.processor:.1f} s)" for c in (alone, shared))
            print(
                f"| {number + 1} | {row} | × {overheads[-1]:.3f} | × {gains[-1]:.2f} |", flush=True
            )
        overhead, gain = statistics.median(overheads), statistics.median(gains)
        print(f"medians: processor time × {overhead:.3f}, {gain:.2f} times as soon")


if __name__ == "__main__":
    main()

"""How long commands take that read a recording, and how much memory, beside the bare interpreter.

    python benchmarks/startup/commands.py tests/recordings/autoware.tar.xz
    python benchmarks/startup/commands.py trace --peer 'Ros2TraceAnalyzer analyze trace -o /tmp/out'

All are run in turn, so that what else the machine does concerns all alike. Times are processor time
of user and system, medians; the memory is the largest resident set.
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    seconds: float
    bytes: int


def run(command: list[str]) -> Cost:
    """Runs a command to its end. SystemExit if it fails."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # 1: a goal is missed
        raise SystemExit(f"{shlex.join(command)}: status {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recording", type=Path)
    parser.add_argument("--peer", help="a command that does the like with the same recording")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    takt = [sys.executable, "-m", "takt"]
    with tempfile.TemporaryDirectory() as folder:
        recording = str(options.recording.resolve())
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "takt --help": [*takt, "--help"],
            **{
                f"takt {name}": [*takt, name, recording, *more]
                for name, more in {
                    "info": [],
                    "flow": [],
                    "model": ["-o", f"{folder}/model.json"],
                    "latency": [],
                }.items()
            },
        }
        if options.peer:
            commands["peer"] = shlex.split(options.peer)
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        for i in range(options.rounds + 1):
            for name, command in commands.items():
                cost = run(command)
                if i > 0:  # the first round warms caches
                    costs[name].append(cost)
    medians = {name: statistics.median(c.seconds for c in each) for name, each in costs.items()}
    bare, peer = medians["python -c pass"], medians.get("peer")
    print(f"{'command':16} {'time':>8} {'/ python':>9} {'/ peer':>7} {'memory':>9}")
    for name, seconds in medians.items():
        memory = max(cost.bytes for cost in costs[name])
        ratio = f"{seconds / peer:7.2f}" if peer else " " * 7
        print(
            f"{name:16} {1e3 * seconds:5.0f} ms {seconds / bare:9.1f} {ratio} "
            f"{memory / 2**20:5.1f} MiB"
        )


if __name__ == "__main__":
    main()

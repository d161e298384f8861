"""What a tracepoint costs a program: without a recorder, in the ring, with LTTng.

    overhead.py LOOP LIBRARY

LOOP is the program tracepoint_loop, LIBRARY Takt's libtracetools.so. Processor time for each event,
medians over the bursts of each run and over the runs; the backends take turns.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TURNS = 3
BACKENDS = {"not traced": "", "ring": "ring", "LTTng: vpid, vtid, procname": "lttng"}


def cost(loop: list[str], backend: str) -> float:
    """Nanoseconds for each event. Ends the benchmark if the trace does not hold them all."""
    if not backend:
        return float(_output(loop).split()[0])
    with tempfile.TemporaryDirectory(prefix="takt-benchmark-") as scratch:
        trace, printed = Path(scratch) / "trace", Path(scratch) / "printed"
        inner = ["sh", "-c", 'out=$1; shift; exec "$@" > "$out"', "sh", str(printed), *loop]
        takt = [sys.executable, "-m", "takt"]
        _output([*takt, "record", "--backend", backend, "-o", str(trace), "--", *inner])
        nanoseconds, events = printed.read_text().split()
        info = json.loads(_output([*takt, "info", "--json", str(trace)]))
    found = info["by_name"].get("ros2:rcl_publish", 0)
    if found + info["discarded"] != int(events):
        sys.exit(f"overhead: {backend} recorded {found} of {events} events")
    if info["discarded"]:
        print(f"{backend}: {info['discarded']} of {events} events discarded", file=sys.stderr)
    return float(nanoseconds)


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    loop = sys.argv[1:3]
    costs: dict[str, list[float]] = {name: [] for name in BACKENDS}
    for _ in range(TURNS):
        for name, backend in BACKENDS.items():
            costs[name].append(cost(loop, backend))
    print(f"load {os.getloadavg()[0]:.1f}\n\n{'':<32} {'ns/event':>8}")
    for name, found in costs.items():
        print(f"{name:<32} {statistics.median(found):>8.1f}")


if __name__ == "__main__":
    main()

"""How long takt info, model, flow, export and serve take for a trace of any size, and in how much
memory.

    large_trace.py WRITER [EVENTS]

WRITER is the program tracing_benchmark, which writes the trace; it is removed afterwards. A trace
of 400 million events (17 GB) needs about 30 GB of disk.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMANDS = {
    "takt info": ["info", "{trace}", "--json"],
    "takt model": ["model", "{trace}", "-o", "{scratch}/model.json"],
    "takt flow": ["flow", "{trace}", "--json"],
    "takt export --format parquet": [
        *("export", "{trace}", "--format", "parquet", "-o", "{scratch}/tables")
    ],
    "takt export --format perfetto": [
        *("export", "{trace}", "--format", "perfetto", "-o", "{scratch}/trace.pftrace")
    ],
}


def run(arguments: list[str]) -> tuple[float, float, int]:
    """Seconds by the clock and of processor time, and the largest memory in MiB."""
    begin = time.monotonic()
    child = subprocess.Popen([sys.executable, "-m", "takt", *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"large_trace: takt {' '.join(arguments)} failed")
    return time.monotonic() - begin, processor_time(usage), usage.ru_maxrss >> 10


def serve(trace: Path, cache: Path) -> tuple[float, float, int]:
    """The same of takt serve, until the page can be opened."""
    begin = time.monotonic()
    command = [sys.executable, "-m", "takt", "serve", str(trace), "--cache", str(cache)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert child.stdout is not None
    if not child.stdout.readline():
        sys.exit("large_trace: takt serve failed")
    elapsed = time.monotonic() - begin
    child.terminate()
    _, _, usage = os.wait4(child.pid, 0)
    return elapsed, processor_time(usage), usage.ru_maxrss >> 10


def size_of(folder: Path) -> float:
    """Gigabytes of all files."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e9


def processor_time(usage: resource.struct_rusage) -> float:
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    writer, wanted = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "4000000"
    with tempfile.TemporaryDirectory(prefix="takt-benchmark-") as scratch:
        trace = Path(scratch) / "trace"
        written = subprocess.run(
            [writer, "--write", str(trace), wanted], check=True, capture_output=True, text=True
        )
        load = os.getloadavg()[0]
        print(f"{int(written.stdout)} events, {size_of(trace):.2f} GB; load {load:.1f}\n")
        print(f"{'':<32} {'seconds':>8} {'processor':>10} {'MiB':>6}")
        for name, arguments in COMMANDS.items():
            filled = [part.format(trace=trace, scratch=scratch) for part in arguments]
            elapsed, processor, memory = run(filled)
            print(f"{name:<32} {elapsed:>8.1f} {processor:>10.1f} {memory:>6}", flush=True)
        for name in ("takt serve", "takt serve, again"):
            elapsed, processor, memory = serve(trace, Path(scratch) / "cache")
            print(f"{name:<32} {elapsed:>8.1f} {processor:>10.1f} {memory:>6}", flush=True)
        print(f"\nThe index of takt serve takes {size_of(Path(scratch) / 'cache'):.2f} GB.")


if __name__ == "__main__":
    main()

"""Message Flow Analysis, section 4.6: what tracing adds to the way of a message. See README.md."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

from takt import console
from takt.experiments import Row, Rows, recorded_numbers

TALK = Path(__file__).with_name("talk.py")
BACKENDS = ("lttng", "ring", "ebpf")

RATES = (100, 500, 1000, 2000)

# Table A.1: by KiB and rate in Hz, the means in ms without and with tracing.
TABLE_A1 = {
    (size, rate): means
    for size, row in {
        1: ((0.036, 0.041), (0.035, 0.039), (0.035, 0.038), (0.036, 0.039)),
        32: ((0.049, 0.053), (0.049, 0.052), (0.048, 0.051), (0.048, 0.051)),
        64: ((0.064, 0.068), (0.063, 0.066), (0.063, 0.066), (0.063, 0.066)),
        256: ((0.136, 0.138), (0.131, 0.133), (0.133, 0.137), (0.133, 0.138)),
    }.items()
    for rate, means in zip(RATES, row, strict=True)
}
SHORT = ((1, 100), (1, 1000), (256, 100))
"""The combinations that run without --full."""


def run(full: bool = False) -> Rows:
    seconds, rounds = (10.0, 3) if full else (2.0, 2)
    combinations = list(TABLE_A1 if full else SHORT)
    rows: Rows = []
    with console.progress("Exchanging messages") as progress:
        for done, (size, rate) in enumerate(combinations):
            what = f"{size} KiB, {rate} Hz"
            delays: dict[str, list[int]] = {backend: [] for backend in ("", *BACKENDS)}
            refused: dict[str, str] = {}
            for number in range(rounds):
                if progress:
                    progress(done * rounds + number, len(combinations) * rounds)
                for backend, found in delays.items():
                    if backend not in refused:
                        try:
                            found += _talk(backend, size << 10, rate, seconds)
                        except subprocess.CalledProcessError as error:
                            refused[backend] = str(error.stderr).strip().splitlines()[-1]
            rows += _rows(what, TABLE_A1[size, rate], delays)
            for backend, reason in refused.items():
                console.say(f"{what}: {backend or 'untraced'} is left out: {reason}")
    return rows


def _talk(backend: str, size: int, rate: float, seconds: float) -> list[int]:
    """Delays in ns. Raises CalledProcessError."""
    talk = [sys.executable, str(TALK), str(size), str(rate), str(round(rate * seconds))]
    return recorded_numbers(backend, talk)


def _rows(what: str, published: tuple[float, float], delays: dict[str, list[int]]) -> Rows:
    off, on = published
    untraced = delays.pop("")
    if not untraced:
        return []
    ours = statistics.fmean(untraced) / 1e6
    rows = [Row(f"{what}: mean, untraced", off, ours, "ms", "Table A.1")]
    for backend, traced in delays.items():
        if not traced:
            continue
        added = (statistics.median(traced) - statistics.median(untraced)) / 1e3
        theirs = 1e3 * (on - off) if backend == "lttng" else None
        # The difference of two printed means.
        rows.append(Row(f"{what}: added by {backend}", None, added, "us", expected=theirs))
    return rows

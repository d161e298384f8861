"""Message Flow Analysis, section 5.7: what tracing adds from end to end. See README.md."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from takt.text import console
from takt.trials.experiments import Row, Rows, drawn, recorded_numbers

CHAIN = (sys.executable, str(Path(__file__).with_name("chain.py")))
BACKENDS = ("", "lttng", "ring")

LATENCY = 260.0
MEAN_ADDED, MEDIAN_ADDED = 0.1597, 0.0521
"""Published milliseconds: the latency of the untraced chain, and what tracing added."""

PLACE = "section 5.7"
FIGURE = f"{PLACE}, with Figure 5.9"
TRANSPORTS = 5
EVENTS = 13
"""For each transport: the ten of the hot path and three of the middleware."""
EVENT = 158e-6
TRANSPORT = 0.0033
"""Published milliseconds: the cost of an event, and what ten events add to a transport (section
4.6.2).
"""


def predictions() -> tuple[float, float]:
    """What the document expects tracing to add, in ms: by transports, and by events."""
    return TRANSPORTS * EVENTS * TRANSPORT / 10, TRANSPORTS * EVENTS * EVENT


def run(full: bool = False) -> Rows:
    count, rounds = (4800, 1) if full else (40, 2)
    latencies: dict[str, list[int]] = {backend: [] for backend in BACKENDS}
    with console.progress("Passing on messages") as progress:
        for number in range(rounds * len(BACKENDS)):
            if progress:
                progress(number, rounds * len(BACKENDS))
            backend = BACKENDS[number % len(BACKENDS)]
            latencies[backend] += recorded_numbers(backend, [*CHAIN, str(count)])
    untraced = latencies.pop("")
    mean, median = statistics.fmean(untraced), statistics.median(untraced)
    rows = [Row("untraced: mean", LATENCY, mean / 1e6, "ms", FIGURE)]
    rows += [
        Row(
            f"{name}: median",
            None,
            statistics.median(found) / 1e6,
            "ms",
            figure="Figure 5.9",
            samples=drawn(one / 1e6 for one in found),
        )
        for name, found in {"untraced": untraced, **latencies}.items()
    ]
    for backend, traced in latencies.items():
        theirs = backend == "lttng"
        for what, published, added in (
            ("mean", MEAN_ADDED, (statistics.fmean(traced) - mean) / 1e6),
            ("median", MEDIAN_ADDED, (statistics.median(traced) - median) / 1e6),
        ):
            added_to = f"{backend}: added to the {what}"
            printed, place = (published, FIGURE) if theirs else (None, "")
            rows.append(Row(added_to, printed, added, "ms", place))
            share = 100 * published / LATENCY if theirs else None
            ours = 100 * added / (mean / 1e6)
            rows.append(Row(f"{backend}: share of the {what}", None, ours, "%", expected=share))
    for what, published, ours in zip(
        ("transports", "events"), (0.0215, 0.0103), predictions(), strict=True
    ):
        rows.append(Row(f"predicted from {what}", published, ours, "ms", PLACE))
    return rows

"""Message Flow Analysis, section 4.6: what tracing adds to the way of a message. See README.md."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

from takt.text import console
from takt.trials.experiments import Row, Rows, recorded_numbers

TALK = Path(__file__).with_name("talk.py")
BACKENDS = ("lttng", "ring", "ebpf")

Figures = tuple[float, float, float, float]

COLUMNS = ("least", "mean", "most", "deviation")
TABLE_A1: dict[tuple[int, int], tuple[Figures, Figures]] = {
    (1, 100): ((0.029, 0.036, 0.141, 0.003), (0.032, 0.041, 0.104, 0.003)),
    (1, 500): ((0.029, 0.035, 0.085, 0.003), (0.032, 0.039, 0.086, 0.004)),
    (1, 1000): ((0.029, 0.035, 0.072, 0.003), (0.031, 0.038, 0.072, 0.003)),
    (1, 2000): ((0.028, 0.036, 0.082, 0.003), (0.031, 0.039, 0.085, 0.003)),
    (32, 100): ((0.043, 0.049, 0.092, 0.002), (0.045, 0.053, 0.205, 0.004)),
    (32, 500): ((0.043, 0.049, 0.091, 0.003), (0.045, 0.052, 0.144, 0.003)),
    (32, 1000): ((0.042, 0.048, 0.101, 0.003), (0.044, 0.051, 0.103, 0.003)),
    (32, 2000): ((0.041, 0.048, 0.1, 0.003), (0.044, 0.051, 0.223, 0.003)),
    (64, 100): ((0.058, 0.064, 0.111, 0.003), (0.062, 0.068, 0.237, 0.003)),
    (64, 500): ((0.057, 0.063, 0.114, 0.003), (0.06, 0.066, 0.132, 0.003)),
    (64, 1000): ((0.056, 0.063, 0.123, 0.003), (0.059, 0.066, 0.148, 0.003)),
    (64, 2000): ((0.055, 0.063, 0.122, 0.003), (0.058, 0.066, 0.114, 0.003)),
    (256, 100): ((0.131, 0.136, 0.272, 0.003), (0.132, 0.138, 0.174, 0.004)),
    (256, 500): ((0.128, 0.131, 0.172, 0.003), (0.13, 0.133, 0.188, 0.002)),
    (256, 1000): ((0.128, 0.133, 0.211, 0.005), (0.131, 0.137, 0.233, 0.004)),
    (256, 2000): ((0.128, 0.133, 0.211, 0.004), (0.131, 0.138, 0.216, 0.005)),
}
"""By KiB and rate in Hz, in ms, without and with tracing."""

TEN_EVENTS = 0.00158
"""Published ms: ten events of 158 ns each."""
SHORT = ((1, 100), (1, 1000), (256, 100))
"""The combinations that run without --full."""


def run(full: bool = False) -> Rows:
    seconds, rounds = (10.0, 3) if full else (2.0, 2)
    combinations = list(TABLE_A1 if full else SHORT)
    rows: Rows = []
    added: list[float] = []
    medians: dict[int, list[tuple[float, float]]] = {}
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
            added += _added(delays)
            if delays[""] and delays["lttng"]:
                pair = statistics.median(delays[""]), statistics.median(delays["lttng"])
                medians.setdefault(size, []).append((pair[0] / 1e6, pair[1] / 1e6))
            rows += _rows(what, TABLE_A1[size, rate], delays)
            for backend, reason in refused.items():
                console.say(f"{what}: {backend or 'untraced'} is left out: {reason}")
    return rows + _aggregated(added) + _by_size(medians)


def _added(delays: dict[str, list[int]]) -> list[float]:
    """By how much, in ms, each message traced by LTTng was later than the mean of those that were
    not traced.
    """
    untraced, traced = delays[""], delays.get("lttng", [])
    mean = statistics.fmean(untraced) if untraced else 0.0
    return [(delay - mean) / 1e6 for delay in traced] if untraced else []


def _aggregated(added: list[float]) -> Rows:
    """All combinations together, as in Figure 4.8."""
    if len(added) < 2:
        return []
    place = "section 4.6.2, with Figure 4.8"
    low, _, high = statistics.quantiles(added, n=4)
    return [
        Row("all: mean that LTTng adds", 0.0033, statistics.fmean(added), "ms", place),
        Row("all: a quarter of the messages below", 0.0010, low, "ms", place),
        Row("all: a quarter of the messages above", 0.0056, high, "ms", place),
    ]


def _by_size(medians: dict[int, list[tuple[float, float]]]) -> Rows:
    """Medians in ms without and with LTTng, by size: what the text says of Figures 4.6 and 4.7."""
    if len(medians) < 2:
        return []
    sizes = sorted(medians)
    untraced = [statistics.fmean(off for off, _ in medians[size]) for size in sizes]
    relative = [statistics.fmean(on / off - 1 for off, on in medians[size]) for size in sizes]
    differences = [on - off for size in sizes for off, on in medians[size]]
    grows, falls = untraced[0] < untraced[-1], relative[0] > relative[-1]
    place = "section 4.6.2, with Figure {}"
    range_of_sizes = f"from {sizes[0]} to {sizes[-1]} KiB"
    return [
        Row(
            f"latencies {range_of_sizes}",
            "increase",
            "increase" if grows else "do not increase",
            place=place.format("4.6"),
        ),
        Row(
            f"relative overhead of LTTng {range_of_sizes}",
            "decreases",
            "decreases" if falls else "does not decrease",
            place=place.format("4.7"),
        ),
        Row(
            "LTTng adds to a median, mean of combinations",
            "within an order of magnitude of ten events",
            statistics.fmean(differences),
            "ms",
            place.format("4.7"),
            meaning=f"{TEN_EVENTS / 10:g} to {10 * TEN_EVENTS:g}",
        ),
    ]


def _talk(backend: str, size: int, rate: float, seconds: float) -> list[int]:
    """Delays in ns. Raises CalledProcessError."""
    talk = [sys.executable, str(TALK), str(size), str(rate), str(round(rate * seconds))]
    return recorded_numbers(backend, talk)


def _rows(what: str, published: tuple[Figures, Figures], delays: dict[str, list[int]]) -> Rows:
    off, on = published
    untraced = delays.pop("")
    if len(untraced) < 2:
        return []
    rows = _of_table(f"{what}: untraced", off, untraced)
    for backend, traced in delays.items():
        if len(traced) < 2:
            continue
        theirs = None
        if backend == "lttng":
            theirs = round(1e3 * (on[1] - off[1]), 3)  # the difference of two printed means
            rows += _of_table(f"{what}: traced by LTTng", on, traced)
        added = (statistics.median(traced) - statistics.median(untraced)) / 1e3
        rows.append(Row(f"{what}: added by {backend}", None, added, "us", expected=theirs))
    return rows


def _of_table(what: str, published: Figures, delays: list[int]) -> Rows:
    found = (min(delays), statistics.fmean(delays), max(delays), statistics.stdev(delays))
    return [
        Row(
            f"{what}, {column}",
            printed,
            ours / 1e6,
            "ms",
            "Table A.1, for Figure 4.6" if column in ("mean", "deviation") else "Table A.1",
        )
        for column, printed, ours in zip(COLUMNS, published, found, strict=True)
    ]

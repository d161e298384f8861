"""The experiments, run once or several times."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

from takt.processes import supervision
from takt.text import console
from takt.trials.experiments import Experiment

Json = dict[str, Any]
Value = float | str

WATCHED = 0.3
"""Seconds for which a loop looks how long the machine stands still, before each run."""


LONGEST = 3600
"""Seconds for which a short form may run: some twenty times what it takes on a quiet machine."""


@dataclass(frozen=True)
class Noise:
    """What else the machine did just before a run."""

    load: float
    """Processes that wanted a processor, mean of a minute."""
    standstill: float
    """The longest time in which a loop did not run, in ms."""


@dataclass(frozen=True)
class Line:
    """A row of an experiment with the values of all runs."""

    what: str
    published: Value | None
    place: str
    unit: str
    expected: Value | None
    meaning: Value | None
    cannot: str
    values: tuple[Value, ...]
    figure: str = ""
    samples: tuple[float, ...] = ()
    """Of all runs."""
    spans: tuple[tuple[str, float, float], ...] = ()
    """Of the first run: others may differ."""

    @property
    def ours(self) -> Value:
        """The median, or the words of the first run."""
        numbers = self.numbers
        return statistics.median(numbers) if numbers else self.values[0]

    @property
    def numbers(self) -> list[float]:
        """The values of all runs, if all are figures."""
        found = [value for value in self.values if not isinstance(value, str)]
        return found if len(found) == len(self.values) else []


@dataclass(frozen=True)
class Result:
    """What came of an experiment."""

    experiment: Experiment
    lines: tuple[Line, ...]
    failure: str
    """Why there are no lines, else empty."""
    seconds: float
    full: bool
    noise: tuple[Noise, ...]
    """Before each run."""


def run(experiment: Experiment, full: bool, times: int) -> Result:
    """Runs an experiment several times, each in a process of its own, so that one that fails costs
    nothing else.
    """
    full = full and experiment.has_full
    found: list[list[Json]] = []
    noise: list[Noise] = []
    failure, start = "", time.monotonic()
    for number in range(times):
        noise.append(_noise())
        which = f" (run {number + 1} of {times})" if times > 1 else ""
        console.say(f"{experiment.name}{which}{', in full' if full else ''}")
        rows, failure = _rows(experiment.name, full)
        if failure:
            console.say(f"takt: warning: {experiment.name}: {failure}")
            break
        found.append(rows)
    seconds = time.monotonic() - start
    lines = () if failure else _together(found)
    return Result(experiment, lines, failure, seconds, full, tuple(noise))


def _rows(name: str, full: bool) -> tuple[list[Json], str]:
    """The rows of a run, or why there are none."""
    command = [sys.executable, "-m", "takt", "experiment", name, "--json"]
    try:
        with supervision.nothing_left_running():
            done = subprocess.run(
                [*command, *(["--full"] if full else [])],
                capture_output=True,
                text=True,
                check=False,
                timeout=None if full else LONGEST,
            )
    except subprocess.TimeoutExpired:
        return [], f"its short form took longer than {LONGEST // 60} minutes"
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"]
        return [], said[-1].removeprefix("takt: ")
    rows: list[Json] = json.loads(done.stdout)["rows"]
    return rows, ""


def _together(runs: list[list[Json]]) -> tuple[Line, ...]:
    """The rows of several runs by their names and places, in the order of the first run."""
    values: dict[tuple[str, str], list[Json]] = {}
    for rows in runs:
        for row in rows:
            values.setdefault((row["what"], row["place"]), []).append(row)
    return tuple(
        Line(
            what,
            rows[0]["published"],
            place,
            rows[0]["unit"],
            rows[0]["expected"],
            rows[0]["meaning"],
            rows[0]["cannot"],
            tuple(row["ours"] for row in rows),
            rows[0]["figure"],
            tuple(value for row in rows for value in row["samples"]),
            tuple((who, start, end) for who, start, end in rows[0]["spans"]),
        )
        for (what, place), rows in values.items()
    )


def _noise() -> Noise:
    load = os.getloadavg()[0]
    begin = last = time.perf_counter()
    longest = 0.0
    while last - begin < WATCHED:
        now = time.perf_counter()
        longest = max(longest, now - last)
        last = now
    return Noise(load, 1000 * longest)

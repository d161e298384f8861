"""Figures 6.8 to 6.11: latencies, delays and costs by phase, as the nodes themselves say them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from takt.trials.experiments import Row, Rows, drawn
from takt.trials.node_runs import Log, Span
from takt.trials.scheduling_trials import Outcome, Spent

MS = 1_000_000
PHASES = ("no load", "normal load", "high load")
WARM_UP = 15.0
DECISIONS = 6.0
"""Seconds between two of the document's invocations."""
PILOT = ("plan", "motor")
ODOMETRY = ("odometry", "odometry_in_localization")
MANAGED, DEFAULT, ROUND_ROBIN = "managed", "default", "SCHED_RR"
TAIL = 75.0
"""ms: the document says how many latencies of the pilot are above."""

COSTS = {
    "model extractor": (0.95, 1.11, 1.15),
    "model processing": (0.37, 0.44, 0.46),
    "total": (1.86, 2.63, 2.71),
}
"""Figure 6.11, in s of processor time for each invocation."""


@dataclass(frozen=True)
class Said:
    """What the document says of a figure's curve, and what that means if it is words."""

    what: str
    published: float | str
    ours: float
    unit: str
    place: str
    meaning: float | str | None = None

    def row(self, way: str) -> Row:
        what = f"{way}: {self.what}"
        return Row(what, self.published, self.ours, self.unit, self.place, meaning=self.meaning)


def latencies(way: str, logs: Sequence[Log], ends: Sequence[float]) -> Rows:
    """`ends`: of the phases, in s since the beginning of a run."""
    pilot = _phases(logs, [log.latencies(PILOT) for log in logs], ends)
    odometry = _phases(logs, [log.latencies(ODOMETRY) for log in logs], ends)
    delays = _phases(logs, [log.delays(*ODOMETRY) for log in logs], ends)
    rows = [
        *_drawn(f"{way}: pilot", pilot, "Figure 6.8"),
        *_drawn(f"{way}: odometry-loc", odometry, "Figure 6.9"),
        *_drawn(f"{way}: odometry-loc, transmission delay", delays, "Figure 6.10"),
    ]
    if not all(pilot) or not all(odometry) or not all(delays):
        return rows
    said = [*_of_pilot(way, pilot), *_of_odometry(way, odometry, delays)]
    return [*rows, *(one.row(way) for one in said)]


def _of_pilot(way: str, phases: list[list[float]]) -> list[Said]:
    place = "section 6.3.1, with Figure 6.8"
    first, last = phases[0], phases[-1]
    medians = [statistics.median(first), statistics.median(last)]
    longest = max(map(max, phases))
    if way == MANAGED:
        return [
            Said("pilot, longest of all phases", "< 125", longest, "ms", "Figure 6.8"),
            Said(
                "pilot, median, no load to high load",
                "does not visibly change",
                abs(medians[1] - medians[0]),
                "ms",
                place,
                "≤ 5",
            ),
        ]
    if way == ROUND_ROBIN:
        return [Said("pilot, longest", "over 100 ms above 125", longest, "ms", place, "> 225")]
    if way != DEFAULT:
        return []
    return [
        Said("pilot, longest", "> 125", longest, "ms", "Figure 6.8"),
        Said("pilot, longest, high load", "almost 150", max(last), "ms", place),
        Said(f"pilot, no load, above {TAIL:g} ms", "< 25", _above(first), "%", place),
        Said(f"pilot, high load, above {TAIL:g} ms", "almost 50", _above(last), "%", place),
        Said(
            "pilot, median, no load to high load",
            "over 10 ms more",
            medians[1] - medians[0],
            "ms",
            place,
            "> 10",
        ),
        Said(
            "pilot, longest, no load to high load",
            "over 10 ms more",
            max(last) - max(first),
            "ms",
            place,
            "> 10",
        ),
    ]


def _of_odometry(way: str, phases: list[list[float]], delays: list[list[float]]) -> list[Said]:
    longest, delay = max(map(max, phases)), max(map(max, delays))
    if way in (MANAGED, DEFAULT):
        place = "section 6.3.1, with Figure 6.9"
        return [Said("odometry-loc, longest", "within 60 ms", longest, "ms", place, "≤ 60")]
    if way != ROUND_ROBIN:
        return []
    words, meaning = "hundreds of ms", "100 to 999"
    place = "section 6.3.1, with Figure {}"
    return [
        Said("odometry-loc, longest", words, longest, "ms", place.format("6.9"), meaning),
        Said(
            "odometry-loc, longest transmission delay",
            words,
            delay,
            "ms",
            place.format("6.10"),
            meaning,
        ),
    ]


def _above(values: Sequence[float]) -> float:
    return 100 * sum(value > TAIL for value in values) / len(values)


def _phases(
    logs: Sequence[Log], spans: Sequence[Sequence[Span]], ends: Sequence[float]
) -> list[list[float]]:
    """Lengths in ms of what began in each phase of any round."""
    found: list[list[float]] = [[] for _ in PHASES]
    for log, one in zip(logs, spans, strict=True):
        begin = log.begin()
        for span in one:
            number = _phase((span.begin - begin) / 1e9, ends)
            if number is not None:
                found[number].append((span.end - span.begin) / MS)
    return found


def _phase(seconds: float, ends: Sequence[float]) -> int | None:
    """The phase of a moment; None: before the first or after the last."""
    if seconds < WARM_UP:
        return None
    return next((number for number, end in enumerate(ends) if seconds < end), None)


def _drawn(what: str, phases: list[list[float]], figure: str) -> Rows:
    return [
        Row(
            f"{what}, {phase}, longest of {len(values)}",
            None,
            max(values) if values else "never completed",
            "ms",
            figure=figure if values else "",
            samples=drawn(values),
        )
        for phase, values in zip(PHASES, phases, strict=True)
    ]


def costs(outcomes: Sequence[Outcome], logs: Sequence[Log], ends: Sequence[float]) -> Rows:
    """Processor time of the manager for each six seconds, by component and phase."""
    found: dict[str, list[list[float]]] = {name: [[] for _ in PHASES] for name in COSTS}
    rest: list[list[float]] = [[] for _ in PHASES]
    for outcome, log in zip(outcomes, logs, strict=True):
        by_phase: list[list[Spent]] = [[] for _ in PHASES]
        for look in outcome.spent:
            number = _phase((look.moment - log.begin()) / 1e9, ends)
            if number is not None:
                by_phase[number].append(look)
        for number, looks in enumerate(by_phase):
            if len(looks) < 2:
                continue
            first, last = looks[0], looks[-1]
            invocations = (last.moment - first.moment) / 1e9 / DECISIONS
            whole, planning, modelling = (
                (after - before) / invocations
                for before, after in zip(first[1:], last[1:], strict=True)
            )
            found["model extractor"][number].append(whole - planning)
            found["model processing"][number].append(modelling)
            found["total"][number].append(whole)
            rest[number].append(planning - modelling)
    rows = [
        Row(
            f"cost of the {name}, {phase}, in 6 s",
            published[number],
            statistics.fmean(values) if values else "no decision",
            "s",
            "Figure 6.11",
        )
        for name, published in COSTS.items()
        for number, (phase, values) in enumerate(zip(PHASES, found[name], strict=True))
    ]
    what = "cost of budgets and bounds"
    return rows + [
        Row(f"{what}, {phase}, in 6 s", None, statistics.fmean(values), "s")
        for phase, values in zip(PHASES, rest, strict=True)
        if values
    ]

"""What a store says of a fleet (`takt/fleet`): chains over versions, since when something is slower
and why, and what is unlike the others: robots, hosts, boots, times of day.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from takt.documents.types import Summary
from takt.fleet import change_points, comparison, outliers, statistics
from takt.fleet.comparison import Figure
from takt.fleet.sample import Run, causes, is_of_chain, matrix, named
from takt.fleet.store import UNKNOWN, Entry

Json = dict[str, Any]


def document(entries: Sequence[Entry], read: Callable[[Entry], Summary]) -> Json:
    """The `takt/fleet` document of these runs. All their summaries are in memory meanwhile."""
    runs = []
    for entry in entries:
        summary = read(entry)
        runs.append(Run(entry, summary, comparison.figures(summary)))
    runs.sort(key=lambda run: (run.summary.begin or 0, run.entry))
    versions = list(dict.fromkeys(run.entry.version for run in runs))
    by_version = {name: [run for run in runs if run.entry.version == name] for name in versions}
    figures = _figures(runs)
    return {
        "format": "takt/fleet",
        "version": 1,
        "runs": len(runs),
        "robots": [
            {"robot": robot, "runs": sum(run.entry.robot == robot for run in runs)}
            for robot in sorted({run.entry.robot for run in runs})
        ],
        "versions": [
            {"version": name, "runs": len(found), "first_day": min(run.entry.day for run in found)}
            for name, found in by_version.items()
        ],
        "chains": [_over_versions(figure, by_version) for figure in figures if is_of_chain(figure)],
        "changes": _changes(figures, by_version),
        "robots_unlike_others": outliers.find(outliers.ROBOTS, figures, runs),
        **{
            f"{grouping.noun}s_unlike_others": outliers.find(grouping, figures, runs)
            for grouping in outliers.OTHERS
        },
        "cannot_tell": {
            "versions": _untold_versions(figures, by_version),
            "robots": _untold_robots(figures, runs),
        },
        "worst": _worst(figures, runs),
    }


def _figures(runs: Sequence[Run]) -> list[Figure]:
    """The times of chains and callbacks."""
    found = dict.fromkeys(figure for run in runs for figure in run.figures)
    return [each for each in found if each.family == "times"]


def _over_versions(figure: Figure, by_version: dict[str, list[Run]]) -> Json:
    """A figure in each version: its geometric mean over runs, with an interval if there are enough
    runs, and in each run.
    """
    points = []
    for name, runs in by_version.items():
        values = [run.figures[figure] for run in runs if figure in run.figures]
        if values:
            low, high = _interval(values)
            mean = math.exp(float(numpy.mean(_logs(values))))
            points.append(
                {
                    "version": name,
                    "runs": len(values),
                    "mean": mean,
                    "low": low,
                    "high": high,
                    "values": sorted(values),
                }
            )
    return {**named(figure), "versions": points}


def _logs(values: Sequence[float]) -> statistics.Floats:
    logs: statistics.Floats = numpy.log(numpy.maximum(numpy.array(values), comparison.SHORTEST))
    return logs


def _interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    if len(values) < statistics.FEWEST_RUNS:
        return None, None
    logs = _logs(values)[:, None]
    # The difference to a group that does not vary is the mean itself.
    found = statistics.differences(numpy.zeros((len(values), 1)), logs)
    return math.exp(float(found.low[0])), math.exp(float(found.high[0]))


def _changes(figures: Sequence[Figure], by_version: dict[str, list[Run]]) -> list[Json]:
    """Since which version a time is different, the earliest first; of chains with the causes."""
    versions = _known(by_version)
    groups = [by_version[name] for name in versions]
    if len(groups) < 2 or not figures:
        return []
    runs = [run for group in groups for run in group]
    values = matrix(figures, runs)
    found = []
    changes = change_points.find(values, [len(group) for group in groups])
    for change in changes:
        figure = figures[change.column]
        others = [each.group for each in changes if each.column == change.column]
        first = max((each for each in others if each < change.group), default=0)
        end = min((each for each in others if each > change.group), default=len(groups))
        before = [run for group in groups[first : change.group] for run in group]
        after = [run for group in groups[change.group : end] for run in group]
        sides = matrix([figure], before), matrix([figure], after)
        growth = math.expm1(float(numpy.nanmean(sides[1]) - numpy.nanmean(sides[0])))
        if abs(growth) <= comparison.TOLERANCE:
            continue
        found.append(
            {
                **named(figure),
                "since": versions[change.group],
                "last_before": versions[change.group - 1],
                "growth": growth,
                "chance": change.chance,
                "causes": causes(figure, before, after) if growth > 0 else [],
            }
        )
    return found


def _known(by_version: dict[str, list[Run]]) -> list[str]:
    return [name for name in by_version if name != UNKNOWN]


def _untold_versions(figures: Sequence[Figure], by_version: dict[str, list[Run]]) -> list[str]:
    """The versions of which nobody can tell whether they differ from those before. The first one
    is none of them, unless there are no others.
    """
    versions = _known(by_version)
    if not figures or len(versions) < 2:
        return [*by_version]
    few = change_points.too_few([len(by_version[name]) for name in versions])
    return [*(versions[group] for group in few), *(by_version.keys() - {*versions})]


def _untold_robots(figures: Sequence[Figure], runs: Sequence[Run]) -> list[str]:
    unknown = {run.entry.robot for run in runs if run.entry.robot == UNKNOWN}
    return sorted({*outliers.untold(outliers.ROBOTS, figures, runs), *unknown})


def _worst(figures: Sequence[Figure], runs: Sequence[Run]) -> list[Json]:
    """For each chain the run with the largest 99th percentile, or median where runs are short."""
    found: dict[str, Json] = {}
    for figure in sorted(filter(is_of_chain, figures), key=lambda each: each.quantity):
        run = max(runs, key=lambda run: run.figures.get(figure, -1.0))
        inputs = run.summary.provenance.inputs
        found[figure.subject.key] = {
            **named(figure),
            "value": run.figures[figure],
            "run": run.entry.key,
            "robot": run.entry.robot,
            "version": run.entry.version,
            "path": inputs[0].path if inputs else None,
        }
    return list(found.values())

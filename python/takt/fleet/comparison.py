"""What became slower between two groups of runs, by how much, how surely, and why
(`takt/comparison`).

Each chain, callback, executor and link of a run gives a few figures. The mean of each figure over
the runs is compared between the groups.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy

from takt.documents import losses
from takt.documents.types import Summary, SummaryChain
from takt.fleet import statistics
from takt.fleet.statistics import CONFIDENCE, FEWEST_RUNS
from takt.histogram import Histogram

Json = dict[str, Any]

TOLERANCE = 0.05
"""A regression is larger than this share of a time. Where the figure is a share itself, it is
larger than this difference."""
ALARM = {"times": 0.045, "others": 0.005}
"""The chance that two groups of equal versions have a regression of means, in each family of
figures: the times of chains and callbacks, and all others. The first ones are what people care for,
and there are fewer of them, so they get most. Slow runs are a second test with the same chances."""
TESTS = 2
"""Of means and of slow runs. So the chance is 10 % in all at most. It is less as the tolerance is
larger, and as numbers of slow runs leave out many levels. Where single robots are compared, too,
these have half of it."""
FEWEST_VALUES = 100
"""Values of a run that have a 99th percentile. The one of fewer values is their maximum."""
SHORTEST = 1_000
"""Times in ns below this count as this: their ratios mean nothing."""
OUTER = 0.9
"""The quantile over runs that is shown beside the mean."""
FEWEST_SLOW_RUNS = 2
"""Fewer runs that stand out are no finding."""


class Subject(NamedTuple):
    """What a figure is of, in any recording."""

    kind: str
    """chain, callback, executor, link or topic."""
    key: str


class Figure(NamedTuple):
    subject: Subject
    quantity: str
    """p50 and p99: times in ns. The others are shares: present (of the runs), incomplete (of a
    chain's instances), lost (of a topic's messages), busy (of the time of an executor's threads).
    """

    @property
    def is_time(self) -> bool:
        return self.quantity in ("p50", "p99")

    @property
    def family(self) -> str:
        return "times" if self.is_time and self.subject.kind in ("chain", "callback") else "others"

    @property
    def worse(self) -> int:
        """The sign of a change for the worse."""
        return -1 if self.quantity == "present" else 1


Figures = Mapping[Figure, float]


class RunFigures(NamedTuple):
    figures: Figures
    robot: str | None
    """By the run's labels."""


class Part(NamedTuple):
    """Where a chain's time goes."""

    callback: str | None
    kind: str
    behind: str | None
    """The callback that it waits for, if it is one."""


OTHERS = "others"
"""The kind of a part that stands for several."""


def compare(
    baseline: Sequence[Summary], candidate: Sequence[Summary], tolerance: float = TOLERANCE
) -> Json:
    """The `takt/comparison` document of two groups of runs, in whatever order they come."""
    before, after = (
        sorted(
            (RunFigures(figures(run), run.labels.get("robot")) for run in side),
            key=lambda run: sorted(run.figures.items()),
        )
        for side in (baseline, candidate)
    )
    document: Json = {
        "format": "takt/comparison",
        "version": 1,
        "runs": {"baseline": len(baseline), "candidate": len(candidate)},
        "tolerance": tolerance,
        "confidence": CONFIDENCE,
        "alarm": TESTS * sum(ALARM.values()),
        **differences_of_robots(before, after, tolerance),
        "losses": {"baseline": _losses(baseline), "candidate": _losses(candidate)},
        "on_both_sides": _on_both_sides(baseline, candidate),
    }
    names = {key: name for run in (*baseline, *candidate) for key, name in _names(run).items()}
    for each in (*document["changes"], *document["not_compared"]):
        path = each.pop("key")
        each["id"] = names.get((each["kind"], path), path)
        if each["kind"] == "chain" and each.get("verdict") == "worse":
            robots = {of_robot["robot"] for of_robot in each.get("robots", [])}
            old, new = (
                [run for run in side if not robots or run.labels.get("robot") in robots]
                for side in (baseline, candidate)
            )
            each["causes"] = causes(old, new, path)
    return document


def differences_of_robots(
    before: Sequence[RunFigures], after: Sequence[RunFigures], tolerance: float = TOLERANCE
) -> Json:
    """As differences(), and what became worse on single robots alone, which a mean over all robots
    hides.
    """
    robots = _robots(before, after)
    document = differences(
        [run.figures for run in before],
        [run.figures for run in after],
        tolerance,
        1 / 2 if robots else 1,
    )
    changes = {(each["kind"], each["key"], each["quantity"]): each for each in document["changes"]}
    hidden = {key for key, change in changes.items() if change["verdict"] != "worse"}
    for robot, (old, new) in robots.items():
        for each in differences(old, new, tolerance, 1 / 2 / len(robots))["changes"]:
            key = (each.pop("kind"), each.pop("key"), each.pop("quantity"))
            if each.pop("verdict") == "worse" and key in hidden:
                changes[key]["verdict"] = "worse"
                of_robot = {"robot": robot, "runs": {"baseline": len(old), "candidate": len(new)}}
                changes[key].setdefault("robots", []).append(of_robot | each)
    document["changes"].sort(key=_order)
    document["regressions"] = sum(each["verdict"] == "worse" for each in document["changes"])
    return document


def _robots(
    before: Sequence[RunFigures], after: Sequence[RunFigures]
) -> dict[str, tuple[list[Figures], list[Figures]]]:
    """The runs of each robot that has enough on both sides; none if all are of one robot."""
    found = {}
    for robot in sorted({run.robot for run in (*before, *after) if run.robot}):
        old, new = ([run.figures for run in side if run.robot == robot] for side in (before, after))
        if min(len(old), len(new)) >= FEWEST_RUNS:
            found[robot] = old, new
    return found if len({run.robot for run in (*before, *after)}) > 1 else {}


def figures(run: Summary) -> dict[Figure, float]:
    """What is compared of a run."""
    return dict(_figures(run))


def _figures(run: Summary) -> Iterator[tuple[Figure, float]]:
    for chain in run.chains:
        subject = Subject("chain", path_of(chain))
        latency = Histogram.read(chain.latency)
        yield from _times(subject, latency)
        instances = latency.count + chain.incomplete
        yield Figure(subject, "incomplete"), chain.incomplete / max(1, instances)
    for callback in run.callbacks:
        duration = Histogram.read(callback.duration)
        yield from _times(Subject("callback", callback.id), duration)
    threads: dict[str, list[int]] = {}
    for executor in run.executors:
        of_nodes = threads.setdefault(", ".join(executor.nodes) or executor.id, [0, 0])
        of_nodes[0] += executor.busy
        of_nodes[1] += executor.threads
    for nodes, (busy, number) in threads.items():
        yield Figure(Subject("executor", nodes), "busy"), busy / max(1, number * run.duration)
    for link in run.links:
        latency = Histogram.read(link.latency)
        yield from _times(Subject("link", f"{link.topic} -> {link.target}"), latency)
        lost = link.topic_lost / max(1, link.topic_deliveries)
        yield Figure(Subject("topic", link.topic), "lost"), lost


def _times(subject: Subject, values: Histogram) -> Iterator[tuple[Figure, float]]:
    if not values.count:
        return
    yield Figure(subject, "present"), 1.0
    for quantity, share, fewest in (("p50", 0.5, 1), ("p99", 0.99, FEWEST_VALUES)):
        value = values.quantile(share)
        if value is not None and values.count >= fewest:
            yield Figure(subject, quantity), value


def path_of(chain: SummaryChain) -> str:
    """By which a chain is found in other recordings."""
    return " -> ".join(chain.callbacks)


def _names(run: Summary) -> dict[tuple[str, str], str]:
    """What the run calls its chains. The name may change when another way appears."""
    return {("chain", path_of(chain)): chain.id for chain in run.chains}


def differences(
    before: Sequence[Figures],
    after: Sequence[Figures],
    tolerance: float = TOLERANCE,
    share: float = 1.0,
) -> Json:
    """The fields of the document that say what differs, with the keys of their subjects. `share`:
    of the accepted chance of an alarm.
    """
    known = list(dict.fromkeys(figure for run in (*before, *after) for figure in run))
    compared = [figure for figure in known if _is_in_enough(figure, before, after)]
    enough = min(len(before), len(after)) >= FEWEST_RUNS
    changes = []
    typical = None
    for family, alarm in ALARM.items():
        of_family = [figure for figure in compared if figure.family == family]
        if not of_family or not enough:
            continue
        found, detectable = _family(of_family, before, after, share * alarm, tolerance)
        changes += found
        typical = median(detectable) if family == "times" else typical
    subjects = {figure.subject for figure in compared if figure.quantity != "present"}
    left_out = dict.fromkeys(figure.subject for figure in known if figure.subject not in subjects)
    return {
        "conclusive": enough,
        "typical_detectable": typical,
        "changes": sorted(changes, key=_order),
        "not_compared": [
            {
                "kind": subject.kind,
                "key": subject.key,
                "baseline": _runs_with(subject, before),
                "candidate": _runs_with(subject, after),
            }
            for subject in left_out
        ],
        "regressions": sum(change["verdict"] == "worse" for change in changes),
    }


def _is_in_enough(figure: Figure, before: Sequence[Figures], after: Sequence[Figures]) -> bool:
    if figure.quantity == "present":
        return True
    return all(sum(figure in run for run in side) >= FEWEST_RUNS for side in (before, after))


def _runs_with(subject: Subject, runs: Sequence[Figures]) -> int:
    return sum(any(figure.subject == subject for figure in run) for run in runs)


def _family(
    family: Sequence[Figure],
    before: Sequence[Figures],
    after: Sequence[Figures],
    alarm: float,
    tolerance: float,
) -> tuple[list[Json], list[float]]:
    """The changes of a family of figures, and which growth of each would be found in nine of ten
    comparisons.
    """
    first, second = _matrix(family, before), _matrix(family, after)
    found = statistics.differences(first, second)
    chances = statistics.chances(first, second, alarm)
    outer = [numpy.nanquantile(side, OUTER, axis=0) for side in (first, second)]
    times = numpy.array([figure.is_time for figure in family])
    slow = _slow_runs(first, second, times, alarm, tolerance)
    changes, detectable = [], []
    for column, figure in enumerate(family):
        is_time = figure.is_time
        low, growth, high = (
            math.expm1(min(value, 700)) if is_time else value
            for value in (
                float(found.low[column]),
                float(found.after[column] - found.before[column]),
                float(found.high[column]),
            )
        )
        chance = float((chances.grown if growth > 0 else chances.shrunk)[column])
        changed = chance <= alarm and abs(growth) > tolerance and low * high > 0
        verdict = "same"
        if changed:
            verdict = "worse" if growth * figure.worse > 0 else "better"
        elif slow.number[column] >= FEWEST_SLOW_RUNS:
            verdict = "worse" if slow.certain[column] else "some runs"
        before_value, after_value, outer_before, outer_after = (
            math.exp(value[column]) if is_time else float(value[column])
            for value in (found.before, found.after, *outer)
        )
        changes.append(
            {
                "kind": figure.subject.kind,
                "key": figure.subject.key,
                "quantity": figure.quantity,
                "before": before_value,
                "after": after_value,
                "growth": growth,
                "low": low,
                "high": high,
                "outer_before": outer_before,
                "outer_after": outer_after,
                "slow_runs": int(slow.number[column]),
                "chance": chance,
                "verdict": verdict,
            }
        )
        least = (chances.critical + statistics.POWER) * float(found.error[column])
        detectable.append(max(tolerance, math.expm1(min(least, 700)) if is_time else least))
    return changes, detectable


def _slow_runs(
    first: statistics.Floats,
    second: statistics.Floats,
    times: statistics.Choices,
    alarm: float,
    tolerance: float,
) -> statistics.SlowRuns:
    """Those of the columns that are times; the others have none."""
    number, certain = numpy.zeros(len(times), int), numpy.zeros(len(times), bool)
    if times.any():
        found = statistics.slow_runs(
            first[:, times], second[:, times], math.log1p(tolerance), alarm
        )
        number[times], certain[times] = found
    return statistics.SlowRuns(number, certain)


def _matrix(family: Sequence[Figure], runs: Sequence[Figures]) -> statistics.Floats:
    """The figures of the runs: the logarithms of times, because these vary by a share."""

    def value(figure: Figure, run: Figures) -> float:
        if figure.is_time:
            return math.log(max(run[figure], SHORTEST)) if figure in run else math.nan
        return run.get(figure, 0.0 if figure.quantity == "present" else math.nan)

    return numpy.array([[value(figure, run) for figure in family] for run in runs])


def _order(change: Json) -> tuple[int, int, float]:
    """Regressions first, those of chains first of these, the surest first."""
    kinds = ("chain", "callback", "executor", "link", "topic")
    verdicts = ("worse", "some runs", "better", "same")
    return verdicts.index(change["verdict"]), kinds.index(change["kind"]), change["chance"]


def _losses(runs: Sequence[Summary]) -> Json:
    """What the runs of a side lack, and what was said of them."""
    lacking = [run for run in runs if any(run.losses.values())]
    texts = [text for run in runs for text in dict.fromkeys(run.warnings)]
    return {
        "runs": len(lacking),
        "recordings": [each.path for run in lacking for each in run.provenance.inputs],
        "lost": losses.total(run.losses for run in lacking),
        "warnings": {text: texts.count(text) for text in dict.fromkeys(texts)},
    }


def _on_both_sides(baseline: Sequence[Summary], candidate: Sequence[Summary]) -> list[str]:
    """The recordings of the candidate that the baseline has, too."""
    known = {each.fingerprint for run in baseline for each in run.provenance.inputs}
    given = [each for run in candidate for each in run.provenance.inputs]
    return [each.path for each in given if each.fingerprint in known]


def causes(baseline: Sequence[Summary], candidate: Sequence[Summary], path: str) -> list[Json]:
    """What a chain's mean latency grew by, part by part, the largest first, in ns for a message.
    Parts that grew by less than a tenth of the largest one, or shrank, are put together as the last
    one, of the kind OTHERS; so all of them add up to the growth of the mean latency.
    """
    old, new = (
        [found for found in (parts(run, path) for run in runs) if found is not None]
        for runs in (baseline, candidate)
    )
    if not old or not new:
        return []
    known = {callback.id for run in baseline for callback in run.callbacks}
    found = []
    for part in dict.fromkeys(part for run in (*new, *old) for part in run):
        grown = fmean(run.get(part, 0) for run in new) - fmean(run.get(part, 0) for run in old)
        is_new = part.behind is not None and part.behind not in known
        found.append({**part._asdict(), "growth": grown, "behind_is_new": is_new})
    found.sort(key=lambda each: -each["growth"])
    least = max(0, max((each["growth"] for each in found), default=0) / 10)
    rest = fsum(each["growth"] for each in found if each["growth"] <= least)
    others = {**Part(None, OTHERS, None)._asdict(), "growth": rest, "behind_is_new": False}
    return [*(each for each in found if each["growth"] > least), others]


def parts(run: Summary, path: str) -> dict[Part, float] | None:
    """The mean of each part for a message; None: the run has no complete instance of the chain."""
    chain = next((each for each in run.chains if path_of(each) == path), None)
    count = Histogram.read(chain.latency).count if chain else 0
    if chain is None or not count:
        return None
    found: dict[Part, float] = {}
    for part, total in _totals(chain):
        found[part] = found.get(part, 0) + total / count  # a callback may be several steps
    return found


def _totals(chain: SummaryChain) -> Iterator[tuple[Part, int]]:
    for part in chain.parts:
        behind: dict[str, int] = dict(part.behind or {})
        for other, total in behind.items():
            yield Part(part.callback, part.kind, other), total
        rest = part.duration.total - sum(behind.values())
        yield Part(part.callback, part.kind, None), rest

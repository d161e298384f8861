"""What a bag tells, for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from takt.bags.distribution import Distribution
from takt.bags.document import is_far, rate
from takt.bags.judge import Verdict, sentence
from takt.bags.measure import Measured, OfTopic, Pair
from takt.text.formatting import NONE, count, duration, grouped, printable, significant
from takt.text.terminal import Table, styled

MOST_PAIRS = 20


def topics(measured: Measured) -> Table:
    table = Table()
    table.add_column("Topic")
    are_sent = any(topic.delays.count for topic in measured.topics.values())
    for column in (
        *("Messages", "Rate", "Gap p50", "p99", "Max", "Age p50", "p99", "Max"),
        *(("Delay p50", "p99", "Max") if are_sent else ()),
    ):
        table.add_column(column, right=True)
    for topic in sorted(measured.topics.values(), key=lambda each: each.name):
        per_second = rate(topic)
        table.add_row(
            printable(topic.name),
            grouped(topic.count),
            NONE if per_second is None else f"{significant(per_second)} Hz",
            *_figures(topic.gaps),
            *_ages(topic),
            *(_figures(topic.delays) if are_sent else ()),
        )
    return table


def _ages(topic: OfTopic) -> Iterable[str]:
    if not topic.has_stamps or is_far(topic):
        return (NONE, NONE, NONE)
    return _figures(topic.ages)


def _figures(found: Distribution) -> Iterable[str]:
    return map(duration, (found.quantile(0.5), found.quantile(0.99), found.max))


def pairs(found: Sequence[Pair]) -> Table:
    table = Table(title="From log time to log time of messages with the same stamp")
    table.add_column("From")
    table.add_column("To")
    for column in ("Stamps", "p50", "p99", "Max"):
        table.add_column(column, right=True)
    for pair in found[:MOST_PAIRS]:
        latency = pair.latency
        table.add_row(
            printable(pair.source.name),
            printable(pair.target.name),
            grouped(latency.count),
            *_figures(latency),
        )
    return table


def left_out(found: Sequence[Pair]) -> list[str]:
    if len(found) <= MOST_PAIRS:
        return []
    return [f"takt: {count(len(found) - MOST_PAIRS, 'pair')} more with --json"]


def goals(verdicts: Iterable[Verdict]) -> Table:
    table = Table("Name", "From", "To")
    for column in ("Stamps", "p50", "p99", "Max", "Goal"):
        table.add_column(column, right=True)
    table.add_column("Verdict")
    for verdict in verdicts:
        latency = verdict.latency
        table.add_row(
            printable(verdict.name),
            printable(verdict.source),
            printable(verdict.target),
            grouped(latency.count),
            *_figures(latency),
            duration(verdict.goal),
            styled(printable(sentence(verdict)), "red" if verdict.missed else "green"),
        )
    return table

"""The `takt/bag` document: what a bag tells of times, and what it does not tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from takt import __version__
from takt.bags import judge
from takt.bags.files import Bag
from takt.bags.measure import MOST_PAIRS, Measured, OfTopic
from takt.histogram import RELATIVE_ERROR
from takt.text.formatting import count, duration

Json = dict[str, Any]

FAR = 3_600_000_000_000
"""Stamps that are mostly further from the recorder's clock than this (ns) are of another clock."""

UNTOLD = (
    "A message's time is when the recorder took it, so all figures contain the recorder's own "
    "delay, and the transport to it.",
    "There are no callbacks in a bag, so nothing says where the time went.",
    "There are no bounds: a latency that was not recorded may be longer.",
    "Messages that were lost before the recorder took them are not in a bag.",
)
"""What a bag cannot tell."""


def warnings(bag: Bag, measured: Measured) -> list[str]:
    """A line for each thing that makes figures less than they seem."""
    found = list(bag.losses.faults)
    if bag.losses.messages:
        what = count(bag.losses.messages, "message")
        found.append(f"{bag.path}: {what} without a known topic or a time")
    read = measured.count
    if bag.declared is not None and bag.declared != read:
        found.append(
            f"{bag.path}: metadata.yaml says {count(bag.declared, 'message')}, {read} were read"
        )
    topics = measured.topics.values()
    found += [
        f"{topic.name}: {topic.ages.negative} of {count(topic.ages.count, 'stamp')} ahead of the "
        f"recorder's clock, by up to {duration(-(topic.ages.min or 0))}: the clock of who stamped "
        "differs, or it stamps for the future"
        for topic in topics
        if topic.has_stamps and topic.ages.negative
    ]
    far = [topic.name for topic in topics if topic.has_stamps and is_far(topic)]
    if far:
        found.append(f"ages of {_some(far)} mean nothing: the stamps are of another clock")
    if measured.simulated:
        found.append(
            "the bag has a simulated clock: its steps give equal stamps to messages that have "
            "nothing to do with each other"
        )
    if guessed := [t.name for t in topics if t.guess is not None and t.has_stamps]:
        found.append(
            f"stamps of {_some(guessed)}: the bag has no definition of their types, whose messages "
            "look as if they began with a header"
        )
    if measured.pairs_left_out:
        found.append(f"more than {MOST_PAIRS} pairs of topics share stamps; others are left out")
    return found


def _some(names: Sequence[str]) -> str:
    rest = count(len(names) - 3, "other")
    return ", ".join(names[:3]) + (f" and {rest}" if len(names) > 3 else "")


def is_far(topic: OfTopic) -> bool:
    """Whether its stamps are not of the recorder's clock."""
    return abs(topic.ages.quantile(0.5) or 0) > FAR


def document(
    bag: Bag, measured: Measured, verdicts: Sequence[judge.Verdict] | None, said: list[str]
) -> Json:
    """`verdicts`: None without goals; `said`: the warnings."""
    begin = measured.begin
    return {
        "format": "takt/bag",
        "version": 1,
        "provenance": {"takt": __version__, "inputs": [{"path": str(f)} for f in bag.files]},
        "relative_error": RELATIVE_ERROR,
        "begin": begin,
        "duration": measured.end - begin,
        "messages": measured.count,
        "declared_messages": bag.declared,
        "warnings": said,
        "untold": list(UNTOLD),
        "topics": [_topic(topic, begin) for topic in measured.topics.values()],
        "latencies": [
            {
                "from": pair.source.name,
                "to": pair.target.name,
                "latency": pair.latency.json(),
                "reversed": pair.latency.negative,
                "from_stamps": pair.source.stamps,
                "to_stamps": pair.target.stamps,
            }
            for pair in measured.pairs()
        ],
        "met": None if verdicts is None else not judge.any_missed(verdicts),
        "goals": [
            {
                "name": verdict.name,
                "from": verdict.source,
                "to": verdict.target,
                "goal": verdict.goal,
                "latency": verdict.latency.json(),
                "unanswered": verdict.unanswered,
                "missed": verdict.missed,
                "verdict": judge.sentence(verdict),
            }
            for verdict in verdicts or ()
        ],
    }


def _topic(topic: OfTopic, begin: int) -> Json:
    has_gap = topic.gaps.count > 0
    return {
        "topic": topic.name,
        "types": list(topic.types),
        "messages": topic.count,
        "rate": rate(topic),
        "gaps": topic.gaps.json(),
        "longest_gap_at": topic.longest_gap[1] - begin if has_gap else None,
        "backwards": topic.backwards,
        "delay": topic.delays.json() if topic.delays.count else None,
        "stamps": _stamps(topic) if topic.has_stamps else None,
    }


def _stamps(topic: OfTopic) -> Json:
    return {
        "ages": topic.ages.json(),
        "ahead": topic.ages.negative,
        "unset": topic.unset,
        "unreadable": topic.unreadable,
        "different": topic.stamps,
        "guessed": topic.guess is not None,
        "of_another_clock": is_far(topic),
    }


def rate(topic: OfTopic) -> float | None:
    """Messages a second; None if they came at one time."""
    length = topic.last - topic.first
    return (topic.count - 1) * 1e9 / length if length > 0 else None

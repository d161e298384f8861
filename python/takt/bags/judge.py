"""Goals from topic to topic, held against what a bag tells of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

import takt_native
from takt.bags.distribution import Distribution
from takt.bags.measure import Measured
from takt.errors import UserError
from takt.inputs import GoalsFile
from takt.text.formatting import duration


@dataclass(frozen=True)
class Verdict:
    name: str
    source: str
    target: str
    goal: int
    """ns."""
    latency: Distribution
    unanswered: int
    """Stamps of the source that the target did not carry."""
    reason: str | None
    """Why nothing was seen of it."""

    @property
    def missed(self) -> bool:
        """Whether a latency is above the goal, or there is none that could be below it."""
        return self.latency.max is None or self.latency.max > self.goal


def judge(measured: Measured, file: GoalsFile) -> tuple[list[Verdict], list[str]]:
    """A verdict on each goal of the file, in its order, and lines on what a bag cannot judge.
    Raises UserError if a goal names what is no topic of the bag, and takt_native.InputError.
    """
    goals, warnings = takt_native.read_goals(*file)
    found = []
    for name, source, target, via, goal in goals:
        where = f"{file.source}: chain '{name}'"
        first, last = (_topic(measured, end, where) for end in (source, target))
        if via:
            warnings.append(f"{where}: via: a bag does not tell which way messages took")
        latency, reason = _between(measured, first, last)
        unanswered = measured.topics[first].stamps - latency.count
        found.append(Verdict(name, first, last, goal, latency, unanswered, reason))
    return found, warnings


def _topic(measured: Measured, name: str, where: str) -> str:
    topic = name if name.startswith("/") else f"/{name}"
    if topic in measured.topics:
        return topic
    near = get_close_matches(topic, measured.topics, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise UserError(f"{where}: '{name}' is no topic of the bag, which knows topics alone{hint}")


def _between(measured: Measured, source: str, target: str) -> tuple[Distribution, str | None]:
    """The latencies, or none and why there are none."""
    for end in (source, target):
        if not measured.topics[end].has_stamps:
            return Distribution(), f"messages of {end} have no stamp that can be read"
    latency = measured.between(source, target)
    if latency.count == 0:
        return latency, "no message of one carries the stamp of a message of the other"
    if 2 * latency.negative > latency.count:
        return Distribution(), f"{target} has most stamps before {source}"
    return latency, None


def sentence(verdict: Verdict) -> str:
    """The verdict in words."""
    if verdict.reason is not None:
        return f"never seen: {verdict.reason}"
    if verdict.missed:
        return f"missed: {duration(verdict.latency.max)} was seen"
    return "met, as far as recorded"


def any_missed(verdicts: Iterable[Verdict]) -> bool:
    return any(verdict.missed for verdict in verdicts)

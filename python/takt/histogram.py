"""Distributions of durations that can be put together, with a known relative error.

Buckets grow by a constant factor, as in DDSketch (Masson, Rim, Lee, VLDB 2019). A factor of
(1 + a)/(1 - a) puts every value within a share a of the value that stands for its bucket. Sums of
the counts are the distribution of all the values, so nothing is lost when histograms are merged.
The published packages bring protobuf, or a store in dense arrays, for these few lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from takt.documents.types import SummaryDurations

Json = dict[str, Any]

RELATIVE_ERROR = 0.01
GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
LOG_GROWTH = math.log(GROWTH)
LAST_BUCKET = math.ceil(math.log(2**63) / LOG_GROWTH)


def bucket(value: int) -> int:
    """The bucket of a value above 0."""
    return math.ceil(math.log(value) / LOG_GROWTH)


@dataclass
class Histogram:
    """Of durations in ns. Values of 0 and below, which clocks of two hosts may give, count as 0."""

    zeros: int = 0
    buckets: dict[int, int] = field(default_factory=dict)
    """Counts of values above 0."""
    total: int = 0
    """The sum of all values, exact."""
    max: int = 0
    """Exact."""

    @classmethod
    def of(cls, values: Iterable[int]) -> Histogram:
        made = cls()
        for value in values:
            made.add(value)
        return made

    def add(self, value: int) -> None:
        if value > 0:
            key = bucket(value)
            self.buckets[key] = self.buckets.get(key, 0) + 1
            self.total += value
            self.max = max(self.max, value)
        else:
            self.zeros += 1

    def merge(self, other: Histogram) -> None:
        """Adds the values of another one."""
        self.zeros += other.zeros
        self.total += other.total
        self.max = max(self.max, other.max)
        for key, count in other.buckets.items():
            self.buckets[key] = self.buckets.get(key, 0) + count

    def up_to(self, last: int) -> int:
        """How many values are in buckets up to this one, so not above GROWTH**last."""
        return self.zeros + sum(count for key, count in self.buckets.items() if key <= last)

    @property
    def count(self) -> int:
        return self.zeros + sum(self.buckets.values())

    def quantile(self, share: float) -> float | None:
        """The value that at least `share` of the values do not exceed, off by RELATIVE_ERROR at
        most; None without values.
        """
        return self.at_rank(max(1, math.ceil(share * self.count)))

    def at_rank(self, rank: int) -> float | None:
        """The value that has this place in their order, counted from 1, off as quantiles are; None
        if there are fewer.
        """
        seen = self.zeros
        if rank <= seen:
            return 0.0
        for key in sorted(self.buckets):
            seen += self.buckets[key]
            if rank <= seen:
                return min(float(self.max), 2 * GROWTH**key / (GROWTH + 1))
        return None

    def json(self) -> Json:
        """As SummaryDurations of the schema."""
        keys = sorted(self.buckets)
        return {
            "zeros": self.zeros,
            "total": self.total,
            "max": self.max,
            "buckets": keys,
            "counts": [self.buckets[key] for key in keys],
        }

    @classmethod
    def read(cls, document: SummaryDurations) -> Histogram:
        """What json() wrote, without a fault()."""
        buckets = dict(zip(document.buckets, document.counts, strict=True))
        return cls(document.zeros, buckets, document.total, document.max)


def fault(document: SummaryDurations) -> str | None:
    """Why it cannot be what Histogram.json() wrote; None: it can be."""
    keys = document.buckets
    if len(keys) != len(document.counts) or len(set(keys)) != len(keys):
        return "buckets and counts: must be of one length, each bucket once"
    if any(abs(key) > LAST_BUCKET for key in keys):
        return f"buckets: beyond {LAST_BUCKET}"
    return None

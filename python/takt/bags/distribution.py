"""Distributions of durations of either sign."""

from __future__ import annotations

import math
from typing import Any

from takt.histogram import Histogram


class Distribution:
    """Of durations in ns, in memory that does not grow with their number. Quantiles are off by
    takt.histogram.RELATIVE_ERROR at most; all else is exact.
    """

    def __init__(self) -> None:
        self._above = Histogram()
        self._below = Histogram()
        self.min: int | None = None
        self.max: int | None = None

    def add(self, value: int) -> None:
        if value >= 0:
            self._above.add(value)
        else:
            self._below.add(-value)
        if self.min is None or value < self.min:
            self.min = value
        if self.max is None or value > self.max:
            self.max = value

    @property
    def count(self) -> int:
        return self._above.count + self._below.count

    @property
    def negative(self) -> int:
        """How many are below 0."""
        return self._below.count - self._below.zeros

    @property
    def negated(self) -> Distribution:
        """That of the negated values."""
        made = Distribution()
        made._above, made._below = self._below, self._above
        if self.min is not None and self.max is not None:
            made.min, made.max = -self.max, -self.min
        return made

    def quantile(self, share: float) -> int | None:
        """The value that at least `share` of the values do not exceed; None without values."""
        if self.min is None or self.max is None:
            return None
        rank = max(1, math.ceil(share * self.count))
        zeros = self._below.zeros
        if rank <= self.negative:
            size = self._below.at_rank(zeros + self.negative - rank + 1)
            value = -(size or 0.0)
        elif rank <= self.negative + zeros:
            value = 0.0
        else:
            value = self._above.at_rank(rank - self.negative - zeros) or 0.0
        return min(self.max, max(self.min, round(value)))

    def json(self) -> dict[str, Any]:
        """As Durations of the schema takt/bag."""
        return {
            "count": self.count,
            "min": self.min,
            "p50": self.quantile(0.5),
            "p99": self.quantile(0.99),
            "max": self.max,
        }
